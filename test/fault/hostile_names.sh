# Characters that a terminal obeys, that turn text round or have no width never reach it raw: from titles, texts,
# labels, file names, include paths, names of columns, cells, words of the command line; in text and JSON.
. "$(dirname "$0")/../support/shell.bash"
exec < /dev/null
cd "$work" || exit 1

rlo=$'\xE2\x80\xAE' zwsp=$'\xE2\x80\x8B' iso=$'\xE2\x81\xA6' tag=$'\xF3\xA0\x81\x81' csi=$'\xC2\x9B' bad=$'\x9B'
esc=$'\e]0;gone\a\e[2J'
evil="a${rlo}b${zwsp}c${iso}d${tag}e"
control="x${esc}y${csi}z${bad}"

# stdout and stderr together: nothing but letters, lines and tabs.
safe() { # hamel ARGUMENTS...
    checks=$((checks + 1))
    ran="hamel $(printf '%q ' "$@")"
    "$HAMEL" "$@" > "$out" 2> "$err"
    status=$?
    [ $status -lt 100 ] || failed "it crashed: $status"
    LC_ALL=C grep -qaP '[\x00-\x08\x0B-\x1F\x7F]|\xC2[\x80-\x9F]|\xE2\x80[\x8B-\x8F\xA8-\xAE]|\xE2\x81[\xA0-\xAF]|\xF3\xA0|\xEF\xBB\xBF' \
        "$out" "$err" && failed 'a character came through raw'
    iconv -f UTF-8 -t UTF-8 "$out" "$err" > /dev/null 2>&1 || failed 'the output is no UTF-8'
}

model() { # FILE TEXT
    printf 'model evil "%s"\nparam g = 9.81 in 0 .. 20 "%s", L = 1\ncoord th "%s"\nkinetic L^2*th'"'"'^2/2\npotential -g*L*cos(th)\noutput e = energy\nevent up: th = 0 rising record\ndraw point [sin(th), -cos(th)] color "%s" label "%s"\ninitial th = 0.3\nsimulate 0 .. 1 every 0.1\n' \
        "$2" "$2" "$2" "$2" "$2" > "$1"
}
model evil.hamel "$evil"
cp evil.hamel "$evil.hamel"
cp evil.hamel "$control.hamel" 2> /dev/null || cp evil.hamel "x${esc}y.hamel"
printf '%s\n1\n2\n' 'L' > members.csv
cp members.csv "$control.csv"

for json in '' --json; do
    for path in evil.hamel "$evil.hamel" "$control.hamel"; do
        for command in check derive eval run linearize explain; do
            safe $command "$path" $json
        done
        safe run "$path" $json --csv "$evil.csv" --plot "$evil.svg" --columns all
        safe run "$path" $json --ensemble members.csv --csv "$control.out"
        safe run "$path" $json --ensemble "$control.csv"
        safe sweep "$path" $json --grid 'L=1:2:3' --measure 'final(th)' --out "$evil.sweep.csv"
        safe linearize "$path" $json --param g --from 1 --to 2 --steps 2 --csv "$evil.l.csv"
        safe compare "$path" $json --with "vakonomic$evil"
        safe compare "$path" $json --with "conflated:th' = $control"
    done
    safe plot "$evil.csv" th -o "$evil.plot.svg" $json
    safe plot "$evil.csv" "$control" -o p.svg $json
    safe plot "$control" th -o p.svg $json
    # what does not exist, or is not allowed
    for word in "$evil" "$control"; do
        for command in check derive eval run linearize explain compare sweep plot "$word"; do
            safe $command "$word" $json
            safe $command evil.hamel $json "--$word" "$word"
        done
        safe eval evil.hamel $json --set "$word=1" --at "$word=2"
        safe eval evil.hamel $json --set "L=$word"
        safe eval evil.hamel $json --at "th=$word"
        safe eval evil.hamel $json --formulation "$word" --engine "$word"
        for option in --to --every --method --drift --step --columns --csv --plot --hdf5 --ensemble --at --max-steps --max-memory --engine; do
            safe run evil.hamel $json $option "$word"
            safe run evil.hamel $json $option "/nowhere/$word"
        done
        for option in --grid --random --points --measure --keep --shard --merge --samples --out; do
            safe sweep evil.hamel $json --out s.csv $option "$word"
        done
    done
done
safe examples "$evil"
safe manual "$control"
safe completion "$control"

# files that hold such characters
for word in "$evil" "$control"; do
    printf 'include "%s.inc"\n' "$word" > inc.hamel
    printf 'coord %s\nkinetic x\n' "$word" > names.hamel
    printf 'coord x # %s\nkinetic y # %s\n' "$word" "$word" > comments.hamel
    printf 'coord x; kinetic x'"'"'^2/2; constraint "%s": x = 1\n' "$word" > texts.hamel
    printf '%s,L\n1,2\n' "$word" > cells.csv
    printf 't,th\n1,%s\n' "$word" > values.csv
    for file in inc names comments texts; do
        safe eval $file.hamel
        safe check $file.hamel --json
    done
    for file in cells values; do
        safe run evil.hamel --ensemble $file.csv
        safe sweep evil.hamel --points $file.csv --out s.csv
        safe plot $file.csv t -o p.svg
        safe plot $file.csv nobody -o p.svg --json
    done
done
# what was written: SVG, headers of CSV
for file in *.svg *.csv *.out; do
    case $file in *values* | *cells*) continue ;; esac
    checks=$((checks + 1))
    LC_ALL=C grep -qaP '[\x00-\x08\x0B-\x1F\x7F]|\xC2[\x80-\x9F]|\xE2\x80[\x8B-\x8F\xA8-\xAE]|\xE2\x81[\xA0-\xAF]|\xF3\xA0' "$file" &&
        failed "a character came through raw into $(printf %q "$file")"
done
# and still readable
run hamel run evil.hamel
expect_done
grep -q 'a\\u{202E}b\\u{200B}c\\u{2066}d\\u{E0041}e' "$out" || failed 'the title is not shown'
finish
