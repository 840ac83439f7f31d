#!/usr/bin/env bash
# The pages of docs/gallery are what scripts/gallery makes of the examples.
[ "${HAMEL_SANITIZE:-0}" = 0 ] || exit 77 # examples.sh runs these commands there
cd "${HAMEL_SOURCE_DIR:-.}" && scripts/gallery --check
