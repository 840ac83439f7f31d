/* The benchmark sheets of test/data/benchmarks as models with their reference values. Inertia, data
 * and numbers are those of the sheets; RECOMPUTED columns where there are such. */
#ifndef TEST_PHYSICS_BENCHMARK_MODELS_H
#define TEST_PHYSICS_BENCHMARK_MODELS_H

#define PENDULUM(g, start)                                                                         \
    "coord x, y; kinetic (x'^2 + y'^2)/2; potential " g "*y; constraint rod: x^2 + y^2 = 1;"       \
    "initial " start

#define FOURBARS FOURBARS_OF("2")
#define FOURBARS_OF(N)                                                                             \
    "param N = " N ", g = 9.81; coord x[0..N], y[0..N]\n"                                          \
    "for i = 0..N { body upright[i] { mass 1 at [i + x[i], y[i]]/2 + [i, 0]/2 } }\n"               \
    "for i = 0..N { kinetic (x[i]'^2 + y[i]'^2)/24; constraint bar[i]: x[i]^2 + y[i]^2 = 1 }\n"    \
    "for i = 1..N {\n"                                                                             \
    "  body top[i] { mass 1 at [i - 0.5 + (x[i-1] + x[i])/2, (y[i-1] + y[i])/2] }\n"               \
    "  kinetic ((x[i]' - x[i-1]')^2 + (y[i]' - y[i-1]')^2)/24\n"                                   \
    "  constraint beam[i]: (1 + x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1 }\n"                      \
    "gravity [0, -g]\n"                                                                            \
    "for i = 0..N { initial x[i] = 0, y[i] = 1, x[i]' = 1, y[i]' = 0 }\n"

#define CAR_AXIS                                                                                   \
    "param L = 1, L0 = 0.5, k = 5e-4, r = 0.1, w = 10\n"                                           \
    "coord xl, yl, xr, yr\n"                                                                       \
    "let yb = r*sin(w*t); let xb = sqrt(L^2 - yb^2)\n"                                             \
    "kinetic k/2*(xl'^2 + yl'^2 + xr'^2 + yr'^2)\n"                                                \
    "potential (hypot(xl, yl) - L0)^2/2 + (hypot(xr - xb, yr - yb) - L0)^2/2 + k*(yl + yr)\n"      \
    "constraint c1: xl*xb + yl*yb = 0\n"                                                           \
    "constraint c2: (xl - xr)^2 + (yl - yr)^2 = L^2\n"                                             \
    "initial xl = 0, yl = 0.5, xr = 1, yr = 0.5, xl' = -0.5, yl' = 0, xr' = -0.5, yr' = 0"

#define SLEIGH                                                                                     \
    "param m = 1.5, J = 0.7, a = 0.4; coord x, y, th\n"                                            \
    "kinetic m/2*(x'^2 + y'^2) + J/2*th'^2\n"                                                      \
    "constraint blade: -sin(th)*x' + cos(th)*y' - a*th' = 0\n"                                     \
    "initial x' = 0.3, y' = 0.8, th' = 2"

#define CRANK                                                                                      \
    "param a = 0.5; coord q, x, p\n"                                                               \
    "kinetic (q'^2 + x'^2 + 2*p'^2)/2\n"                                                           \
    "let l = sqrt(x^2 - x*(cos(p) + a*cos(q)) + (1 + a^2)/4 + a*cos(p - q)/2)\n"                   \
    "potential (l - 1)^2/2\n"                                                                      \
    "dissipation (l')^2/2\n"                                                                       \
    "force x = 1, p = -sin(p)\n"                                                                   \
    "constraint slide: x = cos(p) + a*cos(q); constraint pin: sin(p) + a*sin(q) = 0\n"             \
    "initial q = pi/2, p ~ -0.52, x ~ 0.86"

#define APPELL                                                                                     \
    "param m = 2, k = 0.75, g = 9.81; coord x, y, z\n"                                             \
    "kinetic m/2*(x'^2 + y'^2 + z'^2); potential m*g*z\n"                                          \
    "constraint a: z'^2 = k^2*(x'^2 + y'^2)\n"                                                     \
    "initial x' = 0.6, y' = 0.8, z' = -0.75"

#define BOXES                                                                                      \
    "param rho = 7700, h = 0.06, g = 9.80665; coord p1, p2\n"                                      \
    "param m = rho*0.5*h^2, J = m*(0.25 + h^2)/12\n"                                               \
    "let e(a) = [cos(a), sin(a)]\n"                                                                \
    "body one { mass m inertia J at e(p1)/4 angle p1 }\n"                                          \
    "body two { mass m inertia J at e(p1)/2 + e(p1 + p2)/4 angle p1 + p2 }\n"                      \
    "gravity [0, -g]; dissipation 0.05*p1'^2"

#define FEKETE                                                                                     \
    "param N = 20; coord x[1..N], y[1..N], z[1..N]\n"                                              \
    "let p(i) = [x[i], y[i], z[i]]\n"                                                              \
    "for i = 1..N { kinetic dot(p(i)', p(i)')/2; dissipation dot(p(i)', p(i)')/4\n"                \
    "  constraint unit[i]: dot(p(i), p(i)) = 1 }\n"                                                \
    "for i = 2..N { for j = 1..i-1 { potential -log(dot(p(i) - p(j), p(i) - p(j)))/2 } }\n"        \
    "let A(i) = if(i < 4, 2*pi*i/3 + pi/13, if(i < 11, 2*pi*(i - 3)/7 + pi/29, if(i < 17, "        \
    "2*pi*(i - 10)/6 + pi/7, 2*pi*(i - 17)/4 + pi/17)))\n"                                         \
    "let B(i) = if(i < 4, 3*pi/8, if(i < 11, pi/8, if(i < 17, -2*pi/15, -3*pi/10)))\n"             \
    "for i = 1..N { initial x[i] = cos(A(i))*cos(B(i)), y[i] = sin(A(i))*cos(B(i)), z[i] = "       \
    "sin(B(i)) }\n"

#define ISOKINETIC                                                                                 \
    "param c = 2, g = 9.81, th0 = 0.5; coord x, y\n"                                               \
    "kinetic (x'^2 + y'^2)/2; potential g*y\n"                                                     \
    "constraint speed: x'^2 + y'^2 = c^2\n"                                                        \
    "initial x' = c*cos(th0), y' = c*sin(th0)"

#define KNIFE                                                                                      \
    "param m = 1.3, I = 0.4, f = 4.905; coord x, y, th\n"                                          \
    "kinetic m/2*(x'^2 + y'^2) + I/2*th'^2; potential -m*f*x\n"                                    \
    "constraint edge: x'*sin(th) - y'*cos(th) = 0\n"                                               \
    "initial th' = 1.1, x' = 0, y' = 0"

#define DISK                                                                                       \
    "coord x, y, th, ph; kinetic (x'^2 + y'^2 + th'^2 + ph'^2)/2\n"                                \
    "constraint a: x' = th'*cos(ph); constraint b: y' = th'*sin(ph)\n"                             \
    "initial ph' = 2, th' = 1, x' ~ 1"

#define CONTACT                                                                                    \
    "param z0 = 0.1*sqrt(2); coord x, y, z\n"                                                      \
    "kinetic (x'^2 + y'^2 + z'^2)/2; potential (x^2 + y^2 + z^2)/2\n"                              \
    "constraint c: x' + y*z' = 0\n"                                                                \
    "initial x = sqrt(2 - z0^2), z = z0, y' = 1, x' = 0, z' = 0"

#define PARTICLE(extra)                                                                            \
    "coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; potential (x^2 + y^2)/2\n" extra               \
    "\nconstraint c: z' = y*x'\ninitial x = 1, y' = 1, x' = 0, z' = 0"

#define KEPLER                                                                                     \
    "coord x, y; kinetic (x'^2 + y'^2)/2; potential -1/hypot(x, y)\n"                              \
    "initial x = 0.4, y' = 2"

#define ARENSTORF                                                                                  \
    "param mu = 0.012277471; coord x, y\n"                                                         \
    "lagrangian ((x' - y)^2 + (y' + x)^2)/2 + (1 - mu)/hypot(x + mu, y) + mu/hypot(x - 1 + mu, "   \
    "y)\n"                                                                                         \
    "initial x = 0.994, y' = -2.00158510637908252240537862224"

#define PLEIADES                                                                                   \
    "param N = 7, X = [3, 3, -1, -3, 2, -2, 2], Y = [3, -3, 2, 0, 0, -4, 4]\n"                     \
    "coord x[1..N], y[1..N]\n"                                                                     \
    "for i = 1..N { kinetic i/2*(x[i]'^2 + y[i]'^2); initial x[i] = X[i], y[i] = Y[i] }\n"         \
    "for i = 2..N { for j = 1..i-1 { potential -i*j/hypot(x[i] - x[j], y[i] - y[j]) } }\n"         \
    "initial x[6]' = 1.75, x[7]' = -1.5, y[4]' = -1.25, y[5]' = 1"

#define FOUCAULT                                                                                   \
    "param w = 0.7, O = 0.05; coord x, y\n"                                                        \
    "lagrangian (x'^2 + y'^2)/2 + O*(x*y' - y*x') - w^2/2*(x^2 + y^2)\n"                           \
    "initial x = 1"

#define SPHERICAL                                                                                  \
    "coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; potential 9.81*z\n"                            \
    "constraint rod: (x^2 + y^2 + z^2)/2 = 1/2\n"                                                  \
    "initial x = sin(1), y = 0, z = -cos(1), x' = 0, y' = 2*sin(1), z' = 0"

#define TOP                                                                                        \
    "param m = 15, g = 9.81; coord e0, e1, e2, e3\n"                                               \
    "let R = quat(e0, e1, e2, e3)\n"                                                               \
    "body top { mass m inertia diag(0.234375, 0.46875, 0.234375) at R*[0, 1, 0] frame R }\n"       \
    "gravity [0, 0, -g]\n"                                                                         \
    "initial e0 = 1, e0' = 0, e1' = 0, e2' = 75, e3' = -2.30769"

/* Points of bodies by Cartesian coordinates of the mass centre and Euler parameters. */
#define REVOLUTE                                                                                   \
    "param g = 9.80665; coord x, y, z, e0, e1, e2, e3\n"                                           \
    "let R = quat(e0, e1, e2, e3)\n"                                                               \
    "body bar { mass 1 inertia diag(0.04, 0.1, 0.1) at [x, y, z] frame R }\n"                      \
    "gravity [0, 0, -g]\n"                                                                         \
    "constraint pin: [x, y, z] - R*[2, 0, 0] = [1, 2, 3]\n"                                        \
    "let axis = R*[0, 1, 1]\n"                                                                     \
    "constraint along: axis[1] = 0\n"                                                              \
    "constraint level: axis[2] - axis[3] = 0\n"                                                    \
    "initial x = 3, y = 2, z = 3, e0 = 1, e1 = 0, e2 = 0, e3 = 0"

/* One rod, one ball and the slider, twice by symmetry. */
#define FLYBALL                                                                                    \
    "param k = 8e5, c = 4e4, l0 = 0.5, g = 9.81, r = 0.05, mr = 0.3, ms = 3, mp = 5\n"             \
    "param J1 = mr*1.0001/12, J0 = mr*0.0002/12; coord psi, al, s\n"                               \
    "let mid = [r + cos(al)/2, 1 - sin(al)/2]; let tip = [r + cos(al), 1 - sin(al)]\n"             \
    "kinetic mr*(dot(mid', mid') + mid[1]^2*psi'^2) + J1*al'^2\n"                                  \
    "kinetic (J1*cos(al)^2 + J0*sin(al)^2)*psi'^2 + mp*(dot(tip', tip') + tip[1]^2*psi'^2)\n"      \
    "kinetic ms/2*s'^2 + ms*0.02/24*psi'^2 + J0/2*psi'^2\n"                                        \
    "potential g*(2*mr*mid[2] + 2*mp*tip[2] + ms*s)\n"                                             \
    "let L = hypot(mid[1] - r, mid[2] - s)\n"                                                      \
    "potential k*(L - l0)^2; dissipation c*(L')^2\n"                                               \
    "initial al = pi/6, s = 0.5, psi' = 2*pi"

#endif
