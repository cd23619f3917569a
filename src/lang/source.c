/* Positions, and the text of problems. */
#include "lang/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"

wick_lang_sources wick_lang_sources_begin(wick_arena *mem)
{
  wick_lang_sources s = {.mem = mem};
  wick_push(mem, &s.list, (wick_lang_source){.path = "", .text = ""});
  return s;
}

uint32_t wick_lang_source_add(wick_lang_sources *s, const char *path, const char *text,
                              uint32_t nbytes)
{
  uint32_t nline = 1, at = 0;
  for (uint32_t i = 0; i < nbytes; i++) nline += text[i] == '\n';
  uint32_t *line = wick_new(s->mem, uint32_t, nline);
  for (uint32_t i = 0; i < nbytes; i++)
    if (text[i] == '\n') line[++at] = i + 1;
  wick_push(s->mem, &s->list, (wick_lang_source){path, text, nbytes, line, nline});
  return s->list.n - 1;
}

static uint32_t source_line(const wick_lang_source *s, uint32_t byte)
{
  uint32_t lo = 0, hi = s->nline;
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (s->line[mid] <= byte)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

static uint32_t source_characters(const char *text, uint32_t begin, uint32_t end)
{
  uint32_t n = 0;
  for (uint32_t i = begin; i < end; i++) n += (text[i] & 0xc0) != 0x80;
  return n;
}

static void source_position(const wick_lang_source *s, uint32_t byte, uint32_t *out_line,
                            uint32_t *out_column)
{
  uint32_t line = s->nline ? source_line(s, byte) : 0;
  *out_line = line + 1;
  *out_column = s->nline ? source_characters(s->text, s->line[line], byte) + 1 : 1;
}

/* ---- problems ---- */

static const char *source_vformat(wick_arena *mem, const char *fmt, va_list args)
{
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, again);
  va_end(again);
  char *out = wick_new(mem, char, (size_t)(n < 0 ? 0 : n) + 1);
  vsnprintf(out, (size_t)(n < 0 ? 0 : n) + 1, fmt, args);
  return out;
}

void wick_lang_report(wick_lang_sources *s, wick_lang_at at, const char *fmt, ...)
{
  wick_lang_problem *p = wick_new(s->mem, wick_lang_problem, 1);
  va_list args;
  va_start(args, fmt);
  *p = (wick_lang_problem){.at = at, .text = source_vformat(s->mem, fmt, args)};
  va_end(args);
  wick_push(s->mem, &s->problems, p);
}

static void source_add(wick_lang_sources *s, wick_lang_at at, const char *text)
{
  wick_lang_problem *p = wick_new(s->mem, wick_lang_problem, 1);
  *p = (wick_lang_problem){.at = at, .text = text};
  wick_lang_problem **to = &s->problems.at[s->problems.n - 1]->note;
  while (*to) to = &(*to)->next;
  *to = p;
}

void wick_lang_note(wick_lang_sources *s, wick_lang_at at, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  if (s->problems.n) source_add(s, at, source_vformat(s->mem, fmt, args));
  va_end(args);
}

void wick_lang_help(wick_lang_sources *s, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  if (s->problems.n) source_add(s, (wick_lang_at){0}, source_vformat(s->mem, fmt, args));
  va_end(args);
}

void wick_lang_position(const wick_lang_sources *s, wick_lang_at at, uint32_t *out_line,
                        uint32_t *out_column)
{
  source_position(&s->list.at[at.source], at.begin, out_line, out_column);
}

/* The line with the place underlined. A long line is shown in part. */
static void source_excerpt(const wick_lang_source *s, wick_lang_at at, wick_arena *mem,
                           wick_text *out)
{
  enum { WIDTH = 96, BEFORE = 60 };
  uint32_t line = source_line(s, at.begin), begin = s->line[line], end = begin;
  while (end < s->nbytes && s->text[end] != '\n') end++;
  uint32_t to = at.end < end ? at.end : end;
  const char *dots = "";
  if (at.begin - begin > BEFORE && end - begin > WIDTH) {
    begin = at.begin - BEFORE, dots = "...";
    while (begin < at.begin && (s->text[begin] & 0xc0) == 0x80) begin++;
  }
  uint32_t shown = end - begin > WIDTH ? begin + WIDTH : end;
  while (shown > begin && shown < end && (s->text[shown] & 0xc0) == 0x80) shown--;
  if (to > shown) to = shown;
  char *copy = wick_str_dupn(mem, s->text + begin, shown - begin);
  for (char *c = copy; *c; c++)
    if (*c == '\t' || *c == '\r') *c = ' ';
  wick_text_printf(out, "\n%5u | %s%s%s\n      | ", line + 1, dots, copy, shown < end ? "..." : "");
  uint32_t pad = source_characters(s->text, begin, at.begin) + (uint32_t)strlen(dots),
           caret = to > at.begin ? source_characters(s->text, at.begin, to) : 1;
  for (uint32_t i = 0; i < pad; i++) wick_text_char(out, ' ');
  for (uint32_t i = 0; i < caret; i++) wick_text_char(out, '^');
}

/* "tree.wick:7:15: error: ...", with the line. */
static void source_print(const wick_lang_sources *s, const wick_lang_problem *p, const char *kind,
                         wick_text *out)
{
  const wick_lang_source *source = &s->list.at[p->at.source];
  uint32_t line, column;
  source_position(source, p->at.begin, &line, &column);
  wick_text_printf(out, "%s:%u:%u: %s: %s", source->path, line, column, kind, p->text);
  source_excerpt(source, p->at, s->mem, out);
  for (const wick_lang_problem *n = p->note; n; n = n->next)
    if (n->at.source) {
      wick_text_char(out, '\n');
      source_print(s, n, "note", out);
    }
  for (const wick_lang_problem *n = p->note; n; n = n->next)
    if (!n->at.source) wick_text_printf(out, "\n  help: %s", n->text);
}

static int source_order(const void *a, const void *b)
{
  const wick_lang_at x = (*(wick_lang_problem *const *)a)->at,
                     y = (*(wick_lang_problem *const *)b)->at;
  if (x.source != y.source) return x.source < y.source ? -1 : 1;
  if (x.begin != y.begin) return x.begin < y.begin ? -1 : 1;
  return x.end < y.end ? -1 : x.end > y.end;
}

wick_status wick_lang_problems(wick_lang_sources *s)
{
  uint32_t n = s->problems.n, most = n < WICK_LANG_MOST_PROBLEMS ? n : WICK_LANG_MOST_PROBLEMS;
  if (!n) return NULL;
  qsort(s->problems.at, n, sizeof *s->problems.at, source_order);
  wick_text t = wick_text_begin(s->mem);
  for (uint32_t i = 0; i < most; i++) {
    if (i) wick_text_char(&t, '\n');
    source_print(s, s->problems.at[i], "error", &t);
  }
  if (n > most) wick_text_printf(&t, "\n(and %u more)", n - most);
  wick_error *e = wick_new(s->mem, wick_error, 1);
  *e = (wick_error){.code = WICK_ETYPE, .message = wick_str_shown_lines(s->mem, t.at)};
  return e;
}
