# Outputs destroy nothing: what is in the way, what is read, what is written twice; pipes, devices and
# full disks. Every format goes through one writer, so every format is tried in every place.
. "$(dirname "$0")/../support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
printf "coord x\nkinetic x'^2/2\npotential x^2/2\ninitial x = 1\nsimulate 0 .. 1\n" > model.hamel
printf 'include "part.hamel"\nkinetic x'"'"'^2/2\nsimulate 0 .. 1\n' > whole.hamel
printf 'coord x\n' > part.hamel
printf 'x\n1\n2\n' > members.csv
formats='--csv:csv --plot:svg'
"$HAMEL" run model.hamel --csv data.csv > /dev/null
"$HAMEL" run model.hamel --plot probe.png > /dev/null 2>&1 && formats+=' --plot:png'
"$HAMEL" run model.hamel --hdf5 probe.h5 > /dev/null 2>&1 && formats+=' --hdf5:h5'
cp model.hamel model.kept; cp part.hamel part.kept; cp members.csv members.kept; cp data.csv data.kept

unharmed() { # FILE COPY
    checks=$((checks + 1))
    cmp -s "$1" "$2" || failed "$1 was changed"
}
gone() { # FILE
    checks=$((checks + 1))
    [ ! -e "$1" ] && [ ! -L "$1" ] || failed "$1 is there"
}

# An option that names a file needs a name. The list is the commands' own: a new option is tried, too.
for command in run compare linearize plot; do
    for option in $("$HAMEL" $command --help | sed -n 's/^  \(-[^ ]*\) FILE .*/\1/p'); do
        run hamel $command model.hamel $option ''
        expect_rejected "$option needs the name of a file"
    done
done

for format in $formats; do
    option=${format%:*} end=${format#*:} name=out.${format#*:}
    write() { run hamel run model.hamel $option "$@"; } # FILE...

    # A regular file is replaced and keeps its permissions; nothing is left beside it.
    echo old > $name; chmod 640 $name
    write $name
    expect_done
    [ "$(stat -c %a $name)" = 640 ] || failed 'the permissions changed'
    [ "$(wc -c < $name)" -gt 10 ] || failed 'the file was not replaced'
    gone $name.partial
    rm $name

    # A link is refused, and so is one in the place of the .partial; where it leads stays as it was.
    echo precious > precious; cp precious precious.kept
    ln -s precious $name
    write $name
    expect_rejected "cannot write '$name': it is a symbolic link"
    rm $name
    ln -s nowhere-yet $name # a dangling one
    write $name
    expect_rejected 'it is a symbolic link'
    gone nowhere-yet
    rm $name
    ln -s precious $name.partial
    write $name
    expect_rejected "'$name.partial' is in the way: it is a symbolic link"
    unharmed precious precious.kept
    rm $name.partial
    echo left over > $name.partial # by a run that was killed
    write $name
    expect_done
    gone $name.partial
    rm $name

    # Folders, missing and closed ones.
    mkdir $name
    write $name
    expect_rejected "cannot write '$name': Is a directory"
    rmdir $name
    write /nowhere/$name
    expect_rejected "cannot write '/nowhere/$name': No such file or directory"
    if [ "$(id -u)" -ne 0 ]; then
        mkdir closed; chmod 555 closed
        write closed/$name
        expect_rejected 'Permission denied'
        chmod 755 closed; rmdir closed
        echo old > $name; chmod 444 $name
        write $name
        expect_rejected 'Permission denied'
        rm -f $name
    fi

    # What the command reads, under whatever name: the model, what it includes, by a hard link.
    ln model.hamel $name
    write $name
    expect_rejected 'which this command reads'
    unharmed model.hamel model.kept
    rm $name
    ln part.hamel $name
    run hamel run whole.hamel $option $name
    expect_status 2
    expect_err 'which this command reads'
    unharmed part.hamel part.kept
    rm $name
    cp model.hamel $name.partial
    run hamel run $name.partial $option $name
    expect_rejected 'which this command reads'
    unharmed $name.partial model.kept
    rm $name.partial
    cp model.hamel $name
    run bash -c '"$0" run - "$1" "$2" < "$2"' "$HAMEL" $option $name
    expect_rejected 'standard input'
    unharmed $name model.kept
    rm $name
    run bash -c '"$0" run model.hamel "$1" "$2" > "$2"' "$HAMEL" $option $name
    expect_status 2
    expect_err 'standard output'
    rm $name

    # A pipe is written, not replaced.
    mkfifo $name
    timeout 20 cat $name > piped.$end &
    reader=$!
    write $name
    expect_done
    wait $reader
    [ -p $name ] || failed 'the pipe was replaced'
    [ "$(wc -c < piped.$end)" -gt 10 ] || failed 'nothing came through the pipe'
    rm $name

    # A disk that fills up, at once and later: a message, status 1, nothing under the name itself.
    for size in 1 4; do
        run bash -c "trap '' XFSZ; ulimit -c 0; ulimit -f $size; exec \"\$0\" run model.hamel --to 500 $option $name" "$HAMEL"
        expect_status 1
        expect_err "cannot write '$name': File too large"
        gone $name
        rm -f $name.partial
    done
done

# Devices.
run hamel run model.hamel --csv /dev/full
expect_status 1
expect_err "cannot write '/dev/full': No space left on device"
case $formats in *hdf5*)
    run hamel run model.hamel --hdf5 /dev/full
    expect_status 1
    expect_err "cannot write '/dev/full': No space left on device"
    run hamel run model.hamel --hdf5 /dev/null
    expect_done
    [ -c /dev/null ] || failed '/dev/null was replaced'
    if command -v h5dump > /dev/null; then
        run h5dump -H piped.h5
        expect_done
        expect_out 'DATASET "q"'
    fi
    ;;
esac
run bash -c '"$0" run model.hamel --csv /dev/stdout > both.txt' "$HAMEL"
expect_done
run head -n 1 both.txt
expect_out "t,x,x'"
run grep -c . both.txt
[ "$(cat "$out")" -gt "$(wc -l < data.csv)" ] || failed 'the summary overwrote the rows'
run bash -c '"$0" run model.hamel --csv >(cat > substituted.csv); sleep 0.3' "$HAMEL"
expect_status 0
unharmed substituted.csv data.csv

# Two outputs of one command, by two names of one file and by the name of a .partial.
run hamel run model.hamel --csv o.svg --plot o.svg
expect_rejected "--csv 'o.svg' and --plot 'o.svg' are the same file"
run hamel run model.hamel --csv ./o.svg --plot "$work/o.svg"
expect_rejected 'are the same file'
run hamel run model.hamel --csv o.svg.partial --plot o.svg
expect_rejected 'are the same file'
gone o.svg
run hamel linearize model.hamel --param a --csv o.svg --plot o.svg
expect_rejected 'are the same file'

# Other inputs: members, results.
run hamel run model.hamel --ensemble members.csv --csv members.csv
expect_rejected 'read by this command'
unharmed members.csv members.kept
ln data.csv data.svg
run hamel plot data.csv
expect_rejected 'which this command reads'
run hamel plot data.csv -o data.svg
expect_rejected 'which this command reads'
unharmed data.csv data.kept
run hamel run model.hamel --ensemble members.csv --csv /nowhere/out.csv
expect_rejected "cannot write '/nowhere/out.csv': No such file or directory"
finish
