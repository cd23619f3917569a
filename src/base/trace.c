/* Reads allocation traces: a table of line kinds, with a function for each. */
#include "base/trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"

enum { TRACE_MOST_ERRORS = 100, TRACE_SHOWN = 40 };

typedef struct trace_word {
  const char *at;
  size_t n;
} trace_word;

typedef struct trace_reader {
  wick_arena *mem, *tmp;
  const char *location;
  wick_errors errors;
  uint32_t line;
  wick_list(wick_trace) trace;
  /* of the current trace */
  bool open, has_align, has_mem;
  uint32_t ninstruction;
  wick_list(wick_plan_buffer) buffer;
  wick_names ids;
  wick_list(uint32_t) live; /* per number of an id: index of the buffer + 1, or 0 */
} trace_reader;

WICK_PRINTF(3, 4)
static void trace_fail(trace_reader *r, wick_code code, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  const char *location = wick_str_printf(r->tmp, "%s:%" PRIu32, r->location, r->line);
  wick_errors_add(&r->errors, wick_vfail(r->mem, code, location, fmt, args));
  va_end(args);
}

/* Returns a word in the form in which messages show it: printable, and not long. */
static const char *trace_show(trace_reader *r, trace_word w)
{
  bool cut = w.n > TRACE_SHOWN;
  char *s = wick_str_dupn(r->tmp, w.at, cut ? TRACE_SHOWN : w.n);
  for (size_t i = 0; i < (cut ? TRACE_SHOWN : w.n); i++)
    if (s[i] < ' ' || s[i] > '~') s[i] = '?';
  return cut ? wick_str_printf(r->tmp, "%s...", s) : s;
}

/* ---- words ---- */

static bool trace_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static trace_word trace_trim(trace_word line)
{
  while (line.n && trace_blank(line.at[0])) line.at++, line.n--;
  while (line.n && trace_blank(line.at[line.n - 1])) line.n--;
  return line;
}

/* Removes the first word from a trimmed line. */
static trace_word trace_next(trace_word *line)
{
  trace_word w = {line->at, 0};
  while (w.n < line->n && !trace_blank(line->at[w.n])) w.n++;
  *line = trace_trim((trace_word){line->at + w.n, line->n - w.n});
  return w;
}

/* Reads a decimal number below 2^63. */
static bool trace_number(trace_reader *r, const char *what, trace_word w, uint64_t *out)
{
  uint64_t x = 0;
  bool fits = true;
  for (size_t i = 0; i < w.n; i++) {
    if (w.at[i] < '0' || w.at[i] > '9') {
      trace_fail(r, WICK_EPARSE, "the %s is \"%s\", not a decimal number", what, trace_show(r, w));
      return false;
    }
    uint64_t digit = (uint64_t)(w.at[i] - '0');
    fits = fits && x <= (INT64_MAX - digit) / 10;
    x = fits ? x * 10 + digit : x;
  }
  if (!w.n) trace_fail(r, WICK_EPARSE, "the %s is missing", what);
  if (!fits) trace_fail(r, WICK_ERANGE, "the %s %s passes 2^63 - 1", what, trace_show(r, w));
  *out = x;
  return w.n && fits;
}

static bool trace_no_more(trace_reader *r, trace_word rest)
{
  if (rest.n) trace_fail(r, WICK_EPARSE, "\"%s\" follows the last operand", trace_show(r, rest));
  return !rest.n;
}

/* ---- traces ---- */

static void trace_close(trace_reader *r)
{
  if (!r->open) return;
  for (uint32_t i = 0; i < r->live.n; i++)
    if (r->live.at[i]) r->buffer.at[r->live.at[i] - 1].last = r->ninstruction - 1;
  wick_trace *t = &r->trace.at[r->trace.n - 1];
  t->nbuffer = r->buffer.n;
  t->buffer = wick_dup(r->mem, wick_plan_buffer, r->buffer.at, r->buffer.n);
}

static void trace_open(trace_reader *r, const char *name)
{
  trace_close(r);
  wick_push(r->tmp, &r->trace, (wick_trace){.name = name});
  r->open = true;
  r->has_align = r->has_mem = false;
  r->ninstruction = 0;
  r->buffer.n = r->live.n = 0;
  r->ids = wick_names_begin(r->tmp);
}

static wick_trace *trace_now(trace_reader *r) { return &r->trace.at[r->trace.n - 1]; }

/* Returns the slot of an id that was read as a number: 7 and 007 are the same. */
static uint32_t *trace_slot(trace_reader *r, trace_word id, const char **out_name)
{
  while (id.n > 1 && id.at[0] == '0') id.at++, id.n--;
  uint32_t number = wick_names_add(&r->ids, id.at, id.n);
  while (r->live.n <= number) wick_push(r->tmp, &r->live, 0);
  *out_name = wick_names_get(&r->ids, number);
  return &r->live.at[number];
}

/* ---- lines: `rest` is the line after the first word ---- */

static void trace_model(trace_reader *r, trace_word rest)
{
  if (!rest.n) trace_fail(r, WICK_EPARSE, "the model's name is missing");
  trace_open(r, wick_str_dupn(r->mem, rest.at, rest.n));
}

static void trace_align(trace_reader *r, trace_word rest)
{
  uint64_t n;
  if (!trace_number(r, "alignment", trace_next(&rest), &n) || !trace_no_more(r, rest)) return;
  if (r->has_align) trace_fail(r, WICK_EPARSE, "a second ALIGN in one trace");
  if (n == 0 || n & (n - 1))
    trace_fail(r, WICK_ERANGE, "the alignment %" PRIu64 " is no power of two", n);
  r->has_align = true;
  trace_now(r)->align_bytes = n;
}

static void trace_mem(trace_reader *r, trace_word rest)
{
  uint64_t n;
  if (!trace_number(r, "MEM", trace_next(&rest), &n) || !trace_no_more(r, rest)) return;
  if (r->has_mem) trace_fail(r, WICK_EPARSE, "a second MEM in one trace");
  r->has_mem = true;
  trace_now(r)->mem_nbytes = n;
}

static void trace_alloc(trace_reader *r, trace_word rest)
{
  trace_word id = trace_next(&rest), size = trace_next(&rest);
  uint64_t number, nbytes = 0;
  if (!trace_number(r, "id", id, &number)) return;
  /* After an error in the size, the id is still added, so that its FREE is no error. */
  bool right = trace_number(r, "size", size, &nbytes);
  if (right) right = trace_no_more(r, rest);
  const char *name;
  uint32_t *slot = trace_slot(r, id, &name);
  if (*slot) {
    trace_fail(r, WICK_EPARSE, "buffer %s is live already", name);
    return;
  }
  uint32_t now = r->ninstruction++;
  wick_push(r->tmp, &r->buffer,
            (wick_plan_buffer){
                .name = wick_str_dup(r->mem, name), .nbytes = nbytes, .first = now, .last = now});
  *slot = r->buffer.n;
}

static void trace_free(trace_reader *r, trace_word rest)
{
  trace_word id = trace_next(&rest);
  uint64_t number;
  if (!trace_number(r, "id", id, &number) || !trace_no_more(r, rest)) return;
  const char *name;
  uint32_t *slot = trace_slot(r, id, &name);
  if (!*slot) {
    trace_fail(r, WICK_EPARSE, "buffer %s is not live", name);
    return;
  }
  r->buffer.at[*slot - 1].last = r->ninstruction++ - 1;
  *slot = 0;
}

/* Digits, perhaps with a point. The value is not used. */
static void trace_eff(trace_reader *r, trace_word rest)
{
  trace_word w = trace_next(&rest);
  size_t ndigit = 0, npoint = 0;
  for (size_t i = 0; i < w.n; i++) {
    ndigit += w.at[i] >= '0' && w.at[i] <= '9';
    npoint += w.at[i] == '.';
  }
  if (!ndigit || npoint > 1 || ndigit + npoint != w.n)
    trace_fail(r, WICK_EPARSE, "EFF is \"%s\", not a decimal fraction", trace_show(r, w));
  (void)trace_no_more(r, rest);
}

static const struct {
  const char *word;
  void (*read)(trace_reader *r, trace_word rest);
} trace_lines[] = {
    {"MODEL", trace_model}, {"ALIGN", trace_align}, {"ALLOC", trace_alloc},
    {"FREE", trace_free},   {"MEM", trace_mem},     {"EFF", trace_eff},
};

static void trace_line(trace_reader *r, trace_word line)
{
  line = trace_trim(line);
  if (!line.n || line.at[0] == '#') return;
  trace_word word = trace_next(&line);
  size_t k = 0, n = WICK_COUNT(trace_lines);
  while (k < n && (strlen(trace_lines[k].word) != word.n ||
                   memcmp(trace_lines[k].word, word.at, word.n) != 0))
    k++;
  if (k == n) {
    trace_fail(r, WICK_EPARSE, "\"%s\" is none of MODEL, ALIGN, ALLOC, FREE, MEM, EFF",
               trace_show(r, word));
    return;
  }
  if (!r->open && trace_lines[k].read != trace_model) {
    trace_fail(r, WICK_EPARSE, "%s comes before the first MODEL", trace_lines[k].word);
    trace_open(r, ""); /* so that it is reported once */
  }
  trace_lines[k].read(r, line);
}

wick_status wick_trace_read(const char *text, size_t nbytes, const char *location, wick_arena *mem,
                            wick_arena *tmp, const wick_trace **out_trace, uint32_t *out_ntrace)
{
  wick_mark m = wick_arena_mark(tmp);
  trace_reader r = {.mem = mem,
                    .tmp = tmp,
                    .location = location,
                    .errors = wick_errors_begin(mem, TRACE_MOST_ERRORS)};
  for (size_t at = 0; at < nbytes;) {
    const char *newline = memchr(text + at, '\n', nbytes - at);
    size_t n = newline ? (size_t)(newline - (text + at)) : nbytes - at;
    r.line++;
    trace_line(&r, (trace_word){text + at, n});
    at += n + 1;
  }
  trace_close(&r);
  if (!r.trace.n)
    wick_errors_add(&r.errors, wick_fail(mem, WICK_EPARSE, location, "has no MODEL line"));
  *out_trace = wick_dup(mem, wick_trace, r.trace.at, r.trace.n);
  *out_ntrace = r.trace.n;
  wick_status s = wick_errors_end(&r.errors);
  wick_arena_rewind(tmp, m);
  return s;
}
