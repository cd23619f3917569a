/* Instructions that may run concurrently, decided by the bytes that they share after the plan. */
#include "low/concurrent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/text.h"

#define BUFFER(name, at) "%" name " = alloc {offset=" #at "} : buffer<f32[4],arena>\n"
#define HALVES(of)                                                                                 \
  "%l = view %" of " : buffer<f32[2],arena>\n%r = view %" of " {offset=2} : "                      \
  "buffer<f32[2],arena>\n"

/* Two blocks of `width` columns of f32, beside each other, and their source. */
#define COLUMNS(rows, width, size)                                                                 \
  "%b = alloc {offset=0} : buffer<f32[" size "," rows "],arena>\n"                                 \
  "%l = view %b : buffer<f32[" rows "," width ":" size ",1],arena>\n"                              \
  "%r = view %b {offset=" width "} : buffer<f32[" rows "," width ":" size ",1],arena>\n"           \
  "%k = alloc {offset=4096} : buffer<f32[" rows "," width "],arena>\n"

/* want: a letter for each copy: b if it may run concurrently with those before it, else w */
static const struct {
  const char *body, *want;
} rows[] = {
    {BUFFER("a", 0) BUFFER("b", 64) "copy %a, %x\ncopy %b, %x\ncopy %y, %x\n", "wbb"},
    {BUFFER("a", 0) "copy %a, %x\ncopy %y, %a\n", "ww"},
    /* memory that the plan shares */
    {BUFFER("a", 0) BUFFER("b", 0) "copy %a, %x\ncopy %b, %x\n", "ww"},
    {BUFFER("a", 0) BUFFER("b", 64) BUFFER("c", 128) "copy %a, %x\ncopy %b, %a\ncopy %y, %x\n"
                                                     "copy %c, %a\n",
     "wwbb"},
    {BUFFER("a", 0) BUFFER("b", 64) "copy %a, %x\n" HALVES("b") "copy %l, %r\ncopy %r, %l\n",
     "wbw"},
    /* columns of a matrix are in the same lines; halves are not */
    {COLUMNS("4", "2", "8") "copy %l, %k\ncopy %r, %k\n", "ww"},
    {COLUMNS("4", "32", "128") "copy %l, %k\ncopy %r, %k\n", "wb"},
    {COLUMNS("1", "2", "8") "copy %l, %k\ncopy %r, %k\n", "wb"},
};

int main(void)
{
  /* volatile, because it is used after setjmp */
  for (volatile size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    if (setjmp(guard.where)) return puts("out of memory"), 1;
    wick_arena mem = wick_arena_make(&guard);
    wick_module *m = wick_module_create(&guard, "test");
    char text[2048], got[16] = "";
    snprintf(text, sizeof text,
             "low @main(@in %%x: buffer<f32[4],io>, @out %%y: buffer<f32[4],io>) {\n%sreturn }",
             rows[i].body);
    wick_status s = wick_parse_module(m, "row", text, strlen(text), &mem);
    if (s) return printf("row %zu: %s\n", i, s->message), 1;
    const wick_func *f = wick_module_find(m, "main");
    wick_alias a = wick_alias_of(f, &mem);
    const bool *beside = wick_low_concurrent(&a, &mem);
    for (uint32_t k = 0, n = 0; k < f->nnode; k++)
      if (f->node[k].op == WICK_OP_copy) got[n++] = beside[k] ? 'b' : 'w';
    if (strcmp(got, rows[i].want) != 0)
      return printf("row %zu: %s, expected %s\n", i, got, rows[i].want), 1;
    wick_module_free(m);
    wick_arena_free(&mem);
  }
  return 0;
}
