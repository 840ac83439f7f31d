/* Gauss and Legendre's formula with four nodes on [0, 1], of order 8: integrals over a step. */
#ifndef HMI_INTEGRATE_ODE_GAUSS_H
#define HMI_INTEGRATE_ODE_GAUSS_H

static const double hmi_gauss_nodes[4] = {0.069431844202973712, 0.33000947820757187,
                                          0.66999052179242813, 0.93056815579702629};
static const double hmi_gauss_weights[4] = {0.17392742256872693, 0.32607257743127307,
                                            0.32607257743127307, 0.17392742256872693};

#endif
