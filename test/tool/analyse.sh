# hamel compare and hamel linearize: files, standard input, searches, and errors that help.
. "$(dirname "$0")/../support/shell.bash"
cd "$work" || exit 1
check_svg() { # FILE
    if command -v xmllint > /dev/null; then
        run xmllint --noout "$1"
        expect_done
    fi
    run cat "$1"
    expect_out '<svg xmlns' '</svg>' '<text '
}

# ---- compare ----

run hamel compare skate --with vakonomic --mu blade=0.3 --to 1 --plot skate.svg
expect_done
expect_out 'how the motions diverge' 'not that of the mechanical system'
check_svg skate.svg
expect_out '>distance<' '>vakonomic<' '>theta<'

# With and without the quotes of the contract.
run hamel compare skate --with "conflated:\"y'*cos(theta) - x'*sin(theta) = 0\"@0.5" --state-only
expect_done
expect_out 'equally wrong'
run hamel compare skate --with "conflated:y'*cos(theta) = x'*sin(theta)" --state-only
expect_done

run hamel compare skate
expect_rejected '--with is missing'
run hamel compare skate --with newtonian
expect_rejected 'unknown comparison' 'vakonomic'
run hamel compare skate --with 'conflated:x = y'
expect_rejected 'does not occur in the Lagrangian' 'hint'
run hamel compare skate --with vakonomic --mu blad=1
expect_rejected "no multiplier of a constraint 'blad'"
run hamel compare skate --with vakonomic --mu blade=one
expect_rejected 'needs a number'
run hamel compare skate --with vakonomic --to -1
expect_rejected '--to'
run hamel compare skate --with vakonomic --plot skate.bmp
expect_rejected '.svg'
run hamel compare double-pendulum --with vakonomic
expect_rejected 'needs constraints'

# ---- linearize ----

run hamel linearize bicycle --param v --from 3 --to 7 --steps 8 --csv v.csv --plot v.svg
expect_done
expect_out 'unstable' 'stable'
check_svg v.svg
expect_out '>real part<' '>imaginary part<'
run head -n 1 v.csv
expect_out 'v,re1,im1,re2,im2,re3,im3,re4,im4,re5,im5,largest_re,stable'
checks=$((checks + 1))
[ "$(wc -l < v.csv)" -eq 10 ] || failed 'v.csv does not have 9 rows'

# A model from standard input is read once and varied all the same.
printf 'param k = 1, x0 = 2*k\ncoord x\nkinetic x'"'"'^2/2\npotential k/2*(x - x0)^2\ninitial x = x0\n' > spring.hamel
run hamel linearize - --param k --from 1 --to 9 --steps 2 < spring.hamel
expect_done
expect_out '0±1i' '0±2.236068i' '0±3i'
run hamel linearize spring.hamel --param k --from 1 --to 4 --steps 1 --json
expect_done
expect_out '"param": "k"' '"equilibrium": true' '"stable": "marginal"'

run hamel linearize double-pendulum --find rest
expect_done
expect_out 'double_pendulum: equilibrium' '2.3971994' '5.7873513'
run hamel linearize rolling-disc --find steady --hold "lean, yaw'"
expect_done
expect_out 'steady motion' 'left out'

run hamel linearize bicycle --param v --to 1
expect_rejected '--from'
run hamel linearize bicycle --param speed --from 0 --to 1
expect_rejected "no parameter 'speed'"
run hamel linearize bicycle --param v --from 0 --to 1 --steps 0.5
expect_rejected '--steps'
run hamel linearize n-pendulum --param N --from 1 --to 2
expect_rejected 'sets a size'
run hamel linearize bicycle --find anything
expect_rejected 'rest, steady or periodic'
run hamel linearize bicycle --hold x
expect_rejected '--hold needs --find'
run hamel linearize bicycle --find rest --hold nothing
expect_rejected "no 'nothing' to hold"
run hamel linearize bicycle --keep --drop
expect_rejected 'cannot be combined'
printf 'coord x\nkinetic x'"'"'^2/2\npotential x\n' > fall.hamel
run hamel linearize fall.hamel --find rest
expect_status 1
expect_err 'no equilibrium was found' 'hint'
run hamel linearize fall.hamel
expect_done
expect_out 'neither equilibrium nor steady motion'

# ---- check and eval ----

run hamel check "$HAMEL_SOURCE_DIR/test/cases/oracle/002-ex1-conflated.hamel"
expect_status 0
expect_err "z' occurs in constraint 'appell' but not in L"
run hamel eval slider-crank
expect_done
expect_out 'd(total)/dt' 'the sum of the powers'
run hamel eval slider-crank --json
expect_done
expect_out '"audit"' '"balanced": true'

# A sign that is wrong in most models is pointed at, and only there.
run hamel check - <<< "coord x, y; kinetic -(x'^2 + y'^2)/2"
expect_status 0
expect_err 'warning: M is not positive'
run hamel check - --json <<< "coord x, y; kinetic (x'^2 - y'^2)/2"
expect_status 0
expect_out 'M is not positive'
run hamel check - <<< "coord x, y; kinetic x'^2/2; constraint c: y = x"
expect_done

# Errors end with 1, also with --json; the last line claims no more than was tested.
run hamel check - <<< "coord x, y; kinetic x'^2/2"
expect_status 1
expect_err 'not determined'
expect_out 'the model is not sound'
run hamel check - --json <<< "coord x, y; kinetic (x'^2 + y'^2)/2; force x = 1/y"
expect_status 1
run hamel check - <<< "coord x, y; kinetic (x'^2 + y'^2)/2; constraint c: x^2 + y^2 = 1; initial x = 2, y = 0"
expect_status 2
run hamel check - <<< "coord x; kinetic x'^2/2; force x = sqrt(abs(x))"
expect_done
expect_out 'not Lipschitz at the initial state' 'well-posedness not established'
run hamel check - <<< "coord x; kinetic x'^2/2; force x = -x; initial x = 1"
expect_done
expect_out 'no problems found'

# Friction of the constraints: (14) does not hold, (35) of Udwadia and Kalaba does. C along the row does no work.
run hamel check - <<< "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y; constraint floor: y = 0
nonideal x = -0.2*abs(reaction(y))*x'; initial x' = 1"
expect_done
expect_out 'no: the constraints do work' "generalized D'Alembert, v·Qc = v·C, UK 2002 (35)"
run hamel check - --json <<< "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y; constraint floor: y = 0
nonideal y = 3; initial x' = 1"
expect_done
expect_out '"dalembert": true' '"ideal": true'

# When memory runs out the arithmetic behind the analysis aborts: that is said, and nothing else happens.
if [ -z "${HAMEL_SANITIZE-}" ]; then
    for limit in 60000 80000 100000 120000 150000; do
        (ulimit -v $limit; "$HAMEL" check n-trailer --set N=30) > memory.out 2> memory.err
        status=$?
        [ $status -eq 0 ] || [ $status -eq 1 ] || [ $status -eq 127 ] || { echo "limit $limit: status $status"; cat memory.err; exit 1; }
        [ $status -ne 1 ] || grep -q 'memory' memory.err || { echo "limit $limit:"; cat memory.err; exit 1; }
    done
fi

# ---- long expressions are folded ----

cat > long.hamel <<'MODEL'
coord a, b
kinetic a'^2*(2 + sum(i = 1..40, cos(i*b)/i)) + b'^2
initial b' = 1, a' = 1
simulate 0 .. 1
MODEL
run hamel check long.hamel
expect_done
expect_out 'J is conserved, see below' ' characters; --full prints all)'
expect_not "$out" 'cos(40*b)'
run hamel check long.hamel --full
expect_done
expect_out 'cos(40*b)' 'J is conserved, see below'
expect_not "$out" '--full prints all'

finish
