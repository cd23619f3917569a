/* For tests: builds ONNX models from a line of text, and compares the text of their import.
 *
 *   "opset 13; in x 1 N,3; const w 7 2 = 0,-1; Reshape x,w -> y allowzero=i0; out y"
 *
 * in NAME TYPE DIMS: a graph input, TYPE is TensorProto.DataType's number (seq1, opt1, optseq1:
 * sequences, optionals, optional sequences of it), DIMS numbers, names and ? (no name), - for
 * rank 0, * for no shape. const NAME TYPE DIMS = NUMBERS: an initializer with int32_data,
 * int64_data or float_data. OP INPUTS -> OUTPUTS ATTRS: a node; _ stands for an empty name,
 * DOMAIN/OP for another domain. Attributes are NAME=KVALUE, K being i f s or, for lists, I F S. */
#ifndef WICK_IMPORT_ONNX_ONNX_TESTING_H
#define WICK_IMPORT_ONNX_ONNX_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "import/onnx/onnx.h"
#include "import/wire_testing.h"
#include "ir/text.h"
#include "ir/verify.h"

typedef struct onnx_testing {
  wick_arena *mem;
  wick_text model, graph, opset;
  wick_text *function; /* NULL outside of one */
  wick_text body;
} onnx_testing;

static inline char *onnx_word(char **at, const char *ends)
{
  *at += strspn(*at, " ");
  char *word = *at;
  size_t n = strcspn(word, ends);
  *at = word + n + (word[n] != 0);
  word[n] = 0;
  return word;
}

static inline const char *onnx_name(const char *word) { return strcmp(word, "_") == 0 ? "" : word; }

static inline wick_text onnx_dims(wick_arena *mem, char *list)
{
  wick_text shape = wick_text_begin(mem);
  while (*list && strcmp(list, "-") != 0) {
    char *d = onnx_word(&list, ",");
    wick_text dim = wick_text_begin(mem);
    bool number = (*d >= '0' && *d <= '9') || *d == '-';
    if (number) put_i64(&dim, 1, strtoll(d, NULL, 10));
    if (!number && strcmp(d, "?") != 0) put_str(&dim, 2, d);
    put_part(&shape, 1, &dim);
  }
  return shape;
}

/* The type of a sequence (number 4) or an optional (9) of that type. */
static inline wick_text onnx_list_type(wick_arena *mem, unsigned number, wick_text *of)
{
  wick_text list = wick_text_begin(mem), type = wick_text_begin(mem);
  put_part(&list, 1, of);
  put_part(&type, number, &list);
  return type;
}

static inline void onnx_put_info(onnx_testing *t, unsigned number, char *s)
{
  wick_text info = wick_text_begin(t->mem), type = wick_text_begin(t->mem),
            tensor = wick_text_begin(t->mem);
  put_str(&info, 1, onnx_name(onnx_word(&s, " ")));
  if (!*s) {
    put_part(&t->graph, number, &info);
    return;
  }
  const char *elem = onnx_word(&s, " ");
  put_i64(&tensor, 1, strtoll(elem + strcspn(elem, "0123456789"), NULL, 10));
  char *dims = onnx_word(&s, " ");
  bool ranked = strcmp(dims, "*") != 0;
  wick_text shape = onnx_dims(t->mem, dims);
  if (ranked) put_part(&tensor, 2, &shape);
  put_part(&type, 1, &tensor);
  if (strstr(elem, "seq")) type = onnx_list_type(t->mem, 4, &type);
  if (strstr(elem, "opt")) type = onnx_list_type(t->mem, 9, &type);
  put_part(&info, 2, &type);
  put_part(&t->graph, number, &info);
}

static inline wick_text onnx_tensor(wick_arena *mem, const char *name, char *s)
{
  wick_text tensor = wick_text_begin(mem);
  int64_t type = strtoll(onnx_word(&s, " "), NULL, 10);
  char *dims = onnx_word(&s, " ");
  while (*dims && strcmp(dims, "-") != 0)
    put_i64(&tensor, 1, strtoll(onnx_word(&dims, ","), NULL, 10));
  put_i64(&tensor, 2, type);
  put_str(&tensor, 8, name);
  onnx_word(&s, " ");
  while (*s) {
    const char *v = onnx_word(&s, ",");
    if (type == WICK_ONNX_FLOAT)
      put_f32(&tensor, 4, strtof(v, NULL));
    else
      put_i64(&tensor, type == WICK_ONNX_INT64 ? 7 : 5, strtoll(v, NULL, 10));
  }
  return tensor;
}

static inline void onnx_put_attr(wick_text *node, unsigned number, wick_arena *mem, char *s)
{
  static const struct {
    char letter;
    int type;
    unsigned field;
  } kinds[] = {{'f', 1, 2}, {'i', 2, 3}, {'s', 3, 4}, {'F', 6, 7}, {'I', 7, 8}, {'S', 8, 9}};
  wick_text a = wick_text_begin(mem);
  put_str(&a, 1, onnx_word(&s, "="));
  char letter = *s++;
  for (size_t k = 0; k < WICK_COUNT(kinds); k++) {
    if (kinds[k].letter != letter) continue;
    put_i64(&a, 20, kinds[k].type);
    if (*s == '@') put_str(&a, 21, s + 1);
    if (*s == '@') break;
    while (*s) {
      const char *v = onnx_word(&s, ",");
      if (letter == 'f' || letter == 'F') put_f32(&a, kinds[k].field, strtof(v, NULL));
      if (letter == 'i' || letter == 'I') put_i64(&a, kinds[k].field, strtoll(v, NULL, 10));
      if (letter == 's' || letter == 'S') put_str(&a, kinds[k].field, v);
    }
  }
  put_part(node, number, &a);
}

static inline wick_text onnx_node(wick_arena *mem, char *type, char *s)
{
  wick_text node = wick_text_begin(mem);
  char *inputs = onnx_word(&s, " ");
  if (strcmp(inputs, "->") != 0) {
    while (*inputs) put_str(&node, 1, onnx_name(onnx_word(&inputs, ",")));
    onnx_word(&s, " ");
  }
  char *outputs = onnx_word(&s, " ");
  while (*outputs) put_str(&node, 2, onnx_name(onnx_word(&outputs, ",")));
  char *slash = strchr(type, '/');
  if (slash) *slash = 0;
  put_str(&node, 4, slash ? slash + 1 : type);
  if (slash) put_str(&node, 7, type);
  while (*(s += strspn(s, " "))) onnx_put_attr(&node, 5, mem, onnx_word(&s, " "));
  return node;
}

/* Begins a function. Its nodes are added to t->body. */
static inline void onnx_begin_function(onnx_testing *t, char *s)
{
  t->body = wick_text_begin(t->mem);
  t->function = &t->body;
  char *domain = onnx_word(&s, "/");
  put_str(&t->body, 1, onnx_word(&s, " "));
  put_str(&t->body, 10, domain);
  char *inputs = onnx_word(&s, " ");
  while (*inputs) put_str(&t->body, 4, onnx_word(&inputs, ","));
  onnx_word(&s, " ");
  char *outputs = onnx_word(&s, " ");
  while (*outputs) put_str(&t->body, 5, onnx_word(&outputs, ","));
  put_part(&t->body, 9, &t->opset);
  while (*(s += strspn(s, " "))) {
    char *attr = onnx_word(&s, " ");
    if (strchr(attr, '='))
      onnx_put_attr(&t->body, 11, t->mem, attr);
    else
      put_str(&t->body, 6, attr);
  }
}

static inline void onnx_put_line(onnx_testing *t, char *word, char *line)
{
  wick_text part = wick_text_begin(t->mem);
  if (strcmp(word, "opset") == 0) {
    put_i64(&part, 2, strtoll(line, NULL, 10));
    put_part(&t->model, 8, &part);
    t->opset = part;
  } else if (strcmp(word, "ir") == 0) {
    put_i64(&t->model, 1, strtoll(line, NULL, 10));
  } else if (strcmp(word, "meta") == 0) {
    put_str(&part, 1, onnx_word(&line, " "));
    put_str(&part, 2, line);
    put_part(&t->model, 14, &part);
  } else if (strcmp(word, "def") == 0) {
    onnx_begin_function(t, line);
  } else if (strcmp(word, "end") == 0) {
    put_part(&t->model, 25, &t->body);
    t->function = NULL;
  } else if (strcmp(word, "in") == 0) {
    onnx_put_info(t, 11, line);
  } else if (strcmp(word, "const") == 0) {
    const char *name = onnx_word(&line, " ");
    part = onnx_tensor(t->mem, name, line);
    put_part(&t->graph, 5, &part);
  } else if (strcmp(word, "out") == 0) {
    onnx_put_info(t, 12, line);
  } else {
    part = onnx_node(t->mem, word, line);
    put_part(t->function ? t->function : &t->graph, t->function ? 7 : 1, &part);
  }
}

/* Returns the bytes of the model. */
static inline wick_span onnx_encode(wick_arena *mem, const char *text)
{
  onnx_testing t = {.mem = mem,
                    .model = wick_text_begin(mem),
                    .graph = wick_text_begin(mem),
                    .opset = wick_text_begin(mem)};
  char *s = wick_str_dup(mem, text);
  put_i64(&t.model, 1, 8);
  while (*(s += strspn(s, " \n"))) {
    char *line = onnx_word(&s, ";"), *word = onnx_word(&line, " ");
    onnx_put_line(&t, word, line);
  }
  put_part(&t.model, 7, &t.graph);
  return put_span(&t.model);
}

/* ---- table tests: a model and the text of its import ---- */

/* Returns the text of the imported function, or the error. */
static inline const char *onnx_import_with(wick_guard *guard, wick_arena *mem, wick_span bytes,
                                           const wick_import_options *options, unsigned flags)
{
  const wick_func *f;
  wick_module *m = wick_module_create(guard, "");
  wick_status s = wick_import_onnx(m, bytes, "dir/m.onnx", options, mem, mem, &f);
  if (!s) s = wick_verify_func(f, mem);
  wick_text t = wick_text_begin(mem);
  if (s)
    wick_text_add(&t, s->message);
  else
    wick_print_func(f, flags, &t);
  wick_module_free(m);
  while (t.n && t.at[t.n - 1] == '\n') t.at[--t.n] = 0;
  return t.at + strspn(t.at, "\n");
}

static inline const char *onnx_import_text(wick_guard *guard, wick_arena *mem, wick_span bytes,
                                           unsigned flags)
{
  return onnx_import_with(guard, mem, bytes, NULL, flags);
}

typedef struct onnx_row {
  const char *model, *want;
} onnx_row;

/* Compares all rows and prints those that differ. */
static inline void onnx_check(const onnx_row *rows, size_t n)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  size_t bad = 0;
  if (setjmp(guard.where)) fail_msg("out of memory");
  for (size_t i = 0; i < n; i++) {
    const char *got = onnx_import_text(&guard, &mem, onnx_encode(&mem, rows[i].model), 0);
    if (strcmp(got, rows[i].want) == 0) continue;
    print_error("%s\n--- got\n%s\n--- expected\n%s\n", rows[i].model, got, rows[i].want);
    bad++;
  }
  wick_arena_free(&mem);
  assert_int_equal(bad, 0);
}

#endif
