/* Calls decoders that generate text, for greedy search, sampling and beam search. Source of their meaning:
 * onnxruntime/contrib_ops/cpu/transformers of ONNX Runtime. */
#include "import/onnx/microsoft_generate.h"

#include <float.h>

#include "ir/element.h"

enum { GENERATE_STEPS = 1024, GENERATE_FEEDS = 3 };

wick_value wick_microsoft_generate_number(wick_microsoft_generate *g, int64_t i)
{
  return wick_build_const(g->b, wick_type_tensor(g->o->c->module, WICK_I64, 0, NULL), 0, i);
}

wick_value wick_microsoft_generate_beams(wick_microsoft_generate *g, wick_value x)
{
  wick_dim dim[WICK_MAX_RANK + 1];
  if (g->beams == 1 || g->b->status || !x.id) return x;
  const wick_type_info t = *wick_built_info(g->b, x);
  dim[0] = t.dim[0], dim[1] = wick_dim_const(g->beams);
  for (uint32_t k = 1; k < t.rank; k++) dim[1 + k] = t.dim[k];
  x = wick_emit_expand(g->b, wick_emit_unsqueeze(g->b, x, 1), t.rank + 1, dim);
  dim[1] = g->rows;
  return wick_build_reshape(g->b, x, t.rank, dim + 1);
}

/* ---- the first call ---- */

const wick_onnx_graph *wick_microsoft_generate_graph(const wick_onnx_op *o, const char *name)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  return a ? a->g : NULL;
}

wick_value wick_microsoft_generate_cache(wick_microsoft_generate *g, const wick_onnx_value_info *v)
{
  const wick_onnx_tensor_type *t = v->type ? v->type->tensor_type : NULL;
  const wick_onnx_shape *s = t ? t->shape : NULL;
  uint32_t heads = g->axis + 1, rank = g->axis + 4;
  wick_elem elem;
  if (!s || s->dim.n != rank || s->dim.at[heads].dim_value < 1 ||
      s->dim.at[heads + 2].dim_value < 1 || !wick_onnx_elem(t->elem_type, &elem) ||
      !wick_elem_is_float(elem)) {
    wick_onnx_fail(
        g->o, WICK_EUNSUPPORTED,
        "input \"%s\" of its decoder is no cache of floats [%sbatch, heads, length, size] "
        "with known numbers of heads and their size",
        wick_onnx_name(g->o->c, v->name), g->axis ? "2, " : "");
    return (wick_value){0};
  }
  wick_dim dim[5] = {wick_dim_const(2)};
  dim[g->axis] = g->rows, dim[heads] = wick_dim_const(s->dim.at[heads].dim_value);
  dim[heads + 1] = wick_dim_const(0),
              dim[heads + 2] = wick_dim_const(s->dim.at[heads + 2].dim_value);
  wick_value zero = wick_build_const(g->b, wick_type_tensor(g->o->c->module, elem, 0, NULL), 0, 0);
  return wick_emit_expand(g->b, zero, rank, dim);
}

/* Ids, positions and mask of the tokens that are given. Padding is masked unless a mask is given; it has
 * position 0, and is not counted for the positions of the words after it. */
static void generate_prompt(wick_microsoft_generate *g)
{
  wick_onnx_op *o = g->o;
  wick_builder *b = g->b;
  wick_value ids = wick_build_cast(b, o->in[0], WICK_I32);
  wick_value word = wick_emit_by(b, WICK_OP_ne, ids, (double)g->pad);
  wick_value mask = wick_build_cast(b, word, WICK_I32);
  wick_emit e = wick_emit_begin(b, WICK_OP_cumsum);
  wick_emit_set_int(&e, "axis", 1);
  wick_value place = wick_emit_by(b, WICK_OP_sub, wick_emit_end1(&e, mask), 1);
  place = wick_build3(b, WICK_OP_where, word, place, wick_emit_number(b, place, 0));
  wick_value all = wick_emit_reduce1(b, WICK_OP_reduce_sum, mask, 1, true);
  if (wick_onnx_has(o, g->at_mask)) mask = wick_build_cast(b, o->in[g->at_mask], WICK_I32);
  g->feed[0] = wick_microsoft_generate_beams(g, ids);
  g->feed[1] = wick_microsoft_generate_beams(g, place);
  g->feed[2] = wick_microsoft_generate_beams(g, mask);
  g->place = wick_microsoft_generate_beams(g, all);
  g->tokens = wick_build_cast(b, g->feed[0], WICK_I64);
}

/* Finds the numbers of sequences and of tokens that are given. */
static bool generate_lengths(wick_microsoft_generate *g)
{
  static const struct {
    const char *what;
    uint32_t operand, rank;
  } ids[] = {{"input_ids", 0, 2}, {NULL, 0, 2}, {"decoder_input_ids", 10, 2}};
  wick_onnx_op *o = g->o;
  uint32_t rank = g->kind == WICK_MICROSOFT_AUDIO ? 3 : 2, at = ids[g->kind].operand;
  const wick_type_info *t = wick_onnx_info(o, 0);
  if (t->rank != rank) {
    wick_onnx_fail(o, WICK_ETYPE, "input_ids has rank %u, expected %u", t->rank, rank);
    return false;
  }
  if (!wick_onnx_one(o, 1, "max_length", 0, &g->most)) return false;
  g->batch = t->dim[0];
  g->rows = wick_dim_mul(o->c->module->dims, g->batch, wick_dim_const(g->beams));
  g->start = 1;
  if (ids[g->kind].what && wick_onnx_has(o, at)) {
    t = wick_onnx_info(o, at);
    if (t->rank != 2) {
      wick_onnx_fail(o, WICK_ETYPE, "%s has rank %u, expected 2", ids[g->kind].what, t->rank);
      return false;
    }
    if (!wick_dim_is_const(t->dim[1]))
      return wick_onnx_must_be_known(o, "the number of given tokens", t->dim[1]);
    g->start = t->dim[1].v;
  }
  g->length = g->start;
  if (g->start < 1 || g->most <= g->start || g->most - g->start > GENERATE_STEPS) {
    wick_onnx_fail(o, WICK_ERANGE,
                   "max_length is %lld with %lld given tokens, expected 1 to %d more",
                   (long long)g->most, (long long)g->start, GENERATE_STEPS);
    return false;
  }
  return true;
}

/* Reads model_type, which must be one of those that the operator has. */
static bool generate_kind(wick_microsoft_generate *g)
{
  int64_t least = 0;
  while (!(g->kinds >> least & 1)) least++;
  g->kind = wick_onnx_int(g->o, "model_type", least);
  if (g->kind >= 0 && g->kind < 32 && g->kinds >> g->kind & 1) return true;
  wick_onnx_fail(g->o, WICK_EUNSUPPORTED, "model_type %lld is not supported", (long long)g->kind);
  return false;
}

/* A decoder alone: begins with empty caches. */
static bool generate_alone(wick_microsoft_generate *g)
{
  wick_onnx_op *o = g->o;
  g->first = wick_microsoft_generate_graph(o, "init_decoder");
  if (!g->first) g->first = g->decoder;
  if (g->decoder->input.n <= GENERATE_FEEDS || g->decoder->output.n + 2 != g->decoder->input.n ||
      g->first->input.n != g->decoder->input.n || g->first->output.n != g->decoder->output.n) {
    wick_onnx_fail(
        o, WICK_EUNSUPPORTED,
        "its decoder has %zu inputs and %zu outputs, expected ids, positions, a mask and "
        "caches, and numbers and these caches",
        g->decoder->input.n, g->decoder->output.n);
    return false;
  }
  g->cache = GENERATE_FEEDS, g->ncache = g->nfeed - GENERATE_FEEDS, g->axis = 1;
  generate_prompt(g);
  for (uint32_t k = GENERATE_FEEDS; k < g->nfeed; k++)
    if (!(g->feed[k] = wick_microsoft_generate_cache(g, &g->decoder->input.at[k])).id) return false;
  return true;
}

bool wick_microsoft_generate_begin(wick_microsoft_generate *g)
{
  wick_onnx_op *o = g->o;
  g->b = o->b;
  g->eos = wick_onnx_int(o, "eos_token_id", 0), g->pad = wick_onnx_int(o, "pad_token_id", 0);
  g->decoder = g->first = wick_microsoft_generate_graph(o, "decoder");
  if (!g->decoder) {
    wick_onnx_fail(o, WICK_EPARSE, "its decoder is no graph");
    return false;
  }
  if (!generate_kind(g) || !generate_lengths(g)) return false;
  g->nfeed = (uint32_t)g->decoder->input.n;
  g->feed = wick_new(o->c->tmp, wick_value, g->nfeed);
  g->zero = wick_build_const(g->b, wick_type_tensor(o->c->module, WICK_F32, 0, NULL), 0, 0);
  bool alone = g->kind == WICK_MICROSOFT_DECODER;
  return (alone ? generate_alone(g) : wick_microsoft_generate_encode(g)) && !g->b->status;
}

/* ---- calls ---- */

wick_value wick_microsoft_generate_last(wick_microsoft_generate *g, wick_value numbers)
{
  wick_builder *b = g->b;
  if (b->status) return (wick_value){0};
  const wick_type_info *t = wick_built_info(b, numbers);
  if (t->rank != 3 || !wick_elem_is_float(t->elem)) {
    wick_onnx_fail(g->o, WICK_ETYPE, "its graph gives %s of rank %u, expected floats of rank 3",
                   wick_elem_name(t->elem), t->rank);
    return (wick_value){0};
  }
  wick_dim one = wick_dim_const(1);
  wick_dim last = wick_dim_sub(g->o->c->module->dims, t->dim[1], one);
  wick_value y = wick_emit_squeeze(b, wick_emit_slice(b, numbers, 1, last, one), 1);
  return wick_build_cast(b, y, WICK_F32);
}

wick_value wick_microsoft_generate_call(wick_microsoft_generate *g)
{
  wick_onnx_op *o = g->o;
  bool first = g->length == g->start;
  const wick_onnx_graph *graph = first ? g->first : g->decoder;
  if (first && g->given.id) return g->given;
  wick_value *out = wick_new(o->c->tmp, wick_value, graph->output.n);
  if (g->b->status || !wick_onnx_subgraph(o, graph, g->nfeed, g->feed, out)) return (wick_value){0};
  for (uint32_t k = 0; k < g->ncache; k++) g->feed[g->cache + k] = out[1 + k];
  return wick_microsoft_generate_last(g, out[0]);
}

/* Multiplies or divides the numbers of all tokens that occur, so that they become smaller. */
static wick_value generate_penalty(wick_microsoft_generate *g, wick_value scores)
{
  wick_builder *b = g->b;
  uint32_t at = g->at_vocab - 1;
  if (!wick_onnx_has(g->o, at)) return scores;
  wick_value by = wick_build_cast(b, wick_onnx_scalar(g->o, at), WICK_F32);
  wick_value x = wick_emit_gather(b, WICK_OP_gather_elements, scores, g->tokens, 1);
  wick_value more = wick_build2(b, WICK_OP_mul, x, by);
  wick_value less = wick_build2(b, WICK_OP_div, x, by);
  x = wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_lt, x, 0), more, less);
  wick_emit e = wick_emit_begin(b, WICK_OP_scatter_elements);
  wick_emit_set_int(&e, "axis", 1);
  return wick_emit_end(&e, 3, (wick_value[]){scores, g->tokens, x});
}

/* The lowest number where a mask is 0. */
static wick_value generate_masked(wick_microsoft_generate *g, wick_value scores, wick_value mask)
{
  wick_value low = wick_emit_number(g->b, g->zero, -(double)FLT_MAX);
  return wick_build3(g->b, WICK_OP_where, wick_emit_by(g->b, WICK_OP_ne, mask, 0), scores, low);
}

wick_value wick_microsoft_generate_processed(wick_microsoft_generate *g, wick_value scores)
{
  wick_onnx_op *o = g->o;
  wick_builder *b = g->b;
  int64_t ngram = wick_onnx_int(o, "no_repeat_ngram_size", 0);
  scores = generate_penalty(g, scores);
  if (ngram > 0 && ngram <= g->length)
    scores = wick_microsoft_unrepeated(o, g->tokens, scores, ngram, -(double)FLT_MAX);
  if (wick_onnx_has(o, g->at_vocab)) scores = generate_masked(g, scores, o->in[g->at_vocab]);
  if (wick_onnx_has(o, g->at_prefix) && g->length == g->start)
    scores = generate_masked(g, scores, wick_microsoft_generate_beams(g, o->in[g->at_prefix]));
  if (wick_onnx_has(o, 2) && !b->status) {
    wick_value least = wick_build_cast(b, wick_onnx_scalar(o, 2), WICK_I64);
    wick_value token = wick_emit_count_along(b, wick_built_info(b, scores)->dim[1], 1, 2);
    wick_value other = wick_emit_by(b, WICK_OP_ne, token, (double)g->eos);
    wick_value enough = wick_emit_by(b, WICK_OP_le, least, (double)g->length);
    wick_value keep = wick_build2(b, WICK_OP_or, other, enough);
    scores = generate_masked(g, scores, wick_build_cast(b, keep, WICK_I32));
  }
  if (g->kind == WICK_MICROSOFT_AUDIO && wick_onnx_has(o, 14)) {
    wick_value by = wick_build_cast(b, wick_onnx_scalar(o, 14), WICK_F32);
    wick_value one = wick_emit_number(b, by, 1), is = wick_emit_by(b, WICK_OP_gt, by, 0);
    scores = wick_build2(b, WICK_OP_div, scores, wick_build3(b, WICK_OP_where, is, by, one));
  }
  if (g->kind == WICK_MICROSOFT_AUDIO) scores = wick_microsoft_generate_stamped(g, scores);
  return scores;
}

void wick_microsoft_generate_append(wick_microsoft_generate *g, wick_value next, wick_value from)
{
  wick_builder *b = g->b;
  const wick_dim column[] = {g->rows, wick_dim_const(1)};
  if (from.id) {
    g->tokens = wick_emit_gather(b, WICK_OP_gather, g->tokens, from, 0);
    for (uint32_t k = g->cache; k < g->cache + g->ncache; k++)
      g->feed[k] = wick_emit_gather(b, WICK_OP_gather, g->feed[k], from, g->axis);
  }
  next = wick_build_reshape(b, next, 2, column);
  g->tokens = wick_build_concat(b, 1, 2, (wick_value[]){g->tokens, next});
  g->feed[0] = wick_build_cast(b, g->whole ? g->tokens : next, WICK_I32);
  g->length++;
  if (g->kind != WICK_MICROSOFT_DECODER) return;
  g->feed[1] = g->place;
  g->place = wick_emit_by(b, WICK_OP_add, g->place, 1);
  wick_value on = wick_emit_expand(b, wick_emit_number(b, g->feed[0], 1), 2, column);
  g->feed[2] = wick_build_concat(b, 1, 2, (wick_value[]){g->feed[2], on});
}
