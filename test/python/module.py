"""The Python module against SciPy, SymPy, the command and itself."""
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

import hamel

EXAMPLES = """affine-constraint appell chaplygin-sleigh charged-particle coin-straight coin double-pendulum ellipse
foucault hamel-example1 hamel-example2 hamel-example3 heavy-top kepler knife-edge pendulum
projectile-polar rolling-disc skate snakeboard spherical-pendulum spiral turntable""".split()


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class Motion(unittest.TestCase):
    def test_scipy_equals_run(self):
        """An integrator that is not ours on accelerations() against run(), over a short time: SciPy does not project."""
        for name in EXAMPLES:
            with self.subTest(name):
                m = hamel.load(name)
                start, q, v, z = m.initial()
                end = start + 0.2
                r = m.run(end=end, rtol=1e-12, atol=1e-13)
                y = solve_ivp(m.rhs, (start, end), np.concatenate([q, v, z]), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
                names = m.coordinates + [x + "'" for x in m.coordinates] + m.states
                ours = np.array([r[x][-1] for x in names])
                self.assertEqual(r.status, "ok")
                self.assertLess(np.max(np.abs(ours - y) / np.maximum(1, np.abs(ours))), 1e-8)

    def test_result_is_a_view(self):
        r = hamel.load("pendulum").run(end=1, columns="energy, lambda, acceleration, Qc")
        self.assertTrue(np.shares_memory(r["x"], r.data) and np.shares_memory(r.t, r["x'"].base))
        self.assertFalse(r.data.flags.owndata or r.data.flags.writeable)
        np.testing.assert_allclose(r["x"]**2 + r["y"]**2, 4, atol=1e-10)
        np.testing.assert_allclose(r["tension"], -4 * r["lambda(rod)"], rtol=1e-12)
        np.testing.assert_allclose(r["energy(kinetic)"] + r["energy(potential)"], r["energy(total)"], atol=1e-12)
        data = r.data
        del r
        self.assertTrue(np.isfinite(data).all())

    def test_ensemble_equals_runs(self):
        m = hamel.load("double-pendulum")
        angles = np.linspace(0.1, 0.4, 6)
        e = m.ensemble({"a": angles, "l1": 1.1 + angles}, end=1.0)
        for i in (0, 5):
            r = m.run(at={"a": angles[i]}, set={"l1": 1.1 + angles[i]}, end=1.0)
            self.assertEqual(e["a'"][i], r["a'"][-1])
        self.assertEqual(set(e.status), {"ok"})

    def test_failed_run_keeps_its_rows(self):
        r = hamel.Model("coord x; kinetic x'^2/2; force x = x'^2*10; initial x' = 1; simulate 0 .. 1 every 0.01").run()
        self.assertEqual(r.status, "failed")
        self.assertTrue(r.message and len(r) > 5)


class Evaluation(unittest.TestCase):
    def test_vectorised(self):
        m = hamel.load("skate")
        random = np.random.default_rng(1)
        q, v = random.normal(size=(2, 50, 4, 3))
        all_at_once = m.accelerations(0, q, v)
        self.assertEqual(all_at_once.shape, q.shape)
        np.testing.assert_array_equal(all_at_once[7, 2], m.accelerations(0, q[7, 2], v[7, 2]))
        names = m.coordinates
        at = {**dict(zip(names, q[7, 2])), **{x + "'": y for x, y in zip(names, v[7, 2])}}
        np.testing.assert_allclose(all_at_once[7, 2], m.eval(at=at)["qdd"], rtol=1e-11)

    def test_parameters_and_outputs(self):
        m = hamel.load("pendulum")
        _, q, v, _ = m.initial()
        np.testing.assert_allclose(m.accelerations(0, q, v, set={"g": 4})/m.accelerations(0, q, v), 4/9.81, rtol=1e-12)
        self.assertAlmostEqual(float(m.outputs["tension"](0, q, v)), 9.81*np.cos(0.5), places=11)
        self.assertEqual(m.accelerations(0, q, v)[0], m.accelerations(0, q, v)[0])

    def test_threads(self):
        m = hamel.load("skate")
        q, v = np.random.default_rng(2).normal(size=(2, 2000, 3))
        expected, found = m.accelerations(0, q, v), []
        threads = [threading.Thread(target=lambda: found.append(m.accelerations(0, q, v))) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertTrue(all(np.array_equal(expected, x) for x in found) and len(found) == 4)

    def test_sympy_lagrange(self):
        """to_sympy() against SymPy's own LagrangesMethod, at random states."""
        from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols
        a, b = dynamicsymbols("a b")
        A, B = sp.diff(a), sp.diff(b)
        cases = {  # L written anew
            "coord a; kinetic a'^2/2; potential -3*cos(a)": ([a], A**2/2 + 3*sp.cos(a)),
            "coord a, b; kinetic (a'^2 + a^2*b'^2)/2; potential -1/a": ([a, b], (A**2 + a**2*B**2)/2 + 1/a),
            "coord a, b; kinetic (a'^2 + sin(a)^2*b'^2)/2; potential cos(a)": ([a, b], (A**2 + sp.sin(a)**2*B**2)/2 - sp.cos(a)),
            "coord a, b; kinetic a'^2 + a'*b'*cos(a - b) + b'^2/2; potential -2*cos(a) - cos(b)":
                ([a, b], A**2 + A*B*sp.cos(a - b) + B**2/2 + 2*sp.cos(a) + sp.cos(b)),
            "coord a, b; kinetic a'^2/2*exp(b) + b'^2": ([a, b], A**2/2*sp.exp(b) + B**2),
        }
        for text, (q, L) in cases.items():
            with self.subTest(text):
                ours = hamel.Model(text).to_sympy()
                method = LagrangesMethod(L, q)
                method.form_lagranges_equations()
                values = np.random.default_rng(3).uniform(0.5, 1.5, 2*len(q))
                place = {**{sp.diff(x): y for x, y in zip(q, values[len(q):])}, **dict(zip(q, values))}
                theirs = method.mass_matrix.subs(place).LUsolve(method.forcing.subs(place))
                mine = ours["accelerations"]()[0].subs(dict(zip(ours["q"] + ours["v"], values)))
                np.testing.assert_allclose(np.array(mine, float), np.array(theirs, float), rtol=1e-11)

    def test_commands(self):
        m = hamel.load("skate")
        self.assertEqual(m.check()["constraints"][0]["class"], "nonholonomic")
        self.assertIn("A", hamel.load("pendulum").linearize(at={"x": 0}))
        self.assertIn("reason", m.compare("vakonomic", state_only=True))
        self.assertEqual(hamel.load("skate", set={"m": 3}).eval()["M"][0][0], 3)
        self.assertEqual(m.eval(set={"m": 3})["M"][0][0], 3)
        for form in ("text", "latex", "json", "c"):
            self.assertGreater(len(m.derive(form)), 200)
        self.assertIn("\\", m._repr_latex_())
        self.assertIn("<pre>", m._repr_html_())


class Failures(unittest.TestCase):
    def test_errors(self):
        with self.assertRaises(hamel.Error) as raised:
            hamel.Model("coord x\nkinetic x'^2/2 + thta", name="here")
        e = raised.exception
        self.assertEqual((e.file, e.line, e.column), ("here", 2, 18))
        self.assertIn("thta", e.message)
        with self.assertRaises(hamel.Error):
            hamel.load("nowhere.hamel")
        with self.assertRaises(hamel.Error):
            hamel.load("nosuchexample")
        m = hamel.load("skate")
        for bad in (lambda: m.run(method="nope"), lambda: m.eval(at={"nope": 1}), lambda: m.run(at={"nope": 1}),
                    lambda: m.run(end=-1), lambda: m.accelerations(0, [0, 0, 0], [0, 0, 0], set={"nope": 1}),
                    lambda: m.ensemble({"nope": [1.0]})):
            with self.assertRaises(hamel.Error):
                bad()
        with self.assertRaises(ValueError):
            m.accelerations(0, [1, 2], [1, 2])
        with self.assertRaises(ValueError):
            m.run(columns="nope")
        with self.assertRaises(KeyError):
            m.run(end=0.1)["nope"]

    def test_exception_in_progress(self):
        def stop(t, part):
            raise RuntimeError("enough")
        m = hamel.Model("coord x; kinetic x'^2/2; potential x^2/2; initial x = 1; simulate 0 .. 1e7 every 1e6")
        with self.assertRaisesRegex(RuntimeError, "enough"):
            m.run(progress=stop)

    def test_interrupt(self):
        """Ctrl-C ends a long run soon, as KeyboardInterrupt."""
        code = ("import hamel\nm = hamel.Model(\"coord x; kinetic x'^2/2; potential x^2/2; initial x = 1; "
                "simulate 0 .. 1e9 every 1e8\")\nprint('go', flush=True)\ntry:\n    m.run()\n"
                "except KeyboardInterrupt:\n    print('interrupted')\n")
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "go\n")
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate(timeout=20)[0], "interrupted\n")

    def test_no_leaks(self):
        def work(count):
            for _ in range(count):
                m = hamel.Model("coord x; kinetic x'^2/2; potential x^2/2; initial x = 1; output e = x^2")
                m.accelerations(0, [1.0], [0.0])
                m.run(end=0.2)
                try:
                    hamel.Model("coord x; kinetic y")
                except hamel.Error:
                    pass
        work(50)
        before = resident()
        work(400)
        self.assertLess(resident() - before, 3 << 20)


class Building(unittest.TestCase):
    def test_pendulum(self):
        from hamel.builder import cos, dot, sin, vector
        b = hamel.Builder("built", "A pendulum that a program made")
        m, l, g = b.param("m", 1.5), b.param("l", 2), b.param("g", 9.81)
        theta = b.coord("theta")
        P = b.let("P", vector(l*sin(theta), -l*cos(theta)))
        b.point(m, P, gravity=vector(0, -g))
        b.initial(theta, 0.5)
        b.output("speed", dot(P.dot, P.dot)**0.5)
        b.simulate(0, 1, 0.1)
        model = b.model()
        self.assertAlmostEqual(model.accelerations(0, [0.5], [0.0])[0], -9.81/2*np.sin(0.5), places=13)
        self.assertEqual(model.run().status, "ok")

    def test_constraint(self):
        b = hamel.Builder()
        x, y = b.coord("x", "y")
        b.kinetic((x.dot**2 + y.dot**2)/2)
        b.constraint("roll", y.dot, 2*x.dot)
        b.force(x, 1)
        np.testing.assert_allclose(b.model().accelerations(0, [0, 0], [0, 0]), [0.2, 0.4], rtol=1e-14)
        with self.assertRaises(TypeError):
            b.kinetic(x*float("nan"))


unittest.main(verbosity=1)
