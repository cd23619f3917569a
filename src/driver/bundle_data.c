/* Writes the part of a bundle's header that builds and reads data: functions on the heap in the
 * arena, which do what runtime/heap.c does, and for each constructor one that makes a value and one
 * for each field. */
#include "driver/bundle_data.h"

#include <ctype.h>
#include <string.h>

#include "codegen/options.h"
#include "runtime/datatype.h"
#include "runtime/heap.h"

typedef struct data_header {
  const wick_bundle *b;
  const char *macro; /* the bundle's name in upper case */
  wick_arena *mem;
  wick_text *out;
  wick_datatype_list types;
  const char **word; /* per type: its part of C names */
} data_header;

/* ---- names ---- */

static bool data_taken(const data_header *h, uint32_t n, const char *word)
{
  for (uint32_t i = 0; i < n; i++)
    if (strcmp(h->word[i], word) == 0) return true;
  return false;
}

/* "List[i64]" becomes List_i64; a number follows where another type has that name. */
static void data_name(data_header *h, uint32_t i)
{
  wick_text t = wick_text_begin(h->mem);
  for (const char *at = h->types.at[i]->name; *at; at++) {
    bool word = isalnum((unsigned char)*at) && (unsigned char)*at <= 127;
    if (word || (t.n && t.at[t.n - 1] != '_')) wick_text_char(&t, word ? *at : '_');
  }
  while (t.n && t.at[t.n - 1] == '_') t.at[--t.n] = 0;
  const char *word = t.n ? t.at : "T";
  for (uint32_t k = 2; data_taken(h, i, word); k++)
    word = wick_str_printf(h->mem, "%s_%u", t.at, k);
  h->word[i] = word;
}

static const char *data_type_word(const data_header *h, const wick_datatype *t)
{
  return h->word[wick_datatype_number(&h->types, t) - 1];
}

/* ---- fields ---- */

/* Returns whether a field is a value of C, and no array. */
static bool data_is_value(const wick_io *f)
{
  return f->data || (f->rank == 0 && f->elem != WICK_C64 && f->elem != WICK_C128);
}

static const char *data_c_type(const wick_io *f)
{
  return f->data ? "long long" : wick_bundle_c_type(f->elem);
}

/* Writes what a field is: "f32[3]", or the name of its type. */
static void data_describe(const data_header *h, const wick_io *f)
{
  if (f->data) {
    wick_text_add(h->out, data_type_word(h, f->data));
    return;
  }
  wick_text_add(h->out, wick_elem_name(f->elem));
  for (uint32_t k = 0; k < f->rank; k++)
    wick_text_printf(h->out, "%s%lld", k ? ", " : "[", (long long)f->dim[k]);
  if (f->rank) wick_text_char(h->out, ']');
}

static void data_comment(const data_header *h, const wick_datatype *t)
{
  wick_text_printf(h->out, "\n/* %s is one of\n", data_type_word(h, t));
  for (uint32_t k = 0; k < t->nconstructor; k++) {
    const wick_constructor *c = &t->constructor[k];
    wick_text_printf(h->out, " *   %s", c->name);
    for (uint32_t f = 0; f < c->nfield; f++) {
      wick_text_add(h->out, f ? ", " : "(");
      data_describe(h, &c->field[f]);
    }
    wick_text_add(h->out, c->nfield ? ")\n" : "\n");
  }
  wick_text_add(h->out, " */\n");
}

/* ---- constructors ---- */

static void data_make(const data_header *h, const wick_datatype *t, uint32_t k)
{
  const wick_constructor *c = &t->constructor[k];
  const char *own = wick_str_printf(h->mem, "%s_%s_%s", h->b->name, data_type_word(h, t), c->name);
  uint64_t words = wick_datatype_words(c);
  wick_text_printf(h->out, "WICK_BUNDLE_STATIC long long %s(void *arena", own);
  for (uint32_t f = 0; f < c->nfield; f++)
    wick_text_printf(h->out, ", %s%s %sf%u", data_is_value(&c->field[f]) ? "" : "const ",
                     data_c_type(&c->field[f]), data_is_value(&c->field[f]) ? "" : "*", f);
  wick_text_printf(h->out, ")\n{\n  void *heap = %s_HEAP(arena);\n  long long v", h->macro);
  wick_text_add(h->out, ";\n");
  for (uint32_t f = 0; f < c->nfield; f++)
    if (c->field[f].data) wick_text_printf(h->out, "  if (!f%u) return 0;\n", f);
  wick_text_printf(h->out, "  v = wick_bundle_new(heap, 0x%llxULL, %llu);\n  if (!v) return 0;\n",
                   (unsigned long long)wick_object_header(k, wick_datatype_refs(c), words),
                   (unsigned long long)wick_heap_words(wick_heap_class(words + 1)) * 8);
  for (uint32_t f = 0; f < c->nfield; f++)
    if (c->field[f].nbytes)
      wick_text_printf(h->out, "  memcpy(wick_bundle_at(heap, v) + %llu, %sf%u, %llu);\n",
                       (unsigned long long)(1 + wick_datatype_word(c, f)),
                       data_is_value(&c->field[f]) ? "&" : "", f,
                       (unsigned long long)c->field[f].nbytes);
  wick_text_add(h->out, "  return v;\n}\n");
}

static void data_read(const data_header *h, const wick_datatype *t, uint32_t k, uint32_t f)
{
  const wick_constructor *c = &t->constructor[k];
  const wick_io *io = &c->field[f];
  const char *type = data_c_type(io);
  unsigned long long word = 1 + wick_datatype_word(c, f);
  bool value = data_is_value(io);
  wick_text_printf(h->out, "WICK_BUNDLE_STATIC %s%s %s%s_%s_%s_%u(void *arena, long long v)\n{\n",
                   value ? "" : "const ", type, value ? "" : "*", h->b->name, data_type_word(h, t),
                   c->name, f);
  if (value)
    wick_text_printf(
        h->out,
        "  %s x;\n  memcpy(&x, wick_bundle_at(%s_HEAP(arena), v) + %llu, %llu);\n  return x;\n}\n",
        type, h->macro, word, (unsigned long long)io->nbytes);
  else
    wick_text_printf(
        h->out,
        "  return (const %s *)(const void *)(wick_bundle_at(%s_HEAP(arena), v) + %llu);\n}\n", type,
        h->macro, word);
}

static void data_type(const data_header *h, const wick_datatype *t)
{
  data_comment(h, t);
  for (uint32_t k = 0; k < t->nconstructor; k++) {
    const wick_constructor *c = &t->constructor[k];
    wick_text_printf(h->out, "#define %s_%s_IS_%s %u\n", h->macro, data_type_word(h, t), c->name,
                     k);
    if (!c->nfield)
      wick_text_printf(h->out, "#define %s_%s_%s %uLL\n", h->macro, data_type_word(h, t), c->name,
                       k << 1 | 1);
  }
  for (uint32_t k = 0; k < t->nconstructor; k++) {
    if (t->constructor[k].nfield) data_make(h, t, k);
    for (uint32_t f = 0; f < t->constructor[k].nfield; f++) data_read(h, t, k, f);
  }
}

/* ---- the heap ---- */

/* What all bundles share. Words: top, end, then the lists of free blocks, as in runtime/heap.h. */
static void data_heap(const data_header *h)
{
  wick_text_printf(
      h->out,
      "\n#ifndef WICK_BUNDLE_OBJECTS\n#define WICK_BUNDLE_OBJECTS\n#include "
      "<string.h>\n" WICK_BUNDLE_STATIC_TEXT
      "/* The words of a heap, and of a block in it: a header, then fields. */\n"
      "WICK_BUNDLE_STATIC unsigned long long *wick_bundle_at(void *heap, long long v)\n"
      "{\n  return (unsigned long long *)(void *)((char *)heap + v);\n}\n"
      "WICK_BUNDLE_STATIC void wick_bundle_begin(void *heap, unsigned long long nbytes)\n"
      "{\n  memset(heap, 0, %u);\n  wick_bundle_at(heap, %u)[0] = %u;\n"
      "  wick_bundle_at(heap, %u)[0] = nbytes;\n}\n",
      (unsigned)sizeof(wick_heap), (unsigned)offsetof(wick_heap, top), (unsigned)sizeof(wick_heap),
      (unsigned)offsetof(wick_heap, end));
  wick_text_printf(
      h->out,
      "WICK_BUNDLE_STATIC long long wick_bundle_new(void *heap, unsigned long long header,\n"
      "                                             unsigned long long nbytes)\n{\n"
      "  unsigned long long *top = wick_bundle_at(heap, %u), *end = wick_bundle_at(heap, %u),\n"
      "                     *list = wick_bundle_at(heap, %u) + (header >> %d), v = *list;\n"
      "  if (v) {\n    *list = *wick_bundle_at(heap, (long long)v) >> %d;\n"
      "  } else {\n    if (nbytes > *end - *top) return 0;\n    v = *top;\n    *top += nbytes;\n"
      "  }\n  *wick_bundle_at(heap, (long long)v) = header;\n  return (long long)v;\n}\n",
      (unsigned)offsetof(wick_heap, top), (unsigned)offsetof(wick_heap, end),
      (unsigned)offsetof(wick_heap, free), WICK_OBJECT_CLASS, WICK_HEAP_NEXT);
  wick_text_printf(
      h->out,
      "WICK_BUNDLE_STATIC int wick_bundle_drop(void *heap, long long v)\n"
      "{\n  return v %% 2 == 0 && (--*wick_bundle_at(heap, v) & 0xffffffffULL) == 0;\n}\n"
      "WICK_BUNDLE_STATIC void wick_bundle_release(void *heap, long long v)\n{\n"
      "  unsigned long long wait = 0, *at, *list, n, i;\n"
      "  if (!v || !wick_bundle_drop(heap, v)) return;\n"
      "  for (;;) {\n    at = wick_bundle_at(heap, v);\n    n = *at >> %d & %dU;\n"
      "    for (i = 1; i <= n; i++) {\n      long long field = (long long)at[i];\n"
      "      if (!wick_bundle_drop(heap, field)) continue;\n"
      "      *wick_bundle_at(heap, field) |= wait >> %d;\n"
      "      wait = (unsigned long long)field;\n    }\n"
      "    list = wick_bundle_at(heap, %u) + (*at >> %d);\n    *at = *list << %d;\n"
      "    *list = (unsigned long long)v;\n    if (!wait) return;\n    v = (long long)wait;\n"
      "    wait = (*wick_bundle_at(heap, v) & 0xffffffffULL) << %d;\n  }\n}\n#endif\n",
      WICK_OBJECT_REFS, WICK_OBJECT_MOST_REFS, WICK_HEAP_LINK, (unsigned)offsetof(wick_heap, free),
      WICK_OBJECT_CLASS, WICK_HEAP_NEXT, WICK_HEAP_LINK);
}

static void data_functions(const data_header *h)
{
  const char *name = h->b->name, *macro = h->macro;
  wick_text_printf(
      h->out,
      "\n#define %s_HEAP_OFFSET %llu\n#define %s_HEAP(arena) ((void *)((char *)(arena) + "
      "%s_HEAP_OFFSET))\n",
      macro, (unsigned long long)(h->b->failure_offset - h->b->heap_bytes), macro, macro);
  wick_text_printf(
      h->out,
      "WICK_BUNDLE_STATIC void %s_begin(void *arena)\n"
      "{\n  wick_bundle_begin(%s_HEAP(arena), %s_HEAP_BYTES);\n}\n"
      "WICK_BUNDLE_STATIC long long %s_retain(void *arena, long long v)\n"
      "{\n  if (v %% 2 == 0 && v) ++*wick_bundle_at(%s_HEAP(arena), v);\n  return v;\n}\n"
      "WICK_BUNDLE_STATIC void %s_release(void *arena, long long v)\n"
      "{\n  wick_bundle_release(%s_HEAP(arena), v);\n}\n",
      name, macro, macro, name, macro, name, macro);
  wick_text_printf(
      h->out,
      "WICK_BUNDLE_STATIC int %s_is(void *arena, long long v)\n"
      "{\n  return (int)(v %% 2 ? v >> 1 : (long long)(*wick_bundle_at(%s_HEAP(arena), "
      "v) >> %d & %dU));\n}\n",
      name, macro, WICK_OBJECT_TAG, WICK_OBJECT_MOST_TAG);
}

bool wick_bundle_has_data(const wick_bundle *b)
{
  for (uint32_t i = 0; i < b->ninput + b->noutput; i++)
    if (b->io[i].data) return true;
  return false;
}

void wick_bundle_data(const wick_bundle *b, const char *macro, wick_text *out)
{
  data_header h = {.b = b, .macro = macro, .mem = out->mem, .out = out};
  if (!wick_bundle_has_data(b)) return;
  for (uint32_t i = 0; i < b->ninput + b->noutput; i++)
    if (b->io[i].data) wick_datatype_reach(&h.types, b->io[i].data, h.mem);
  h.word = wick_new(h.mem, const char *, h.types.n);
  for (uint32_t i = 0; i < h.types.n; i++) data_name(&h, i);
  wick_text_add(out,
                "\n/* Data: numbers that name values in the arena, of these inputs and outputs:\n");
  for (uint32_t i = 0; i < b->ninput + b->noutput; i++)
    if (b->io[i].data)
      wick_text_printf(out, " *   %s_%s_%u: %s\n", macro, i < b->ninput ? "INPUT" : "OUTPUT",
                       i < b->ninput ? i : i - b->ninput, data_type_word(&h, b->io[i].data));
  wick_text_printf(
      out,
      " * %s_begin(arena) makes the arena's heap empty: before the first value is built and "
      "before\n"
      " * the first call, and after a call that failed. Without it a call returns\n"
      " * WICK_BUNDLE_EINVAL. Values are counted: a call and a constructor take over the "
      "references\n"
      " * that they get, an output has one, %s_retain adds one, and %s_release gives one back.\n"
      " * wick/bundle.h says more. */\n",
      b->name, b->name, b->name);
  data_heap(&h);
  data_functions(&h);
  for (uint32_t i = 0; i < h.types.n; i++) data_type(&h, h.types.at[i]);
}
