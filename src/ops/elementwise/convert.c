/* Element-wise changes of type: by value (cast; narrow, from f32) and by bits
 * (bitcast). */
#include <float.h>
#include <math.h>

#include "ops/elementwise/scalar.h"
#include "ops/gradient/grad.h"
#include "ops/simplify.h"

static wick_scalar cast_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a;
  return wick_cast_elem(e, out, x[0]);
}

/* Inference removes numbers that the result's type cannot represent. */
static wick_dim cast_content(wick_dims *t, const wick_dim *x)
{
  (void)t;
  return x[0];
}

const wick_op wick_op_cast = {
    .name = "cast",
    .doc = "x in another element type. Float to float rounds to nearest even, and NaN stays NaN "
           "(f4e2m1 has no NaN: it becomes a zero of the opposite sign). Float to integer "
           "truncates towards zero, NaN gives 0, and numbers out of range saturate. Integer to "
           "float rounds to nearest even. Integer to integer wraps. A bool is x != 0. `within` "
           "says that a float is known to be a number of magnitude below 2^30, or one that a "
           "result of 32 or 64 bits can represent, truncated",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"within", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .typed = true,
    .simplify = wick_simplify_cast,
    .scalar = WICK_RULE_TYPED,
    .eval = cast_eval,
    .content = cast_content,
    .grad = wick_grad_cast,
};

static wick_status narrow_infer(wick_infer *c)
{
  wick_elem from = wick_type_get(c->module, c->in[0]->type)->elem,
            to = wick_type_get(c->module, c->want[0])->elem;
  if (from != WICK_F32 || (to != WICK_F16 && to != WICK_BF16))
    return wick_infer_fail(c, WICK_ETYPE, "%s is not narrowed to %s", wick_elem_name(from),
                           wick_elem_name(to));
  return wick_infer_scalar(c);
}

static wick_scalar narrow_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a;
  return wick_cast_elem(e, out,
                        fabs(x[0].f) < FLT_MIN ? (wick_scalar){.f = copysign(0, x[0].f)} : x[0]);
}

const wick_op wick_op_narrow = {
    .name = "narrow",
    .doc = "x, an f32, as f16 or bf16: rounded to nearest even; NaN stays NaN. Numbers below the "
           "normal range of f32 become 0, as hardware conversions to bf16 make them",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_BIT(WICK_F32),
    .typed = true,
    .infer = narrow_infer,
    .scalar = WICK_RULE_TYPED,
    .eval = narrow_eval,
    .grad = wick_grad_cast,
};

/* Strings count as numbers here: their indices. */
static bool convert_has_bits(wick_elem e)
{
  return wick_elem_is_float(e) || wick_elem_is_int(e) || e == WICK_STRING;
}

static wick_status bitcast_infer(wick_infer *c)
{
  wick_elem from = wick_type_get(c->module, c->in[0]->type)->elem,
            to = wick_type_get(c->module, c->want[0])->elem;
  if (wick_elem_storage[from].bits != wick_elem_storage[to].bits || !convert_has_bits(from) ||
      !convert_has_bits(to))
    return wick_infer_fail(c, WICK_ETYPE, "%s has no bits of %s", wick_elem_name(to),
                           wick_elem_name(from));
  return wick_infer_scalar(c);
}

/* Goes through memory, so that the bits of NaN are kept. A NaN that was itself loaded as a
 * number is already quiet. */
static wick_scalar bitcast_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                const wick_scalar *x)
{
  (void)a;
  unsigned char stored[16] = {0};
  wick_store_elem(e, stored, 0, x[0]);
  return wick_load_elem(out, stored, 0);
}

const wick_op wick_op_bitcast = {
    .name = "bitcast",
    .doc = "The bits of x as another element type of the same size",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = ~WICK_BOOLS,
    .typed = true,
    .infer = bitcast_infer,
    .scalar = WICK_RULE_TYPED,
    .eval = bitcast_eval,
    .grad = wick_grad_none,
};
