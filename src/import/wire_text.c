/* The reader of protobuf's text form. It writes the wire format as it reads; the lengths of
 * messages are padded to a fixed size and filled in when a message ends. */
#include "import/wire_text.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "ir/number.h"

enum { TEXT_LENGTH_BYTES = 5, TEXT_WORD = 64, TEXT_VARINT = 0, TEXT_BYTES = 2 };

/* A message that is being read. */
typedef struct text_level {
  const wick_wire_message *message; /* NULL: its fields are skipped */
  size_t length_at;                 /* of its length in the output; 0: it has none */
  char end;                         /* } or >; 0 for the whole text */
} text_level;

typedef struct text_reader {
  const wick_wire_word *words;
  wick_wire_skips *skips; /* NULL: all unknown fields are skipped */
  const unsigned char *at, *end;
  const char *location;
  uint32_t line;
  wick_arena *mem;
  wick_text out;
  uint32_t depth;
  text_level level[WICK_READER_DEPTH + 1];
} text_reader;

#define TEXT_FAIL(r, ...) text_fail((r), wick_str_printf((r)->mem, __VA_ARGS__))
static wick_status text_fail(const text_reader *r, const char *what)
{
  return wick_fail(r->mem, WICK_EPARSE, r->location, "line %u: %s", r->line, what);
}

/* ---- characters and words ---- */

static void text_skip_blank(text_reader *r)
{
  for (; r->at < r->end; r->at++) {
    if (*r->at == '#')
      while (r->at + 1 < r->end && r->at[1] != '\n') r->at++;
    else if (*r->at == '\n')
      r->line++;
    else if (!isspace(*r->at))
      return;
  }
}

static bool text_is_at(const text_reader *r, char c) { return r->at < r->end && *r->at == c; }

static bool text_take(text_reader *r, char c)
{
  text_skip_blank(r);
  if (!text_is_at(r, c)) return false;
  r->at++;
  return true;
}

/* A name, a number or a word: letters, digits and the signs that numbers have. */
static wick_span text_token(text_reader *r)
{
  text_skip_blank(r);
  const unsigned char *from = r->at;
  while (r->at < r->end && (isalnum(*r->at) || strchr("_.+-", *r->at)) && *r->at) r->at++;
  return (wick_span){from, (size_t)(r->at - from)};
}

static const char *text_shown(text_reader *r, wick_span s)
{
  if (!s.nbytes && r->at < r->end) s = (wick_span){r->at, 1};
  if (!s.nbytes) return "the end of the text";
  return wick_wire_text(r->mem, (wick_span){s.at, s.nbytes < TEXT_WORD ? s.nbytes : TEXT_WORD});
}

/* ---- output ---- */

static void text_put_varint(wick_text *t, uint64_t v)
{
  for (; v > 127; v >>= 7) wick_text_char(t, (char)(v | 128));
  wick_text_char(t, (char)v);
}

static void text_put_word(wick_text *t, uint64_t bits, int nbytes)
{
  for (int i = 0; i < nbytes; i++) wick_text_char(t, (char)(bits >> 8 * i & 255));
}

/* Leaves room for a length and returns where it is. */
static size_t text_open_length(wick_text *t)
{
  size_t at = t->n;
  text_put_word(t, 0, TEXT_LENGTH_BYTES);
  return at;
}

static bool text_close_length(wick_text *t, size_t at)
{
  uint64_t n = t->n - at - TEXT_LENGTH_BYTES;
  for (int i = 0; i < TEXT_LENGTH_BYTES; i++, n >>= 7)
    t->at[at + (size_t)i] = (char)((n & 127) | (i + 1 < TEXT_LENGTH_BYTES ? 128 : 0));
  return n == 0;
}

/* ---- strings ---- */

static uint32_t text_digits(text_reader *r, unsigned base, int most)
{
  uint32_t value = 0;
  for (int i = 0; i < most && r->at < r->end && isxdigit(*r->at); i++) {
    unsigned c = *r->at, digit = isdigit(c) ? c - '0' : (unsigned)tolower((int)c) - 'a' + 10;
    if (digit >= base) break;
    value = value * base + digit;
    r->at++;
  }
  return value;
}

static void text_put_utf8(wick_text *t, uint32_t c)
{
  if (c < 0x80) {
    wick_text_char(t, (char)c);
  } else if (c < 0x800) {
    wick_text_char(t, (char)(0xc0 | c >> 6));
    wick_text_char(t, (char)(0x80 | (c & 63)));
  } else {
    if (c < 0x10000) {
      wick_text_char(t, (char)(0xe0 | c >> 12));
    } else {
      wick_text_char(t, (char)(0xf0 | (c >> 18 & 7)));
      wick_text_char(t, (char)(0x80 | (c >> 12 & 63)));
    }
    wick_text_char(t, (char)(0x80 | (c >> 6 & 63)));
    wick_text_char(t, (char)(0x80 | (c & 63)));
  }
}

static wick_status text_escape(text_reader *r)
{
  static const char from[] = "abfnrtv\\'\"?", to[] = "\a\b\f\n\r\t\v\\'\"?";
  if (r->at == r->end) return TEXT_FAIL(r, "a string has no end");
  const unsigned char c = *r->at;
  const char *simple = c ? strchr(from, c) : NULL;
  if (c >= '0' && c <= '7') {
    wick_text_char(&r->out, (char)(text_digits(r, 8, 3) & 255));
    return NULL;
  }
  r->at++;
  if (c == 'x' || c == 'X')
    wick_text_char(&r->out, (char)text_digits(r, 16, 2));
  else if (c == 'u' || c == 'U')
    text_put_utf8(&r->out, text_digits(r, 16, c == 'u' ? 4 : 8));
  else if (simple)
    wick_text_char(&r->out, to[simple - from]);
  else
    return TEXT_FAIL(r, "a string has the unknown escape \\%c", isprint(c) ? c : '?');
  return NULL;
}

/* Appends the bytes of one literal or of several in a row. */
static wick_status text_string(text_reader *r, const char *field)
{
  bool any = false;
  for (;; any = true) {
    text_skip_blank(r);
    if (!text_is_at(r, '"') && !text_is_at(r, '\'')) break;
    const unsigned char quote = *r->at++;
    while (r->at < r->end && *r->at != quote) {
      if (*r->at == '\n') return TEXT_FAIL(r, "a string ends at the end of the line");
      if (*r->at != '\\') {
        wick_text_char(&r->out, (char)*r->at++);
        continue;
      }
      r->at++;
      WICK_TRY(text_escape(r));
    }
    if (r->at == r->end) return TEXT_FAIL(r, "a string has no end");
    r->at++;
  }
  if (any) return NULL;
  return TEXT_FAIL(r, "%s is a text in quotes, found %s", field, text_shown(r, text_token(r)));
}

/* ---- scalars ---- */

static wick_status text_integer(text_reader *r, const char *field, uint64_t *out)
{
  wick_span s = text_token(r);
  *out = wick_span_is(s, "true") || wick_span_is(s, "True") || wick_span_is(s, "t");
  if (*out || wick_span_is(s, "false") || wick_span_is(s, "False") || wick_span_is(s, "f"))
    return NULL;
  for (const wick_wire_word *w = r->words; w->word; w++)
    if (wick_span_is(s, w->word) && (!w->field || strcmp(w->field, field) == 0)) {
      *out = (uint64_t)w->value;
      return NULL;
    }
  size_t i = s.nbytes && s.at[0] == '-', base = 10;
  bool negative = i, good = i < s.nbytes;
  if (i + 1 < s.nbytes && s.at[i] == '0') base = tolower(s.at[i + 1]) == 'x' ? 16 : 8;
  if (base == 16) i += 2, good = i < s.nbytes;
  for (; good && i < s.nbytes; i++) {
    unsigned c = (unsigned)tolower(s.at[i]), digit = isdigit((int)c) ? c - '0' : c - 'a' + 10;
    good = isxdigit((int)c) && digit < base && !wick_mul_overflows(*out, (uint64_t)base, out) &&
           *out + digit >= *out;
    *out += digit;
  }
  if (!good)
    return TEXT_FAIL(r, "%s is an integer or a name of its type, found %s", field,
                     text_shown(r, s));
  if (negative) *out = 0 - *out;
  return NULL;
}

static wick_status text_float(text_reader *r, const char *field, wick_elem e, uint64_t *out)
{
  wick_span s = text_token(r);
  size_t n = s.nbytes;
  char word[TEXT_WORD + 1] = {0};
  *out = 0;
  if (n > 1 && isdigit(s.at[0]) && tolower(s.at[n - 1]) == 'f') n--;
  if (n && s.at[n - 1] == '.') n--;
  for (size_t i = 0; i < n && i < TEXT_WORD; i++) word[i] = (char)tolower(s.at[i]);
  if (strcmp(word, "infinity") == 0) n = 3;
  if (strcmp(word, "-infinity") == 0) n = 4;
  bool bare = word[0] == '.' || (word[0] == '-' && word[1] == '.'); /* .5 */
  const char *text =
      !bare ? wick_str_dupn(r->mem, word, n < TEXT_WORD ? n : TEXT_WORD)
            : wick_str_printf(r->mem, word[0] == '-' ? "-0%s" : "0%s", word + (word[0] == '-'));
  float single = 0;
  double number = 0;
  void *to = e == WICK_F32 ? (void *)&single : (void *)&number;
  if (!n || n > TEXT_WORD || wick_number_read(e, text, strlen(text), r->mem, to, 0))
    return TEXT_FAIL(r, "%s is a number, found %s", field, text_shown(r, s));
  memcpy(out, to, e == WICK_F32 ? sizeof single : sizeof number);
  return NULL;
}

/* ---- fields ---- */

static int text_wire_type(const wick_wire_field *f)
{
  switch ((wick_wire_kind)f->kind) {
  case WICK_WIRE_F32:
  case WICK_WIRE_FIXED32:
  case WICK_WIRE_F32S:
  case WICK_WIRE_DATA_F32: return 5;
  case WICK_WIRE_DATA_F64: return 1;
  case WICK_WIRE_BYTES:
  case WICK_WIRE_SPANS:
  case WICK_WIRE_MESSAGE:
  case WICK_WIRE_MESSAGES: return TEXT_BYTES;
  default: return TEXT_VARINT;
  }
}

static wick_status text_scalar(text_reader *r, const wick_wire_field *f)
{
  uint64_t bits;
  int type = text_wire_type(f);
  text_put_varint(&r->out, (uint64_t)f->number << 3 | (unsigned)type);
  if (type == TEXT_BYTES) {
    size_t at = text_open_length(&r->out);
    WICK_TRY(text_string(r, f->name));
    return text_close_length(&r->out, at) ? NULL : TEXT_FAIL(r, "%s is too long", f->name);
  }
  if (type == TEXT_VARINT) {
    WICK_TRY(text_integer(r, f->name, &bits));
    text_put_varint(&r->out, bits);
    return NULL;
  }
  if (f->kind == WICK_WIRE_FIXED32)
    WICK_TRY(text_integer(r, f->name, &bits));
  else
    WICK_TRY(text_float(r, f->name, type == 5 ? WICK_F32 : WICK_F64, &bits));
  text_put_word(&r->out, bits, type == 5 ? 4 : 8);
  return NULL;
}

/* Skips a scalar of a field that the table does not have. */
static wick_status text_skip_scalar(text_reader *r, const char *name)
{
  text_skip_blank(r);
  if (text_is_at(r, '"') || text_is_at(r, '\'')) {
    size_t n = r->out.n;
    WICK_TRY(text_string(r, name));
    r->out.n = n;
    return NULL;
  }
  wick_span s = text_token(r);
  return s.nbytes ? NULL : TEXT_FAIL(r, "%s has no value, found %s", name, text_shown(r, s));
}

static wick_status text_open(text_reader *r, const wick_wire_field *f, char end)
{
  if (r->depth == WICK_READER_DEPTH)
    return wick_fail(r->mem, WICK_ELIMIT, r->location,
                     "line %u: messages are nested more than %d deep", r->line, WICK_READER_DEPTH);
  text_level *l = &r->level[++r->depth];
  *l = (text_level){.message = f ? f->message : NULL, .end = end};
  if (!l->message) return NULL;
  text_put_varint(&r->out, (uint64_t)f->number << 3 | TEXT_BYTES);
  l->length_at = text_open_length(&r->out);
  return NULL;
}

static bool text_is_message(const wick_wire_field *f)
{
  return f->kind == WICK_WIRE_MESSAGE || f->kind == WICK_WIRE_MESSAGES;
}

/* Reads one value: a scalar, or the opening bracket of a message. */
static wick_status text_value(text_reader *r, const wick_wire_field *f, const char *name)
{
  if (text_take(r, '{')) return text_open(r, f && text_is_message(f) ? f : NULL, '}');
  if (text_take(r, '<')) return text_open(r, f && text_is_message(f) ? f : NULL, '>');
  if (!f) return text_skip_scalar(r, name);
  if (text_is_message(f))
    return TEXT_FAIL(r, "%s is a message, expected {, found %s", name,
                     text_shown(r, text_token(r)));
  return text_scalar(r, f);
}

/* Reads the name of a field; [a.b/c] is an extension, which no table has. */
static wick_status text_name(text_reader *r, wick_span *out)
{
  if (text_take(r, '[')) {
    *out = (wick_span){(const unsigned char *)"extension", 9};
    while (r->at < r->end && *r->at != ']') r->line += *r->at++ == '\n';
    return text_take(r, ']') ? NULL : TEXT_FAIL(r, "the name of an extension has no end");
  }
  *out = text_token(r);
  if (out->nbytes) return NULL;
  return TEXT_FAIL(r, "expected the name of a field, found %s", text_shown(r, *out));
}

static wick_status text_close(text_reader *r)
{
  text_level *l = &r->level[r->depth--];
  if (l->message && !text_close_length(&r->out, l->length_at))
    return TEXT_FAIL(r, "%s is too long", l->message->name);
  return NULL;
}

/* A list of messages cannot be read by the loop over levels, which knows no lists: its elements
 * are fields of the same name, so each reopens the list after its end. */
typedef struct text_list {
  const wick_wire_field *field;
  const char *name;
  uint32_t depth; /* of the message that has the list */
} text_list;

static const wick_wire_field *text_find(const text_reader *r, wick_span name)
{
  const wick_wire_message *m = r->level[r->depth].message;
  for (uint32_t i = 0; m && i < m->nfield; i++)
    if (wick_span_is(name, m->field[i].name)) return &m->field[i];
  return NULL;
}

/* Reads elements up to the end of the list or into a message. */
static wick_status text_elements(text_reader *r, text_list *list, uint32_t *nlist)
{
  const text_list l = list[*nlist - 1];
  for (;;) {
    if (text_take(r, ']')) {
      --*nlist;
      (void)(text_take(r, ',') || text_take(r, ';'));
      return NULL;
    }
    WICK_TRY(text_value(r, l.field, l.name));
    if (r->depth > l.depth) return NULL;
    text_skip_blank(r);
    if (!text_take(r, ',') && !text_is_at(r, ']'))
      return TEXT_FAIL(r, "expected , or ] in the list %s, found %s", l.name,
                       text_shown(r, text_token(r)));
  }
}

static wick_status text_field(text_reader *r, text_list *list, uint32_t *nlist)
{
  wick_span word;
  WICK_TRY(text_name(r, &word));
  const wick_wire_field *f = text_find(r, word);
  const char *name = f ? f->name : text_shown(r, word);
  const wick_wire_message *m = r->level[r->depth].message;
  if (!f && m && r->skips && !r->skips(m, word))
    return TEXT_FAIL(r, "%s has no field %s", m->name, name);
  bool colon = text_take(r, ':');
  text_skip_blank(r);
  if (!colon && !text_is_at(r, '{') && !text_is_at(r, '<'))
    return TEXT_FAIL(r, "expected : or { after %s, found %s", name,
                     text_shown(r, (wick_span){r->at, 0}));
  if (text_take(r, '[')) {
    list[(*nlist)++] = (text_list){f, name, r->depth};
    return NULL;
  }
  uint32_t depth = r->depth;
  WICK_TRY(text_value(r, f, name));
  if (r->depth == depth) (void)(text_take(r, ',') || text_take(r, ';'));
  return NULL;
}

static wick_status text_read(text_reader *r)
{
  text_list list[WICK_READER_DEPTH + 2];
  uint32_t nlist = 0;
  for (;;) {
    text_skip_blank(r);
    if (nlist && list[nlist - 1].depth == r->depth) {
      WICK_TRY(text_elements(r, list, &nlist));
      continue;
    }
    char end = r->level[r->depth].end;
    if (r->at == r->end) {
      if (!r->depth && !nlist) return NULL;
      return TEXT_FAIL(r, "the text ends within a message or a list");
    }
    if (!r->depth || *r->at != (unsigned char)end) {
      WICK_TRY(text_field(r, list, &nlist));
      continue;
    }
    r->at++;
    WICK_TRY(text_close(r));
    text_skip_blank(r);
    (void)(text_take(r, ',') || text_take(r, ';'));
  }
}

wick_status wick_wire_from_strict_text(const wick_wire_message *message,
                                       const wick_wire_word *words, wick_wire_skips *skips,
                                       wick_span text, const char *location, wick_arena *mem,
                                       wick_span *out)
{
  text_reader *r = wick_new(mem, text_reader, 1);
  const unsigned char *at = text.nbytes ? text.at : (const unsigned char *)"";
  if (text.nbytes >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3, text.nbytes -= 3;
  *r = (text_reader){.words = words,
                     .skips = skips,
                     .at = at,
                     .end = at + text.nbytes,
                     .location = location,
                     .line = 1,
                     .mem = mem,
                     .out = wick_text_begin(mem)};
  r->level[0].message = message;
  *out = (wick_span){at, 0};
  WICK_TRY(text_read(r));
  *out = (wick_span){(const unsigned char *)r->out.at, r->out.n};
  return NULL;
}

wick_status wick_wire_from_text(const wick_wire_message *message, const wick_wire_word *words,
                                wick_span text, const char *location, wick_arena *mem,
                                wick_span *out)
{
  return wick_wire_from_strict_text(message, words, NULL, text, location, mem, out);
}
