# The host's locale changes nothing: JSON, C, CSV, SVG and text are written, and models, options and CSV are read,
# the same where a comma is the decimal point: in the command, and in a program that uses the library and keeps its
# locale (test/fault/inject/comma.c; there numbers of options are left out, which the command itself reads).
. "$(dirname "$0")/../support/shell.bash"
[ "${HAMEL_SANITIZE:-0}" = 0 ] || exit 77 # the sanitizers must be preloaded first
exec < /dev/null
cd "$work" || exit 1

# A German locale: one that is here, or one made for the purpose.
german=
for name in de_DE.UTF-8 de_DE.utf8 de_AT.UTF-8 fr_FR.UTF-8; do
    locale -a 2> /dev/null | grep -qix "${name/UTF-8/utf8}" && german=$name
done
if [ -z "$german" ] && localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" > /dev/null 2>&1; then
    export LOCPATH=$work
    german=de_DE.UTF-8
fi
${CC:-cc} -shared -fPIC -O1 -o comma.so "$HAMEL_SOURCE_DIR/test/fault/inject/comma.c" -ldl || exit 77
[ -n "$german" ] || exit 77

printf 's,x\n0.25,1.5e-3\n' > members.csv
german() { LC_ALL=$german LD_PRELOAD=$work/comma.so "$HAMEL" "$@"; }
# It is one: printf gives a comma.
checks=$((checks + 1))
[ "$(LC_ALL=$german LD_PRELOAD=$work/comma.so HAMEL_SHOW_COMMA=1 "$HAMEL" --version 2>&1 | grep -c '2,5')" = 1 ] ||
    failed 'the locale has no decimal comma'

same() { # ARGUMENTS: what is printed, and the files o.*
    ran="hamel $*"
    rm -f o.*
    "$HAMEL" "$@" > plain.out 2> plain.err
    mkdir -p plain && rm -f plain/* && mv o.* plain/ 2> /dev/null
    german "$@" > "$out" 2> "$err"
    status=$?
    sed -i -E '/"wall_s"|_per_s"|^  speed|per second|per_second/d; s/, [0-9.e+-]+ m?s$//' plain.out "$out"
    checks=$((checks + 1))
    cmp -s plain.out "$out" || failed "the output differs: $(diff plain.out "$out" | head -4)"
    cmp -s plain.err "$err" || failed "the messages differ: $(diff plain.err "$err" | head -4)"
    for file in plain/*; do
        [ -e "$file" ] || continue
        checks=$((checks + 1))
        cmp -s "$file" "${file#plain/}" || failed "${file#plain/} differs"
    done
}
for json in '' --json; do
    same eval skate --set s=0.25 --at "x=1.5, t=0.125" $json
    same eval skate --geometry $json
    same check skate $json
    same derive skate $json
    same run skate --to 1.5 --every 0.25 --rtol 1.5e-8 --csv o.csv --plot o.svg --columns all $json
    same run pendulum --to 1.5 --method midpoint --step 0.0625 --drift 'baumgarte(2.5,2.5)' $json
    same run skate --ensemble members.csv --to 1.5 --jobs 1 --csv o.csv $json
    same sweep skate --grid 's=0.125:0.5:3' --measure 'final(x), settled(y,0.5)' --to 1.5 --jobs 1 --out o.csv $json
    same linearize pendulum --param g --from 1.5 --to 2.5 --steps 2 --csv o.csv --plot o.svg $json
    same compare skate --with vakonomic --mu blade=0.25 --to 1.5 --plot o.svg $json
done
same derive skate --format c
same derive skate --format latex
same explain skate --stage tape
same explain skate --stage graph
same explain skate --stage solve
"$HAMEL" run skate --to 1 --csv results.csv > /dev/null
same plot results.csv x y -o o.svg
same run skate --to 1.5x
same run skate --max-memory 1.5G

# The library alone.
export HAMEL_KEEP_LOCALE=1
same eval skate --json
same derive skate --json
same derive skate --format c
same derive skate --format latex
same derive skate
same explain skate --stage tape
same check skate --json
same run skate --csv o.csv --plot o.svg --columns all --json
same run skate --ensemble members.csv --jobs 1 --csv o.csv --json
same plot results.csv x y -o o.svg --json
printf "coord x\nkinetic x'^2/2\nforce x = 1.5*sqrt(x - 0.25)\ninitial x = 0.125\n" > wrong.hamel
same eval wrong.hamel --json
finish
