/* CVODE as users call it for problems that are not stiff: see peer_cvode.h. */
#include "peer_cvode.h"

#ifdef HAMEL_SUNDIALS

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

static int rates(realtype t, N_Vector state, N_Vector rate, void *user)
{
    const hand_model *model = user;
    int n = hand_coordinates(*model);
    const double *y = N_VGetArrayPointer(state);
    double *dy = N_VGetArrayPointer(rate);
    (void)t;
    memcpy(dy, y + n, (size_t)n * sizeof *dy);
    hand_accelerate(*model, y, y + n, dy + n, 1);
    return 0;
}

static void silent(int code, const char *module, const char *function, char *message, void *user)
{
    (void)code, (void)module, (void)function, (void)message, (void)user;
}

bool peer_cvode(hand_model model, double end, double tolerance, double *y)
{
    SUNContext context;
    realtype t = 0;
    if (hand_size(model) != 2 * hand_coordinates(model) || SUNContext_Create(NULL, &context) != 0)
        return false;
    N_Vector state = N_VMake_Serial(hand_size(model), y, context);
    void *solver = CVodeCreate(CV_ADAMS, context);
    SUNNonlinearSolver iteration = SUNNonlinSol_FixedPoint(state, 0, context);
    bool good = CVodeSetErrHandlerFn(solver, silent, NULL) == CV_SUCCESS &&
                CVodeInit(solver, rates, 0, state) == CV_SUCCESS &&
                CVodeSetUserData(solver, &model) == CV_SUCCESS &&
                CVodeSStolerances(solver, tolerance, tolerance) == CV_SUCCESS &&
                CVodeSetNonlinearSolver(solver, iteration) == CV_SUCCESS &&
                CVodeSetMaxNumSteps(solver, 2000000) == CV_SUCCESS &&
                CVodeSetStopTime(solver, end) == CV_SUCCESS &&
                CVode(solver, end, state, &t, CV_NORMAL) >= 0;
    SUNNonlinSolFree(iteration);
    CVodeFree(&solver);
    N_VDestroy(state);
    SUNContext_Free(&context);
    return good;
}

#else

bool peer_cvode(hand_model model, double end, double tolerance, double *y)
{
    (void)model, (void)end, (void)tolerance, (void)y;
    return false;
}

#endif
