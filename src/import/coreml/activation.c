/* Activations, and functions of one operand that have parameters. */
#include <string.h>

#include "import/coreml/layers.h"

static wick_value activation_by(wick_import_node *n, wick_opcode op, const wick_coreml_message *m,
                                const char *beta, wick_value x)
{
  wick_emit e = wick_emit_begin(n->b, op);
  wick_emit_set_float(&e, "alpha", wick_coreml_real(m, "alpha", 0));
  if (beta) wick_emit_set_float(&e, "beta", wick_coreml_real(m, beta, 0));
  return wick_emit_end1(&e, x);
}

/* Parameters of a channel, axis -3: one, or one for each channel. */
static wick_value activation_channels(wick_import_node *n, const wick_coreml_message *m,
                                      const char *name)
{
  int64_t dim[3] = {(int64_t)wick_coreml_weight_count(m, name), 1, 1};
  return wick_coreml_weight(n, m, name, 3, dim);
}

static wick_value activation_softplus(wick_import_node *n, const wick_coreml_message *m,
                                      wick_value x)
{
  wick_value alpha = activation_channels(n, m, "alpha"), beta = activation_channels(n, m, "beta");
  if (n->failed) return x;
  x = wick_build1(n->b, WICK_OP_softplus, wick_build2(n->b, WICK_OP_mul, x, beta));
  return wick_build2(n->b, WICK_OP_mul, x, alpha);
}

wick_value wick_coreml_activate(wick_import_node *n, const wick_coreml_message *activation,
                                wick_value x)
{
  wick_coreml_message m;
  const wick_coreml_field *f = wick_coreml_choice(activation, 1, 100, &m);
  const char *kind = f ? wick_str_dupn(n->c->tmp, f->name, f->nname) : "";
  wick_builder *b = n->b;
  if (strcmp(kind, "ReLU") == 0) return wick_build1(b, WICK_OP_relu, x);
  if (strcmp(kind, "tanh") == 0) return wick_build1(b, WICK_OP_tanh, x);
  if (strcmp(kind, "sigmoid") == 0) return wick_build1(b, WICK_OP_sigmoid, x);
  if (strcmp(kind, "softsign") == 0) return wick_build1(b, WICK_OP_softsign, x);
  if (strcmp(kind, "softplus") == 0) return wick_build1(b, WICK_OP_softplus, x);
  if (strcmp(kind, "leakyReLU") == 0) return activation_by(n, WICK_OP_leaky_relu, &m, NULL, x);
  if (strcmp(kind, "ELU") == 0) return activation_by(n, WICK_OP_elu, &m, NULL, x);
  if (strcmp(kind, "sigmoidHard") == 0)
    return activation_by(n, WICK_OP_hard_sigmoid, &m, "beta", x);
  if (strcmp(kind, "parametricSoftplus") == 0) return activation_softplus(n, &m, x);
  if (strcmp(kind, "PReLU") == 0)
    return wick_build2(b, WICK_OP_prelu, x, activation_channels(n, &m, "alpha"));
  double alpha = wick_coreml_real(&m, "alpha", 0), beta = wick_coreml_real(&m, "beta", 0);
  if (strcmp(kind, "linear") == 0)
    return wick_emit_by(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, x, alpha), beta);
  if (strcmp(kind, "scaledTanh") == 0) {
    x = wick_build1(b, WICK_OP_tanh, wick_emit_by(b, WICK_OP_mul, x, beta));
    return wick_emit_by(b, WICK_OP_mul, x, alpha);
  }
  if (strcmp(kind, "thresholdedReLU") == 0) { /* x >= alpha, unlike Wick's operator */
    wick_value big = wick_emit_by(b, WICK_OP_ge, x, alpha), zero = wick_emit_number(b, x, 0);
    return wick_build3(b, WICK_OP_where, big, x, zero);
  }
  wick_import_fail(n, WICK_EUNSUPPORTED, "there is no activation %s", *kind ? kind : "in it");
  return (wick_value){0};
}

void wick_coreml_activation(wick_import_node *n)
{
  n->out[0] = wick_coreml_activate(n, wick_coreml_params(n), wick_coreml_float(n, 0));
}

void wick_coreml_unary(wick_import_node *n)
{
  enum { SQRT, RSQRT, INVERSE, POWER, EXP, LOG, ABS, THRESHOLD };
  wick_builder *b = n->b;
  double scale = wick_coreml_positive(n, "scale", 1), shift = wick_import_real(n, "shift", 0),
         epsilon = wick_coreml_positive(n, "epsilon", 1e-6),
         alpha = wick_import_real(n, "alpha", 0);
  int64_t type = wick_import_int(n, "type", 0);
  wick_value x = wick_coreml_float(n, 0);
  if (scale != 1) x = wick_emit_by(b, WICK_OP_mul, x, scale);
  if (shift != 0) x = wick_emit_by(b, WICK_OP_add, x, shift);
  if (type == RSQRT || type == INVERSE) x = wick_emit_by(b, WICK_OP_add, x, epsilon);
  switch (type) {
  case SQRT: n->out[0] = wick_build1(b, WICK_OP_sqrt, x); break;
  case RSQRT: n->out[0] = wick_build1(b, WICK_OP_rsqrt, x); break;
  case INVERSE: n->out[0] = wick_build1(b, WICK_OP_reciprocal, x); break;
  case POWER: n->out[0] = wick_emit_by(b, WICK_OP_pow, x, alpha); break;
  case EXP: n->out[0] = wick_build1(b, WICK_OP_exp, x); break;
  case LOG: n->out[0] = wick_build1(b, WICK_OP_log, x); break;
  case ABS: n->out[0] = wick_build1(b, WICK_OP_abs, x); break;
  case THRESHOLD: n->out[0] = wick_emit_by(b, WICK_OP_max, x, alpha); break;
  default: wick_import_fail(n, WICK_EUNSUPPORTED, "there is no function %lld", (long long)type);
  }
}

void wick_coreml_gelu(wick_import_node *n)
{
  enum { EXACT, TANH, SIGMOID };
  int64_t mode = wick_import_int(n, "mode", 0);
  wick_value x = wick_coreml_float(n, 0);
  if (mode == SIGMOID) {
    wick_value gate = wick_build1(n->b, WICK_OP_sigmoid, wick_emit_by(n->b, WICK_OP_mul, x, 1.702));
    n->out[0] = wick_build2(n->b, WICK_OP_mul, x, gate);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_gelu);
  wick_emit_set_int(&e, "approximate", mode == TANH);
  n->out[0] = wick_emit_end1(&e, x);
}

/* clampedReLU: min(x, beta) where x >= 0, else min(alpha x, beta) */
void wick_coreml_clip(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = wick_coreml_float(n, 0);
  if (n->row->arg) {
    wick_emit e = wick_emit_begin(b, WICK_OP_leaky_relu);
    wick_emit_set_float(&e, "alpha", wick_import_real(n, "alpha", 0));
    x = wick_emit_end1(&e, x);
    n->out[0] = wick_emit_by(b, WICK_OP_min, x, wick_import_real(n, "beta", 0));
    return;
  }
  x = wick_emit_by(b, WICK_OP_max, x, wick_import_real(n, "minVal", 0));
  n->out[0] = wick_emit_by(b, WICK_OP_min, x, wick_import_real(n, "maxVal", 0));
}
