/* Strings through the public interface: as inputs and outputs, and created by operators; compiled
 * and from an artifact; allocations of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver/compile_testing.h"
#include "wick/wick.h"

static atomic_ulong allocations;

static void *counted_alloc(void *self, size_t nbytes)
{
  (void)self;
  atomic_fetch_add(&allocations, 1);
  return aligned_alloc(16, (nbytes + 15) / 16 * 16);
}

static void counted_free(void *self, void *p, size_t nbytes)
{
  (void)self, (void)nbytes;
  free(p);
}

static const char net[] = "constant @w : string[3] = [\"b\", \"\", \"b\"]\n"
                          "graph @main(%x: string[3]) -> (string[3], bool[3], string[3]) {\n"
                          "  %w = const @w : string[3]\n"
                          "  %e = eq %x, %w\n"
                          "  %c = string_concat %x, %w\n"
                          "  %a = const \"alone\" : string[]\n"
                          "  %y = where %e, %a, %x\n"
                          "  return %c, %e, %y\n"
                          "}\n";

static void is(wick_string s, const char *want)
{
  assert_int_equal(s.nbytes, strlen(want));
  assert_memory_equal(s.at, want, s.nbytes);
}

/* Runs with x and checks the result; after the first run, no run allocates. */
static void run(wick_session *session, const char *a, const char *b, const char *c, int more)
{
  wick_string x[3] = {{a, strlen(a)}, {b, strlen(b)}, {c, strlen(c)}}, y[3], z[3];
  bool equal[3];
  char want[3000];
  const void *in[] = {x};
  void *out[] = {y, equal, z};
  ok(wick_run(session, in, out));
  unsigned long before = atomic_load(&allocations);
  for (int k = 0; k < more; k++) ok(wick_run(session, in, out));
  if (more) assert_int_equal(atomic_load(&allocations), before);
  static const char *const w[] = {"b", "", "b"};
  for (int k = 0; k < 3; k++) {
    const char *s = k == 0 ? a : k == 1 ? b : c;
    strcat(strcpy(want, s), w[k]);
    is(y[k], want);
    assert_int_equal(equal[k], strcmp(s, w[k]) == 0);
    is(z[k], equal[k] ? "alone" : s);
  }
}

static void runs(const wick_compiled *compiled)
{
  wick_session *session;
  wick_session_options s = {.size = sizeof s, .threads = 2};
  char lots[2500];
  memset(lots, 'q', sizeof lots - 1);
  lots[sizeof lots - 1] = 0;
  assert_int_equal(wick_compiled_input(compiled, 0)->nbytes, 3 * sizeof(wick_string));
  assert_int_equal(wick_compiled_output(compiled, 2)->elem, WICK_STRING);
  ok(wick_session_create(compiled, &s, &session));
  run(session, "a", "", "b", 20);
  run(session, "b", "alone", "", 20);
  run(session, lots, lots, lots + 1, 3); /* more bytes than before */
  run(session, "", "", "", 3);
  wick_session_free(session);
}

static void strings_go_through(void **state)
{
  (void)state;
  wick_options options = {.size = sizeof options, .allocator = {counted_alloc, counted_free, NULL}};
  wick_compile_options o = {.size = sizeof o, .cache = ""};
  wick_context *context;
  wick_model *model;
  wick_compiled *compiled, *opened;
  char path[] = "/tmp/wick_strings_XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  ok(wick_context_create(&options, &context));
  ok(wick_load_bytes(context, "net.txt", net, strlen(net), &model));
  ok(wick_compile(model, &o, &compiled));
  ok(wick_save(compiled, path));
  ok(wick_compiled_load(context, path, &opened));
  runs(compiled);
  runs(opened);
  wick_error *e = wick_bundle_write(model, &o, NULL);
  assert_int_equal(wick_error_code(e), WICK_EUNSUPPORTED);
  wick_error_free(e);
  wick_compiled_free(opened);
  wick_compiled_free(compiled);
  wick_model_free(model);
  wick_context_free(context);
  unlink(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(strings_go_through)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
