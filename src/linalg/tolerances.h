/* Where numbers stop being trusted: the constants of rank decisions, each with its reason. They are
 * relative to what they are compared with, so that none depends on units. */
#ifndef HMI_LINALG_TOLERANCES_H
#define HMI_LINALG_TOLERANCES_H

/* A pivot of M or of the Gram matrix, relative to the diagonal element it is the remainder of. Below it
 * five digits are lost (the Gram matrix squares the condition), and a rank-revealing solve is better. */
#define HMI_WELL_CONDITIONED 1e-5

/* What may be left of A a = b, relative to the terms of the row, */
#define HMI_ROW_MET 1e-11
/* or relative to |row| |a| in the metric of the masses, for rows whose terms are rounding errors. */
#define HMI_ROW_MET_NATURALLY 1e-14

#endif
