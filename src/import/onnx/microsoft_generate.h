/* What greedy search, sampling and beam search of com.microsoft share: a decoder that is a graph within the
 * node, called once for each new token (microsoft_generate.c), after an encoder that is another graph if
 * the model has one (microsoft_encoder.c). The decoder's caches grow from call to call, so the calls are
 * written out one after the other; their number must be known. */
#ifndef WICK_IMPORT_ONNX_MICROSOFT_GENERATE_H
#define WICK_IMPORT_ONNX_MICROSOFT_GENERATE_H

#include "import/onnx/microsoft.h"

/* The attribute model_type: a decoder alone (GPT-2), or an encoder of text (T5) or audio (Whisper) and a
 * decoder that attends to what it says. */
enum { WICK_MICROSOFT_DECODER, WICK_MICROSOFT_TEXT, WICK_MICROSOFT_AUDIO };

typedef struct wick_microsoft_generate {
  wick_onnx_op *o;
  wick_builder *b;
  uint32_t kinds; /* bits: the model types that the operator has; the lowest one is its default */
  int64_t kind;
  const wick_onnx_graph *decoder, *first; /* first: for the first call */
  int64_t eos, pad, beams, start, most;  /* start: tokens that are given; most: with the new ones */
  wick_dim batch, rows;                  /* rows = batch * beams */
  uint32_t at_vocab, at_prefix, at_mask; /* operands; repetition_penalty is before at_vocab */
  wick_value tokens;                     /* i64 [rows, length], the sequences so far */
  int64_t length;
  uint32_t nfeed; /* decoder alone: ids, positions, mask, caches */
  wick_value *feed;
  uint32_t cache, ncache, axis; /* the feeds that each call renews, and their axis of rows */
  bool whole;                   /* the decoder takes all tokens so far, not only the new one */
  wick_value place;             /* i32 [rows, 1], the position of the next token */
  wick_value given; /* the numbers for the first new token, if the encoder computes them */
  wick_value zero;  /* f32[] */
} wick_microsoft_generate;

/* Reads the node's attributes and operands, and prepares the first call. `beams` was read. Returns false
 * after a failure. */
bool wick_microsoft_generate_begin(wick_microsoft_generate *g);
/* Calls the decoder. Returns the numbers for the next token, f32 [rows, vocabulary]. Returns 0 after a
 * failure. */
wick_value wick_microsoft_generate_call(wick_microsoft_generate *g);
/* Applies the penalties, masks and the least length to these numbers. */
wick_value wick_microsoft_generate_processed(wick_microsoft_generate *g, wick_value scores);
/* Appends tokens, i64 [rows]. For beams, the sequences and caches are first chosen by `from`, i64 [rows], if
 * it is not 0. */
void wick_microsoft_generate_append(wick_microsoft_generate *g, wick_value next, wick_value from);
/* The value of x [batch, ...] for each beam, [rows, ...]. */
wick_value wick_microsoft_generate_beams(wick_microsoft_generate *g, wick_value x);
/* Returns a graph that is an attribute, or NULL. */
const wick_onnx_graph *wick_microsoft_generate_graph(const wick_onnx_op *o, const char *name);
/* An empty cache by the type that the decoder declares for it, [2, rows, heads, 0, size] for decoders alone,
 * else [rows, heads, 0, size]. Returns 0 after a failure. */
wick_value wick_microsoft_generate_cache(wick_microsoft_generate *g, const wick_onnx_value_info *v);
/* The numbers of the last token, f32 [rows, vocabulary], of those of all, [rows, length, vocabulary].
 * Returns 0 after a failure. */
wick_value wick_microsoft_generate_last(wick_microsoft_generate *g, wick_value numbers);
/* microsoft_whisper.c: what timestamps require of the next token, if the operand logits_processor asks for
 * it. */
wick_value wick_microsoft_generate_stamped(wick_microsoft_generate *g, wick_value scores);
/* microsoft_encoder.c: calls the encoder and prepares the first call of the decoder. Returns false after a failure. */
bool wick_microsoft_generate_encode(wick_microsoft_generate *g);
/* An i64[] constant. */
wick_value wick_microsoft_generate_number(wick_microsoft_generate *g, int64_t i);

#endif
