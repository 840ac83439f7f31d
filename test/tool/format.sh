#!/usr/bin/env bash
# hamel format: layout by example; on every example and bad file it is idempotent and changes no result.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
cat > rough.hamel << 'MODEL'
model   rough  "a title"   # first


# a comment
param m=1,s = 0.3,   I= 0.5#constants
coord x,y ,theta   # here
coord q[ 1 .. 3 ]
kinetic m/2*( x'^2+y'^2 )+m * s*theta'*(y'*cos(theta)-x' * sin(theta))+ I/2*theta'^2+sum( i=1..3,q[i]'^2+q[ i ]^-2 )
constraint blade:y'*cos( theta )=x'*sin(theta)
for i=1..3{
potential -(q[i] - 1)^2    # shift
      # inside
   initial q[ i ]~-0.5
   }
body b{mass m at [ x,y ]}
force x = if(x<0 and  not(y>=1),-1,
2*t),y=0
simulate 0..10   every 0.05
MODEL
cat > wanted.hamel << 'MODEL'
model rough "a title"  # first

# a comment
param m = 1, s = 0.3, I = 0.5  # constants
coord x, y, theta              # here
coord q[1..3]
kinetic m/2*(x'^2 + y'^2) + m*s*theta'*(y'*cos(theta) - x'*sin(theta)) + I/2*theta'^2 + sum(i = 1..3, q[i]'^2 + q[i]^-2)
constraint blade: y'*cos(theta) = x'*sin(theta)
for i = 1..3 {
  potential -(q[i] - 1)^2  # shift
  # inside
  initial q[i] ~ -0.5
}
body b { mass m at [x, y] }
force x = if(x < 0 and not(y >= 1), -1,
    2*t), y = 0
simulate 0 .. 10 every 0.05
MODEL
sed -i 's/#constants/# constants/' rough.hamel
run hamel format rough.hamel
expect_done
checks=$((checks + 1))
diff wanted.hamel "$out" > difference || failed "$(cat difference)"
cp rough.hamel mine.hamel
run hamel format mine.hamel --check
expect_status 1
expect_err 'not in canonical layout'
run hamel format mine.hamel --write
expect_status 0
run hamel format mine.hamel --check
expect_status 0
run hamel format - < rough.hamel
expect_status 0
run hamel format - --write
expect_status 2
run hamel format nowhere.hamel
expect_status 2
printf 'coord x @\n' > bad.hamel
run hamel format bad.hamel
expect_status 2
expect_no_output

# Idempotent, and the same model: what `derive` says does not change by a byte.
for file in "$HAMEL_SOURCE_DIR"/examples/*.hamel; do
    name=$(basename "$file")
    checks=$((checks + 2))
    hamel format "$file" > once.hamel 2> "$err" || failed "format $name"
    hamel format once.hamel > twice.hamel
    cmp -s once.hamel twice.hamel || failed "$name: the layout of the layout is another: $(diff once.hamel twice.hamel | head -4)"
    cp once.hamel "$name"
    case "$HAMEL_SANITIZE$name" in 1*) continue ;; esac
    grep -q 'include\|\.csv' "$file" && continue
    checks=$((checks + 1))
    [ "$(hamel eval "$file" --json 2>&1 | md5sum)" = "$(hamel eval "$name" --json 2>&1 | md5sum)" ] || failed "$name: another model"
done
finish
