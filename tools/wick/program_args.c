/* A parser by recursion; data on the command line is nested at most ARGS_DEPTH levels deep. */
#include "program_args.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ir/element.h"
#include "lang/lex.h"

enum { ARGS_DEPTH = 2000 };

typedef struct args_parser {
  const char *start, *at;
  const char *what; /* the argument, for messages */
  wick_arena *mem;
  wick_data_heap *heap; /* NULL: the text of data is skipped */
  uint32_t depth;
  wick_program_args *out;
  const wick_io *const *io;
  uint32_t next; /* the next input */
} args_parser;

static wick_status args_fail(const args_parser *p, const char *expected)
{
  int n = (int)strcspn(p->at, ",() \t\n");
  if (!*p->at)
    return wick_fail(p->mem, WICK_EINVAL, p->what, "the text ends, expected %s", expected);
  return wick_fail(p->mem, WICK_EINVAL, p->what, "at character %u: `%.*s`, expected %s",
                   (unsigned)(p->at - p->start) + 1, n ? n : 1, p->at, expected);
}

static void args_space(args_parser *p) { p->at += strspn(p->at, " \t\r\n"); }

static bool args_take(args_parser *p, char c)
{
  args_space(p);
  if (*p->at != c) return false;
  p->at++;
  return true;
}

static wick_status args_expect(args_parser *p, char c)
{
  char text[] = {'`', c, '`', 0};
  return args_take(p, c) ? NULL : args_fail(p, text);
}

/* Takes a name if it is the next word. */
static bool args_word(args_parser *p, const char *word)
{
  size_t n = strlen(word);
  args_space(p);
  if (strncmp(p->at, word, n) != 0 || isalnum((unsigned char)p->at[n]) || p->at[n] == '_')
    return false;
  p->at += n;
  return true;
}

/* ---- tensors ---- */

typedef struct args_tensor {
  wick_elem elem;
  uint32_t rank; /* found */
  int64_t dim[WICK_MAX_RANK];
  wick_list(wick_scalar) element;
  wick_list(wick_string) text; /* the elements of a tensor of strings */
} args_tensor;

static bool args_fits(wick_elem e, int64_t i, bool negative)
{
  uint32_t bits = wick_elem_storage[e].bits;
  bool is_unsigned = wick_elem_class(e) == WICK_UINT;
  if (is_unsigned) return !negative && (bits == 64 || (uint64_t)i >> bits == 0);
  int64_t most = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
  return i <= most && i >= -most - 1;
}

static wick_status args_string(args_parser *p, args_tensor *t)
{
  args_space(p);
  size_t n = *p->at == '"';
  while (n && p->at[n] && p->at[n] != '"') n += p->at[n] == '\\' && p->at[n + 1] ? 2 : 1;
  if (!n || !p->at[n]) return args_fail(p, "a string in double quotes");
  wick_text text = wick_text_begin(p->mem);
  wick_lang_unquote(p->at, (uint32_t)n + 1, &text);
  wick_push(p->mem, &t->text, ((wick_string){text.at, text.n}));
  p->at += n + 1;
  return NULL;
}

static wick_status args_number(args_parser *p, args_tensor *t)
{
  wick_scalar x = {0};
  char *end;
  if (t->elem == WICK_STRING) return args_string(p, t);
  args_space(p);
  if (t->elem == WICK_BOOL) {
    x.i = args_word(p, "true");
    if (!x.i && !args_word(p, "false")) return args_fail(p, "true or false");
  } else if (wick_elem_is_float(t->elem)) {
    x.f = strtod(p->at, &end);
    if (end == p->at || isalpha((unsigned char)*end)) return args_fail(p, "a number");
    x = wick_round_elem(t->elem, x);
    p->at = end;
  } else if (wick_elem_is_int(t->elem)) {
    bool negative = *p->at == '-';
    errno = 0;
    if (!isdigit((unsigned char)p->at[negative])) return args_fail(p, "a whole number");
    x.i = negative ? strtoll(p->at, &end, 0) : (int64_t)strtoull(p->at, &end, 0);
    bool large = !negative && x.i < 0 && t->elem != WICK_U64;
    if (isalnum((unsigned char)*end) || *end == '.') return args_fail(p, "a whole number");
    if (errno || large || !args_fits(t->elem, x.i, negative))
      return wick_fail(p->mem, WICK_ERANGE, p->what, "%.*s is no %s", (int)(end - p->at), p->at,
                       wick_elem_name(t->elem));
    p->at = end;
  } else {
    return wick_fail(p->mem, WICK_EUNSUPPORTED, p->what, "arguments of %s are read from files only",
                     wick_elem_name(t->elem));
  }
  wick_push(p->mem, &t->element, x);
  return NULL;
}

/* Reads an element, or a list of what is at the next axis. */
static wick_status args_axis(args_parser *p, uint32_t axis, args_tensor *t)
{
  int64_t n = 0;
  if (!args_take(p, '[')) {
    if (t->rank == WICK_MAX_RANK + 1u) t->rank = axis; /* not known until now */
    return t->rank == axis ? args_number(p, t) : args_fail(p, "lists of equal depth");
  }
  if (axis == WICK_MAX_RANK || t->rank == axis) return args_fail(p, "lists of equal depth");
  while (!args_take(p, ']')) {
    if (n++) WICK_TRY(args_expect(p, ','));
    if (n > 1 && args_take(p, ']')) {
      n--;
      break;
    }
    WICK_TRY(args_axis(p, axis + 1, t));
  }
  if (!n && t->rank == WICK_MAX_RANK + 1u) t->rank = axis + 1;
  if (t->dim[axis] < 0) t->dim[axis] = n;
  return t->dim[axis] == n ? NULL : args_fail(p, "lists of equal length");
}

static wick_status args_tensor_read(args_parser *p, const wick_io *io, wick_array *out)
{
  args_tensor t = {.elem = io->elem, .rank = WICK_MAX_RANK + 1};
  for (uint32_t k = 0; k < WICK_MAX_RANK; k++) t.dim[k] = -1;
  WICK_TRY(args_axis(p, 0, &t));
  bool fits = t.rank == io->rank;
  for (uint32_t k = 0; k < t.rank; k++) {
    if (t.dim[k] < 0) t.dim[k] = 0;
    fits = fits && (io->dim[k] < 0 || io->dim[k] == t.dim[k]);
  }
  if (!fits)
    return wick_fail(p->mem, WICK_ETYPE, p->what, "\"%s\" is %s, expected %s", io->name,
                     wick_array_type(p->mem, t.elem, t.rank, t.dim),
                     wick_array_type(p->mem, io->elem, io->rank, io->dim));
  bool texts = t.elem == WICK_STRING;
  uint64_t nbytes = texts ? t.text.n * sizeof *t.text.at : wick_elem_bytes(t.elem, t.element.n);
  void *data = wick_arena_alloc(p->mem, nbytes + 1, 64);
  for (uint32_t k = 0; k < t.element.n; k++) wick_store_elem(t.elem, data, k, t.element.at[k]);
  if (t.text.n) memcpy(data, t.text.at, nbytes);
  *out = (wick_array){
      .name = io->name, .elem = t.elem, .rank = t.rank, .data = data, .nbytes = nbytes};
  memcpy(out->dim, t.dim, t.rank * sizeof *t.dim);
  return NULL;
}

/* ---- data ---- */

static wick_status args_datum(args_parser *p, const wick_datatype *type, wick_datum **out);

static wick_status args_leaf(args_parser *p, const wick_io *io, const void **out)
{
  wick_array a;
  wick_datum *d = NULL;
  if (!io->data) {
    WICK_TRY(args_tensor_read(p, io, &a));
    *out = a.data;
    return NULL;
  }
  wick_status s = args_datum(p, io->data, &d);
  *out = d;
  return s;
}

/* Reads part *at of a constructor's or a function's values. The outermost part is a list of
 * arguments in parentheses; a constructor's has no parentheses if it has no fields. */
static wick_status args_part(args_parser *p, const wick_part *part, uint32_t *at,
                             wick_status (*leaf)(args_parser *p, void *arg), void *arg)
{
  const wick_part *x = &part[(*at)++];
  if (x->leaf) return leaf(p, arg);
  if (*x->type && !args_word(p, x->type)) return args_fail(p, x->type);
  WICK_TRY(args_expect(p, '('));
  for (uint32_t i = 0; i < x->nitem; i++) {
    if (i) WICK_TRY(args_expect(p, ','));
    if (*x->type && args_word(p, part[*at].name)) WICK_TRY(args_expect(p, '='));
    WICK_TRY(args_part(p, part, at, leaf, arg));
  }
  if (x->nitem) (void)args_take(p, ',');
  return args_expect(p, ')');
}

typedef struct args_fields {
  const wick_constructor *c;
  const void **field;
  uint32_t n;
} args_fields;

static wick_status args_field(args_parser *p, void *arg)
{
  args_fields *f = arg;
  const wick_io *io = &f->c->field[f->n];
  return args_leaf(p, io, &f->field[f->n++]);
}

static wick_status args_construct(args_parser *p, const wick_datatype *type, uint32_t k,
                                  wick_datum **out)
{
  const wick_constructor *c = &type->constructor[k];
  args_fields f = {.c = c, .field = wick_new(p->mem, const void *, c->nfield + 1u)};
  uint32_t at = 0;
  wick_status s = c->part[0].nitem ? args_part(p, c->part, &at, args_field, &f) : NULL;
  wick_error *e = s ? NULL : wick_datum_create(p->heap, type, k, f.field, out);
  if (e) s = wick_fail(p->mem, wick_error_code(e), p->what, "%s", wick_error_message(e));
  wick_error_free(e);
  for (uint32_t i = 0; i < f.n; i++)
    if (c->field[i].data) wick_datum_free((wick_datum *)(uintptr_t)f.field[i]);
  return s;
}

static wick_status args_datum(args_parser *p, const wick_datatype *type, wick_datum **out)
{
  wick_text names = wick_text_begin(p->mem);
  if (p->depth == ARGS_DEPTH)
    return wick_fail(p->mem, WICK_ELIMIT, p->what, "it is nested more than %d levels deep",
                     ARGS_DEPTH);
  wick_text_printf(&names, "a %s:", type->name);
  for (uint32_t k = 0; k < type->nconstructor; k++) {
    if (args_word(p, type->constructor[k].name)) {
      p->depth++;
      wick_status s = args_construct(p, type, k, out);
      p->depth--;
      return s;
    }
    wick_text_printf(&names, "%s %s", k ? "," : "", type->constructor[k].name);
  }
  return args_fail(p, names.at);
}

wick_status wick_program_args_datum(const char *text, const char *input, const wick_datatype *type,
                                    wick_data_heap *heap, wick_arena *mem, wick_datum **out)
{
  args_parser p = {.start = text,
                   .at = text,
                   .what = wick_str_printf(mem, "--args: \"%s\"", input),
                   .mem = mem,
                   .heap = heap};
  *out = NULL;
  wick_status s = args_datum(&p, type, out);
  args_space(&p);
  if (!s && *p.at) s = args_fail(&p, "the end");
  if (!s) return NULL;
  wick_datum_free(*out);
  *out = NULL;
  return s;
}

/* ---- arguments ---- */

/* Takes the text of an argument that is data, up to the comma or the parenthesis after it. */
static wick_status args_input(args_parser *p, void *arg)
{
  (void)arg;
  const wick_io *io = p->io[p->next];
  wick_array *a = &p->out->array[p->next];
  if (!io->data) return args_tensor_read(p, p->io[p->next++], a);
  args_space(p);
  const char *from = p->at;
  for (uint32_t depth = 0; *p->at && (depth || (*p->at != ',' && *p->at != ')')); p->at++) {
    depth += *p->at == '(' || *p->at == '[';
    depth -= depth && (*p->at == ')' || *p->at == ']');
  }
  p->out->text[p->next++] = wick_str_dupn(p->mem, from, (size_t)(p->at - from));
  *a = (wick_array){.name = io->name, .elem = io->elem, .data = "\0\0\0\0\0\0\0", .nbytes = 8};
  return NULL;
}

wick_status wick_program_args_read(const char *text, const wick_part *parameters, uint32_t n,
                                   const wick_io *const *io, wick_arena *mem,
                                   wick_program_args *out)
{
  uint32_t at = 0;
  const char *all = wick_str_printf(mem, "(%s)", text);
  *out = (wick_program_args){n, wick_new(mem, wick_array, n + 1u),
                             wick_new(mem, const char *, n + 1u)};
  if (!parameters)
    return wick_fail(mem, WICK_EINVAL, "--args", "the model is no program of the language");
  /* `start` is the character before the first, so that positions count from 1 */
  args_parser p = {.start = all + 1, .at = all, .what = "--args", .mem = mem, .out = out, .io = io};
  WICK_TRY(args_part(&p, parameters, &at, args_input, NULL));
  args_space(&p);
  return *p.at ? args_fail(&p, "the end: there are more arguments than parameters") : NULL;
}
