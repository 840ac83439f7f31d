"""Models made by programs: expressions with operators, written out as model text."""
from __future__ import annotations

from typing import Any, Union

from ._model import Model

Operand = Union["Expr", float, int]


def _text(value: Operand) -> str:
    if isinstance(value, Expr):
        return value.text
    number = repr(float(value)) if not isinstance(value, int) else str(value)
    if not isinstance(value, (int, float)) or number in ("nan", "inf", "-inf"):
        raise TypeError(f"{value!r} is neither a finite number nor an expression")
    return f"({number})" if number.startswith("-") else number


class Expr:
    """An expression of the language. Operators give further ones; `.dot` is the prime."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str):
        self.text = text

    @property
    def dot(self) -> "Expr":
        """The time derivative."""
        return Expr(f"{self.text}'" if self.text.rstrip("'").isidentifier() else f"({self.text})'")

    def _join(self, left: Operand, operator: str, right: Operand) -> "Expr":
        return Expr(f"({_text(left)} {operator} {_text(right)})")

    def __add__(self, other: Operand) -> "Expr": return self._join(self, "+", other)
    def __radd__(self, other: Operand) -> "Expr": return self._join(other, "+", self)
    def __sub__(self, other: Operand) -> "Expr": return self._join(self, "-", other)
    def __rsub__(self, other: Operand) -> "Expr": return self._join(other, "-", self)
    def __mul__(self, other: Operand) -> "Expr": return self._join(self, "*", other)
    def __rmul__(self, other: Operand) -> "Expr": return self._join(other, "*", self)
    def __truediv__(self, other: Operand) -> "Expr": return self._join(self, "/", other)
    def __rtruediv__(self, other: Operand) -> "Expr": return self._join(other, "/", self)
    def __pow__(self, other: Operand) -> "Expr": return self._join(self, "^", other)
    def __neg__(self) -> "Expr": return Expr(f"(-{self.text})")
    def __getitem__(self, index: int) -> "Expr": return Expr(f"{self.text}[{index + 1}]")
    def __repr__(self) -> str: return f"Expr({self.text!r})"

    def __bool__(self) -> bool:
        raise TypeError("an expression is neither true nor false")


def function(name: str, *arguments: Operand) -> Expr:
    """A call of a function of the language: function("atan2", y, x)."""
    return Expr(f"{name}({', '.join(_text(a) for a in arguments)})")


def sin(x: Operand) -> Expr: return function("sin", x)
def cos(x: Operand) -> Expr: return function("cos", x)
def sqrt(x: Operand) -> Expr: return function("sqrt", x)
def exp(x: Operand) -> Expr: return function("exp", x)


def vector(*parts: Operand) -> Expr:
    """[a, b, c]"""
    return Expr(f"[{', '.join(_text(p) for p in parts)}]")


def dot(a: Expr, b: Expr) -> Expr:
    """The scalar product of two vectors."""
    return function("dot", a, b)


class Builder:
    """Statements, one after the other; `text()` is the model file, `model()` the model."""

    t = Expr("t")

    def __init__(self, name: str = "model", title: str | None = None):
        quoted = f' "{title}"' if title else ""
        self._lines = [f"model {name}{quoted}"]

    def add(self, statement: str) -> None:
        """A statement as it is written in the language."""
        self._lines.append(statement)

    def param(self, name: str, value: Operand) -> Expr:
        """A parameter."""
        self.add(f"param {name} = {_text(value)}")
        return Expr(name)

    def coord(self, *names: str) -> Any:
        """Coordinates: one expression, or a tuple of them."""
        self.add(f"coord {', '.join(names)}")
        return Expr(names[0]) if len(names) == 1 else tuple(Expr(name) for name in names)

    def let(self, name: str, value: Operand) -> Expr:
        """A name for an expression."""
        self.add(f"let {name} = {_text(value)}")
        return Expr(name)

    def kinetic(self, value: Operand) -> None:
        """A part of the kinetic energy."""
        self.add(f"kinetic {_text(value)}")

    def potential(self, value: Operand) -> None:
        """A part of the potential energy."""
        self.add(f"potential {_text(value)}")

    def point(self, mass: Operand, position: Expr, gravity: Expr | None = None) -> None:
        """A point mass, with the potential energy -m g.P where the gravity vector is given."""
        self.kinetic(mass * dot(position.dot, position.dot) / 2 if isinstance(mass, Expr)
                     else dot(position.dot, position.dot) * (mass / 2))
        if gravity is not None:
            self.potential(-(dot(gravity, position) * mass))

    def force(self, coordinate: Expr, value: Operand) -> None:
        """A generalised force on a coordinate."""
        self.add(f"force {coordinate.text} = {_text(value)}")

    def constraint(self, name: str, left: Operand, right: Operand = 0) -> None:
        """left = right; with velocities where it has `.dot`."""
        self.add(f"constraint {name}: {_text(left)} = {_text(right)}")

    def initial(self, variable: Expr, value: Operand, *, guess: bool = False) -> None:
        """An initial value, exact or a guess."""
        self.add(f"initial {variable.text} {'~' if guess else '='} {_text(value)}")

    def output(self, name: str, value: Operand) -> None:
        """An output."""
        self.add(f"output {name} = {_text(value)}")

    def simulate(self, start: float, end: float, every: float) -> None:
        """The default of runs."""
        self.add(f"simulate {_text(start)} .. {_text(end)} every {_text(every)}")

    def text(self) -> str:
        """The model file."""
        return "\n".join(self._lines) + "\n"

    def model(self, **options: Any) -> Model:
        """The model, read and derived."""
        return Model(self.text(), **options)
