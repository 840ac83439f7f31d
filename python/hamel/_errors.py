"""The exception that everything in hamel raises."""
from __future__ import annotations


class Error(Exception):
    """What is wrong, where, and what to do about it.

    `str(error)` is the text that the command prints: place, message, source line, caret, hint.
    """

    def __init__(self, message: str, file: str | None = None, text: str | None = None, line: int = 0,
                 column: int = 0, hint: str | None = None, status: str = ""):
        super().__init__((text or message).rstrip("\n"))
        self.message = message
        self.file = file
        self.line = line or None
        self.column = column or None
        self.hint = hint
        self.status = status
