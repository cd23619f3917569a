/* Which functions stay calls because of their size: a chain of functions, each of which calls the one
 * before it twice, does not double at each step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/inline.h"
#include "ir/call.h"
#include "ir/text.h"
#include "ir/verify.h"

enum { LINKS = 12 };

typedef struct inline_fixture {
  wick_guard guard;
  wick_arena mem, tmp;
  wick_module *m;
} inline_fixture;

/* Parses a module whose @f0 changes the head of a list, and whose @fK calls @f(K-1) twice. `element`
 * is the type of the list's elements. */
static void inline_begin(inline_fixture *t, const char *element)
{
  *t = (inline_fixture){.guard = {.allocator = wick_allocator_malloc()}};
  t->mem = wick_arena_make(&t->guard), t->tmp = wick_arena_make(&t->guard);
  t->m = wick_module_create(&t->guard, "");
  wick_text text = wick_text_begin(&t->mem);
  wick_text_printf(&text,
                   "data @List { Nil, Cons(%s, @List) }\n"
                   "graph @f0(%%l: @List, %%k: %s) -> @List {\n"
                   "  %%r = switch %%l () {\n    yield %%l\n  } (%%x: %s, %%s: @List) {\n"
                   "    %%y = mul %%x, %%k\n    %%z = add %%y, %%k\n"
                   "    %%c = construct %%z, %%s {ctor=1} : @List\n    yield %%c\n  }\n"
                   "  return %%r\n}\n",
                   element, element, element);
  for (int i = 1; i <= LINKS; i++)
    wick_text_printf(&text,
                     "graph @f%d(%%l: @List, %%k: %s) -> @List {\n"
                     "  %%a = call @f%d %%l, %%k : @List\n  %%b = call @f%d %%a, %%k : @List\n"
                     "  return %%b\n}\n",
                     i, element, i - 1, i - 1);
  wick_status s = wick_parse_module(t->m, "t", text.at, strlen(text.at), &t->tmp);
  if (s) fail_msg("%s", s->message);
}

static void inline_end(inline_fixture *t)
{
  wick_module_free(t->m);
  wick_arena_free(&t->mem);
  wick_arena_free(&t->tmp);
}

static uint32_t inline_nlarge(inline_fixture *t)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->m->funcs.n; i++) n += wick_func_is_large(t->m->funcs.at[i], &t->tmp);
  return n;
}

static void code_that_doubles_stays_calls(void **state)
{
  (void)state;
  inline_fixture t;
  inline_begin(&t, "f32[]");
  assert_true(inline_nlarge(&t) >= 1);
  const wick_pass_context pass = {.mem = &t.mem, .tmp = &t.tmp};
  wick_func *last;
  assert_null(wick_pass_inline(&pass, wick_module_find(t.m, "f12"), &last));
  assert_true(last->nnode < 1000);
  inline_end(&t);
}

static void tensors_are_inlined(void **state)
{
  (void)state;
  inline_fixture t;
  inline_begin(&t, "f32[3]");
  assert_int_equal(inline_nlarge(&t), 0);
  inline_end(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(code_that_doubles_stays_calls),
      cmocka_unit_test(tensors_are_inlined),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
