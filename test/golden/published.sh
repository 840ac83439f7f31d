#!/usr/bin/env bash
# Examples against numbers that others published or derived (test/data/benchmarks, test/data/errata.md).
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"

at() { # EXAMPLE [STATE]
    if [ $# -gt 1 ]; then run hamel eval "$1" --at "$2" < /dev/null; else run hamel eval "$1" < /dev/null; fi
    expect_done
}
compute() { awk "BEGIN { $1 }"; } # prints with %.17g where the caller says so

# Andrews' mechanism at t = 0; its reference has M q'' + G^T lambda = f.
at andrews
expect_number "accelerations" beta 14222.4439199541138705911625887
expect_number "accelerations" Theta -10666.8329399655854029433719415
for name in gamma Phi delta Omega epsilon; do expect_number "accelerations" $name 0 1e-8; done
expect_number "multipliers" 'upper[1]' -98.5668703962410896057654982170
expect_number "multipliers" 'upper[2]' 6.12268834425566265503114393122
for name in 'middle[1]' 'middle[2]' 'lower[1]' 'lower[2]'; do expect_number "multipliers" "$name" 0; done

# The four-bar linkage of sympy's tests.
at four-bar
expect_number "accelerations" q1 4.87581357677012e-3 1e-14
expect_number "accelerations" q2 -1.99018085717470e-2 1e-14
expect_number "accelerations" q3 1.21805731140735e-2 1e-14

# The rolling disc of sympy's tests: x', y' of the centre follow from rolling.
rates=$(compute 'r = 0.26; yaw = 0.3; lean = 0.1
    dyaw = 0.126603940595934; dlean = 0.215942571601660; dspin = 1.28736069604936
    roll = r * (dspin + dyaw * sin(lean)); tip = r * dlean * cos(lean)
    printf "x'\'' = %.17g, y'\'' = %.17g", roll * cos(yaw) + tip * sin(yaw), roll * sin(yaw) - tip * cos(yaw)')
at rolling-disc "yaw = 0.3, lean = 0.1, spin = 1.97, yaw' = 0.126603940595934,
    lean' = 0.215942571601660, spin' = 1.28736069604936, $rates"
expect_number "outputs" 'omega[1]' -0.2 1e-13
expect_number "outputs" 'omega[2]' 1.3 1e-13
expect_number "outputs" 'omega[3]' 0.15 1e-13
expect_number "outputs" 'alpha[1]' -0.925848952664489
expect_number "outputs" 'alpha[2]' -0.0181350656532944
expect_number "outputs" 'alpha[3]' 2.91695398184589

# The knife edge at t = 5 of its closed form.
at knife-edge "phi = 5.5, x' = -2.2295236196050911, y' = 2.219678159713005"
expect_number "multipliers" blade 8.997755771999208

# Appell's particle on the constraint: the non-ideal force is C itself (errata 0.2).
at appell
for x in 'x -10.5' 'y -14' 'z 17.5'; do # C = -a0 |v| v, |v| = sqrt 50
    set -- $x
    value=$(compute "printf \"%.17g\", $2 * sqrt(2)")
    expect_number "prescribed C" "$1" "$value"
    expect_number "non-ideal constraint force" "$1" "$value"
done

# Flannery's coin: phi'' = 0, theta'' = g sin(al) cos(phi)/((1 + beta) R), and its multipliers.
at coin "phi = 0.4, theta' = 1, phi' = 1, x' = 0.55263659640173105, y' = 0.23365100538519032"
expect_number "accelerations" phi 0
expect_number "accelerations" theta "$(compute 'printf "%.17g", 9.81 * sin(0.3) * cos(0.4) / (1.5 * 0.6)')"
expect_number "multipliers" roll "$(compute 'printf "%.17g", -0.5 / 1.5 * 2 * 9.81 * sin(0.3) * cos(0.4)')"
expect_number "multipliers" heading "$(compute 'printf "%.17g", -2 * (0.6 + 9.81 * sin(0.3) * sin(0.4))')"

# The arm's servo: beta' = -k beta.
at manipulator
expect_number "outputs" beta 0.9
sum=$(compute "printf \"%.17g\", $(number_of accelerations q2) + ($(number_of accelerations q4))")
checks=$((checks + 1))
compute "d = $sum + 0.9; if (d < 0) d = -d; exit !(d < 1e-12)" || failed "q2'' + q4'' = $sum, expected -0.9"
for x in q1 q3; do expect_number "control u of level" $x 0; done

# Kepler at the pericentre, the Laplace-Runge-Lenz vector of length e.
at kepler
expect_number "accelerations" x -6.25
expect_number "outputs" 'lenz[1]' 0.6
expect_number "outputs" angular_momentum 0.8

# The pendulum's tension, m (g cos + v^2/l).
at pendulum "x = 1.2, y = -1.6, x' = 0.8, y' = 0.6"
expect_number "outputs" tension 8.348
at pendulum-redundant "x = 1.2, y = -1.6, x' = 0.8, y' = 0.6"
expect_number "outputs" tension 8.348
expect_out 'again is redundant' 'sideways is redundant' 'multipliers not unique'

# The top by angles and by Euler parameters: the same acceleration of its centre at the start.
at heavy-top
z=$(number_of accelerations theta)
at heavy-top-quaternion "y = 1, x' = 4.61538"
expect_number "accelerations" z "$z" 1e-9
expect_out 'rank of M 6'

# Kirchhoff's vortices: x_i' = -1/(2 pi) sum_j G_j (y_i - y_j)/r^2, y_i' = 1/(2 pi) sum_j G_j (x_i - x_j)/r^2.
at vortices
expect_number "vortices at" "x[1]'" "$(compute 'printf "%.17g", -1.5 / 2.25 / (8 * atan2(1, 1))')"
expect_number "vortices at" "y[1]'" "$(compute 'printf "%.17g", -2 / (8 * atan2(1, 1))')"
expect_out 'the Lagrangian is degenerate'
finish
