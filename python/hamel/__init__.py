"""Hamel: constrained mechanics, from text to motion.

>>> import hamel
>>> m = hamel.load("skate")                 # a file, or a built-in example
>>> r = m.run(end=10)
>>> r.t, r["theta"], r["theta'"]            # NumPy views of the run's memory
"""
from . import builder
from .builder import Builder
from ._core import version as __version__
from ._errors import Error
from ._model import Model, example, examples, load
from ._result import Ensemble, Result

__all__ = ["Builder", "Ensemble", "Error", "Model", "Result", "builder", "example", "examples", "load"]
