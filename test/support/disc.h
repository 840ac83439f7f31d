/* A thin disc that rolls upright or leaning: velocities that constraints give, in one text. */
#ifndef TEST_SUPPORT_DISC_H
#define TEST_SUPPORT_DISC_H

#include <hamel/hamel.h>

#define DISC                                                                                       \
    "param g = 9.81; coord x, y, yaw, lean, spin\n"                                                \
    "let e1 = x'*cos(yaw) + y'*sin(yaw) + yaw'*sin(lean)\n"                                        \
    "let e2 = -x'*sin(yaw) + y'*cos(yaw) - lean'*cos(lean)\n"                                      \
    "kinetic (e1^2 + e2^2 + (lean'*sin(lean))^2)/2 + (lean'^2 + (yaw'*cos(lean))^2)/8\n"           \
    "kinetic (spin' + yaw'*sin(lean))^2/4; potential g*cos(lean)\n"                                \
    "constraint a: x' = cos(yaw)*spin'; constraint b: y' = sin(yaw)*spin'\n"

#endif
