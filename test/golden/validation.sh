#!/usr/bin/env bash
# docs/validation.md lists what the tests compare. In the release build only: once is enough.
[ "${HAMEL_SANITIZE:-0}" = 0 ] || exit 77
[ -x "$HAMEL_BUILD_DIR/test/physics/test_expectations" ] &&
    [ -x "$HAMEL_BUILD_DIR/test/physics/test_reference_files" ] || exit 77
exec "$HAMEL_SOURCE_DIR/scripts/validation" --check
