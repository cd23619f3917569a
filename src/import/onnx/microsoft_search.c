/* Imports com.microsoft's searches for the best text: greedy, by sampling, and with several beams. */
#include <math.h>

#include "import/onnx/microsoft_generate.h"

static wick_value search_top(wick_builder *b, wick_value x, wick_dim k, bool least)
{
  wick_emit e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_dims(&e, "k", 1, &k);
  wick_emit_set_int(&e, "least", least);
  return wick_emit_end1(&e, x);
}

static wick_value search_sums(wick_builder *b, wick_value x)
{
  wick_emit e = wick_emit_begin(b, WICK_OP_cumsum);
  wick_emit_set_int(&e, "axis", 1);
  return wick_emit_end1(&e, x);
}

/* ---- one sequence for each prompt ---- */

/* Appends tokens, or padding to the sequences that have ended. */
static void search_next(wick_microsoft_generate *g, wick_value next, wick_value *ended)
{
  wick_builder *b = g->b;
  wick_value end = wick_emit_by(b, WICK_OP_eq, next, (double)g->eos);
  *ended = ended->id ? wick_build2(b, WICK_OP_or, *ended, end) : end;
  wick_value pad = wick_emit_number(b, g->tokens, (double)g->pad);
  next = wick_build3(b, WICK_OP_where, *ended, pad, next);
  wick_microsoft_generate_append(g, next, (wick_value){0});
}

static void search_greedy(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  wick_microsoft_generate g = {
      .o = o, .kinds = 1, .beams = 1, .at_vocab = 4, .at_prefix = 5, .at_mask = 6};
  wick_value ended = {0};
  if (!wick_microsoft_generate_begin(&g)) return;
  while (g.length < g.most) {
    wick_value scores = wick_microsoft_generate_call(&g);
    if (!scores.id || b->status) return;
    wick_emit e = wick_emit_begin(b, WICK_OP_argmax);
    wick_emit_set_int(&e, "axis", 1);
    wick_emit_set_int(&e, "keepdims", 0);
    search_next(&g, wick_emit_end1(&e, wick_microsoft_generate_processed(&g, scores)), &ended);
  }
  o->out[0] = wick_build_cast(b, g.tokens, WICK_I32);
}

/* Lowers all numbers but those of the most likely tokens, whose probabilities add up to top_p. `custom`
 * counts from the most likely one, else the sum is that of the others. */
static wick_value search_nucleus(wick_onnx_op *o, wick_value scores)
{
  wick_builder *b = o->b;
  bool custom = wick_onnx_int(o, "custom", 0) != 0;
  double p = wick_onnx_float(o, "top_p", 0);
  int64_t keep = wick_onnx_int(o, "min_tokens_to_keep", 0);
  if (b->status) return scores;
  wick_dim words = wick_built_info(b, scores)->dim[1];
  wick_value sorted = search_top(b, scores, words, !custom), order = {sorted.id + 1};
  wick_emit e = wick_emit_begin(b, WICK_OP_softmax);
  wick_emit_set_int(&e, "axis", -1);
  wick_value share = wick_emit_end1(&e, sorted), sum = search_sums(b, share), out;
  wick_value place = wick_emit_count_along(b, words, 1, 2);
  if (custom) {
    sum = wick_build2(b, WICK_OP_sub, sum, share); /* of the tokens before */
    out = wick_emit_by(b, WICK_OP_gt, sum, (double)(float)p);
    out = wick_build2(b, WICK_OP_and, out, wick_emit_by(b, WICK_OP_gt, place, 0));
  } else {
    wick_value last = wick_emit_by(b, WICK_OP_sub, wick_onnx_size(o, words), (double)keep);
    last = wick_emit_by(b, WICK_OP_max, last, 1);
    out = wick_emit_by(b, WICK_OP_le, sum, (double)(1 - (float)p));
    out = wick_build2(b, WICK_OP_and, out, wick_build2(b, WICK_OP_lt, place, last));
  }
  wick_value low = wick_emit_number(b, sorted, wick_onnx_float(o, "filter_value", -1e20f));
  e = wick_emit_begin(b, WICK_OP_scatter_elements);
  wick_emit_set_int(&e, "axis", 1);
  sorted = wick_build3(b, WICK_OP_where, out, low, sorted);
  return wick_emit_end(&e, 3, (wick_value[]){scores, order, sorted});
}

/* Draws a token of each row by the softmax of its numbers. The stream of random numbers is Wick's. */
static wick_value search_drawn(wick_microsoft_generate *g, wick_value scores)
{
  wick_builder *b = g->b;
  wick_module *m = g->o->c->module;
  wick_value key = wick_build_const(b, wick_type_tensor(m, WICK_U64, 0, NULL), 0, g->length);
  if (wick_onnx_has(g->o, 8)) {
    wick_value seed = wick_build_cast(b, wick_onnx_scalar(g->o, 8), WICK_U64);
    key = wick_build2(b, WICK_OP_add, key, wick_emit_by(b, WICK_OP_mul, seed, 4096));
  }
  const wick_dim column[] = {g->rows, wick_dim_const(1)};
  wick_emit e = wick_emit_begin(b, WICK_OP_random);
  wick_type want = wick_type_tensor(m, WICK_F32, 2, column);
  wick_value u = wick_build(b, WICK_OP_random, 1, &key, e.attr, 1, &want);
  e = wick_emit_begin(b, WICK_OP_softmax);
  wick_emit_set_int(&e, "axis", -1);
  wick_value sum = search_sums(b, wick_emit_end1(&e, scores));
  wick_value all = wick_emit_reduce1(b, WICK_OP_reduce_max, sum, 1, true);
  wick_value below = wick_build2(b, WICK_OP_le, sum, wick_build2(b, WICK_OP_mul, u, all));
  return wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_cast(b, below, WICK_I64), 1, false);
}

static void search_sampled(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  wick_microsoft_generate g = {
      .o = o, .kinds = 1, .beams = 1, .at_vocab = 4, .at_prefix = 5, .at_mask = 6};
  wick_value ended = {0}, scores = {0};
  double temperature = wick_onnx_float(o, "temperature", 1),
         presence = wick_onnx_float(o, "presence_penalty", 0);
  if (!wick_microsoft_generate_begin(&g)) return;
  while (g.length < g.most) {
    scores = wick_microsoft_generate_call(&g);
    if (!scores.id || b->status) return;
    scores = wick_microsoft_generate_processed(&g, scores);
    if (temperature > 0 && temperature != 1)
      scores = wick_emit_by(b, WICK_OP_div, scores, temperature);
    if (presence != 0 && wick_onnx_has(o, 7)) {
      wick_value seen = wick_build_cast(b, o->in[7], WICK_F32);
      scores = wick_build2(b, WICK_OP_sub, scores, wick_emit_by(b, WICK_OP_mul, seen, presence));
    }
    scores = search_nucleus(o, scores);
    search_next(&g, search_drawn(&g, scores), &ended);
  }
  o->out[0] = wick_build_cast(b, g.tokens, WICK_I32);
  if (wick_microsoft_wants(o, 1)) o->out[1] = scores;
}

/* ---- beams ---- */

typedef struct search_beams {
  wick_microsoft_generate g;
  wick_builder *b;
  wick_dim batch, beams, words;
  wick_value score; /* f32 [batch, beams], of the sequences that go on */
  wick_value done;  /* bool [batch, 1] */
  wick_value
      best; /* f32 [batch, beams], of those that have ended, the best one first; -inf: none */
  wick_value text;    /* i64 [batch, beams, most], these */
  wick_value penalty; /* f32[] */
  wick_value numbers; /* f32 [rows, words], the decoder's first ones */
} search_beams;

static wick_value search_shaped(search_beams *s, wick_value x, wick_dim d0, wick_dim d1)
{
  return wick_build_reshape(s->b, x, 2, (wick_dim[]){d0, d1});
}

/* Divides sums of log-probabilities of sequences by length^penalty. */
static wick_value search_lengths(search_beams *s, wick_value sum)
{
  wick_value length = wick_emit_number(s->b, s->penalty, (double)s->g.length);
  length = wick_build2(s->b, WICK_OP_pow, length, s->penalty);
  return wick_build2(s->b, WICK_OP_div, sum, length);
}

/* The sequences so far of beams `from`, i64 [batch, beams], padded: [batch, beams, most]. */
static wick_value search_texts(search_beams *s, wick_value from)
{
  wick_builder *b = s->b;
  wick_microsoft_generate *g = &s->g;
  wick_value text = wick_emit_gather(b, WICK_OP_gather, g->tokens, from, 0);
  const wick_dim rest[] = {s->batch, s->beams, wick_dim_const(g->most - g->length)};
  if (g->most == g->length) return text;
  wick_value pad = wick_emit_expand(b, wick_microsoft_generate_number(g, g->pad), 3, rest);
  return wick_build_concat(b, 2, 2, (wick_value[]){text, pad});
}

/* Keeps the best of the sequences that have ended and of new ones, whose score is -inf if they are none.
 * Of equal ones the earlier stays. */
static void search_keep(search_beams *s, wick_value score, wick_value text)
{
  wick_builder *b = s->b;
  score = wick_build_concat(b, 1, 2, (wick_value[]){s->best, score});
  s->best = search_top(b, score, s->beams, false);
  wick_value at = {s->best.id + 1};
  const wick_dim all[] = {s->batch, s->beams, wick_dim_const(s->g.most)};
  at = wick_emit_expand(b, wick_emit_unsqueeze(b, at, 2), 3, all);
  text = wick_build_concat(b, 1, 2, (wick_value[]){s->text, text});
  s->text = wick_emit_gather(b, WICK_OP_gather_elements, text, at, 1);
}

/* The number of the row of beam `at`, i64 [batch, n], of each batch. */
static wick_value search_rows(search_beams *s, wick_value at)
{
  wick_value batch = wick_emit_count_along(s->b, s->batch, 0, 2);
  batch = wick_emit_by(s->b, WICK_OP_mul, batch, (double)s->g.beams);
  return wick_build2(s->b, WICK_OP_add, at, batch);
}

/* Adds the sequences that end here: those among the first `beams` candidates [batch, 2 * beams] whose
 * token is the end. A batch is done if no sequence can become better than the kept ones. */
static void search_ended(search_beams *s, wick_value score, wick_value row, wick_value end)
{
  wick_builder *b = s->b;
  wick_dim zero = wick_dim_const(0);
  wick_value low = wick_emit_number(b, score, -(double)INFINITY);
  wick_value top = wick_emit_slice(b, score, 1, zero, wick_dim_const(1));
  wick_value is = wick_emit_slice(b, end, 1, zero, s->beams);
  is = wick_build2(b, WICK_OP_and, is, wick_build1(b, WICK_OP_not, s->done));
  wick_value sum = search_lengths(s, wick_emit_slice(b, score, 1, zero, s->beams));
  wick_value text = search_texts(s, wick_emit_slice(b, row, 1, zero, s->beams));
  search_keep(s, wick_build3(b, WICK_OP_where, is, sum, low), text);
  wick_value worst =
      wick_emit_slice(b, s->best, 1, wick_dim_const(s->g.beams - 1), wick_dim_const(1));
  wick_value full = wick_emit_by(b, WICK_OP_gt, worst, -(double)INFINITY);
  if (!wick_onnx_int(s->g.o, "early_stopping", 0)) {
    wick_value hopeless = wick_build2(b, WICK_OP_ge, worst, search_lengths(s, top));
    full = wick_build2(b, WICK_OP_and, full, hopeless);
  }
  s->done = wick_build2(b, WICK_OP_or, s->done, full);
}

/* Lets the best candidates that do not end go on. Those of batches that are done get padding. */
static void search_go_on(search_beams *s, wick_value score, wick_value row, wick_value token,
                         wick_value end, wick_value done)
{
  wick_builder *b = s->b;
  wick_dim all = wick_dim_const(2 * s->g.beams);
  wick_value place = wick_emit_count_along(b, all, 1, 2);
  wick_value later = wick_emit_by(b, WICK_OP_add, place, (double)(2 * s->g.beams));
  place = search_top(b, wick_build3(b, WICK_OP_where, end, later, place), s->beams, true);
  wick_value at = {place.id + 1}, part[3] = {score, token, row};
  for (uint32_t k = 0; k < 3; k++) {
    part[k] = wick_emit_gather(b, WICK_OP_gather_elements, part[k], at, 1);
    wick_value none = wick_emit_number(b, part[k], k == 1 ? (double)s->g.pad : 0);
    part[k] = wick_build3(b, WICK_OP_where, done, none, part[k]);
  }
  s->score = part[0];
  wick_microsoft_generate_append(&s->g, wick_build_reshape(b, part[1], 1, &s->g.rows),
                                 wick_build_reshape(b, part[2], 1, &s->g.rows));
}

/* One step: twice as many candidates as there are beams, from all beams of a batch. Returns the scores of
 * all words, f32 [1, batch, beams, words], or 0 after a failure. */
static wick_value search_step(search_beams *s)
{
  wick_builder *b = s->b;
  wick_microsoft_generate *g = &s->g;
  wick_value x = wick_microsoft_generate_call(g);
  if (!x.id || b->status) return (wick_value){0};
  s->words = wick_built_info(b, x)->dim[1];
  if (!wick_dim_is_const(s->words) || s->words.v < 2 || s->words.v > INT32_MAX) {
    wick_onnx_fail(g->o, WICK_EUNSUPPORTED, "the number of words must be known, and 2 or more");
    return (wick_value){0};
  }
  if (!s->numbers.id) s->numbers = x;
  wick_emit e = wick_emit_begin(b, WICK_OP_log_softmax);
  wick_emit_set_int(&e, "axis", -1);
  x = wick_microsoft_generate_processed(g, wick_emit_end1(&e, x));
  x = wick_build2(b, WICK_OP_add, x, search_shaped(s, s->score, g->rows, wick_dim_const(1)));
  const wick_dim whole[] = {wick_dim_const(1), s->batch, s->beams, s->words};
  wick_value flat = search_shaped(s, x, s->batch, wick_dim_const(g->beams * s->words.v));
  wick_value score = search_top(b, flat, wick_dim_const(2 * g->beams), false), at = {score.id + 1};
  wick_value token = wick_emit_by(b, WICK_OP_mod, at, (double)s->words.v);
  wick_value row = search_rows(s, wick_emit_by(b, WICK_OP_div, at, (double)s->words.v));
  wick_value end = wick_emit_by(b, WICK_OP_eq, token, (double)g->eos), done = s->done;
  search_ended(s, score, row, end);
  search_go_on(s, score, row, token, end, done);
  return wick_build_reshape(b, x, 4, whole);
}

static bool search_beams_begin(search_beams *s)
{
  wick_onnx_op *o = s->g.o;
  wick_builder *b = s->b = o->b;
  int64_t returned;
  if (!wick_microsoft_needs(o, 0x1b) || !wick_onnx_one(o, 3, "num_beams", 1, &s->g.beams) ||
      !wick_onnx_one(o, 4, "num_return_sequences", 1, &returned))
    return false;
  if (s->g.beams < 1 || s->g.beams > 256 || returned < 1 || returned > s->g.beams) {
    wick_onnx_fail(o, WICK_ERANGE, "num_beams is %lld and num_return_sequences %lld",
                   (long long)s->g.beams, (long long)returned);
    return false;
  }
  if (!wick_microsoft_generate_begin(&s->g)) return false;
  s->batch = s->g.batch, s->beams = wick_dim_const(s->g.beams);
  const wick_dim two[] = {s->batch, s->beams},
                 text[] = {s->batch, s->beams, wick_dim_const(s->g.most)};
  wick_value first = wick_emit_by(b, WICK_OP_eq, wick_emit_count_along(b, s->beams, 1, 2), 0);
  wick_value low = wick_emit_number(b, s->g.zero, -1e9);
  s->score = wick_build3(b, WICK_OP_where, first, s->g.zero, low);
  s->score = wick_emit_expand(b, s->score, 2, two);
  s->best = wick_emit_expand(b, wick_emit_number(b, s->g.zero, -(double)INFINITY), 2, two);
  s->text = wick_emit_expand(b, wick_microsoft_generate_number(&s->g, s->g.pad), 3, text);
  wick_type no = wick_type_tensor(o->c->module, WICK_BOOL, 0, NULL);
  s->done = wick_emit_expand(b, wick_build_const(b, no, 0, 0), 2,
                             (wick_dim[]){s->batch, wick_dim_const(1)});
  s->penalty = wick_onnx_has(o, 5) ? wick_build_cast(b, wick_onnx_scalar(o, 5), WICK_F32)
                                   : wick_emit_number(b, s->g.zero, 1);
  return !b->status;
}

/* The probability that a word of Whisper's that says that nobody speaks is the first one, f32 [batch]. */
static wick_value search_silence(search_beams *s)
{
  wick_onnx_op *o = s->g.o;
  int64_t id = wick_onnx_int(o, "no_speech_token_id", -1);
  if (id < 0 || id >= s->words.v) {
    wick_onnx_fail(o, WICK_ERANGE, "no_speech_token_id is %lld, expected a word: there are %lld",
                   (long long)id, (long long)s->words.v);
    return (wick_value){0};
  }
  const wick_dim all[] = {s->batch, s->beams, s->words};
  wick_dim one = wick_dim_const(1);
  wick_emit e = wick_emit_begin(s->b, WICK_OP_softmax);
  wick_emit_set_int(&e, "axis", -1);
  wick_value x = wick_build_reshape(s->b, wick_emit_end1(&e, s->numbers), 3, all);
  x = wick_emit_slice(s->b, wick_emit_slice(s->b, x, 1, wick_dim_const(0), one), 2,
                      wick_dim_const(id), one);
  return wick_build_reshape(s->b, x, 1, &s->batch);
}

static void search_by_beams(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  search_beams s = {
      .g = {.o = o, .kinds = (uint32_t)o->row->arg, .at_vocab = 7, .at_prefix = 8, .at_mask = 9}};
  int64_t returned;
  if (wick_onnx_has(o, 13) || wick_onnx_int(o, "decoder_output_cross_qk", 0) ||
      wick_microsoft_wants(o, 3)) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "cross_qk and extra_decoding_ids are not supported");
    return;
  }
  if (!search_beams_begin(&s) || !wick_onnx_one(o, 4, "num_return_sequences", 1, &returned)) return;
  uint32_t steps = (uint32_t)(s.g.most - s.g.start);
  wick_value *scores = wick_new(o->c->tmp, wick_value, steps);
  for (uint32_t k = 0; k < steps; k++)
    if (!(scores[k] = search_step(&s)).id || b->status) return;
  wick_value low = wick_emit_number(b, s.score, -(double)INFINITY);
  wick_value sum = wick_build3(b, WICK_OP_where, s.done, low, search_lengths(&s, s.score));
  wick_value rows = search_rows(&s, wick_emit_count_along(b, s.beams, 1, 2));
  search_keep(&s, sum, search_texts(&s, rows));
  wick_dim zero = wick_dim_const(0), few = wick_dim_const(returned);
  o->out[0] = wick_build_cast(b, wick_emit_slice(b, s.text, 1, zero, few), WICK_I32);
  if (o->nout > 1) o->out[1] = wick_emit_slice(b, s.best, 1, zero, few);
  if (wick_microsoft_wants(o, 2)) o->out[2] = wick_build_concat(b, 0, steps, scores);
  if (wick_microsoft_wants(o, 4)) o->out[4] = search_silence(&s);
}

#define ROW(name, least, most, nout, attrs, import)                                                \
  {                                                                                                \
    "com.microsoft." name, 1, {least, most}, nout, attrs, import, 0, 0                             \
  }
#define DECODER                                                                                    \
  "decoder:g! decoder_start_token_id:i encoder:g eos_token_id:i! init_decoder:g model_type:i "     \
  "no_repeat_ngram_size:i pad_token_id:i! vocab_size:i "

const wick_onnx_row wick_onnx_microsoft_search_rows[] = {
    {"com.microsoft.BeamSearch", 1, {2, 12}, 3, DECODER "early_stopping:i", search_by_beams, 0, 7},
    ROW("GreedySearch", 2, 7, 1, DECODER, search_greedy),
    ROW("Sampling", 2, 9, 2,
        DECODER "custom:i filter_value:f min_tokens_to_keep:i presence_penalty:f temperature:f "
                "top_p:f",
        search_sampled),
    {"com.microsoft.WhisperBeamSearch",
     1,
     {2, 15},
     5,
     DECODER "beginning_timestamp_token_id:i decoder_output_cross_qk:i early_stopping:i "
             "no_speech_token_id:i no_timestamps_token_id:i start_of_lm_token_id:i "
             "transcribe_token_id:i translate_token_id:i",
     search_by_beams,
     0,
     4},
    {0},
};
