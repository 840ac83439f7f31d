#!/usr/bin/env bash
# scripts/setup on machines that are not there: a folder of programs stands for each, with a dpkg-query
# that knows some packages, an apt-get that works or not, and sudo or none.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
bin=$work/bin
mkdir "$bin"
for tool in bash sed awk comm sort mktemp grep tail cat rm env; do
    ln -s "$(command -v $tool)" "$bin/$tool"
done
program() { # NAME, its text from stdin
    { echo '#!/usr/bin/env bash'; cat; } > "$bin/$1"
    chmod +x "$bin/$1"
}
setup() { # ARGUMENT...
    run env -u http_proxy PATH="$bin" bash "$HAMEL_SOURCE_DIR/scripts/setup" "$@"
}
is_user() { echo "echo $1" | program id; }

# Not Debian: what is needed is named, and nothing stops.
setup build
expect_status 0
expect_err 'not a Debian machine' 'libjansson-dev'

# Nothing is missing: silence.
program dpkg-query <<< 'for package in "$@"; do echo "installed $package"; done'
program apt-get <<< 'echo "$@" >> "$LOG"'
export LOG=$work/apt.log
is_user 1000
for what in '' build bench; do
    setup $what
    expect_done
    [ ! -s "$out" ] && [ ! -s "$err" ] && [ ! -e "$LOG" ] || failed 'it is not silent'
done

# As root, what is missing is installed, and only that.
program dpkg-query <<< 'echo "installed gcc"; echo "config-files cmake"'
is_user 0
setup build
expect_status 0
expect_err 'Installing, once'
grep -q '^-q .*update$' "$LOG" || failed 'no update'
grep -q 'install -y --no-install-recommends.* cmake .*ninja-build' "$LOG" || failed 'cmake is not installed'
! grep -q ' gcc ' "$LOG" || failed 'gcc is installed again'
! grep -q 'libcmocka' "$LOG" || failed 'what tests need is installed for a build'

# Not root: by sudo, or by a message that can be copied.
is_user 1000
setup build
expect_status 1
expect_err 'there is no sudo' 'apt-get update && apt-get install -y --no-install-recommends cmake'
rm "$LOG"
program sudo <<< 'echo sudo >> "$LOG"; exec "$@"'
setup build
expect_status 0
grep -q '^sudo' "$LOG" || failed 'not by sudo'

# Without a network, or without such packages.
program apt-get <<< 'echo "W: noise"; echo "E: Failed to fetch x  Temporary failure resolving deb"; exit 100'
setup build
expect_status 1
expect_err 'E: Failed to fetch' 'could not install' 'is the network there?'
program apt-get <<< 'echo "E: Unable to locate package libflint-arb-dev"; exit 100'
setup build
expect_status 1
expect_err 'Unable to locate package' 'could not install' 'package sources work'

setup nonsense
expect_status 2
expect_err 'usage: scripts/setup'
setup --list
expect_done
expect_out 'libsleef-dev' 'transcendental'
finish
