/* wick-codegen as a process: its objects, its messages, and every way in which it can end. */
#include "codegen/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "codegen/link.h"
#include "ir/text.h"
#include "runtime/load.h"

static wick_guard guard;
static wick_arena mem;
static wick_module *m;
static char folder[] = "/tmp/wick-client-XXXXXX";

static int setup(void **state)
{
  (void)state;
  guard = (wick_guard){.allocator = wick_allocator_malloc()};
  mem = wick_arena_make(&guard);
  m = wick_module_create(&guard, "test");
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  wick_module_free(m);
  wick_arena_free(&mem);
  return 0;
}

static void client_ok(wick_status s)
{
  if (s) print_error("%s\n", s->message);
  assert_null(s);
}

/* Writes a program that executes the script. */
static const char *client_script(const char *script)
{
  const char *path = wick_path_join(&mem, folder, "script");
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "#!/bin/sh\n%s\n", script);
  fclose(f);
  assert_int_equal(chmod(path, 0700), 0);
  return path;
}

static bool client_have_program(void)
{
  wick_codegen_job job = {.text = "", .ntext = 0};
  wick_target t = wick_target_host();
  wick_status s = wick_codegen(&t, 1, &job, NULL, &mem);
  if (s && s->code == WICK_EIO) print_message("skipped: %s\n", s->message);
  return !s || s->code != WICK_EIO;
}

/* loop @kN(@out %y: buffer<i64[64],io>, begin, end): y[i] = i * N + table[N % 8]; every third has a short body */
static const char *client_kernels(uint32_t n, uint32_t longest)
{
  wick_text t = wick_text_begin(&mem);
  wick_text_add(&t, "constant @table: i64[8] = [5, 6, 7, 8, 9, 10, 11, 12]\n");
  for (uint32_t k = 0; k < n; k++) {
    wick_text_printf(&t,
                     "loop @k%u(@out %%y: buffer<i64[64],io>, @in %%begin: i64, @in %%end: i64) {\n"
                     "  %%t = const @table : buffer<i64[8],constant>\n"
                     "  %%at = const %u : i64\n  %%c = load %%t, %%at : i64\n"
                     "  for %%begin, %%end (%%i: i64) {\n"
                     "    %%n = const %u : i64\n    %%p = mul %%i, %%n : i64\n"
                     "    %%s0 = add %%p, %%c : i64\n",
                     k, k % 8, k);
    uint32_t filler = k % 3 ? longest : 2;
    for (uint32_t i = 0; i < filler; i++)
      wick_text_printf(&t, "    %%s%u = bit_xor %%s%u, %%i : i64\n", i + 1, i);
    wick_text_printf(&t, "    store %%y, %%i, %%s%u\n    yield\n  }\n  return\n}\n", filler);
  }
  return t.at;
}

static void client_link(uint32_t n, const wick_span *object, const wick_target *t,
                        wick_artifact *out)
{
  wick_section section[WICK_LINK_SECTIONS];
  wick_artifact_parts parts;
  client_ok(wick_link(n, object, t, &mem, section));
  client_ok(wick_artifact_make(t->machine, t->needs, WICK_LINK_SECTIONS, section, &mem, &parts));
  client_ok(wick_artifact_read(wick_artifact_join(&parts, &mem), "test", &mem, out));
}

static void a_module_in_several_processes(void **state)
{
  (void)state;
  if (!client_have_program()) skip();
  enum { KERNELS = 30, FILLER = 1000 };
  const char *text = client_kernels(KERNELS, FILLER);
  client_ok(wick_parse_module(m, "test", text, strlen(text), &mem));
  wick_target t = wick_target_host();
  wick_codegen_options o = {.verify = true};
  wick_span *object, *again;
  uint32_t n, nagain;
  client_ok(wick_codegen_module(m, &t, &o, NULL, &mem, &object, &n));
  assert_true(n > 1);
  wick_artifact a;
  wick_image image;
  client_link(n, object, &t, &a);
  assert_int_equal(a.nsymbol, KERNELS);
  client_ok(wick_image_map(&a, &mem, &image));
  for (uint32_t k = 0; k < KERNELS; k++) {
    int64_t y[64];
    wick_kernel f = wick_image_kernel(&image, wick_str_printf(&mem, "k%u", k));
    assert_non_null(f);
    f((void *[]){y}, 0, 64);
    for (int64_t i = 0; i < 64; i++) assert_int_equal(y[i], i * k + 5 + k % 8);
  }
  wick_image_unmap(&image);
  wick_codegen_limits one = {.control = {.parallel = 1}};
  client_ok(wick_codegen_module(m, &t, &o, &one, &mem, &again, &nagain));
  assert_int_equal(n, nagain); /* the same bytes for any number of processes */
  for (uint32_t i = 0; i < n; i++) {
    assert_int_equal(object[i].nbytes, again[i].nbytes);
    assert_memory_equal(object[i].at, again[i].at, object[i].nbytes);
  }
}

static wick_status client_try(const char *text, const wick_codegen_limits *limits)
{
  wick_codegen_job job = {.text = text, .ntext = strlen(text)};
  wick_target t;
  assert_true(wick_target_find("x86-64-v1", &t));
  return wick_codegen(&t, 1, &job, limits, &mem);
}

static void client_want(wick_status s, wick_code code, const char *message)
{
  assert_non_null(s);
  if (s->code != code || !strstr(s->message, message))
    fail_msg("%d \"%s\", expected %d \"%s\"", (int)s->code, s->message, (int)code, message);
}

static void what_the_program_says_arrives(void **state)
{
  (void)state;
  if (!client_have_program()) skip();
  client_want(client_try("loop @f(", NULL), WICK_EPARSE, "module:1:");
  client_want(client_try("loop @f(@out %y: buffer<f32[4],io>) {\n  %z = const 0 : i64\n"
                         "  %x = load %y, %z : f32\n  %e = exp %x : f32\n"
                         "  store %y, %z, %e\n  return\n}\n",
                         NULL),
              WICK_EUNSUPPORTED, "@f: exp: the LLVM back end");
  const char *text = client_kernels(40, 1000);
  wick_codegen_limits little = {.memory_bytes = 1 << 20};
  if (!WICK_ASAN)
    client_want(client_try(text, &little), WICK_ELIMIT, "more memory than it may take");
  wick_codegen_limits quick = {.seconds = 1e-3};
  client_want(client_try(text, &quick), WICK_ELIMIT, "more than 0.001 seconds");
}

static void a_process_that_ends_badly_is_told(void **state)
{
  (void)state;
  static const struct {
    const char *script;
    wick_code code;
    const char *message;
  } rows[] = {
      {"echo broken >&2; kill -SEGV $$", WICK_EINTERNAL,
       "it was ended by signal 11 (Segmentation fault): broken"},
      {"kill -KILL $$", WICK_EINTERNAL, "signal 9"},
      {"sleep 100", WICK_ELIMIT, "it took more than 0.3 seconds"},
      {"exit 0", WICK_EINTERNAL, "it ended with code 0 without an answer"},
      {"exit 5", WICK_EINTERNAL, "it ended with code 5 without an answer"},
      {"echo hello", WICK_EINTERNAL, "without an answer"},
      {"printf 'ok 10\\nshort'", WICK_EINTERNAL, "without an answer"},
      {"printf 'ok 99999999999999999999\\nlong'", WICK_EINTERNAL, "without an answer"},
      {"printf 'error 0 fine'", WICK_EINTERNAL, "without an answer"},
      {"printf 'error 99 fine'", WICK_EINTERNAL, "without an answer"},
      {"printf 'error 3 net: wrong'; exit 1", WICK_ETYPE, "net: wrong"},
      {"echo 'LLVM ERROR: out of memory' >&2; kill -ABRT $$", WICK_ELIMIT, "more memory"},
  };
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_codegen_limits l = {.program = client_script(rows[i].script), .seconds = 0.3};
    if (rows[i].code != WICK_ELIMIT) l.seconds = 60;
    client_want(client_try("", &l), rows[i].code, rows[i].message);
  }
}

static void a_program_that_is_nowhere(void **state)
{
  (void)state;
  wick_codegen_limits l = {.program = "/nowhere/wick-codegen"};
  client_want(client_try("", &l), WICK_EIO, "/nowhere/wick-codegen: cannot be started");
}

int main(void)
{
  if (!mkdtemp(folder)) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_module_in_several_processes, setup, teardown),
      cmocka_unit_test_setup_teardown(what_the_program_says_arrives, setup, teardown),
      cmocka_unit_test_setup_teardown(a_process_that_ends_badly_is_told, setup, teardown),
      cmocka_unit_test_setup_teardown(a_program_that_is_nowhere, setup, teardown),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char script[64];
  snprintf(script, sizeof script, "%s/script", folder);
  unlink(script);
  rmdir(folder);
  return failed;
}
