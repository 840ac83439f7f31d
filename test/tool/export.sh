#!/usr/bin/env bash
# hamel export: the command, and the formats that other programs run: each gives the accelerations of
# `hamel eval` at the initial state. Programs that are not installed are said to be left out.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1

# ---- the command ----
run hamel export skate --format c -o skate.c
expect_done
checks=$((checks + 1))
[ -s skate.c ] && [ -s skate.h ] && [ "$(ls | grep -c partial)" = 0 ] || failed "$(ls)"
for compiler in "gcc -std=c99 -pedantic" "g++" "clang -std=c99 -pedantic"; do
    command -v "${compiler%% *}" > /dev/null || continue
    run $compiler -Wall -Wextra -Werror -O2 -c skate.c -o skate.o
    expect_status 0
done
run hamel export skate --format c --single --name edge -o edge.c
expect_done
run gcc -std=c99 -pedantic -Wall -Wextra -Werror -Wdouble-promotion -O2 -c edge.c -o edge.o
expect_status 0
run hamel export skate --format c
expect_done
cp "$out" whole.c
run gcc -std=c99 -pedantic -Wall -Wextra -Werror -c whole.c -o whole.o
expect_status 0
run hamel export skate --format c -o o.c --json
expect_done
expect_out '"format": "c"' '"out": "o.c"'
run hamel export skate
expect_status 2
expect_err '--format says as what'
run hamel export skate --format cobol
expect_status 2
expect_err "unknown format 'cobol'"
run hamel export skate --format c -o skate.txt
expect_status 2
expect_err 'must end in .c'
run hamel export skate --format julia --single
expect_status 2
run hamel export ball-to-rest --format c -o ball.c
expect_status 2
expect_err 'one-sided' 'cannot be exported'
checks=$((checks + 1))
[ ! -e ball.c ] || failed 'ball.c was written'
run hamel export sliding-disc --format matlab -o disc.m
expect_status 2

# ---- units: the same bytes twice, nothing but what belongs there ----
if hamel export skate --format fmu2 -o a.fmu 2> /dev/null; then
    hamel export skate --format fmu2 -o b.fmu
    checks=$((checks + 1))
    cmp -s a.fmu b.fmu || failed 'two exports of one model differ'
    run hamel export skate --format fmu3 -o c.fmu
    expect_done
    run hamel export skate --format fmu3
    expect_status 2
    expect_err 'needs -o'
    run hamel export ball-to-rest --format fmu2 -o ball.fmu
    expect_status 2
    checks=$((checks + 1))
    [ ! -e ball.fmu ] || failed 'ball.fmu was written'
    run env CC=/nonexistent/cc "$HAMEL" export skate --format fmu2 -o source.fmu
    expect_status 0
    expect_err 'source alone'
fi

# ---- other programs: q'' at the initial state, one value a line ----
wanted() { # MODEL
    hamel eval "$1" --json | tr -d ' \n' | sed 's/.*"qdd":\[\([^]]*\)\].*/\1/' | tr ',' '\n' | awk 1
}
compare() { # MODEL PROGRAM: the values on stdout against eval's
    checks=$((checks + 1))
    wanted "$1" > wanted.txt
    paste wanted.txt "$out" | awk -v most=1e-9 '
        NF != 2 { bad = 1 }
        { off = $1 - $2; size = $1 < 0 ? -$1 : $1; if (off > most*(1 + size) || -off > most*(1 + size)) bad = 1 }
        END { exit bad || NR == 0 }' || failed "$2 differs from eval of $1: $(paste wanted.txt "$out" | head -5)"
}
python=/usr/bin/python3
models='skate double-pendulum rolling-disc n-pendulum pid four-bar heavy-top coin'
left_out=
for model in $models; do
    name=${model//-/_}
    if $python -c 'import sympy' 2> /dev/null; then
        hamel export $model --format sympy -o $name.py || failed "sympy $model"
        cat > try.py << SCRIPT
exec(open('$name.py').read())
import numpy
values = {**parameters, **initial, t: 0}
number = lambda X: numpy.array(sp.Matrix(X).subs(values).evalf().tolist(), dtype=float)
K = numpy.block([[number(M), -number(A).T], [number(A), numpy.zeros((A.shape[0],)*2)]]) if A.shape[0] else number(M)
r = numpy.vstack([number(Q) + number(C), number(b)]) if A.shape[0] else number(Q) + number(C)
for a in numpy.linalg.lstsq(K, r, rcond=1e-12)[0][:M.shape[0], 0]: print('%.17g' % a)
SCRIPT
        run $python try.py
        expect_status 0
        compare $model SymPy
    else
        left_out="$left_out sympy"
    fi
    if command -v octave-cli > /dev/null; then
        hamel export $model --format matlab --name "$name" -o $name.m || failed "matlab $model"
        n=$(wanted $model | wc -l)
        run octave-cli --no-window-system --eval "y = $name('initial'); d = $name(0, y); printf('%.17g\n', d($n+1:2*$n));"
        compare $model Octave
    else
        left_out="$left_out octave"
    fi
    run hamel export $model --format auto --name "$name" -o $name.f90
    if [ $status -eq 0 ] && command -v gfortran > /dev/null; then
        n=$(wanted $model | wc -l)
        size=$(sed -n 's/^! NDIM = //p' $name.f90)
        cat > main.f90 << SCRIPT
program main
  double precision :: U($size), PAR(200), F($size), J($size, $size), P($size, 200)
  integer :: icp(1), i
  call STPNT($size, U, PAR, 0D0)
  call FUNC($size, U, icp, PAR, 0, F, J, P)
  do i = $n + 1, 2*$n
    print '(ES25.17)', F(i)
  end do
end program
SCRIPT
        run gfortran -O0 $name.f90 main.f90 -o $name.exe
        expect_status 0
        run ./$name.exe
        compare $model Fortran
    elif [ $status -eq 2 ]; then
        expect_err 'depends on t'
    else
        left_out="$left_out gfortran"
    fi
    run hamel export $model --format julia -o $name.jl
    expect_status 0
    run hamel export $model --format modelica -o $name.mo
    expect_status 0
    checks=$((checks + 1))
    [ "$(grep -c '^model ' $name.mo)" = 1 ] && grep -q "^end $name;" $name.mo || failed 'the Modelica model does not end'
done
[ -z "$left_out" ] || echo "left out, not installed: $(printf '%s\n' $left_out | sort -u | tr '\n' ' ')"
finish
