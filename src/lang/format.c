/* Prints the items of a file. Each construct is first tried on one line; where it does not fit, or
 * where a comment is inside, its parts get lines of their own. */
#include <string.h>

#include "lang/format_state.h"

static void format_type_params(format *f, const wick_ast *n)
{
  if (!n->nkid) return;
  format_add(f, "[");
  wick_lang_format_list(f, n, 0, "]", wick_lang_format_kid_type);
}

static void format_member(format *f, const wick_ast *n, int level)
{
  (void)level;
  format_add(f, n->name);
  if (n->kind == WICK_AST_FIELD_TYPE) {
    format_add(f, ": ");
    wick_lang_format_type(f, n->kid[0]);
  } else if (n->kind == WICK_AST_DEFINE) {
    format_add(f, "[");
    wick_lang_format_list(f, n->kid[0], 0, "] = ", wick_lang_format_index);
    wick_lang_format_expr(f, n->kid[1], LEVEL_ANY);
  } else if (n->nkid) {
    format_add(f, "(");
    wick_lang_format_list(f, n, 0, ")", wick_lang_format_kid_type);
  }
}

static void format_flat_members(format *f, const wick_ast *n, int level)
{
  (void)level;
  format_add(f, "{ ");
  wick_lang_format_list(f, n, 0, " }", format_member);
  if (n->nkid > 1 && n->kid[0]->kind == WICK_AST_DEFINE) f->failed = true;
}

static void format_members(format *f, const wick_ast *n)
{
  if (!n->nkid && !wick_lang_format_has_comment(f, n->at)) {
    format_add(f, "{}");
    return;
  }
  if (wick_lang_format_try(f, n, 0, 0, format_flat_members)) return;
  format_add(f, "{");
  wick_lang_format_broken_list(f, n, 0, "}", format_member);
}

static void format_import(format *f, const wick_ast *n, int level)
{
  (void)level;
  format_add(f, n->name);
  if (n->alias) format_add(f, " as "), format_add(f, n->alias);
}

static void format_flat_use(format *f, const wick_ast *n, int level)
{
  format_add(f, "use ");
  format_import(f, n, level);
  if (!n->nkid) return;
  format_add(f, " { ");
  wick_lang_format_list(f, n, 0, " }", format_import);
}

static void format_item(format *f, const wick_ast *n)
{
  switch (n->kind) {
  case WICK_AST_USE:
    if (wick_lang_format_try(f, n, 0, 0, format_flat_use)) return;
    format_add(f, "use ");
    format_import(f, n, 0);
    format_add(f, " {");
    wick_lang_format_broken_list(f, n, 0, "}", format_import);
    break;
  case WICK_AST_TYPE:
  case WICK_AST_STRUCT:
    format_add(f, n->kind == WICK_AST_TYPE ? "type " : "struct ");
    format_add(f, n->name);
    format_type_params(f, n->kid[0]);
    format_add(f, " ");
    format_members(f, n->kid[1]);
    break;
  default:
    if (n->alias) {
      format_add(f, "@onnx(");
      wick_lang_format_list(f, n->kid[3], 0, ")\n", wick_lang_format_expr);
    }
    wick_lang_format_signature(f, n);
    if (n->kind == WICK_AST_OP)
      format_members(f, n->kid[2]);
    else
      wick_lang_format_block(f, n->kid[2], false);
  }
}

void wick_lang_format(const wick_lang_source *source, const wick_lang_tokens *tokens,
                      const wick_ast *file, wick_text *out)
{
  format f = {.source = source, .tokens = tokens, .out = out};
  bool first = true, tall = false, use = false;
  for (uint32_t i = 0; i < file->nkid; i++) {
    const wick_ast *n = file->kid[i];
    wick_text *all = f.out, item = wick_text_begin(out->mem), above = wick_text_begin(out->mem);
    uint32_t comment = f.comment;
    bool alone = true;
    f.out = &above;
    wick_lang_format_comments(&f, n->at.begin, &alone);
    f.out = &item;
    format_item(&f, n);
    wick_lang_format_trailing(&f, n->at.end);
    f.out = all;
    bool now_tall = strchr(item.at, '\n') != NULL, now_use = n->kind == WICK_AST_USE;
    uint32_t begin =
        comment < f.comment && above.n ? tokens->comments.at[comment].begin : n->at.begin;
    if (!first) {
      wick_text_char(out, '\n');
      if (tall || now_tall || use != now_use || wick_lang_format_blank_before(&f, begin))
        wick_text_char(out, '\n');
    }
    wick_text_addn(out, above.at, above.n);
    if (above.n) {
      wick_text_char(out, '\n');
      if (wick_lang_format_blank_before(&f, n->at.begin)) wick_text_char(out, '\n');
    }
    wick_text_addn(out, item.at, item.n);
    first = false, tall = now_tall, use = now_use;
  }
  wick_lang_format_comments(&f, source->nbytes + 1, &first);
  if (out->n) wick_text_char(out, '\n');
}
