/* Printer and parser: what is printed parses back to the same module, at all levels; problems are
 * reported at their place. The examples of docs/text.md are tested too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/build.h"
#include "ir/text.h"
#include "ir/verify.h"

typedef struct text_fixture {
  wick_guard guard;
  wick_arena tmp;
  wick_module *m;
} text_fixture;

static void text_begin(text_fixture *t)
{
  *t = (text_fixture){.guard = {.allocator = wick_allocator_malloc()}};
  t->tmp = wick_arena_make(&t->guard);
  t->m = wick_module_create(&t->guard, "");
}

static void text_end(text_fixture *t)
{
  wick_module_free(t->m);
  wick_arena_free(&t->tmp);
}

static const char *text_of(text_fixture *t, unsigned flags)
{
  wick_text out = wick_text_begin(&t->tmp);
  wick_print_module(t->m, flags, &out);
  return out.at;
}

/* The module that `text` gives, printed; what is wrong with it; in `out`, which the caller frees.
 */
static char *text_through(const char *file, const char *text, size_t n)
{
  text_fixture t;
  text_begin(&t);
  wick_status s = wick_parse_module(t.m, file, text, n, &t.tmp);
  char *out = strdup(s ? s->message : text_of(&t, WICK_PRINT_ALL));
  text_end(&t);
  return out;
}

static void text_expect(const char *in, const char *want)
{
  char *got = text_through("t", in, strlen(in));
  if (strcmp(got, want) != 0) print_error("in:\n%s\ngot:\n%s\nwanted:\n%s\n", in, got, want);
  assert_string_equal(got, want);
  free(got);
}

/* ---- docs/text.md ---- */

static bool text_block_begins(const char *line)
{
  static const char *const word[] = {"graph @", "group @",    "low @",
                                     "loop @",  "constant @", "module \""};
  for (size_t i = 0; i < sizeof word / sizeof *word; i++)
    if (strncmp(line, word[i], strlen(word[i])) == 0) return true;
  return false;
}

static unsigned text_block(const char *name, unsigned line, const char *block)
{
  char where[64];
  snprintf(where, sizeof where, "%s:%u", name, line);
  char *once = text_through(where, block, strlen(block));
  if (strncmp(once, where, strlen(where)) == 0) print_error("%s\n", once);
  if (getenv("V")) printf("%s\n", once);
  char *twice = text_through(where, once, strlen(once));
  assert_string_equal(once, twice);
  free(once);
  free(twice);
  return 1;
}

static void test_document(void **state)
{
  (void)state;
  static const char name[] = "docs/text.md";
  FILE *f = fopen(name, "r");
  if (!f) fail_msg("%s is not there: run from the root of the repository", name);
  char line[512], block[16384] = "";
  unsigned nblock = 0, at = 0, begun = 0;
  while (fgets(line, sizeof line, f)) {
    at++;
    bool inside = strncmp(line, "    ", 4) == 0;
    if (inside && (*block || text_block_begins(line + 4))) {
      if (!*block) begun = at;
      strncat(block, line + 4, sizeof block - strlen(block) - 1);
    } else if (*block) {
      nblock += text_block(name, begun, block);
      *block = 0;
    }
  }
  if (*block) nblock += text_block(name, begun, block);
  fclose(f);
  assert_true(nblock >= 5);
}

int main(void)
{
  (void)text_expect;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_document)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
