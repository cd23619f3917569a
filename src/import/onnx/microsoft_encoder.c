/* Calls the encoder of searches of com.microsoft, and prepares the decoder that attends to what it says.
 * Source of their meaning: onnxruntime/contrib_ops/cpu/transformers of ONNX Runtime, subgraph_t5_*.cc and
 * subgraph_whisper_*.cc. */
#include <string.h>

#include "import/onnx/microsoft_generate.h"

/* The decoder takes ids, a mask if the encoder reads text, perhaps the encoder's hidden states, and the keys
 * and values of each layer: of its tokens (self), and of the encoder (cross). The encoder gives the cross ones;
 * if it takes ids, too, it is also the first call of the decoder. */
typedef struct encoder {
  wick_microsoft_generate *g;
  wick_onnx_op *o;
  const wick_onnx_graph *graph;
  uint32_t fixed, hidden, pairs; /* inputs before the hidden states, 1 for these, keys and values */
  bool decodes;
  wick_value ids, mask; /* i32 [batch, start], i32 [batch, length] */
} encoder;

/* Returns true if input k of the decoder has that name. */
static bool encoder_named(const encoder *e, size_t k, const char *name)
{
  const wick_onnx_value_infos *in = &e->g->decoder->input;
  return k < in->n && in->at[k].name.nbytes == strlen(name) &&
         !memcmp(in->at[k].name.at, name, strlen(name));
}

static bool encoder_begin(encoder *e)
{
  wick_microsoft_generate *g = e->g;
  size_t nin = g->decoder->input.n, nout = g->decoder->output.n;
  e->graph = wick_microsoft_generate_graph(e->o, "encoder");
  if (!e->graph) {
    wick_onnx_fail(e->o, WICK_EPARSE, "the attribute \"encoder\" is missing");
    return false;
  }
  e->fixed = g->kind == WICK_MICROSOFT_TEXT ? 2 : 1;
  e->hidden = encoder_named(e, e->fixed, "encoder_hidden_states");
  size_t first = e->fixed + e->hidden, caches = nin > first ? nin - first : 0;
  e->pairs = (uint32_t)(caches / 2), e->decodes = e->graph->input.n > e->fixed;
  if (!caches || caches % 4 || nout != 1 + caches / 2) {
    wick_onnx_fail(e->o, WICK_EUNSUPPORTED,
                   "its decoder has %zu inputs and %zu outputs, expected ids%s, perhaps "
                   "encoder_hidden_states, and keys and values of itself and of the encoder, and "
                   "numbers and these keys and values of itself",
                   nin, nout, e->fixed == 2 ? ", encoder_attention_mask" : "");
    return false;
  }
  size_t want = e->decodes ? 2 + caches : caches / 2;
  if (e->graph->input.n != e->fixed + e->decodes || e->graph->output.n != want ||
      (e->hidden && !e->decodes)) {
    wick_onnx_fail(e->o, WICK_EUNSUPPORTED,
                   "its encoder has %zu inputs and %zu outputs, which do not fit its decoder's %zu "
                   "keys and values",
                   e->graph->input.n, e->graph->output.n, caches);
    return false;
  }
  return true;
}

/* The mask that is given, else 0 for the padding before the first word. */
static wick_value encoder_mask(encoder *e)
{
  wick_builder *b = e->o->b;
  if (wick_onnx_has(e->o, e->g->at_mask))
    return wick_build_cast(b, e->o->in[e->g->at_mask], WICK_I32);
  wick_value ids = wick_build_cast(b, e->o->in[0], WICK_I32);
  wick_value word = wick_emit_by(b, WICK_OP_ne, ids, (double)e->g->pad);
  wick_emit s = wick_emit_begin(b, WICK_OP_cumsum);
  wick_emit_set_int(&s, "axis", 1);
  wick_value words = wick_emit_end1(&s, wick_build_cast(b, word, WICK_I32));
  return wick_build_cast(b, wick_emit_by(b, WICK_OP_gt, words, 0), WICK_I32);
}

/* The tokens that are given, else the one that starts a text. */
static bool encoder_ids(encoder *e)
{
  wick_microsoft_generate *g = e->g;
  int64_t id = wick_onnx_int(e->o, "decoder_start_token_id", -1);
  if (g->kind == WICK_MICROSOFT_AUDIO && wick_onnx_has(e->o, 10)) {
    e->ids = wick_build_cast(g->b, e->o->in[10], WICK_I32);
  } else if (id < 0) {
    wick_onnx_fail(e->o, WICK_EPARSE, "the attribute \"decoder_start_token_id\" is missing");
    return false;
  } else {
    const wick_dim column[] = {g->batch, wick_dim_const(1)};
    wick_value start = wick_build_cast(g->b, wick_microsoft_generate_number(g, id), WICK_I32);
    e->ids = wick_emit_expand(g->b, start, 2, column);
  }
  g->tokens = wick_build_cast(g->b, wick_microsoft_generate_beams(g, e->ids), WICK_I64);
  return true;
}

/* Returns true unless the decoder says that it takes one id at a time. */
static bool encoder_whole(const wick_microsoft_generate *g)
{
  const wick_onnx_type *t = g->decoder->input.at[0].type;
  const wick_onnx_shape *s = t && t->tensor_type ? t->tensor_type->shape : NULL;
  return !s || s->dim.n < 2 || s->dim.at[1].dim_value != 1;
}

bool wick_microsoft_generate_encode(wick_microsoft_generate *g)
{
  wick_onnx_op *o = g->o;
  encoder e = {.g = g, .o = o};
  if (!encoder_begin(&e) || !encoder_ids(&e)) return false;
  wick_value in[3] = {o->in[0]}, *out = wick_new(o->c->tmp, wick_value, e.graph->output.n);
  if (e.fixed == 2) in[0] = wick_build_cast(g->b, in[0], WICK_I32), in[1] = encoder_mask(&e);
  in[e.fixed] = e.ids;
  if (g->b->status || !wick_onnx_subgraph(o, e.graph, e.fixed + e.decodes, in, out)) return false;
  g->cache = e.fixed + e.hidden, g->ncache = e.pairs, g->whole = encoder_whole(g);
  g->feed[0] = wick_build_cast(g->b, g->tokens, WICK_I32);
  if (e.fixed == 2) g->feed[1] = wick_microsoft_generate_beams(g, in[1]);
  if (e.hidden) g->feed[e.fixed] = wick_microsoft_generate_beams(g, out[1]);
  for (uint32_t k = 0; k < 2 * e.pairs; k++) {
    uint32_t at = g->cache + k, from = e.decodes ? 2 + k : k - e.pairs;
    if (e.decodes || k >= e.pairs)
      g->feed[at] = wick_microsoft_generate_beams(g, out[from]);
    else if (!(g->feed[at] = wick_microsoft_generate_cache(g, &g->decoder->input.at[at])).id)
      return false;
  }
  if (!e.decodes) return true;
  wick_value numbers = wick_microsoft_generate_last(g, out[0]);
  g->given = wick_microsoft_generate_beams(g, numbers);
  return g->given.id;
}
