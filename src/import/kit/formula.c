/* Formulas in postfix notation. */
#include <stdlib.h>
#include <string.h>

#include "import/kit/formula.h"

enum { FORMULA_DEPTH = 16, FORMULA_NAMES = 16 };
typedef struct formula {
  wick_builder *b;
  wick_value like; /* of the type of numbers */
  wick_value stack[FORMULA_DEPTH];
  uint32_t depth, nname;
  struct {
    const char *name;
    size_t size;
    wick_value v;
  } named[FORMULA_NAMES];
} formula;

static void formula_name(formula *f, const char *name, size_t size, wick_value v)
{
  f->named[f->nname].name = name;
  f->named[f->nname].size = size;
  f->named[f->nname++].v = v;
}

/* The newest value of that name; 0: there is none. */
static wick_value formula_named(const formula *f, const char *word, size_t size)
{
  for (uint32_t k = f->nname; k-- > 0;)
    if (f->named[k].size == size && memcmp(f->named[k].name, word, size) == 0) return f->named[k].v;
  return (wick_value){0};
}

static wick_value formula_apply(formula *f, wick_opcode op)
{
  uint32_t count = wick_ops[op]->nin[0];
  f->depth -= count;
  return wick_build(f->b, op, count, &f->stack[f->depth], NULL, 0, NULL);
}

static wick_value formula_value(formula *f, const char *text)
{
  for (const char *word = text; *word && !f->b->status;) {
    size_t size = strcspn(word, " ");
    wick_value v = formula_named(f, word, size);
    wick_opcode op = wick_op_find(word, size);
    if (*word == '=')
      formula_name(f, word + 1, size - 1, f->stack[f->depth - 1]);
    else
      v = v.id                 ? v
          : op != WICK_OP_none ? formula_apply(f, op)
                               : wick_emit_number(f->b, f->like, strtod(word, NULL));
    if (*word != '=') f->stack[f->depth++] = v;
    word += size;
    word += *word == ' ';
  }
  return f->b->status ? (wick_value){0} : f->stack[f->depth - 1];
}

wick_value wick_emit_formula(wick_builder *b, const char *text, wick_value x, wick_value y)
{
  formula f = {.b = b, .like = x};
  formula_name(&f, "x", 1, x);
  if (y.id) formula_name(&f, "y", 1, y);
  return formula_value(&f, text);
}
