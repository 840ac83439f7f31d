/* The rows of a joint, made of parts: what each kind of joint keeps fixed. */
#ifndef HMI_MODEL_BUILD_JOINT_PARTS_H
#define HMI_MODEL_BUILD_JOINT_PARTS_H

#include "model/build/vectors.h"

#include <stdbool.h>

/* With P = P_B - P_A, the axes d_A = R_A d and d_B = R_B d2, and a1, a2 perpendicular to d_A in A: */
typedef enum hmi_joint_part {
    HMI_JOINT_POINT = 1,   /* P = 0 */
    HMI_JOINT_LINE = 2,    /* a1.P = a2.P = 0 */
    HMI_JOINT_NORMAL = 4,  /* d_A.P = 0 */
    HMI_JOINT_ALIGN = 8,   /* a1.d_B = a2.d_B = 0 */
    HMI_JOINT_CROSS = 16,  /* d_A.d_B = 0 */
    HMI_JOINT_TURN = 32,   /* the relative orientation is the one meant */
    HMI_JOINT_LENGTH = 64, /* |P| = L */
} hmi_joint_part;

enum { HMI_MOST_JOINT_ROWS = 6 };

/* Two bodies as a joint sees them, and the rows that follow. */
typedef struct hmi_assembly {
    hmi_graph *graph;
    bool planar;
    hmi_nine R[2];        /* frames */
    hmi_triple P[2];      /* points, in base axes */
    hmi_triple axis[2];   /* unit vectors in the axes of A and of B */
    hmi_triple across[2]; /* perpendicular to axis[0] and to each other; in the plane across[0] */
    hmi_nine C;           /* R_A^T R_B as meant */
    hmi_expr length;
    uint32_t count;
    hmi_expr residual[HMI_MOST_JOINT_ROWS];
    hmi_triple force[HMI_MOST_JOINT_ROWS];  /* on B for a unit multiplier, */
    hmi_triple moment[HMI_MOST_JOINT_ROWS]; /* and about its point */
    hmi_expr side; /* positive as meant, negative in a mirrored assembly; HMI_NONE: there is none */
} hmi_assembly;

/* Adds the rows of these parts, in the order of hmi_joint_part. */
void hmi_add_joint_rows(hmi_assembly *a, unsigned parts);

#endif
