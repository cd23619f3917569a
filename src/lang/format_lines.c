/* Lines of the formatter: comments, blank lines, lists, and what fits on a line. */
#include <string.h>

#include "lang/format_state.h"

void wick_lang_format_line(format *f)
{
  if (f->flat) f->failed = true;
  wick_text_char(f->out, '\n');
  for (uint32_t i = 0; i < f->indent; i++) wick_text_char(f->out, ' ');
}

uint32_t wick_lang_format_column(const format *f)
{
  uint32_t n = 0;
  for (size_t i = f->out->n; i > 0 && f->out->at[i - 1] != '\n'; i--)
    n += (f->out->at[i - 1] & 0xc0) != 0x80;
  return n;
}

bool wick_lang_format_has_comment(const format *f, wick_lang_at at)
{
  for (uint32_t i = f->comment; i < f->tokens->comments.n; i++) {
    const wick_lang_comment *c = &f->tokens->comments.at[i];
    if (c->begin >= at.end) return false;
    if (c->begin >= at.begin) return true;
  }
  return false;
}

/* Prints on one line if that fits, with `room` characters after it. Else prints nothing. */
bool wick_lang_format_try(format *f, const wick_ast *n, int level, uint32_t room,
                          format_print *print)
{
  if (f->flat) {
    print(f, n, level);
    return true;
  }
  if (wick_lang_format_has_comment(f, n->at)) return false;
  wick_text *out = f->out, line = wick_text_begin(out->mem);
  uint32_t column = wick_lang_format_column(f);
  f->out = &line;
  f->flat = true;
  f->failed = false;
  print(f, n, level);
  f->flat = false;
  f->out = out;
  uint32_t n_characters = 0;
  for (size_t i = 0; i < line.n; i++) n_characters += (line.at[i] & 0xc0) != 0x80;
  if (f->failed || column + n_characters + room > FORMAT_WIDTH) return false;
  wick_text_addn(f->out, line.at, line.n);
  return true;
}

/* ---- lines, with comments and blank lines ---- */

bool wick_lang_format_blank_before(const format *f, uint32_t byte)
{
  uint32_t lines = 0;
  while (byte > 0 && strchr(" \t\r\n", f->source->text[byte - 1]))
    lines += f->source->text[--byte] == '\n';
  return lines > 1;
}

/* Prints the comments before a byte, each on a line of its own. */
void wick_lang_format_comments(format *f, uint32_t byte, bool *first)
{
  for (; f->comment < f->tokens->comments.n; f->comment++) {
    const wick_lang_comment *c = &f->tokens->comments.at[f->comment];
    if (c->begin >= byte) return;
    if (!*first && wick_lang_format_blank_before(f, c->begin)) wick_text_char(f->out, '\n');
    if (f->out->n) wick_lang_format_line(f);
    wick_text_addn(f->out, f->source->text + c->begin, c->end - c->begin);
    *first = false;
  }
}

/* Prints the comment at the end of the line that ends at a byte. */
void wick_lang_format_trailing(format *f, uint32_t byte)
{
  if (f->comment >= f->tokens->comments.n) return;
  const wick_lang_comment *c = &f->tokens->comments.at[f->comment];
  if (c->own_line || c->begin < byte) return;
  for (uint32_t i = byte; i < c->begin; i++)
    if (f->source->text[i] == '\n') return;
  format_add(f, " ");
  wick_text_addn(f->out, f->source->text + c->begin, c->end - c->begin);
  f->comment++;
}

/* Prints children first .. nkid-1 on lines of their own, `end` bytes being the end of the whole. */
void wick_lang_format_lines(format *f, const wick_ast *n, uint32_t first_kid, const char *after,
                            format_print *print)
{
  bool first = true;
  f->indent += FORMAT_INDENT;
  for (uint32_t i = first_kid; i < n->nkid; i++) {
    const wick_ast *k = n->kid[i];
    wick_lang_format_comments(f, k->at.begin, &first);
    if (!first && wick_lang_format_blank_before(f, k->at.begin)) wick_text_char(f->out, '\n');
    wick_lang_format_line(f);
    print(f, k, LEVEL_ANY);
    format_add(f, after);
    uint32_t end = k->at.end;
    while (end < f->source->nbytes && strchr(" \t,;", f->source->text[end])) end++;
    wick_lang_format_trailing(f, end);
    first = false;
  }
  wick_lang_format_comments(f, n->at.end, &first);
  f->indent -= FORMAT_INDENT;
  wick_lang_format_line(f);
}

/* ---- lists ---- */

void wick_lang_format_list(format *f, const wick_ast *n, uint32_t first, const char *end,
                           format_print *print)
{
  for (uint32_t i = first; i < n->nkid; i++) {
    if (i > first) format_add(f, ", ");
    print(f, n->kid[i], LEVEL_ANY);
  }
  format_add(f, end);
}

/* One item a line, each with a comma. */
void wick_lang_format_broken_list(format *f, const wick_ast *n, uint32_t first, const char *end,
                                  format_print *print)
{
  wick_lang_format_lines(f, n, first, ",", print);
  format_add(f, end);
}
