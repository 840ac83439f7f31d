/* Fortran for AUTO-07p: FUNC, STPNT and the solve. */
#include "output/export/script.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void fortran_function(hmi_text *out, hmi_op op)
{
    static const hmi_renamed names[] = {
        {HMI_MIN, "min"}, {HMI_MAX, "max"}, {HMI_SIGN, "hm_sign"}, {0, NULL}};
    hmi_script_function(out, op, names);
}

static void fortran_number(hmi_text *out, double value)
{
    char buffer[HMI_NUMBER_TEXT];
    const char *text = hmi_number_text(fabs(value), buffer), *exponent = strchr(text, 'e');
    bool negative = signbit(value);
    hmi_text_add(out, negative ? "(-" : "");
    if (!isfinite(value))
        hmi_text_add(out, "huge(1D0)");
    else if (exponent)
        hmi_text_addf(out, "%.*sD%s", (int)(exponent - text), text, exponent + 1);
    else
        hmi_text_addf(out, "%sD0", text);
    hmi_text_add(out, negative ? ")" : "");
}

static const hmi_script_style fortran = {
    .dialect = {"  ", "", " = ", "\n", "e", NULL, fortran_function, fortran_number},
    .param = "PAR(%s)",
    .force = "Qf", /* Fortran does not tell q from Q */
    .entry = "%s(%zu)",
    .element = "%s(%zu, %zu)",
    .skip_zeros = true,
};

/* AUTO keeps PAR(11) to PAR(14) for itself. */
static bool number_params(hmi_export *x)
{
    for (size_t i = 0; i < x->model->params.count; i++) {
        char *text = hmi_arena_alloc(&x->arena, 24);
        if (!text)
            return false;
        snprintf(text, 24, "%zu", i + 1 + (i >= 10 ? 4 : 0));
        x->params[i] = text;
    }
    return true;
}

static void fortran_helpers(hmi_export *x)
{
    static const char *const helpers[][2] = {
        {"pow", "x**y"},
        {"powi", "x**nint(y)"},
        {"hypot", "sqrt(x*x + y*y)"},
        {"lt", "merge(1D0, 0D0, x < y)"},
        {"le", "merge(1D0, 0D0, x <= y)"},
        {"eq", "merge(1D0, 0D0, x == y)"},
        {"and", "merge(1D0, 0D0, x /= 0 .and. y /= 0)"},
        {"or", "merge(1D0, 0D0, x /= 0 .or. y /= 0)"},
    };
    hmi_script_add(x, "module @_helpers\ncontains\n");
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        hmi_text_addf(&x->text,
                      "pure double precision function hm_%s(x, y)\n  double precision, intent(in) "
                      ":: x, y\n  hm_%s = %s\nend function\n",
                      helpers[i][0], helpers[i][0], helpers[i][1]);
    hmi_script_add(
        x, "pure double precision function hm_sign(x)\n  double precision, intent(in) :: x\n"
           "  hm_sign = merge(1D0, 0D0, x > 0) - merge(1D0, 0D0, x < 0)\nend function\n"
           "pure double precision function hm_not(x)\n  double precision, intent(in) :: x\n"
           "  hm_not = merge(1D0, 0D0, x == 0)\nend function\n"
           "pure double precision function hm_select(c, x, y)\n  double precision, intent(in) :: "
           "c, x, y\n"
           "  hm_select = merge(x, y, c /= 0)\nend function\n");
    hmi_script_add(
        x, "! K x = r by elimination with full pivoting; dependent equations are left out.\n"
           "subroutine hm_solve(n, K, r)\n  integer, intent(in) :: n\n"
           "  double precision, intent(inout) :: K(n, n), r(n)\n"
           "  double precision :: row(n), x(n), most, factor\n  integer :: at(2), column(n), i, j, "
           "rank\n"
           "  column = [(i, i = 1, n)]\n  rank = n\n  most = maxval(abs(K))\n  do i = 1, n\n"
           "    at = maxloc(abs(K(i:n, i:n))) + i - 1\n"
           "    if (abs(K(at(1), at(2))) <= 1D-12*most) then\n      rank = i - 1\n      exit\n    "
           "end if\n"
           "    row = K(i, :); K(i, :) = K(at(1), :); K(at(1), :) = row\n"
           "    factor = r(i); r(i) = r(at(1)); r(at(1)) = factor\n"
           "    row = K(:, i); K(:, i) = K(:, at(2)); K(:, at(2)) = row\n"
           "    j = column(i); column(i) = column(at(2)); column(at(2)) = j\n"
           "    do j = i + 1, n\n      factor = K(j, i)/K(i, i)\n      K(j, i:n) = K(j, i:n) - "
           "factor*K(i, i:n)\n"
           "      r(j) = r(j) - factor*r(i)\n    end do\n  end do\n  x = 0\n  do i = rank, 1, -1\n"
           "    x(column(i)) = r(i)\n    do j = i + 1, rank\n"
           "      x(column(i)) = x(column(i)) - K(i, j)*x(column(j))\n    end do\n"
           "    x(column(i)) = x(column(i))/K(i, i)\n  end do\n  r = x\nend subroutine\nend "
           "module\n\n");
}

static void fortran_func(hmi_export *x)
{
    size_t n = x->n, m = x->m, k = x->states, in = x->inputs;
    hmi_script_add(
        x, "subroutine FUNC(NDIM, U_, ICP, PAR, IJAC, F, DFDU, DFDP)\n  use @_helpers\n"
           "  implicit double precision (a-h, o-z)\n  integer, intent(in) :: NDIM, ICP(*), IJAC\n"
           "  double precision, intent(in) :: U_(NDIM), PAR(*)\n  double precision, intent(out) :: "
           "F(NDIM)\n"
           "  double precision, intent(inout) :: DFDU(NDIM, NDIM), DFDP(NDIM, *)\n");
    hmi_text_addf(
        &x->text,
        "  double precision :: q(%zu), v(%zu), z(%zu), u(%zu), du(%zu), ddu(%zu), rates(%zu)\n"
        "  double precision :: M(%zu, %zu), A(%zu, %zu), Qf(%zu), b(%zu), C(%zu), K(%zu, %zu), "
        "r(%zu)\n",
        n, n, k ? k : 1, in ? in : 1, in ? in : 1, in ? in : 1, k ? k : 1, n, n, m ? m : 1, n, n,
        m ? m : 1, n, n + m, n + m, n + m);
    hmi_text_addf(
        &x->text,
        "  q = U_(1:%zu)\n  v = U_(%zu:%zu)\n  z(1:%zu) = U_(%zu:%zu)\n  t = 0\n"
        "  M = 0; A = 0; Qf = 0; b = 0; C = 0; K = 0; u = 0; du = 0; ddu = 0; rates = 0\n",
        n, n + 1, 2 * n, k, 2 * n + 1, 2 * n + k);
}

/* The end of FUNC, STPNT with parameters and the initial state, and what AUTO wants besides. */
static void fortran_rest(hmi_export *x)
{
    size_t n = x->n, m = x->m, k = x->states;
    hmi_text_addf(&x->text, "  K(1:%zu, 1:%zu) = M\n  r(1:%zu) = Qf + C\n", n, n, n);
    if (m)
        hmi_text_addf(
            &x->text,
            "  K(1:%zu, %zu:%zu) = -transpose(A)\n  K(%zu:%zu, 1:%zu) = A\n  r(%zu:%zu) = b\n", n,
            n + 1, n + m, n + 1, n + m, n, n + 1, n + m);
    hmi_text_addf(
        &x->text,
        "  call hm_solve(%zu, K, r)\n  F(1:%zu) = v\n  F(%zu:%zu) = r(1:%zu)\n  F(%zu:%zu) = "
        "rates(1:%zu)\n"
        "end subroutine\n\n"
        "subroutine STPNT(NDIM, U, PAR, T)\n  implicit none\n  integer, intent(in) :: NDIM\n"
        "  double precision, intent(inout) :: U(NDIM), PAR(*)\n  double precision, intent(in) :: "
        "T\n",
        n + m, n, n + 1, 2 * n, n, 2 * n + 1, 2 * n + k, k);
    hmi_script_params(x, &fortran);
    for (size_t i = 0; i < 2 * n + k; i++) {
        hmi_text_addf(&x->text, "  U(%zu) = ", i + 1);
        fortran_number(&x->text, x->q[i]);
        hmi_text_add(&x->text, "\n");
    }
    hmi_script_add(
        x, "end subroutine\n\nsubroutine BCND\nend subroutine\nsubroutine ICND\nend subroutine\n"
           "subroutine FOPT\nend subroutine\nsubroutine PVLS\nend subroutine\n");
}

/* Fortran reads 132 columns: longer lines go on after "&". */
static void break_lines(hmi_text *text)
{
    enum { MOST = 110 };
    hmi_text out = {.allocator = text->allocator};
    size_t line = 0;
    for (size_t i = 0; i < text->length; i++) {
        char c = text->data[i];
        hmi_text_add_bytes(&out, &c, 1);
        line = c == '\n' ? 0 : line + 1;
        if (line > MOST && c == ' ') {
            hmi_text_add(&out, "&\n    ");
            line = 4;
        }
    }
    out.failed |= text->failed;
    hmi_text_release(text);
    *text = out;
}

static bool is_autonomous(hmi_export *x)
{
    const hmi_derived *eq = x->eq;
    uint16_t kinds = hmi_code_kinds(&x->graph, x->M, x->n * x->n) |
                     hmi_code_kinds(&x->graph, eq->Q, x->n) |
                     hmi_code_kinds(&x->graph, x->A, x->m * x->n) |
                     hmi_code_kinds(&x->graph, eq->constraints.b, x->m) |
                     hmi_code_kinds(&x->graph, eq->C, x->n) |
                     hmi_code_kinds(&x->graph, eq->input_values[0], x->inputs);
    if (!(kinds & HMI_DEP(HMI_SYM_TIME)))
        return true;
    hmi_error(x->context, hmi_no_span, "write time as a state, `state s' = 1`",
              "AUTO continues solutions of autonomous systems, and this one depends on t");
    x->status = HM_ERR_USAGE;
    return false;
}

void hmi_export_auto(hmi_export *x)
{
    if (!hmi_script_possible(x, "AUTO") || !is_autonomous(x))
        return;
    if (!number_params(x)) {
        x->status = HM_ERR_NOMEM;
        return;
    }
    hmi_script_contents(x, "!");
    for (size_t i = 0; i < x->model->params.count; i++)
        hmi_text_addf(&x->text, "! PAR(%s): %s\n", x->params[i], x->model->params.data[i].name);
    hmi_text_addf(&x->text, "! NDIM = %zu\n", 2 * x->n + x->states);
    fortran_helpers(x);
    fortran_func(x);
    hmi_script_inputs(x, &fortran);
    hmi_script_equations(x, &fortran);
    hmi_script_list(x, &fortran, "rates", x->eq->state_rates, x->states);
    fortran_rest(x);
    break_lines(&x->text);
}
