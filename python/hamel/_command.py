"""The `hamel` command, in a process of its own.

`check`, `eval`, `linearize` and `compare` give what the command prints with `--json`. They run there because the
ball arithmetic behind them ends its process when memory runs out; a notebook survives that.
"""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import Any

from ._errors import Error


def command_path() -> str:
    """The command: HAMEL in the environment, that of the wheel, or that on the PATH."""
    bundled = os.path.join(os.path.dirname(__file__), "bin", "hamel")
    found = os.environ.get("HAMEL") or (bundled if os.access(bundled, os.X_OK) else shutil.which("hamel"))
    if not found:
        raise Error("the hamel command was not found", hint="put it on the PATH, or set HAMEL to its path")
    return found


def error_of(text: str) -> Error:
    """The first error among messages as the command prints them."""
    place = re.search(r"^(?:(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): )?(?:hamel: )?(?:error: )?(?P<message>[^\n]+)",
                      text)
    errors = re.search(r"^(?:(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): )?error: (?P<message>[^\n]+)", text, re.M)
    found = errors or place
    hint = re.search(r"^ *hint: (.*)$", text[found.start():] if found else text, re.M)
    if not found:
        return Error("the command failed", text=text or None)
    return Error(found["message"], found["file"], text, int(found["line"] or 0), int(found["column"] or 0),
                 hint[1] if hint else None)


def call(arguments: list[str], text: str | None) -> dict[str, Any]:
    """What the command prints with --json; `text` is the model where it does not lie in a file."""
    done = subprocess.run([command_path(), *arguments, "--json"], input=text, capture_output=True, text=True,
                          encoding="utf-8", env={**os.environ, "NO_COLOR": "1"})
    if done.stdout.strip():
        result: dict[str, Any] = json.loads(done.stdout)
        result["messages"] = done.stderr
        return result
    raise error_of(done.stderr)
