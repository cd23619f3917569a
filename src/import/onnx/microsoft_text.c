/* Imports com.microsoft's Tokenizer. The number of tokens is a size of its result, so the texts must be
 * known when the model is compiled, and the tokens are a constant. */
#include <string.h>

#include "import/onnx/microsoft.h"
#include "runtime/host.h"

typedef struct text_row { /* the tokens of a text, in lists with room for all its bytes */
  uint32_t n;
  wick_string *at, *next;
} text_row;

typedef struct text_tokens {
  wick_onnx_op *o;
  wick_host_call pattern;
  char message[256];
  uint64_t least; /* characters of a token */
  uint32_t n;     /* texts */
  text_row *row;
} text_tokens;

/* Returns the bytes of the UTF-8 character at `at`. */
static uint64_t text_step(wick_string s, uint64_t at)
{
  uint64_t n = 1;
  while (at + n < s.nbytes && ((unsigned char)s.at[at + n] & 0xc0) == 0x80) n++;
  return n;
}

/* Adds the bytes [begin, end) of a text as a token, unless they are too few characters. */
static void text_add(const text_tokens *t, wick_string text, uint64_t begin, uint64_t end,
                     wick_string *to, uint32_t *n)
{
  wick_string s = {text.at + begin, end - begin};
  uint64_t characters = 0;
  for (uint64_t k = 0; k < s.nbytes; k += text_step(s, k)) characters++;
  if (characters >= t->least) to[(*n)++] = s;
}

/* Adds the parts of a text between matches, or the matches. */
static bool text_match(text_tokens *t, wick_string text, bool between, wick_string *to, uint32_t *n)
{
  uint64_t from = 0;
  int64_t at[2];
  while (from <= text.nbytes) {
    if (wick_host_pattern_find(&t->pattern, text, from, at) != WICK_OK) return false;
    if (at[0] < 0) break;
    uint64_t begin = (uint64_t)at[0], end = (uint64_t)at[1];
    uint32_t before = *n;
    if (between)
      text_add(t, text, from, begin, to, n);
    else
      text_add(t, text, begin, end, to, n);
    bool taken = end > begin && (between || *n > before);
    if (!taken && begin >= text.nbytes) return true;
    from = taken ? end : begin + text_step(text, begin);
  }
  if (between && from <= text.nbytes) text_add(t, text, from, text.nbytes, to, n);
  return true;
}

/* Replaces each token of all texts by its parts between matches of the pattern, or by its matches. */
static bool text_by(text_tokens *t, wick_span pattern, bool between)
{
  wick_host_call *c = &t->pattern;
  bool good =
      wick_host_pattern_open(c, (wick_string){(const char *)pattern.at, pattern.nbytes}) == WICK_OK;
  for (uint32_t k = 0; k < t->n && good; k++) {
    text_row *r = &t->row[k];
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n && good; i++)
      good = text_match(t, r->at[i], between, r->next, &n);
    wick_string *old = r->at;
    r->at = r->next, r->next = old, r->n = n;
  }
  wick_host_pattern_close(c);
  if (!good) wick_onnx_fail(t->o, WICK_EINVAL, "%s", t->message);
  return good;
}

/* Replaces each text by its characters. */
static void text_characters(text_tokens *t)
{
  for (uint32_t k = 0; k < t->n; k++) {
    text_row *r = &t->row[k];
    wick_string text = r->n ? r->at[0] : (wick_string){0};
    r->n = 0;
    for (uint64_t at = 0, n; at < text.nbytes; at += n) {
      n = text_step(text, at);
      r->next[r->n++] = (wick_string){text.at + at, n};
    }
    r->at = r->next;
  }
}

static int64_t text_number(wick_onnx_op *o, wick_string s)
{
  return wick_onnx_string(o->c, (wick_span){(const unsigned char *)s.at, (size_t)s.nbytes});
}

/* Builds the tokens as a constant: with marks around those of each text, then padding. */
static wick_value text_constant(text_tokens *t)
{
  enum { START = 2, END = 3 };
  wick_onnx_op *o = t->o;
  wick_module *m = o->c->module;
  const wick_type_info *x = wick_onnx_info(o, 0);
  uint32_t width = 0;
  wick_dim dim[3];
  for (uint32_t k = 0; k < t->n; k++) width = t->row[k].n > width ? t->row[k].n : width;
  bool mark = wick_onnx_int(o, "mark", 0) && width;
  if (mark) width += 2;
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = x->dim[k];
  dim[x->rank] = wick_dim_const(width);
  wick_type type = wick_type_tensor(m, WICK_STRING, x->rank + (t->n ? 1u : 0u), dim);
  uint64_t nbytes = (uint64_t)t->n * width * sizeof(int64_t);
  if (!nbytes) return wick_build_const(o->b, type, 0, 0);
  if (nbytes > UINT32_MAX) {
    wick_onnx_fail(o, WICK_ELIMIT, "%u texts with up to %u tokens are too many", t->n, width);
    return (wick_value){0};
  }
  const wick_onnx_attr *pad = wick_onnx_attr_find(o, "pad_value");
  int64_t *v = wick_arena_alloc(&m->mem, (size_t)nbytes, sizeof *v),
          none = wick_onnx_string(o->c, pad->s);
  static const char marks[] = {START, END};
  for (uint32_t k = 0; k < t->n; k++) {
    int64_t *row = v + (size_t)k * width;
    const text_row *r = &t->row[k];
    uint32_t n = 0;
    if (mark) row[n++] = text_number(o, (wick_string){marks, 1});
    for (uint32_t i = 0; i < r->n; i++) row[n++] = text_number(o, r->at[i]);
    if (mark) row[n++] = text_number(o, (wick_string){marks + 1, 1});
    while (n < width) row[n++] = none;
  }
  return wick_build_constant(o->b, wick_emit_constant(m, "", type, v, nbytes));
}

/* Reads the texts, each as one token. */
static bool text_read(text_tokens *t)
{
  wick_onnx_op *o = t->o;
  const int64_t *x;
  uint32_t rank = wick_onnx_info(o, 0)->rank;
  if (rank < 1 || rank > 2) {
    wick_onnx_fail(o, WICK_ETYPE, "the texts have rank %u, expected 1 or 2", rank);
    return false;
  }
  if (!wick_onnx_texts(o, 0, "the texts", &t->n, &x)) return false;
  t->row = wick_new(o->c->tmp, text_row, t->n + 1u);
  for (uint32_t k = 0; k < t->n; k++) {
    wick_string s = wick_string_table_get(&o->c->module->strings, x[k]);
    text_row *r = &t->row[k];
    r->at = wick_new(o->c->tmp, wick_string, s.nbytes + 2u);
    r->next = wick_new(o->c->tmp, wick_string, s.nbytes + 2u);
    r->at[r->n++] = s;
  }
  return true;
}

static void text_tokenize(wick_onnx_op *o)
{
  const wick_onnx_attr *separators = wick_onnx_attr_find(o, "separators"),
                       *token = wick_onnx_attr_find(o, "tokenexp");
  int64_t least = wick_onnx_int(o, "mincharnum", 1);
  text_tokens t = {.o = o, .least = (uint64_t)least};
  t.pattern = (wick_host_call){.allocator = wick_allocator_malloc()};
  t.pattern.message = t.message, t.pattern.message_nbytes = sizeof t.message;
  size_t n = separators ? separators->strings.n : 0;
  if (least < 1 || (separators ? !n : !token || !token->s.nbytes)) {
    wick_onnx_fail(o, WICK_EPARSE, "mincharnum is %lld, with %zu separators and %s expression",
                   (long long)least, n, token ? "an" : "no");
    return;
  }
  if (!text_read(&t)) return;
  bool characters = separators ? n == 1 && !separators->strings.at[0].nbytes
                               : token->s.nbytes == 1 && *(const char *)token->s.at == '.';
  if (characters) text_characters(&t);
  for (size_t k = 0; k < n && !characters; k++)
    if (!text_by(&t, separators->strings.at[k], true)) return;
  if (!characters && !separators && !text_by(&t, token->s, false)) return;
  o->out[0] = text_constant(&t);
}

const wick_onnx_row wick_onnx_microsoft_text_rows[] = {
    {"com.microsoft.Tokenizer",
     1,
     {1, 1},
     1,
     "mark:i! mincharnum:i! pad_value:s! separators:S tokenexp:s",
     text_tokenize,
     0,
     0},
    {0},
};
