/* Reads the file line by line, runs each case in its own module, and compares the texts. */
#include "driver/texttest.h"

#include <string.h>

#include "driver/pipeline.h"
#include "ir/text.h"

typedef struct texttest_part { /* of the file's text */
  const char *at;
  size_t n;
} texttest_part;

typedef struct texttest_case {
  unsigned line; /* of `case` */
  const char *target, *pass, *title;
  texttest_part in, want;
} texttest_case;

typedef struct texttest_file {
  const char *file, *at, *end;
  unsigned line;
  wick_arena *mem, *tmp;
  wick_text report, blessed;
  const char *copied; /* the file's text is in `blessed` up to here */
} texttest_file;

/* ---- reading ---- */

static bool texttest_begins(const char *at, const char *end, const char *word)
{
  size_t n = strlen(word);
  return (size_t)(end - at) >= n && memcmp(at, word, n) == 0;
}

static const char *texttest_next_line(const char *at, const char *end)
{
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  return stop ? stop + 1 : end;
}

/* Returns the text after the word on this line, without white space around it, and skips the
 * line. */
static const char *texttest_rest(texttest_file *t, const char *word)
{
  const char *at = t->at + strlen(word), *end = texttest_next_line(t->at, t->end);
  t->at = end;
  t->line++;
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  while (end > at && strchr(" \t\r\n", end[-1])) end--;
  return wick_str_dupn(t->mem, at, (size_t)(end - at));
}

/* Returns the lines up to one that begins with a keyword. */
static texttest_part texttest_lines(texttest_file *t)
{
  const char *begin = t->at;
  while (t->at < t->end && !texttest_begins(t->at, t->end, "=>") &&
         !texttest_begins(t->at, t->end, "case ") && !texttest_begins(t->at, t->end, "pass ") &&
         !texttest_begins(t->at, t->end, "target "))
    t->at = texttest_next_line(t->at, t->end), t->line++;
  return (texttest_part){begin, (size_t)(t->at - begin)};
}

/* Removes empty lines and comments at the end, which belong to the next part. */
static texttest_part texttest_trimmed(texttest_part p)
{
  size_t keep = 0;
  for (const char *at = p.at, *end = p.at + p.n, *next; at < end; at = next) {
    next = texttest_next_line(at, end);
    size_t blank = strspn(at, " \t\r\n");
    if (blank < (size_t)(next - at) && at[blank] != '#') keep = (size_t)(next - p.at);
  }
  while (keep && strchr(" \t\r\n", p.at[keep - 1])) keep--;
  return (texttest_part){p.at, keep};
}

static wick_status texttest_read_case(texttest_file *t, const char *target, const char *pass,
                                      texttest_case *c)
{
  *c = (texttest_case){.line = t->line, .target = target, .pass = pass};
  c->title = texttest_rest(t, "case ");
  c->in = texttest_lines(t);
  if (!texttest_begins(t->at, t->end, "=>"))
    return wick_fail(t->mem, WICK_EPARSE, wick_str_printf(t->mem, "%s:%u", t->file, t->line),
                     "the case %s has no `=>`", c->title);
  t->at += 2;
  const char *begin = t->at;
  t->at = texttest_next_line(t->at, t->end);
  t->line++;
  texttest_lines(t);
  c->want = texttest_trimmed((texttest_part){begin, (size_t)(t->at - begin)});
  return NULL;
}

/* ---- one case ---- */

static const char *texttest_error(wick_arena *mem, const char *message)
{
  wick_text out = wick_text_begin(mem);
  for (const char *at = message; *at; at += strcspn(at, "\n"), at += *at == '\n')
    wick_text_printf(&out, "%serror: %.*s", at == message ? "" : "\n", (int)strcspn(at, "\n"), at);
  return out.at;
}

/* Parses and prints a module, which is left in *m. Returns "error: ..." on failure. */
static const char *texttest_module(texttest_file *t, texttest_part text, wick_module **m,
                                   bool *failed)
{
  *m = wick_module_create(t->mem->guard, "");
  wick_status s = wick_parse_module(*m, "", text.at, text.n, t->tmp);
  *failed = s != NULL;
  if (s) return texttest_error(t->mem, s->message);
  wick_text out = wick_text_begin(t->mem);
  wick_print_module(*m, WICK_PRINT_ALL, &out);
  return out.at;
}

/* Returns the printed result; *before is the printed module before the pass. */
static const char *texttest_result(texttest_file *t, const texttest_case *c, const char **before)
{
  wick_module *m;
  bool failed;
  *before = texttest_module(t, c->in, &m, &failed);
  const char *after = *before;
  if (!failed && strcmp(c->pass, "none") != 0) {
    wick_pipeline p;
    wick_pipeline_begin(&p, m);
    p.verify = true;
    wick_status s =
        wick_target_find(c->target, &p.target)
            ? wick_pipeline_run_all(&p, c->pass, t->tmp)
            : wick_fail(t->tmp, WICK_EINVAL, NULL, "there is no target \"%s\"", c->target);
    wick_text out = wick_text_begin(t->mem);
    if (!s) wick_print_module(m, WICK_PRINT_ALL, &out);
    after = s ? texttest_error(t->mem, s->message) : out.at;
    wick_pipeline_free(&p);
  }
  wick_module_free(m);
  return after;
}

/* Returns the expected text as it would be printed. */
static const char *texttest_wanted(texttest_file *t, const texttest_case *c, const char *before)
{
  size_t blank = strspn(c->want.at, " \t\r\n");
  if (blank > c->want.n) blank = c->want.n;
  texttest_part want = {c->want.at + blank, c->want.n - blank};
  const char *text = wick_str_dupn(t->mem, want.at, want.n);
  bool broken = strncmp(before, "error:", 6) == 0;
  if (strcmp(text, "same") == 0) return broken ? "(the input is not a module)" : before;
  if (strncmp(text, "error:", 6) == 0) return text;
  wick_module *m;
  bool failed;
  const char *printed = texttest_module(t, want, &m, &failed);
  wick_module_free(m);
  return failed ? wick_str_printf(t->mem, "(the expected text is not a module: %s)", printed)
                : printed;
}

/* ---- report and blessing ---- */

static unsigned texttest_first_difference(const char *a, const char *b)
{
  unsigned line = 1;
  for (; *a && *a == *b; a++, b++) line += *a == '\n';
  return line;
}

static void texttest_report(texttest_file *t, const texttest_case *c, const char *got,
                            const char *want)
{
  wick_text_printf(&t->report, "%s:%u: %s, pass %s: different from line %u on\n", t->file, c->line,
                   c->title, c->pass, texttest_first_difference(got, want));
  size_t ngot = strlen(got), nwant = strlen(want);
  wick_text_printf(&t->report, "---- got\n%s%s", got, ngot && got[ngot - 1] == '\n' ? "" : "\n");
  wick_text_printf(&t->report, "---- expected\n%s%s----\n", want,
                   nwant && want[nwant - 1] == '\n' ? "" : "\n");
}

/* Replaces the expected text by the actual text and leaves everything else as it is. */
static void texttest_bless(texttest_file *t, const texttest_case *c, const char *got,
                           const char *before)
{
  wick_text_addn(&t->blessed, t->copied, (size_t)(c->want.at - t->copied));
  t->copied = c->want.at + c->want.n;
  bool error = strncmp(got, "error:", 6) == 0, same = !error && strcmp(got, before) == 0;
  wick_text_add(&t->blessed, error || same ? " " : "\n");
  wick_text_add(&t->blessed, same ? "same" : got);
  if (t->blessed.at[t->blessed.n - 1] == '\n') t->blessed.at[--t->blessed.n] = 0;
}

wick_status wick_texttest_run(const char *file, const char *text, size_t n, wick_arena *mem,
                              wick_arena *tmp, wick_texttest *out)
{
  texttest_file t = {
      .file = file, .at = text, .end = text + n, .line = 1, .mem = mem, .tmp = tmp, .copied = text};
  t.report = wick_text_begin(mem);
  t.blessed = wick_text_begin(mem);
  *out = (wick_texttest){0};
  const char *pass = NULL,
             *target = "x86-64-v4"; /* never the host: texts are the same on all machines */
  while (t.at < t.end) {
    if (texttest_begins(t.at, t.end, "pass ")) {
      pass = texttest_rest(&t, "pass ");
    } else if (texttest_begins(t.at, t.end, "target ")) {
      target = texttest_rest(&t, "target ");
    } else if (texttest_begins(t.at, t.end, "case ") && pass) {
      texttest_case c;
      WICK_TRY(texttest_read_case(&t, target, pass, &c));
      wick_mark m = wick_arena_mark(tmp);
      const char *before, *got = texttest_result(&t, &c, &before),
                          *want = texttest_wanted(&t, &c, before);
      wick_arena_rewind(tmp, m);
      out->ncase++;
      if (strcmp(got, want) == 0) continue;
      out->nfail++;
      texttest_report(&t, &c, got, want);
      texttest_bless(&t, &c, got, before);
    } else {
      size_t blank = strspn(t.at, " \t\r\n");
      const char *line = t.at, *next = texttest_next_line(t.at, t.end);
      if (blank < (size_t)(next - line) && line[blank] != '#')
        return wick_fail(mem, WICK_EPARSE, wick_str_printf(mem, "%s:%u", file, t.line),
                         pass ? "a case or a pass is expected" : "`pass NAME` is expected");
      t.at = next;
      t.line++;
    }
  }
  wick_text_addn(&t.blessed, t.copied, (size_t)(t.end - t.copied));
  out->report = t.report.at;
  out->blessed = t.blessed.at;
  out->nblessed = t.blessed.n;
  return NULL;
}
