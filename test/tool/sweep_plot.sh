#!/usr/bin/env bash
# hamel sweep --plot: curves and bands over one name, maps over two, dots for more; what is refused.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
cat > drop.hamel << 'MODEL'
param g = 10, v = 0
coord z
kinetic z'^2/2
potential g*z
initial z = 0, z' = v
event low: z = -4 stop
simulate 0 .. 1
MODEL
has() { # FILE TEXT...
    local file=$1
    shift
    for text; do
        checks=$((checks + 1))
        grep -qF -- "$text" "$file" || failed "$file lacks '$text'"
    done
}
lacks() {
    checks=$((checks + 1))
    ! grep -qF -- "$2" "$1" || failed "$1 has '$2'"
}

# z(1) = v - g/2: the least of the map is dark and lies at the lower right, the largest is bright, at the upper left.
run hamel sweep drop.hamel --grid "g=1:3:3, v=0:4:3" --measure "end = final(z)" --plot map.svg
expect_done
has map.svg '#440154' '#fde725' '>end</text>' '>g</text>' '>v</text>' '9 points, 0 failed'
lacks map.svg '>failed</text>' # every point is ok: no map of status
checks=$((checks + 1))
sed -n 's/.*fill="#\(440154\|fde725\)" d="M\([0-9.]*\),\([0-9.]*\) .*/\1 \2 \3/p' map.svg | awk '
    $1 == "440154" && !n++ { x = $2; y = $3 }
    $1 == "fde725" && !m++ { good = $2 < x && $3 < y }
    END { exit !(n && m && good) }' || failed "dark and bright are not where they belong"

# Where points end differently, there is a map of it; g = 9 falls below -4 before t = 1.
run hamel sweep drop.hamel --grid "g=1|9, v=0|0.1" --measure "final(z)" --plot fate.svg
expect_done
has fate.svg '>status</text>' '>event</text>'

# One name: a curve; with random values bands of quantiles.
run hamel sweep drop.hamel --grid "g=1:3:9" --measure "final(z)" --plot one.svg
expect_done
has one.svg '>final(z)</text>'
lacks one.svg 'median'
run hamel sweep drop.hamel --grid "g=1:3:9" --random "v=uniform(0,1)" --samples 20 --measure "final(z)" --plot band.svg
expect_done
has band.svg '5 to 95 %' '25 to 75 %' 'median'
run hamel sweep drop.hamel --random "v=uniform(0,1)" --samples 500 --measure "final(z)" --plot random.svg
expect_done
has random.svg 'median'
run hamel sweep drop.hamel --random "v=uniform(0,1), g=uniform(1,2)" --samples 500 --measure "final(z)" --plot plane.svg
expect_done
has plane.svg '#440154' '#fde725'

# More names: a dot for each point and name.
run hamel sweep drop.hamel --grid "g=1:3:3, v=0:1:2, z=0:1:2" --measure "final(z)" --plot dots.svg
expect_done
checks=$((checks + 1))
[ "$(grep -c '<circle' dots.svg)" = 36 ] || failed "dots: $(grep -c '<circle' dots.svg), not 3 times 12"

# A measure that never has a value, and a single point, can be drawn, too.
run hamel sweep drop.hamel --grid "g=1|2, v=0|1" --measure "time(low)" --plot never.svg
expect_done
run hamel sweep drop.hamel --grid "g=1" --measure "final(z)" --plot point.svg
expect_done

bad() { # MESSAGE OPTIONS...
    local message=$1
    shift
    run hamel sweep drop.hamel --grid "g=1|2" "$@"
    expect_status 2
    expect_err "$message"
}
bad 'must end in .svg or .png' --plot map.txt
bad '--keep every' --keep every --out rows.csv --plot map.svg
bad 'not a shard' --shard 1/2 --out rows.csv --plot map.svg
run hamel sweep drop.hamel --grid "g=1|2" --plot /nowhere/map.svg
checks=$((checks + 1))
[ "$status" -ne 0 ] || failed 'a plot that cannot be written was not noticed'
finish
