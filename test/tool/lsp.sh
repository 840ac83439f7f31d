#!/usr/bin/env bash
# The language server through a client in Python: answers, diagnostics, renaming, broken input.
# HAMEL_LSP_ALL=1: every file of the bad-input corpus; HAMEL_LSP_RENAMES=300: so many random models.
set -eu
command -v python3 > /dev/null || { echo "python3 is not there"; exit 77; }
cd "$HAMEL_SOURCE_DIR/test/tool"
PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8 python3 lsp.py "$HAMEL" "$HAMEL_SOURCE_DIR"
