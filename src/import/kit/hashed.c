/* Hashes of strings and numbers, as TensorFlow spreads them over buckets. */
#include "import/kit/array.h"

static wick_value hashed_u64(wick_import_node *n, uint64_t number)
{
  wick_type type = wick_type_tensor(n->c->module, WICK_U64, 0, NULL);
  return wick_build_const(n->b, type, 0, (int64_t)number);
}

static wick_value hashed_times(wick_import_node *n, wick_value x)
{
  return wick_build2(n->b, WICK_OP_mul, x, hashed_u64(n, 0xc6a4a7935bd1e995));
}

static wick_value hashed_mixed(wick_import_node *n, wick_value x)
{
  wick_value high = wick_build2(n->b, WICK_OP_shift_right, x, hashed_u64(n, 47));
  return wick_build2(n->b, WICK_OP_bit_xor, x, high);
}

/* FingerprintCat64: the hash of two hashes. */
static wick_value hashed_joined(wick_import_node *n, wick_value x, wick_value y)
{
  y = hashed_times(n, hashed_mixed(n, hashed_times(n, y)));
  x = wick_build2(n->b, WICK_OP_bit_xor, hashed_times(n, hashed_u64(n, 1)),
                  wick_build2(n->b, WICK_OP_bit_xor, x, y));
  return hashed_mixed(n, hashed_times(n, hashed_mixed(n, hashed_times(n, x))));
}

wick_value wick_array_decimal(wick_import_node *n, wick_value x)
{
  wick_type want = wick_type_with_elem(n->c->module, wick_built_type(n->b, x), WICK_STRING);
  return wick_build(n->b, WICK_OP_format_number, 1, &x, NULL, 1, &want);
}

wick_value wick_array_hash(wick_import_node *n, wick_value x, const int64_t *key)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_string_hash);
  wick_emit_set_int(&e, "method", key != NULL);
  if (key) wick_emit_set_ints(&e, "key", 2, key);
  return wick_emit_bits(n->b, wick_emit_end1(&e, x), WICK_U64);
}

wick_value wick_array_bucket(wick_import_node *n, wick_value hash, int64_t count)
{
  hash = wick_build2(n->b, WICK_OP_mod, hash, hashed_u64(n, (uint64_t)count));
  return wick_build_cast(n->b, hash, WICK_I64);
}

wick_value wick_array_crossed(wick_import_node *n, uint32_t count, const wick_value *x,
                              uint64_t key)
{
  wick_value h = hashed_u64(n, key);
  for (uint32_t k = 0; k < count && !n->b->status; k++) {
    bool text = wick_built_info(n->b, x[k])->elem == WICK_STRING;
    wick_value each = text ? wick_array_hash(n, x[k], NULL)
                           : wick_emit_bits(n->b, wick_build_cast(n->b, x[k], WICK_I64), WICK_U64);
    h = hashed_joined(n, h, each);
  }
  return h;
}
