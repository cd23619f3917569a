/* Weights: floats, halves, and numbers of few bits with a scale or a table of values. */
#include <string.h>

#include "import/coreml/layers.h"
#include "ir/element.h"

enum { WEIGHTS_BITS = 8 };

typedef struct weights {
  wick_span floats, halves, raw, signed8;
  bool packed; /* the floats are one record */
  wick_coreml_message quantization;
  uint64_t bits, n;
} weights;

/* Finds the form of the weights, and how many there are. */
static weights weights_read(const wick_coreml_message *w)
{
  weights r = {.floats = wick_coreml_bytes(w, "floatValue"),
               .halves = wick_coreml_bytes(w, "float16Value"),
               .raw = wick_coreml_bytes(w, "rawValue"),
               .signed8 = wick_coreml_bytes(w, "int8RawValue"),
               .quantization = wick_coreml_part(w, "quantization")};
  r.bits = (uint64_t)wick_coreml_int(&r.quantization, "numberOfBits", 0);
  if (r.floats.nbytes)
    r.n = r.floats.nbytes / 4;
  else if (r.halves.nbytes)
    r.n = r.halves.nbytes / 2;
  else if (r.signed8.nbytes)
    r.n = r.signed8.nbytes;
  else if (r.bits)
    r.n = r.raw.nbytes * (uint64_t)8 / r.bits;
  return r;
}

uint64_t wick_coreml_weight_count(const wick_coreml_message *m, const char *name)
{
  wick_coreml_message w = wick_coreml_part(m, name);
  return w.bytes.at ? weights_read(&w).n : 0;
}

/* Element k of numbers of few bits, from the high end of each byte. */
static uint32_t weights_bits(const weights *w, uint64_t k)
{
  uint64_t at = k * w->bits;
  uint32_t v = 0;
  for (uint64_t i = at; i < at + w->bits; i++) v = v << 1 | (w->raw.at[i / 8] >> (7 - i % 8) & 1);
  return v;
}

/* The scales and biases are one for all, or one for each first index of the weights. */
static bool weights_linear(wick_import_node *n, const weights *w, const char *name, uint64_t count,
                           float *out)
{
  wick_coreml_message linear = wick_coreml_part(&w->quantization, "linearQuantization");
  wick_coreml_reals scale = wick_coreml_reals_of(&linear, "scale", n->c->tmp),
                    bias = wick_coreml_reals_of(&linear, "bias", n->c->tmp);
  if (!scale.n || count % scale.n || (bias.n && count % bias.n)) {
    wick_import_fail(n, WICK_EPARSE, "%s has %u scales and %u biases for %llu weights", name,
                     scale.n, bias.n, (unsigned long long)count);
    return false;
  }
  uint64_t each = count / scale.n, every = bias.n ? count / bias.n : 1;
  for (uint64_t k = 0; k < count; k++) {
    double v = w->signed8.nbytes ? (double)(int8_t)w->signed8.at[k] : (double)weights_bits(w, k);
    out[k] = (float)(v * scale.at[k / each] + (bias.n ? bias.at[k / every] : 0));
  }
  return true;
}

static bool weights_table(wick_import_node *n, const weights *w, const char *name, uint64_t count,
                          float *out)
{
  wick_coreml_message table = wick_coreml_part(&w->quantization, "lookupTableQuantization");
  wick_coreml_reals value = wick_coreml_reals_of(&table, "floatValue", n->c->tmp);
  for (uint64_t k = 0; k < count; k++) {
    uint32_t at = weights_bits(w, k);
    if (at >= value.n) {
      wick_import_fail(n, WICK_EPARSE, "%s names value %u of a table of %u", name, at, value.n);
      return false;
    }
    out[k] = (float)value.at[at];
  }
  return true;
}

static wick_value weights_few(wick_import_node *n, const weights *w, const char *name,
                              uint32_t rank, const int64_t *dim, uint64_t count)
{
  if (!w->signed8.nbytes && (w->bits < 1 || w->bits > WEIGHTS_BITS)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "%s has weights of %llu bits, expected 1 to %d", name,
                     (unsigned long long)w->bits, WEIGHTS_BITS);
    return (wick_value){0};
  }
  float *v = wick_new(n->c->tmp, float, (size_t)count + 1);
  bool good = wick_coreml_has(&w->quantization, "lookupTableQuantization")
                  ? weights_table(n, w, name, count, v)
                  : weights_linear(n, w, name, count, v);
  if (!good) return (wick_value){0};
  return wick_import_copied(n->c, wick_str_printf(n->c->tmp, "%s.%s", n->name, name), WICK_F32,
                            rank, dim, v, count * sizeof *v);
}

/* Floats that are not packed, one record after the other. */
static wick_value weights_loose(wick_import_node *n, const wick_coreml_message *m,
                                const char *label, uint32_t rank, const int64_t *dim,
                                uint64_t count)
{
  wick_coreml_reals all = wick_coreml_reals_of(m, "floatValue", n->c->tmp);
  if (all.n != count) {
    wick_import_fail(n, WICK_EPARSE, "%s has %u weights, expected %llu", label, all.n,
                     (unsigned long long)count);
    return (wick_value){0};
  }
  return wick_emit_table(n->b, label, WICK_F32, rank, dim, all.at);
}

wick_value wick_coreml_weight(wick_import_node *n, const wick_coreml_message *m, const char *name,
                              uint32_t rank, const int64_t *dim)
{
  wick_coreml_message part = wick_coreml_part(m, name);
  uint64_t count = 1;
  for (uint32_t k = 0; k < rank; k++)
    if (dim[k] < 0 || dim[k] > INT32_MAX || wick_mul_overflows(count, (uint64_t)dim[k], &count)) {
      wick_import_fail(n, WICK_ERANGE, "the shape of %s has a size of %lld", name,
                       (long long)dim[k]);
      return (wick_value){0};
    }
  weights w = weights_read(&part);
  const char *label = wick_str_printf(n->c->tmp, "%s.%s", n->name, name);
  if (w.floats.nbytes && w.n != count) return weights_loose(n, &part, label, rank, dim, count);
  bool few = !w.floats.nbytes && !w.halves.nbytes;
  if (few ? w.n < count || w.n > count + 8 : w.n != count) { /* bits fill the last byte */
    wick_import_fail(n, WICK_EPARSE, "%s has %llu weights, expected %llu", name,
                     (unsigned long long)w.n, (unsigned long long)count);
    return (wick_value){0};
  }
  if (few) return weights_few(n, &w, name, rank, dim, count);
  wick_value v = wick_import_weight(n->c, label, w.floats.nbytes ? WICK_F32 : WICK_F16, rank, dim,
                                    w.floats.nbytes ? w.floats : w.halves, n->location);
  if (!v.id) n->failed = true;
  return wick_coreml_as(n, v, WICK_F32);
}
