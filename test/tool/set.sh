#!/usr/bin/env bash
# --set: parameters from the command line.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
cat > model.hamel << 'END'
param N = 2, m = 1, l = 2*m, w = [1, 2, 3], R = [[1, 2], [3, 4]]
coord q[1..N]
for i = 1..N { kinetic m/2*q[i]'^2 }
output m = m
output l = l
output w = w
output R = R
END
outputs() { run hamel eval model.hamel "$@"; }

outputs
expect_done
expect_number outputs l 2
outputs --set m=3
expect_number outputs m 3
expect_number outputs l 6
outputs --set m=3 --set l=5
expect_number outputs l 5
outputs --set m=3 --set m=4
expect_number outputs m 4
outputs --set=m=7
expect_number outputs m 7
outputs --set 'm=1/3 + sqrt(4)*pi'
expect_number outputs m 6.6165186405129195
outputs --set m=3 --set l=m^2+1 # of parameters declared before
expect_number outputs l 10
outputs --set m=-1e-3
expect_number outputs m -1e-3
outputs --set m=1e400
expect_rejected 'too large for a double'

# Vectors and matrices, whole and by component.
outputs --set 'w=[4, 5, 6]'
expect_number outputs 'w[3]' 6
outputs --set 'w[2]=9'
expect_number outputs 'w[1]' 1
expect_number outputs 'w[2]' 9
outputs --set 'R=[[5, 6], [7, 8]]'
expect_number outputs 'R[2,1]' 7
outputs --set 'R[1,2]=0.5'
expect_number outputs 'R[1,2]' 0.5
outputs --set 'w=[1, 2]'
expect_rejected '--set w' 'a vector of 3' 'a vector of 2'
outputs --set 'w=1'
expect_rejected 'a vector of 3' 'a number'
outputs --set 'm=[1, 2]'
expect_rejected 'a number' 'a vector of 2'
outputs --set 'w[4]=1'
expect_rejected '--set w[4]'
outputs --set 'R[3,1]=1'
expect_rejected '--set R[3,1]'

# A parameter that sets a size.
outputs --set N=4
expect_done
expect_out 'q[4]'
outputs --set N=2.5
expect_rejected 'must be a whole number, not 2.5'
outputs --set N=0
expect_rejected "'q' has no members"
outputs --set N=1e9
expect_rejected 'q'

# Names that are no parameters.
outputs --set mm=1
expect_rejected '--set mm: there is no such parameter' "did you mean 'm'?"
outputs --set gravity=1
expect_rejected '--set gravity: there is no such parameter'
outputs --set 'q=1'
expect_rejected '--set q: there is no such parameter'
outputs --set 'm=x'
expect_rejected "unknown name 'x'"
outputs --set 'm=l' # declared later
expect_rejected "unknown name 'l'"
outputs --set 'm=2*'
expect_rejected '--set m:1:'
outputs --set 'm=1 2'
expect_rejected '--set m:1:3'
outputs --set 'm='
expect_rejected '--set m'
outputs --set 'm=1/0'
expect_rejected 'not a finite number'
outputs --set ' =1'
expect_rejected '--set'

# It works for every command and for text from a pipe.
for command in check derive eval; do
    run hamel $command - --set N=3 --json < model.hamel
    expect_done
    expect_out '"q[3]"'
done
finish
