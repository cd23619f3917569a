/* Logic of bools; logic and shifts of the bits of integers. */
#include "ops/elementwise/scalar.h"
#include "ops/gradient/grad.h"
#include "ops/simplify.h"

static wick_scalar logic_zero(wick_elem e)
{
  (void)e;
  return (wick_scalar){.i = 0};
}
static wick_scalar logic_true(wick_elem e)
{
  (void)e;
  return (wick_scalar){.i = 1};
}
static wick_scalar logic_ones(wick_elem e) { return wick_round_elem(e, (wick_scalar){.i = -1}); }

/* Contents are expressions with the values 0 and 1. */

static wick_dim and_content(wick_dims *t, const wick_dim *x) { return wick_dim_min(t, x[0], x[1]); }
static wick_scalar and_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.i = x[0].i & x[1].i};
}

const wick_op wick_op_and = {
    .name = "and",
    .doc = "Whether both operands are true",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_BOOLS,
    .scalar = WICK_RULE_SAME,
    .eval = and_eval,
    .content = and_content,
    .neutral = logic_true,
    .grad = wick_grad_zero,
};

static wick_dim or_content(wick_dims *t, const wick_dim *x) { return wick_dim_max(t, x[0], x[1]); }
static wick_scalar or_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.i = x[0].i | x[1].i};
}

const wick_op wick_op_or = {
    .name = "or",
    .doc = "Whether at least one operand is true",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_BOOLS,
    .scalar = WICK_RULE_SAME,
    .eval = or_eval,
    .content = or_content,
    .neutral = logic_zero,
    .grad = wick_grad_zero,
};

static wick_scalar xor_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.i = x[0].i ^ x[1].i};
}

const wick_op wick_op_xor = {
    .name = "xor",
    .doc = "Whether exactly one operand is true",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_BOOLS,
    .scalar = WICK_RULE_SAME,
    .eval = xor_eval,
    .neutral = logic_zero,
    .grad = wick_grad_zero,
};

static wick_dim not_content(wick_dims *t, const wick_dim *x)
{
  return wick_dim_sub(t, wick_dim_const(1), x[0]);
}
static wick_scalar not_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.i = !x[0].i};
}

const wick_op wick_op_not = {
    .name = "not",
    .doc = "Whether x is false",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_BOOLS,
    .simplify = wick_simplify_again,
    .scalar = WICK_RULE_SAME,
    .eval = not_eval,
    .content = not_content,
    .grad = wick_grad_zero,
};

/* ---- bits ---- */

static wick_scalar bit_and_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.i = x[0].i & x[1].i};
}

const wick_op wick_op_bit_and = {
    .name = "bit_and",
    .doc = "The bits that both operands have",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_INTS,
    .scalar = WICK_RULE_SAME,
    .eval = bit_and_eval,
    .neutral = logic_ones,
    .grad = wick_grad_zero,
};

static wick_scalar bit_or_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.i = x[0].i | x[1].i};
}

const wick_op wick_op_bit_or = {
    .name = "bit_or",
    .doc = "The bits that at least one operand has",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_INTS,
    .scalar = WICK_RULE_SAME,
    .eval = bit_or_eval,
    .neutral = logic_zero,
    .grad = wick_grad_zero,
};

static wick_scalar bit_xor_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.i = x[0].i ^ x[1].i};
}

const wick_op wick_op_bit_xor = {
    .name = "bit_xor",
    .doc = "The bits that exactly one operand has",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_INTS,
    .scalar = WICK_RULE_SAME,
    .eval = bit_xor_eval,
    .neutral = logic_zero,
    .grad = wick_grad_zero,
};

static wick_scalar bit_not_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.i = ~x[0].i};
}

const wick_op wick_op_bit_not = {
    .name = "bit_not",
    .doc = "The bits that x does not have",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_INTS,
    .scalar = WICK_RULE_SAME,
    .eval = bit_not_eval,
    .grad = wick_grad_zero,
};

/* Amounts that are negative or at least the width shift all bits out. */
static bool shift_all(wick_elem e, int64_t n) { return n < 0 || n >= wick_elem_storage[e].bits; }

static wick_scalar shift_left_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                   const wick_scalar *x)
{
  (void)a, (void)out;
  return (wick_scalar){.i = shift_all(e, x[1].i) ? 0 : (int64_t)((uint64_t)x[0].i << x[1].i)};
}

const wick_op wick_op_shift_left = {
    .name = "shift_left",
    .doc = "The bits of x shifted up by y; 0 if y is negative or at least the width",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_INTS,
    .scalar = WICK_RULE_SAME,
    .eval = shift_left_eval,
    .grad = wick_grad_zero,
};

static wick_scalar shift_right_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                    const wick_scalar *x)
{
  (void)a, (void)out;
  if (wick_elem_class(e) == WICK_UINT)
    return (wick_scalar){.i = shift_all(e, x[1].i) ? 0 : (int64_t)((uint64_t)x[0].i >> x[1].i)};
  return (wick_scalar){.i = x[0].i >> (shift_all(e, x[1].i) ? 63 : x[1].i)};
}

const wick_op wick_op_shift_right = {
    .name = "shift_right",
    .doc = "The bits of x shifted down by y. Unsigned types shift in zeros, signed ones copies of "
           "the sign; only these are left if y is negative or at least the width",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_INTS,
    .scalar = WICK_RULE_SAME,
    .eval = shift_right_eval,
    .grad = wick_grad_zero,
};
