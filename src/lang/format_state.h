/* What the files of the formatter share. */
#ifndef WICK_LANG_FORMAT_STATE_H
#define WICK_LANG_FORMAT_STATE_H

#include "lang/format.h"

enum { FORMAT_WIDTH = 100, FORMAT_INDENT = 2 };

/* Precedences, as parse_expr.c has them. */
enum {
  LEVEL_ANY,
  LEVEL_OR,
  LEVEL_AND,
  LEVEL_COMPARE,
  LEVEL_SUM,
  LEVEL_PRODUCT,
  LEVEL_UNARY,
  LEVEL_POSTFIX
};

typedef struct format {
  const wick_lang_source *source;
  const wick_lang_tokens *tokens;
  uint32_t comment; /* the next one to print */
  uint32_t indent;
  bool flat;   /* on one line ... */
  bool failed; /* ... which is impossible */
  wick_text *out;
} format;

typedef void format_print(format *f, const wick_ast *n, int level);

static inline void format_add(format *f, const char *s) { wick_text_add(f->out, s); }
void wick_lang_format_line(format *f);
uint32_t wick_lang_format_column(const format *f);
bool wick_lang_format_has_comment(const format *f, wick_lang_at at);
/* Prints on one line if that fits, with `room` characters after it. Else prints nothing. */
bool wick_lang_format_try(format *f, const wick_ast *n, int level, uint32_t room,
                          format_print *print);
bool wick_lang_format_blank_before(const format *f, uint32_t byte);
/* Prints the comments before a byte, each on a line of its own. */
void wick_lang_format_comments(format *f, uint32_t byte, bool *first);
/* Prints the comment at the end of the line that ends at a byte. */
void wick_lang_format_trailing(format *f, uint32_t byte);
/* Prints children from the first on, on lines of their own. */
void wick_lang_format_lines(format *f, const wick_ast *n, uint32_t first_kid, const char *after,
                            format_print *print);
void wick_lang_format_list(format *f, const wick_ast *n, uint32_t first, const char *end,
                           format_print *print);
/* One item a line, each with a comma. */
void wick_lang_format_broken_list(format *f, const wick_ast *n, uint32_t first, const char *end,
                                  format_print *print);

void wick_lang_format_kid_type(format *f, const wick_ast *n, int level);
void wick_lang_format_type(format *f, const wick_ast *n);
void wick_lang_format_expr(format *f, const wick_ast *n, int level);
void wick_lang_format_index(format *f, const wick_ast *n, int level);
void wick_lang_format_block(format *f, const wick_ast *n, bool open);
void wick_lang_format_signature(format *f, const wick_ast *n);

#endif
