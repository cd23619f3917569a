/* What Whisper's timestamps require of the next token, for searches of com.microsoft. Source of their meaning:
 * TimestampLogitsProcessor of ONNX Runtime, which follows OpenAI's ApplyTimestampRules. */
#include <float.h>

#include "import/onnx/microsoft_generate.h"

enum { WHISPER_LATEST = 50 }; /* the first timestamp may be this many steps after the beginning */

typedef struct whisper {
  wick_microsoft_generate *g;
  wick_builder *b;
  int64_t begin;          /* the first timestamp's id; timestamps are the last ids */
  wick_value token;       /* i64 [1, vocabulary], the ids */
  wick_value is;          /* bool [rows, length], which tokens are timestamps */
  wick_value fresh;       /* bool [rows, 1], no token follows the first timestamp */
  wick_value last, alone; /* bool [rows, 1], the last token is one; it begins a pair */
  wick_value out;         /* bool [rows, vocabulary], ids that are not allowed */
} whisper;

static void whisper_forbid(whisper *w, wick_value when, wick_value ids)
{
  if (when.id) ids = wick_build2(w->b, WICK_OP_and, when, ids);
  w->out = w->out.id ? wick_build2(w->b, WICK_OP_or, w->out, ids) : ids;
}

static wick_value whisper_ids(whisper *w, wick_opcode op, int64_t id)
{
  return wick_emit_by(w->b, op, w->token, (double)id);
}

static void whisper_forbid_id(whisper *w, wick_value when, const char *attr)
{
  int64_t id = wick_onnx_int(w->g->o, attr, -1);
  if (id >= 0) whisper_forbid(w, when, whisper_ids(w, WICK_OP_eq, id));
}

static wick_value whisper_not(whisper *w, wick_value x)
{
  return wick_build1(w->b, WICK_OP_not, x);
}

/* Finds which tokens are timestamps, and how the text ends. */
static void whisper_read(whisper *w)
{
  wick_builder *b = w->b;
  int64_t n = w->g->length;
  wick_dim one = wick_dim_const(1);
  w->is = wick_emit_by(b, WICK_OP_ge, w->g->tokens, (double)w->begin);
  wick_value earlier = wick_emit_slice(b, w->is, 1, wick_dim_const(0), wick_dim_const(n - 1));
  w->last = wick_emit_slice(b, w->is, 1, wick_dim_const(n - 1), one);
  if (n == 1) {
    w->fresh = wick_build2(b, WICK_OP_or, w->last, whisper_not(w, w->last));
    w->alone = whisper_not(w, w->fresh);
    return;
  }
  wick_value any =
      wick_emit_reduce1(b, WICK_OP_reduce_max, wick_build_cast(b, earlier, WICK_I32), 1, true);
  w->fresh = wick_emit_by(b, WICK_OP_eq, any, 0);
  wick_value second = wick_emit_slice(b, w->is, 1, wick_dim_const(n - 2), one);
  second = wick_build2(b, WICK_OP_or, second, w->fresh);
  w->alone = wick_build2(b, WICK_OP_and, w->last, whisper_not(w, second));
}

/* Timestamps do not decrease: forbids those before the last one, and this one after a pair. */
static void whisper_order(whisper *w)
{
  wick_builder *b = w->b;
  wick_value place = wick_emit_count_along(b, wick_dim_const(w->g->length), 1, 2);
  wick_value none = wick_emit_number(b, place, -1);
  wick_value at = wick_build3(b, WICK_OP_where, w->is, place, none);
  at = wick_emit_reduce1(b, WICK_OP_reduce_max, at, 1, true);
  wick_value any = wick_emit_by(b, WICK_OP_ge, at, 0);
  at = wick_emit_by(b, WICK_OP_max, at, 0);
  wick_value stamp = wick_emit_gather(b, WICK_OP_gather_elements, w->g->tokens, at, 1);
  wick_value next = wick_build_cast(b, whisper_not(w, w->alone), WICK_I64);
  wick_value least = wick_build2(b, WICK_OP_add, stamp, next);
  wick_value low = wick_build2(b, WICK_OP_lt, w->token, least);
  low = wick_build2(b, WICK_OP_and, low, whisper_ids(w, WICK_OP_ge, w->begin));
  whisper_forbid(w, any, low);
}

/* Lowers the numbers of all words if the timestamps are together more likely than the likeliest word. */
static wick_value whisper_prefer(whisper *w, wick_value scores)
{
  wick_builder *b = w->b;
  wick_value low = wick_emit_number(b, scores, -(double)FLT_MAX);
  wick_value stamp = whisper_ids(w, WICK_OP_ge, w->begin);
  wick_value stamps = wick_build3(b, WICK_OP_where, stamp, scores, low);
  wick_value words = wick_build3(b, WICK_OP_where, stamp, low, scores);
  wick_value word = wick_emit_reduce1(b, WICK_OP_reduce_max, words, 1, true);
  wick_value top = wick_emit_reduce1(b, WICK_OP_reduce_max, stamps, 1, true);
  wick_value some = wick_emit_by(b, WICK_OP_gt, stamps, -(double)FLT_MAX);
  wick_value share = wick_build1(b, WICK_OP_exp, wick_build2(b, WICK_OP_sub, stamps, top));
  share = wick_build3(b, WICK_OP_where, some, share, wick_emit_number(b, share, 0));
  wick_value sum = wick_emit_reduce1(b, WICK_OP_reduce_sum, share, 1, true);
  wick_value all = wick_build2(b, WICK_OP_add, wick_build1(b, WICK_OP_log, sum), top);
  wick_value more = wick_build2(b, WICK_OP_gt, all, word);
  more = wick_build2(b, WICK_OP_and, more, wick_emit_by(b, WICK_OP_gt, sum, 0));
  return wick_build3(b, WICK_OP_where, more, stamps, scores);
}

wick_value wick_microsoft_generate_stamped(wick_microsoft_generate *g, wick_value scores)
{
  wick_onnx_op *o = g->o;
  wick_builder *b = g->b;
  int64_t processor;
  if (!wick_onnx_one(o, 11, "logits_processor", 0, &processor) || !processor || b->status)
    return scores;
  whisper w = {.g = g, .b = b, .begin = wick_onnx_int(o, "beginning_timestamp_token_id", -1)};
  wick_dim words = wick_built_info(b, scores)->dim[1];
  if (processor != 1 || w.begin < 1 || (wick_dim_is_const(words) && w.begin >= words.v)) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED,
                   "logits_processor %lld with beginning_timestamp_token_id %lld is not supported",
                   (long long)processor, (long long)w.begin);
    return scores;
  }
  w.token = wick_emit_count_along(b, words, 1, 2);
  whisper_read(&w);
  wick_value none = {0}, later = whisper_not(&w, w.fresh);
  whisper_forbid_id(&w, none, "no_timestamps_token_id");
  whisper_forbid_id(&w, none, "start_of_lm_token_id");
  whisper_forbid_id(&w, later, "decoder_start_token_id");
  whisper_forbid_id(&w, later, "translate_token_id");
  whisper_forbid_id(&w, later, "transcribe_token_id");
  wick_value pair = wick_build2(b, WICK_OP_and, w.last, whisper_not(&w, w.alone));
  whisper_forbid(&w, pair, whisper_ids(&w, WICK_OP_ge, w.begin));
  whisper_forbid(&w, w.alone, whisper_ids(&w, WICK_OP_lt, g->eos));
  whisper_order(&w);
  whisper_forbid(&w, w.fresh, whisper_ids(&w, WICK_OP_gt, w.begin + WHISPER_LATEST));
  wick_value low = wick_emit_number(b, scores, -(double)FLT_MAX);
  return whisper_prefer(&w, wick_build3(b, WICK_OP_where, w.out, low, scores));
}
