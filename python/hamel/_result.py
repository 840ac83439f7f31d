"""Results of runs: views of the memory that the run wrote, with names."""
from __future__ import annotations

import html
from typing import Any

import numpy as np

_STATUS = ("ok", "event", "failed", "interrupted")


class _Columns:
    """A matrix whose columns have names."""

    def __init__(self, data: np.ndarray, names: list[str]):
        self.data = data
        self.names = names

    def __getitem__(self, name: str) -> np.ndarray:
        """A column, as a view: r["x"], r["x'"]."""
        if name not in self.names:
            raise KeyError(f"there is no column {name!r}; there are {', '.join(self.names)}")
        return self.data[:, self.names.index(name)]

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __len__(self) -> int:
        return len(self.data)

    @property
    def t(self) -> np.ndarray:
        """Times."""
        return self["t"]

    def to_pandas(self) -> Any:
        """A DataFrame; pandas must be installed."""
        import pandas
        return pandas.DataFrame(self.data, columns=self.names)


class Result(_Columns):
    """A motion: columns by name, and what `hamel run --json` tells as attributes."""

    def __init__(self, data: np.ndarray, names: list[str], texts: dict[str, str], summary: dict[str, Any]):
        super().__init__(data, names)
        self.texts = texts
        self.summary = summary

    @property
    def status(self) -> str:
        """"ok", "event" (a `stop` event ended it) or "failed" (the message says why)."""
        return self.summary["status"]

    @property
    def message(self) -> str:
        """Why, in a sentence; "" for a plain ok."""
        return self.summary["message"]

    @property
    def events(self) -> list[dict[str, Any]]:
        """Events in order: {"name", "t"}."""
        return self.summary["events"]

    @property
    def energy(self) -> dict[str, float] | None:
        """{"initial", "final", "balance_error"}; None where there is no total energy."""
        return self.summary["energy"]

    def to_xarray(self) -> Any:
        """A Dataset over t; xarray must be installed."""
        import xarray
        return xarray.Dataset({name: ("t", self[name], {"long_name": self.texts.get(name, name)})
                               for name in self.names if name != "t"}, coords={"t": self.t})

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.names[:12])
        last = "".join(f"<td>{value:.6g}</td>" for value in (self.data[-1, :12] if len(self) else []))
        return (f"<p>{html.escape(self.summary['model'])}: {len(self)} rows by {html.escape(self.summary['method'])}, "
                f"{html.escape(self.status)}</p><table><tr>{head}</tr><tr>{last}</tr></table>")

    def __repr__(self) -> str:
        return f"<hamel.Result {self.summary['model']}: {len(self)} rows, {self.status}>"


class Ensemble(_Columns):
    """Final states of many runs, a row a member."""

    def __init__(self, data: np.ndarray, names: list[str], summary: dict[str, Any]):
        super().__init__(data, names)
        self.summary = summary

    @property
    def status(self) -> list[str]:
        """"ok", "event", "failed" or "interrupted", by member."""
        return [_STATUS[int(value)] for value in self.data[:, 0]]
