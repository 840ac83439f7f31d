"""Models: reading, deriving, evaluating, running."""
from __future__ import annotations

import html
import math
import os
import subprocess
import threading
from typing import Any, Callable, Mapping, Union

import numpy as np

from . import _core
from ._command import call, command_path
from ._errors import Error
from ._result import Ensemble, Result

State = Union[str, Mapping[str, float], None]
_FORMATS = ("text", "latex", "json", "c")
_GROUPS = {"acceleration": 1, "lambda": 2, "Qc": 4, "energy": 8}


def _state_text(at: State) -> str | None:
    if at is None or isinstance(at, str):
        return at
    return ", ".join(f"{name} = {_number(value)}" for name, value in at.items())


def _number(value: Any) -> str:
    return value if isinstance(value, str) else repr(float(value))


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else float(value)


class Model:
    """A model: text in the language of docs/language.md, read and derived.

    >>> m = hamel.Model("coord x; kinetic x'^2/2; potential x^2/2; initial x = 1")
    >>> m.accelerations(0, [1.0], [0.0])
    array([-1.])
    """

    def __init__(self, text: str, *, set: Mapping[str, Any] | None = None, name: str = "<text>"):
        self._open(None, text, name, set)

    def _open(self, path: str | None, text: str | None, name: str | None, set: Mapping[str, Any] | None) -> None:
        self._path, self._text, self._label = path, text, name
        self._set = dict(set or {})
        overrides = [(key, _number(value)) for key, value in self._set.items()]
        self._core = _core.Model(path, text, name, overrides)
        self._names = self._core.names()

    @classmethod
    def _make(cls, path: str | None, text: str | None, name: str | None, set: Mapping[str, Any] | None) -> "Model":
        self = cls.__new__(cls)
        self._open(path, text, name, set)
        return self

    def with_set(self, set: Mapping[str, Any]) -> "Model":
        """The same model with other values of parameters, as `--set` gives them."""
        return self._make(self._path, self._text, self._label, {**self._set, **set}) if set else self

    # ---- names ----

    @property
    def name(self) -> str:
        """The name after `model`."""
        return self._names["name"]

    @property
    def title(self) -> str | None:
        """The title after the name."""
        return self._names["title"]

    @property
    def coordinates(self) -> list[str]:
        """Names of the coordinates, in the order of `q`."""
        return list(self._names["coordinates"])

    @property
    def states(self) -> list[str]:
        """Names of auxiliary states, in the order of `z`."""
        return list(self._names["states"])

    @property
    def inputs(self) -> list[str]:
        """Names of inputs."""
        return list(self._names["inputs"])

    @property
    def outputs(self) -> dict[str, Callable[..., np.ndarray]]:
        """Outputs as functions of (t, q, v, z=None), for arrays of states too."""
        def output(index: int) -> Callable[..., np.ndarray]:
            return lambda t, q, v, z=None: self.output_values(t, q, v, z)[..., index]
        return {name: output(i) for i, name in enumerate(self._names["outputs"])}

    @property
    def constraints(self) -> list[str]:
        """Names of constraint rows, in the order of A and lambda."""
        return list(self._names["constraints"])

    @property
    def params(self) -> dict[str, float]:
        """Parameters and their values."""
        return dict(zip(self._names["params"], self._names["param_values"]))

    @property
    def texts(self) -> dict[str, str]:
        """Texts after parameters, coordinates and outputs: what they are, with units."""
        names = self._names
        pairs = [pair for kind in ("param", "coordinate", "output")
                 for pair in zip(names[kind + "s"], names[kind + "_texts"])]
        return {name: text for name, text in pairs if text is not None}

    @property
    def warnings(self) -> list[str]:
        """What reading warned of."""
        return self._core.warnings()

    # ---- what the command tells ----

    def _call(self, command: str, options: list[str], set: Mapping[str, Any] | None = None) -> dict[str, Any]:
        changed = {**self._set, **(set or {})}
        sets = [word for key, value in changed.items() for word in ("--set", f"{key}={_number(value)}")]
        model = self._path if self._text is None else "-"
        return call([command, model or "-", *options, *sets], self._text)

    def check(self) -> dict[str, Any]:
        """Classes of constraints, degrees of freedom, principles, symmetries: `hamel check --json`."""
        return self._call("check", [])

    def eval(self, at: State = None, set: Mapping[str, Any] | None = None, *, geometry: bool = False,
             formulation: str | None = None) -> dict[str, Any]:
        """Every quantity of the theory at a state: `hamel eval --json`.

        at: {"x": 1, "x'": 0.2, "t": 0} or the text of it; None: the initial state.
        """
        options = [] if at is None else ["--at", _state_text(at) or ""]
        options += ["--geometry"] if geometry else []
        options += ["--formulation", formulation] if formulation else []
        return self._call("eval", options, set)

    def linearize(self, at: State = None, *, find: str | None = None, hold: str | None = None,
                  period: float | None = None, inputs: str | None = None, outputs: str | None = None,
                  set: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Reduced state matrix, eigenvalues, stability: `hamel linearize --json`.

        find: "rest", "steady" or "periodic" searches from the state.
        """
        given = {"--at": _state_text(at), "--find": find, "--hold": hold, "--inputs": inputs, "--outputs": outputs,
                 "--period": None if period is None else _number(period)}
        return self._call("linearize", [word for pair in given.items() if pair[1] is not None for word in pair], set)

    def compare(self, with_: str = "vakonomic", *, at: State = None, mu: State = None, end: float | None = None,
                state_only: bool = False, set: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The right equations beside tempting wrong ones: `hamel compare --json`."""
        given = {"--with": with_, "--at": _state_text(at), "--mu": _state_text(mu),
                 "--to": None if end is None else _number(end)}
        options = [word for pair in given.items() if pair[1] is not None for word in pair]
        return self._call("compare", options + (["--state-only"] if state_only else []), set)

    # ---- texts ----

    def derive(self, format: str = "text") -> str:
        """The equations of motion, step by step: "text", "latex", "json" or "c"."""
        if format not in _FORMATS:
            raise ValueError(f"there is no format {format!r}; one of {', '.join(_FORMATS)}")
        return self._core.derive(_FORMATS.index(format))

    def export(self, format: str) -> str:
        """The system in another language: "c", "sympy", "julia", "matlab", "modelica", "auto"."""
        return self._core.export(format)

    def to_sympy(self) -> dict[str, Any]:
        """M, Q, A, b, C, q, v, t, parameters, accelerations(): what the exported SymPy script defines."""
        space: dict[str, Any] = {}
        exec(compile(self.export("sympy"), f"<sympy of {self.name}>", "exec"), space)
        return {key: value for key, value in space.items() if not key.startswith("__")}

    # ---- many states ----

    def initial(self, at: State = None) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """(t, q, v, z) at the start of a run, on the constraints."""
        values = np.array(self._core.initial(_state_text(at)))
        n = len(self._names["coordinates"])
        return float(values[0]), values[1:1 + n], values[1 + n:1 + 2 * n], values[1 + 2 * n:]

    def _arrays(self, t: Any, q: Any, v: Any, z: Any) -> tuple[Any, ...]:
        q = np.ascontiguousarray(q, dtype=np.float64)
        v = np.ascontiguousarray(v, dtype=np.float64)
        n = len(self._names["coordinates"])
        if q.ndim == 0 or q.shape[-1] != n or v.shape != q.shape:
            raise ValueError(f"q and v have shape (..., {n}), not {q.shape} and {v.shape}")
        shape = q.shape[:-1]
        t = np.ascontiguousarray(np.broadcast_to(np.asarray(t, dtype=np.float64), shape)).reshape(-1)
        states = len(self._names["states"])
        if z is None and states:
            raise ValueError(f"z is needed: the model has {states} auxiliary states")
        if z is not None:
            z = np.ascontiguousarray(z, dtype=np.float64)
            if z.shape != shape + (states,):
                raise ValueError(f"z has shape {shape + (states,)}, not {z.shape}")
        return t, q, v, z if states else None, shape

    def _param_array(self, set: Mapping[str, float] | None) -> np.ndarray | None:
        if not set:
            return None
        values = np.full(len(self._names["params"]), math.nan)
        for name, value in set.items():
            if name not in self._names["params"]:
                raise Error(f"there is no parameter '{name}'")
            values[self._names["params"].index(name)] = value
        return values

    def accelerations(self, t: Any, q: Any, v: Any, z: Any = None, *,
                      set: Mapping[str, float] | None = None) -> np.ndarray:
        """q'' for one state or arrays of them: q, v of shape (..., n), t a number or of shape (...).

        NaN where the accelerations are not determined.
        """
        t, q, v, z, _ = self._arrays(t, q, v, z)
        out = np.empty_like(q)
        self._core.accelerate(t, q, v, z, self._param_array(set), out)
        return out

    def output_values(self, t: Any, q: Any, v: Any, z: Any = None) -> np.ndarray:
        """All outputs, in the order of declaration, at one state or arrays of them."""
        t, q, v, z, shape = self._arrays(t, q, v, z)
        out = np.empty(shape + (len(self._names["outputs"]),))
        self._core.rates(t, q, v, z, None, np.empty_like(q), None, out)
        return out

    def rhs(self, t: float, y: Any) -> np.ndarray:
        """y' of y = (q, v, z), for scipy.integrate.solve_ivp."""
        y = np.ascontiguousarray(y, dtype=np.float64)
        n, states = len(self._names["coordinates"]), len(self._names["states"])
        if y.shape != (2 * n + states,):
            raise ValueError(f"y has shape ({2 * n + states},), not {y.shape}")
        out = np.empty_like(y)
        out[:n] = y[n:2 * n]
        time = np.array([float(t)])
        if states:
            self._core.rates(time, y[:n], y[n:2 * n], y[2 * n:], None, out[n:2 * n], out[2 * n:], None)
        else:
            self._core.accelerate(time, y[:n], y[n:], None, None, out[n:])
        return out

    # ---- motion ----

    def run(self, *, start: float | None = None, end: float | None = None, every: float | None = None,
            at: State = None, set: Mapping[str, Any] | None = None, method: str | None = None,
            rtol: float | None = None, atol: float | None = None, step: float | None = None,
            drift: str | None = None, formulation: str | None = None, columns: str = "",
            progress: Callable[[float, float], object] | None = None) -> Result:
        """Simulates. What is not given is as `simulate` says.

        columns: groups beyond t, q, q', outputs and states: "energy, lambda, Qc, acceleration".
        progress: called with (t, part done) now and then. Ctrl-C ends the run.
        A run that failed on its way is a result with status "failed".
        """
        if set:
            return self.with_set(set).run(start=start, end=end, every=every, at=at, method=method, rtol=rtol, atol=atol,
                                          step=step, drift=drift, formulation=formulation, columns=columns,
                                          progress=progress)
        groups = [word.strip() for word in columns.split(",") if word.strip()]
        unknown = [word for word in groups if word not in _GROUPS]
        if unknown:
            raise ValueError(f"there are no columns {unknown[0]!r}; any of {', '.join(_GROUPS)}")
        numbers = [_or_nan(value) for value in (start, end, every, rtol, atol, step)]
        table, summary = self._core.run(_state_text(at), *numbers, method, drift, formulation,
                                        sum(_GROUPS[word] for word in {*groups}), progress)
        return Result(np.asarray(table), self._columns(groups), self.texts, summary)

    def _columns(self, groups: list[str]) -> list[str]:
        q, rows = self._names["coordinates"], self._names["constraints"]
        names = ["t", *q, *(f"{x}'" for x in q), *self._names["outputs"], *self._names["states"]]
        names += [f"{x}''" for x in q] if "acceleration" in groups else []
        names += [f"lambda({x})" for x in rows] if "lambda" in groups else []
        names += [f"Qc({x})" for x in q] if "Qc" in groups else []
        names += [f"energy({x})" for x in ("kinetic", "potential", "total")] if "energy" in groups else []
        return names

    def ensemble(self, members: Mapping[str, Any], *, end: float | None = None, rtol: float | None = None,
                 atol: float | None = None, method: str | None = None, jobs: int = 0) -> Ensemble:
        """One run a member: {"theta": array, "l": array}, on all processors. Final states and outputs."""
        names = list(members)
        if not names:
            raise ValueError("an ensemble needs at least one column")
        values = np.ascontiguousarray(np.stack(np.broadcast_arrays(*(np.asarray(members[k], dtype=np.float64).ravel()
                                                                     for k in names)), axis=-1))
        own = self._names
        columns = ["status", "t", *own["coordinates"], *(f"{x}'" for x in own["coordinates"]), *own["states"],
                   *own["outputs"]]
        final, cancel = np.full((len(values), len(columns)), math.nan), np.zeros(1)
        final[:, 0] = 3  # interrupted, until its result comes
        done: dict[str, Any] = {}

        def work() -> None:
            try:
                done["summary"] = self._core.ensemble(names, values, final, cancel, _or_nan(end), _or_nan(rtol),
                                                      _or_nan(atol), method, jobs)
            except BaseException as error:  # raised again below, in the caller's thread
                done["error"] = error

        # Signals reach the main thread only, so that waits while another one works.
        worker = threading.Thread(target=work)
        worker.start()
        try:
            while worker.is_alive():
                worker.join(0.05)
        except BaseException:
            cancel[0] = 1
            worker.join()
            raise
        if "error" in done:
            raise done["error"]
        return Ensemble(final, columns, done["summary"])

    # ---- notebooks ----

    def _repr_latex_(self) -> str:
        return self.derive("latex")

    def _repr_html_(self) -> str:
        title = html.escape(self.title or self.name)
        return f"<h4>{title}</h4><pre>{html.escape(self.derive('text'))}</pre>"

    def __repr__(self) -> str:
        return f"<hamel.Model {self.name}: {', '.join(self._names['coordinates'])}>"


def load(path: Union[str, "os.PathLike[str]"], *, set: Mapping[str, Any] | None = None) -> Model:
    """The model in a file, or the built-in example of that name: hamel.load("skate")."""
    name = os.fspath(path)
    if os.path.exists(name) or os.sep in name or name.endswith(".hamel"):
        return Model._make(name, None, None, set)
    return Model._make(None, example(name), name, set)


def example(name: str) -> str:
    """The text of a built-in example."""
    done = subprocess.run([command_path(), "examples", name], capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0:
        raise Error(f"there is neither a file nor an example '{name}'", hint="hamel.examples() lists the examples")
    return done.stdout


def examples() -> list[str]:
    """Names of the built-in examples."""
    return [entry["name"] for entry in call_list(["examples"])]


def call_list(arguments: list[str]) -> list[dict[str, str]]:
    """What the command prints with --json where that is a list."""
    import json
    done = subprocess.run([command_path(), *arguments, "--json"], capture_output=True, text=True, encoding="utf-8",
                          check=True)
    return json.loads(done.stdout)
