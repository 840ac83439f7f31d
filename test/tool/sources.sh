#!/usr/bin/env bash
# Where a model comes from: a path, standard input, a built-in example; and files that are none.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
cd "$work" || exit 1
printf "model local \"From a file\"\ncoord x\nkinetic x'^2/2\n" > local.hamel

for command in check derive eval; do
    run hamel $command local.hamel < /dev/null
    expect_done
    run hamel $command "$work/local.hamel" < /dev/null
    expect_done
    run hamel $command - < local.hamel
    expect_done
    run hamel $command skate < /dev/null
    expect_done
done
run hamel check - < local.hamel
expect_out 'local: From a file'
run hamel check ./local.hamel < /dev/null
expect_out 'local: From a file'

# A file of that name goes before an example of that name; without it the example is found again.
cp local.hamel skate
run hamel check skate < /dev/null
expect_out 'local: From a file'
rm skate
run hamel check skate < /dev/null
expect_out "Hamel's skate"

# Messages name the source.
echo 'coord x; kinetic y' > bad.hamel
run hamel check bad.hamel < /dev/null
expect_rejected "bad.hamel:1:18: error: unknown name 'y'"
run hamel check - < bad.hamel
expect_rejected "<stdin>:1:18: error: unknown name 'y'"

# Not a model.
run hamel eval no-such-model < /dev/null
expect_rejected "cannot read 'no-such-model'" "hint: 'hamel examples'"
run hamel eval no/such/model.hamel < /dev/null
expect_rejected "cannot read 'no/such/model.hamel'"
expect_not "$err" "hamel examples"
run hamel eval "$work" < /dev/null
expect_rejected 'is a folder, not a model'
: > empty.hamel
run hamel check empty.hamel < /dev/null
expect_rejected 'the model has no coordinates'
run hamel check - < /dev/null
expect_rejected 'the model has no coordinates'
run hamel check '' < /dev/null
expect_rejected "cannot read ''"
if [ "$(id -u)" -ne 0 ]; then
    chmod 000 local.hamel
    run hamel check local.hamel < /dev/null
    expect_rejected "cannot read 'local.hamel'"
    chmod 644 local.hamel
fi

# Too large: said at once, whether it is a file, a pipe or standard input.
head -c 17825793 /dev/zero | tr '\0' '#' > large.hamel
start=$SECONDS
run hamel check large.hamel < /dev/null
expect_rejected "is larger than 8 MiB"
run hamel check - < large.hamel
expect_rejected "is larger than 8 MiB"
run hamel check - < <(head -c 200000000 /dev/zero | tr '\0' '#')
expect_rejected "is larger than 8 MiB"
checks=$((checks + 1))
[ $((SECONDS - start)) -le 20 ] || failed 'too slow'
rm large.hamel

# Binary files, NUL bytes, invalid UTF-8, a byte order mark, carriage returns.
run hamel check "$HAMEL" < /dev/null
expect_status 2
expect_no_output
printf 'coord x\0\nkinetic x\n' > nul.hamel
run hamel check nul.hamel < /dev/null
expect_rejected 'NUL byte'
printf 'coord x\nkinetic x\x27^2/2 \xff\n' > latin.hamel
run hamel check latin.hamel < /dev/null
expect_rejected 'latin.hamel:2:' 'not valid UTF-8'
printf '\xef\xbb\xbfcoord x\r\nkinetic x\x27^2/2\r\n' > dos.hamel
run hamel check dos.hamel < /dev/null
expect_done
printf "coord x\nkinetic x'^2/2" > no-newline.hamel
run hamel check no-newline.hamel < /dev/null
expect_done

# Includes are relative to the including file and stay in its folder tree.
mkdir -p parts
echo 'param m = 2' > parts/mass.hamel
printf "include \"parts/mass.hamel\"\ncoord x\nkinetic m/2*x'^2\n" > whole.hamel
run hamel check whole.hamel < /dev/null
expect_done
(cd / && "$HAMEL" check "$work/whole.hamel") > "$out" 2> "$err"
status=$? ran='hamel check whole.hamel from another folder'
expect_done
run hamel check - < whole.hamel
expect_done
for path in ../whole.hamel /etc/passwd parts/../../x.hamel; do
    printf 'include "%s"\n' "$path" > outside.hamel
    run hamel check outside.hamel < /dev/null
    expect_rejected "leaves the model's folder"
done
echo 'include "cycle.hamel"' > cycle.hamel
run hamel check cycle.hamel < /dev/null
expect_rejected 'includes itself'
finish
