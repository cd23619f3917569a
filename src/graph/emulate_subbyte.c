/* Unpacks packed elements to whole bytes, and packs results again. */
#include "graph/emulate_subbyte.h"

#include "ir/copy.h"
#include "ir/element.h"

typedef struct emulate_subbyte {
  wick_copier c;
  wick_value *wide; /* per old value: its elements in whole bytes; 0: not yet unpacked */
} emulate_subbyte;

static uint32_t emulate_subbyte_bits(wick_elem e)
{
  uint32_t bits = wick_elem_storage[e].bits;
  return bits < 8 ? bits : 0;
}

static bool emulate_subbyte_is(const emulate_subbyte *s, wick_value v)
{
  const wick_type_info *t = v.id ? wick_info_of(s->c.f, v) : NULL;
  return t && t->kind == WICK_TENSOR && emulate_subbyte_bits(t->elem) > 0;
}

static wick_elem emulate_subbyte_wide(wick_elem e)
{
  return wick_elem_is_float(e) ? WICK_F32 : e == WICK_I4 || e == WICK_I2 ? WICK_I8 : WICK_U8;
}

static wick_elem emulate_subbyte_byte(wick_elem wide)
{
  return wide == WICK_I8 ? WICK_I8 : WICK_U8;
}

/* ---- parts of the expansion ---- */

static wick_value emulate_subbyte_number(emulate_subbyte *s, wick_elem e, double f, int64_t i)
{
  return wick_build_const(&s->c.b, wick_type_tensor(s->c.b.module, e, 0, NULL), f, i);
}

static wick_value emulate_subbyte_by(emulate_subbyte *s, wick_opcode op, wick_value x, wick_elem e,
                                     int64_t i)
{
  return wick_build2(&s->c.b, op, x, emulate_subbyte_number(s, e, 0, i));
}

static wick_value emulate_subbyte_retype(emulate_subbyte *s, wick_value x, wick_type type)
{
  return wick_build(&s->c.b, WICK_OP_reinterpret, 1, &x, NULL, 1, &type);
}

/* Returns the shift of each element of a byte: [0, bits, 2 * bits, ...]. */
static wick_value emulate_subbyte_shifts(emulate_subbyte *s, wick_elem e, uint32_t bits)
{
  wick_module *m = s->c.b.module;
  int64_t n = 8 / bits;
  unsigned char *data = wick_module_alloc(m, (uint64_t)n);
  for (int64_t i = 0; i < n; i++) data[i] = (unsigned char)(i * bits);
  wick_type type = wick_type_tensor_const(m, e, 1, &n);
  return wick_build_constant(&s->c.b, wick_constant_add(m, "", type, data, (uint64_t)n));
}

/* ---- 4-bit floats: one bit for the sign, two for the exponent, one for the mantissa ---- */

/* Returns 0, 0.5, 1, 1.5, 2, 3, 4 or 6, depending on the lower three bits. */
static wick_value emulate_subbyte_decode(emulate_subbyte *s, wick_value code)
{
  static const float numbers[16] = {0,    0.5f,  1,  1.5f,  2,  3,  4,  6,
                                    -0.f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
  wick_module *m = s->c.b.module;
  int64_t n = WICK_COUNT(numbers);
  float *data = wick_module_alloc(m, sizeof numbers);
  for (int64_t i = 0; i < n; i++) data[i] = numbers[i];
  uint32_t k =
      wick_constant_add(m, "", wick_type_tensor_const(m, WICK_F32, 1, &n), data, sizeof numbers);
  wick_value in[2] = {wick_build_constant(&s->c.b, k), wick_build_cast(&s->c.b, code, WICK_I64)};
  return wick_build(&s->c.b, WICK_OP_gather, 2, in, NULL, 0, NULL);
}

/* Rounds to the nearest code by comparing with the midpoints between the numbers; a midpoint is
 * rounded to the even code. The format has no infinity, which becomes the largest number, and no
 * NaN, which becomes a zero of the other sign. */
static wick_value emulate_subbyte_encode(emulate_subbyte *s, wick_value x)
{
  static const struct {
    wick_opcode op;
    double least;
  } steps[] = {{WICK_OP_gt, 0.25}, {WICK_OP_ge, 0.75}, {WICK_OP_gt, 1.25}, {WICK_OP_ge, 1.75},
               {WICK_OP_gt, 2.5},  {WICK_OP_ge, 3.5},  {WICK_OP_gt, 5}};
  wick_builder *b = &s->c.b;
  wick_value size = wick_build1(b, WICK_OP_abs, x), code = {0};
  for (size_t i = 0; i < WICK_COUNT(steps); i++) {
    wick_value over =
        wick_build2(b, steps[i].op, size, emulate_subbyte_number(s, WICK_F32, steps[i].least, 0));
    over = wick_build_cast(b, over, WICK_U8);
    code = i ? wick_build2(b, WICK_OP_add, code, over) : over;
  }
  wick_type bits = wick_type_with_elem(b->module, wick_built_type(b, x), WICK_I32);
  wick_value raw = wick_build(b, WICK_OP_bitcast, 1, &x, NULL, 1, &bits);
  wick_value minus = emulate_subbyte_by(s, WICK_OP_lt, raw, WICK_I32, 0);
  minus = wick_build2(b, WICK_OP_xor, minus, wick_build1(b, WICK_OP_isnan, x));
  return wick_build3(b, WICK_OP_where, minus, emulate_subbyte_by(s, WICK_OP_add, code, WICK_U8, 8),
                     code);
}

/* ---- unpacking and packing ---- */

/* Unpacks x, which is of type `type`, to elements in whole bytes. */
static wick_value emulate_subbyte_unpack(emulate_subbyte *s, wick_value x, wick_type type)
{
  wick_module *m = s->c.b.module;
  wick_builder *b = &s->c.b;
  const wick_type_info t = *wick_type_get(m, type);
  uint32_t bits = emulate_subbyte_bits(t.elem);
  uint64_t nbytes;
  if (b->status || !wick_type_nbytes(m, type, &nbytes)) return x;
  wick_elem wide = emulate_subbyte_wide(t.elem), byte = emulate_subbyte_byte(wide);
  int64_t row = (int64_t)nbytes, each = 8 / bits, n = wick_type_numel(m, type).v;
  const wick_dim column[] = {wick_dim_const(row), wick_dim_const(1)},
                 flat[] = {wick_dim_const(row * each)}, whole[] = {wick_dim_const(n)},
                 none[] = {wick_dim_const(0)};
  x = emulate_subbyte_retype(s, x, wick_type_tensor_const(m, byte, 1, &row));
  x = wick_build_reshape(&s->c.b, x, 2, column);
  if (byte == WICK_I8) { /* shift up to the sign bit, then down with the sign */
    x = wick_build2(b, WICK_OP_shift_left, x,
                    wick_build2(b, WICK_OP_sub, emulate_subbyte_number(s, byte, 0, 8 - bits),
                                emulate_subbyte_shifts(s, byte, bits)));
    x = emulate_subbyte_by(s, WICK_OP_shift_right, x, byte, 8 - bits);
  } else {
    x = wick_build2(b, WICK_OP_shift_right, x, emulate_subbyte_shifts(s, byte, bits));
    x = emulate_subbyte_by(s, WICK_OP_bit_and, x, byte, (1 << bits) - 1);
  }
  x = wick_build_reshape(&s->c.b, x, 1, flat);
  if (n != row * each) x = wick_build_slice(b, x, 1, none, whole, NULL);
  x = wick_build_reshape(&s->c.b, x, t.rank, t.dim);
  return wide == WICK_F32 ? emulate_subbyte_decode(s, x) : x;
}

/* Packs x: whole elements whose lower bits are those of `type`. */
static wick_value emulate_subbyte_pack(emulate_subbyte *s, wick_value x, wick_type type)
{
  wick_module *m = s->c.b.module;
  wick_builder *b = &s->c.b;
  wick_elem elem = wick_type_get(m, type)->elem;
  uint32_t bits = emulate_subbyte_bits(elem);
  uint64_t nbytes;
  if (b->status || !wick_type_nbytes(m, type, &nbytes)) return x;
  int64_t row = (int64_t)nbytes, each = 8 / bits, n = wick_type_numel(m, type).v;
  const wick_dim flat[] = {wick_dim_const(n)},
                 split[] = {wick_dim_const(row), wick_dim_const(each)},
                 pad[] = {wick_dim_const(0), wick_dim_const(row * each - n)};
  if (wick_elem_is_float(elem)) x = emulate_subbyte_encode(s, x);
  x = wick_build_reshape(&s->c.b, wick_build_cast(b, x, WICK_U8), 1, flat);
  if (n != row * each) {
    const wick_attr rest[] = {
        [WICK_ATTR_pad_pad] = {.n = 2, .dims = pad}, [WICK_ATTR_pad_mode] = {.n = WICK_ATTR_UNSET}};
    x = wick_build(b, WICK_OP_pad, 1, &x, rest, 0, NULL);
  }
  x = emulate_subbyte_by(s, WICK_OP_bit_and, wick_build_reshape(&s->c.b, x, 2, split), WICK_U8,
                         (1 << bits) - 1);
  x = wick_build2(b, WICK_OP_shift_left, x, emulate_subbyte_shifts(s, WICK_U8, bits));
  const int64_t axis[] = {1};
  const wick_attr sum[] = {[WICK_ATTR_reduce_sum_axes] = {.n = 1, .ints = axis},
                           [WICK_ATTR_reduce_sum_keepdims] = {.i = 0}};
  x = wick_build(b, WICK_OP_reduce_sum, 1, &x, sum, 0, NULL); /* the bits do not overlap */
  return emulate_subbyte_retype(s, x, type);
}

/* ---- nodes ---- */

static wick_value emulate_subbyte_whole(emulate_subbyte *s, wick_value v)
{
  if (!s->wide[v.id].id)
    s->wide[v.id] = emulate_subbyte_unpack(s, s->c.to[v.id], wick_type_of(s->c.f, v));
  return s->wide[v.id];
}

/* Casts to `to`. Values that do not fit saturate if they were floats, and wrap if they were
 * integers. */
static wick_value emulate_subbyte_cast(emulate_subbyte *s, wick_value x, wick_elem to)
{
  wick_builder *b = &s->c.b;
  bool from_float = !b->status && wick_elem_is_float(wick_built_info(b, x)->elem),
       is_signed = to == WICK_I4 || to == WICK_I2;
  wick_elem wide = emulate_subbyte_wide(to);
  x = wick_build_cast(b, x, wide);
  if (!from_float || wide == WICK_F32) return x;
  int64_t bits = emulate_subbyte_bits(to), most = (1 << (bits - is_signed)) - 1;
  x = emulate_subbyte_by(s, WICK_OP_min, x, wide, most);
  return is_signed ? emulate_subbyte_by(s, WICK_OP_max, x, wide, -most - 1) : x;
}

/* Builds the node on whole elements and packs its results. */
static void emulate_subbyte_node(emulate_subbyte *s, const wick_node *n)
{
  wick_copier *c = &s->c;
  wick_value *in = wick_new(c->b.mem, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++)
    in[k] =
        emulate_subbyte_is(s, n->in[k]) ? emulate_subbyte_whole(s, n->in[k]) : c->to[n->in[k].id];
  c->b.loc = n->loc;
  wick_elem to = wick_info_of(c->f, n->first)->elem;
  wick_value y;
  if (n->op == WICK_OP_cast)
    y = emulate_subbyte_bits(to) ? emulate_subbyte_cast(s, in[0], to)
                                 : wick_build_cast(&c->b, in[0], to);
  else
    y = wick_copy_with(&c->b, c->f, n, in);
  for (uint32_t k = 0; k < n->nout && !c->b.status; k++) {
    wick_value old = {n->first.id + k}, made = {y.id + k};
    c->to[old.id] = made;
    if (!emulate_subbyte_is(s, old)) continue;
    s->wide[old.id] = made;
    c->to[old.id] = emulate_subbyte_pack(s, made, wick_type_of(c->f, old));
  }
}

/* Returns true if the node can copy packed bytes without unpacking them. */
static bool emulate_subbyte_passes(const wick_node *n)
{
  return n->op == WICK_OP_const || n->op == WICK_OP_return || n->op == WICK_OP_reinterpret ||
         n->nregion || wick_op_of(n)->objects;
}

wick_status wick_pass_emulate_subbyte(const wick_pass_context *pass, const wick_func *f,
                                      wick_func **out)
{
  wick_arena *mem = pass->mem;
  emulate_subbyte s = {.c = wick_copy_begin(f, mem)};
  s.wide = wick_new(mem, wick_value, (size_t)f->nvalue + 1);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    bool any = false;
    for (uint32_t k = 0; k < n->nin; k++) any = any || emulate_subbyte_is(&s, n->in[k]);
    for (uint32_t k = 0; k < n->nout; k++)
      any = any || emulate_subbyte_is(&s, (wick_value){n->first.id + k});
    if (any && !emulate_subbyte_passes(n))
      emulate_subbyte_node(&s, n);
    else
      wick_copy_node(&s.c, n);
  }
  return wick_copy_finish(&s.c, out);
}
