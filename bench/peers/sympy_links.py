"""SymPy derives a pendulum of n links by Lagrange's equations: seconds to M and the forces."""
import time

from sympy import Rational, cos, sin
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols


def derive(n):
    start = time.process_time()
    q = dynamicsymbols(f"q1:{n + 1}")
    x = y = kinetic = potential = 0
    for angle in q:
        x, y = x + sin(angle), y - cos(angle)
        t = dynamicsymbols._t
        kinetic += Rational(1, 2) * (x.diff(t) ** 2 + y.diff(t) ** 2)
        potential += 9.81 * y
    method = LagrangesMethod(kinetic - potential, q)
    method.form_lagranges_equations()
    method.mass_matrix, method.forcing
    return time.process_time() - start


for links in (3, 5):
    print("sympy_derives_links", derive(links), links, 100, flush=True)
