#!/usr/bin/env bash
# hamel eval: states, formulations, and what is said where there is no answer.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1

# ---- --at ----
run hamel eval skate
expect_done
expect_number 'skate at' theta 0.2 # the initial state of the file
expect_number 'skate at' "theta'" 1
run hamel eval skate --at "theta = pi/3, x' = 2*m, y = -1e-3, t = 7"
expect_done
expect_out 'skate at t = 7'
expect_number 'skate at' theta 1.0471975511965976
expect_number 'skate at' "x'" 2
expect_number 'skate at' y -1e-3
expect_number 'skate at' "theta'" 1 # what is not mentioned stays
run hamel eval skate --at ''
expect_done
run hamel eval n-pendulum --at "q[2] = 1, q[N]' = 0.5, q[1 + 2]' = 2"
expect_done
expect_number 'n_pendulum at' 'q[2]' 1
expect_number 'n_pendulum at' "q[3]'" 2
expect_number 'n_pendulum at' "q[5]'" 0.5
run hamel eval pid --at "target = 0.5, motor = 2, sum_error = 3, t = 1"
expect_done
expect_number inputs target 0.5
expect_number states motor 2
expect_number states "sum_error'" 0.5
run hamel eval pid --at "t = 1" # the default signal
expect_number inputs target 1.1122391245252319

at() { run hamel eval "$1" --at "$2"; }
at skate "thta = 1"
expect_rejected "--at:1:1: error: unknown name 'thta'" "did you mean 'theta'?"
at skate "x = 1, y = zz, foo = 2" # several in one pass
expect_rejected "--at:1:12: error: unknown name 'zz'" "--at:1:16: error: unknown name 'foo'"
at skate "x'' = 1"
expect_rejected 'a state consists of t, coordinates, velocities, states and inputs'
at skate "m = 1"
expect_rejected 'hint: use --set'
at skate "x = y"
expect_rejected '--at:1:5: error: this value must be an expression of parameters'
at skate "x = 1 y = 2"
expect_rejected "expected ',' or the end, found 'y'"
at skate "x"
expect_rejected "--at:1:2: error: expected '='"
at skate "x = 1/0"
expect_rejected 'not a finite number'
at n-pendulum "q[9] = 1"
expect_rejected "q[9]"
at n-pendulum "q = 1"
expect_rejected "'q' needs an index"

# ---- exactly the state given: no projection, and it says how far off it is ----
at pendulum "x = 3, y = 4, x' = 1"
expect_done
expect_number 'pendulum at' x 3
expect_out 'violation of the constraints (position)' 'violation of the constraints (velocity)'
expect_number 'violation of the constraints (position)' rod 21
expect_number 'violation of the constraints (velocity)' rod 6
at pendulum "x = 0, y = -2, x' = 1"
expect_not "$out" 'violation of the constraints'

# ---- formulations ----
run hamel eval coin --at "x' = 0.6"
cp "$out" "$work/auto"
for name in auto uk gram kkt nullspace gauss singular dirac; do
    run hamel eval coin --at "x' = 0.6" --formulation $name
    expect_done
    for q in x y theta phi; do
        expect_number accelerations $q "$(out=$work/auto number_of accelerations $q)"
    done
    [ $name = auto ] || expect_out "solved by $name;"
done
for name in uk gram; do # they need a definite mass matrix
    run hamel eval heavy-top-quaternion --formulation $name
    expect_rejected "formulation '$name' does not apply here"
done
for name in kkt nullspace gauss singular dirac; do
    run hamel eval heavy-top-quaternion --formulation $name
    expect_done
done

# ---- singular and indefinite masses ----
printf "coord x, y\nkinetic x'^2/2\nforce x = 1\n" > free.hamel
run hamel eval free.hamel
expect_status 1
expect_err "the motion is not determined along y''" 'hint: M must be nonsingular'
expect_out 'accelerations not unique'
printf "coord x, y\nkinetic x'^2/2\nforce x = 1\nconstraint c: y = 2*x\n" > held.hamel
run hamel eval held.hamel
expect_done
expect_out 'solved by singular' 'rank of M 1, of A 1, of [M|A^T] 2; accelerations unique'
expect_number accelerations y 2
printf "coord x, y\nmass x, x = 1\nmass y, y = -1\nforce x = 3, y = 1\n" > indefinite.hamel
run hamel eval indefinite.hamel
expect_done
expect_out 'solved by kkt'
expect_number accelerations x 3
expect_number accelerations y -1
run hamel eval indefinite.hamel --formulation gauss
expect_rejected "formulation 'gauss' does not apply here"
# rank [M|A^T] = 2 does not suffice for an indefinite M (errata 2.9)
{ cat indefinite.hamel; echo "constraint c: x + y = 0"; } > null.hamel
run hamel eval null.hamel
expect_status 1
expect_err 'the motion is not determined along'
printf "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential 1/(x - y)\n" > divide.hamel
run hamel eval divide.hamel
expect_status 1
expect_no_output
expect_err 'divide.hamel:3:11: error: the potential energy is not finite at this state: a division by zero' 'x, y'
printf "coord x\nkinetic x'^2/2\nforce x = exp(1000*x)\n" > overflow.hamel
run hamel eval overflow.hamel --at x=1
expect_status 1
expect_err 'not finite'

for energy in "1e308*x'^2*1e308" "1e308*x'^2 + 1e308*x'^2" "1e308*x*(1e308*x')*(x'*1e308)"; do
    printf "coord x\nkinetic %s\ninitial x = 1, x' = 1\n" "$energy" > constants.hamel
    run timeout 20 "$HAMEL" eval constants.hamel
    expect_status 1
    expect_err 'not finite at this state: a value that is too large'
done

# ---- constraints that contradict each other, or say nothing ----
printf "coord x, y\nkinetic (x'^2 + y'^2)/2\n" > base.hamel
{ cat base.hamel; echo "constraint one: x'' = 1; constraint two: x'' = 2"; } > contradict.hamel
run hamel eval contradict.hamel
expect_status 1
expect_err "constraint 'two' contradicts the constraints before it by 1"
expect_out 'two is redundant'
{ cat base.hamel; echo "constraint one: x'' = 1; constraint two: 3*x'' = 3"; } > agree.hamel
run hamel eval agree.hamel
expect_done
expect_number accelerations x 1
{ cat base.hamel; echo "constraint flat: x^2 = 0"; } > flat.hamel # a row of zeros at x = 0
run hamel eval flat.hamel
expect_done
expect_out 'of A 0'
run hamel eval flat.hamel --at "x' = 1"
expect_status 1
expect_err "'flat'" '2'

# ---- implicit laws: no or several solutions ----
cat > painleve.hamel << 'END'
coord x, y
param mu = 0.5
kinetic (x'^2 + y'^2)/2
potential 9.81*y
constraint floor: y = 0
nonideal x = -mu*total_multiplier(floor)
initial x' = 1
END
run hamel eval painleve.hamel
expect_done
expect_number accelerations x -4.905

# ---- servos that cannot be enforced: nothing leads from the actuator to the coordinate ----
{ cat base.hamel; echo "servo go: x = sin(t) by y with gain 1"; } > behind.hamel
run hamel eval behind.hamel
expect_status 1
expect_err "'go'"
finish
