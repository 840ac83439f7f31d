#!/usr/bin/env bash
# The Python module: test/python/module.py in the build's own package. 77 where Python, NumPy or SciPy is missing.
set -eu
python=/usr/bin/python3
[ "$HAMEL_SANITIZE" = 0 ] || exit 77 # the interpreter is not instrumented
$python -c 'import numpy, scipy, sympy' 2> /dev/null || exit 77
"$HAMEL_SOURCE_DIR/scripts/build" release product > /dev/null
grep -q '^build python:' "$HAMEL_BUILD_DIR/build.ninja" || exit 77 # no headers: the module was left out
"$HAMEL_SOURCE_DIR/scripts/build" release python
export PYTHONPATH="$HAMEL_BUILD_DIR/python" PYTHONDONTWRITEBYTECODE=1
exec $python "$HAMEL_SOURCE_DIR/test/python/module.py"
