#!/usr/bin/env bash
# hamel.hpp compiles alone as C++17 and C++20, with and without exceptions; the example of docs/cpp.md runs.
set -eu
command -v g++ > /dev/null || exit 77
[ "$HAMEL_SANITIZE" = 0 ] || exit 77 # the program is linked with the release library
cd "$TMPDIR"
flags="-Wall -Wextra -Wpedantic -Wshadow -Werror -I$HAMEL_SOURCE_DIR/include"
for standard in c++17 c++20; do
    for exceptions in "" -fno-exceptions; do
        g++ -std=$standard $exceptions $flags "$HAMEL_SOURCE_DIR/examples/cpp/skate.cpp" -o skate \
            "$HAMEL_BUILD_DIR/libhamel.so" -Wl,-rpath,"$HAMEL_BUILD_DIR"
        ./skate "$HAMEL_SOURCE_DIR/examples/skate.hamel"
    done
done
