#!/usr/bin/env bash
# hamel import: what a URDF file may say, and what has no meaning here.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
run hamel import /dev/null
! grep -q 'without expat' "$err" || exit 77
inertial='<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
base='<link name="base"/>'
arm="<link name=\"arm\">$inertial</link>"
ends='<parent link="base"/><child link="arm"/>'
limit='<limit lower="-1" upper="1" effort="1" velocity="1"/>'

# TEXT...: a robot of these elements, one in a line from line 2 on.
robot() { { echo '<robot name="r">'; printf '%s\n' "$@"; echo '</robot>'; } > r.urdf; }
import() { robot "$@"; run hamel import r.urdf; }
refused() { # LINE MESSAGE
    expect_rejected "r.urdf:$1:" "$2"
}
# The model that was printed is sound.
expect_model() {
    expect_status 0
    cp "$out" model.hamel
    run hamel eval model.hamel
    expect_status 0
}

# ---- what is read ----
import "$base" "$arm" "<joint name=\"q\" type=\"revolute\">$ends$limit<axis xyz=\"0 1 0\"/></joint>"
expect_done
expect_out 'coord q' 'on base by hinge(q, [0, 1, 0])' 'constraint q_low: q >= -1' 'constraint q_high: q <= 1'
expect_model
run hamel import --no-limits r.urdf
expect_not "$out" 'constraint'
expect_model
run hamel import --actuators r.urdf
expect_out 'input u_q = 0' 'force q = u_q'
expect_model
run hamel import --floating r.urdf
expect_out 'on ground at [base_x, base_y, base_z] by ball(base_e0, base_e1, base_e2, base_e3)'
run hamel import --json r.urdf
expect_out '"links": 2' '"text": "model robot'
run hamel import - < r.urdf
expect_out 'imported from <stdin>'
import "$base" "$arm" "<joint name=\"q\" type=\"planar\">$ends<axis xyz=\"0 0 2\"/></joint>"
expect_out 'coord q_x, q_y, q_a'
expect_model
import "$base" "$arm" "<joint name=\"q\" type=\"floating\">$ends<origin xyz=\"1 2 3\" rpy=\"0.1 0 0\"/></joint>"
expect_out 'at [1, 2, 3] + rotx(0.1)*[q_x, q_y, q_z]'
expect_model
import "$base" "$arm" "<joint name=\"q\" type=\"continuous\">$ends<dynamics damping=\"2\" friction=\"0.5\"/></joint>"
expect_out "dissipation 2/2*(q)'^2" "force q = -0.5*sign(q')"
expect_model
run hamel import --no-friction r.urdf
expect_not "$out" 'sign'
# Names: reserved words, dashes, digits, two that become the same.
import "$base" "$arm" '<link name="arm-2"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>' \
    "<joint name=\"let\" type=\"continuous\">$ends</joint>" \
    '<joint name="a b" type="continuous"><parent link="arm"/><child link="arm-2"/></joint>' \
    '<link name="arm_2"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>' \
    '<joint name="a-b" type="continuous"><parent link="arm"/><child link="arm_2"/></joint>'
expect_out 'coord let_' 'coord a_b' 'coord a_b_2' 'body arm_2 ' 'body arm_2_2' 'arm-2'
expect_model
# 0 is outside of the limits: the start is in their middle; limits that are equal hold the joint.
import "$base" "$arm" "<joint name=\"q\" type=\"revolute\">$ends<limit lower=\"-3\" upper=\"-1\" effort=\"1\" velocity=\"1\"/></joint>"
expect_out 'initial q ~ -2'
expect_model
import "$base" "$arm" "<joint name=\"q\" type=\"continuous\">$ends</joint>" '<link name="w"/>' \
    '<joint name="s" type="revolute"><parent link="arm"/><child link="w"/><limit lower="0.3" upper="0.3" effort="1" velocity="1"/></joint>'
expect_out 'by hinge(0.3, [1, 0, 0])'
expect_model

# ---- what has no meaning ----
import "$base" "$arm" "<joint name=\"q\" type=\"wobbly\">$ends</joint>"; refused 4 "there is no joint of type 'wobbly'"
import "$base" "$arm" "<joint name=\"q\">$ends</joint>"; refused 4 'this joint has no type'
import "$base" "$arm" "<joint type=\"fixed\">$ends</joint>"; refused 4 "<joint> needs the attribute 'name'"
import '<link/>'; refused 2 "<link> needs the attribute 'name'"
import "$base" "$base"; refused 3 "there are two links called 'base'"
import "$base" "$arm" "<joint name=\"q\" type=\"fixed\">$ends</joint>" "<joint name=\"q\" type=\"fixed\">$ends</joint>"
refused 5 "there are two joints called 'q'"
import "$base" "$arm" '<joint name="q" type="fixed"><parent link="base"/></joint>'; refused 4 "joint 'q' has no child"
import "$base" "$arm" '<joint name="q" type="fixed"><child link="arm"/></joint>'; refused 4 "joint 'q' has no parent"
import "$base" '<joint name="q" type="fixed"><parent link="base"/><child link="arm"/></joint>'
refused 3 "names the link 'arm', which is not there"
import "$base" "$arm"; refused 3 "the robot has two roots: 'base' and 'arm'"
import "$base" "$arm" "<joint name=\"q\" type=\"fixed\">$ends</joint>" "<joint name=\"p\" type=\"fixed\">$ends</joint>"
refused 5 "link 'arm' hangs on two joints: 'q' and 'p'"
import "$arm" '<joint name="q" type="fixed"><parent link="arm"/><child link="arm"/></joint>'; refused 3 'connects a link with itself'
import "$base" "$arm" "<joint name=\"q\" type=\"fixed\">$ends</joint>" \
    '<joint name="p" type="fixed"><parent link="arm"/><child link="base"/></joint>'
refused 2 'the links form a circle'
import "$base" "$arm" '<link name="c"/>' '<joint name="q" type="fixed"><parent link="c"/><child link="arm"/></joint>' \
    '<joint name="p" type="fixed"><parent link="arm"/><child link="c"/></joint>'
refused 2 'they form a circle'
import "$base" "$arm" "<joint name=\"q\" type=\"continuous\">$ends<axis xyz=\"0 0 0\"/></joint>"; refused 4 "the axis of joint 'q' is zero"
import "$base" "$arm" "<joint name=\"q\" type=\"continuous\">$ends<axis xyz=\"0 0\"/></joint>"; refused 4 "'xyz' must be 3 finite numbers"
import "$base" "$arm" "<joint name=\"q\" type=\"continuous\">$ends<axis xyz=\"0 0 1 2\"/></joint>"; refused 4 'has more than 3 numbers'
import "$base" "$arm" "<joint name=\"q\" type=\"continuous\">$ends<origin xyz=\"0 0 1e999\"/></joint>"; refused 4 'finite'
import "$base" "$arm" "<joint name=\"q\" type=\"continuous\">$ends<origin xyz=\"0 nan 1\"/></joint>"; refused 4 'finite'
import "$base" "$arm" "<joint name=\"q\" type=\"revolute\">$ends<limit lower=\"2\" upper=\"1\"/></joint>"; refused 4 'in the wrong order'
import "$base" "$arm" "<joint name=\"q\" type=\"continuous\">$ends<dynamics damping=\"-1\"/></joint>"; refused 4 'the damping of joint'
import "$base" "$arm" "<joint name=\"q\" type=\"continuous\">$ends<mimic joint=\"p\"/></joint>"; refused 4 "there is no joint 'p'"
import "$base" "$arm" "<joint name=\"q\" type=\"continuous\">$ends<mimic joint=\"q\"/></joint>"; refused 4 'mimics itself'
import "$base" "$arm" "<joint name=\"q\" type=\"fixed\">$ends<mimic joint=\"q\"/></joint>"; refused 4 'no single coordinate'
import "$base" '<link name="arm"/>' "<joint name=\"q\" type=\"continuous\">$ends</joint>"; refused 4 'moves nothing that has mass'
import "$base" '<link name="arm"><inertial><mass value="-1"/></inertial></link>' "<joint name=\"q\" type=\"fixed\">$ends</joint>"
refused 3 "the mass of link 'arm' is negative"
import "$base" '<link name="arm"><inertial><mass value="heavy"/></inertial></link>'; refused 3 "'value' must be 1 finite number"
import "$base" '<link name="arm"><inertial><mass value="1"/><inertia ixx="1" ixy="5" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>' \
    "<joint name=\"q\" type=\"fixed\">$ends</joint>"
refused 3 'the matrix is not positive'
import "$base" '<link name="arm"><inertial><inertia ixx="1"/></inertial></link>'; refused 3 "<inertia> needs the attribute 'ixy'"
import '<xacro:macro name="leg"/>' "$base"; refused 2 'is a macro of xacro'
import "$base" '<wheel/>'; expect_status 0; expect_err '<wheel> is passed over'
robot; run hamel import r.urdf; expect_rejected 'the robot has no links'

# ---- hostile files ----
echo '<sdf version="1.6"/>' > r.urdf; run hamel import r.urdf; refused 1 'expected <robot>, found <sdf>'
echo 'no xml at all' > r.urdf; run hamel import r.urdf; refused 1 'this is not XML'
: > r.urdf; run hamel import r.urdf; expect_rejected 'this is not XML'
printf '<robot name="r"><link name="a"' > r.urdf; run hamel import r.urdf; refused 1 'this is not XML'
printf '\377\376\000<\000r' > r.urdf; run hamel import r.urdf; expect_rejected 'this is not XML'
cat > r.urdf << 'END'
<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<robot name="&c;"/>
END
run hamel import r.urdf; refused 1 'document types and entities are not read'
cat > r.urdf << 'END'
<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<robot name="r"><link name="&x;"/></robot>
END
run hamel import r.urdf; refused 1 'document types and entities are not read'; expect_not "$err" 'root:'
{ printf '<robot name="r">'; for i in $(seq 300); do printf '<a>'; done; } > r.urdf
run hamel import r.urdf; expect_rejected 'nest more than 100 deep'
{ echo '<robot name="r">'; printf '<link name="%s"/>\n' "$(head -c 100000 /dev/zero | tr '\0' 'x')"; echo '</robot>'; } > r.urdf
run hamel import r.urdf; expect_status 0
{ # a chain of 3000 links
    echo '<robot name="r"><link name="l0"/>'
    for i in $(seq 3000); do
        echo "<link name=\"l$i\">$inertial</link><joint name=\"j$i\" type=\"fixed\"><parent link=\"l$((i - 1))\"/><child link=\"l$i\"/></joint>"
    done
    echo '</robot>'
} > r.urdf
run hamel import r.urdf; expect_done; expect_out 'body l3000'
run hamel import; expect_rejected 'one file at a time'
run hamel import nowhere.urdf; expect_rejected "cannot read 'nowhere.urdf'"
run hamel import .; expect_rejected "cannot read '.'"
finish
