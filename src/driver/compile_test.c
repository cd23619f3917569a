/* The public interface, from text to results: compiled code, sessions, the cache, and errors. */
#include "driver/compile.h"

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/torture.h"
#include "driver/compile_testing.h"

static const char test_small[] = "constant @w : f32[3,2] = [1, 2, 3, 4, 5, 6]\n"
                                 "metadata \"labels\" = \"a,b\"\n"
                                 "graph @main(%x: f32[4,3]) -> f32[4,2] {\n"
                                 "  %1 = const @w : f32[3,2]\n"
                                 "  %2 = matmul %x, %1 : f32[4,2]\n"
                                 "  %3 = relu %2 : f32[4,2] as \"y\"\n"
                                 "  return %3\n"
                                 "}\n";

static const float test_x[12] = {1, 2, 3, -1, -2, -3, 0.5f, 0, 0, 10, -10, 1};
static const float test_y[8] = {22, 28, 0, 0, 0.5f, 1, 0, 0};

static wick_error *load(fixture *t, const char *text)
{
  return wick_load_bytes(t->context, "net.txt", text, strlen(text), &t->model);
}

static wick_error *go(fixture *t, const char *text, const wick_compile_options *o)
{
  wick_error *e = load(t, text);
  if (!e) e = wick_compile(t->model, o, &t->compiled);
  return e ? e : wick_session_create(t->compiled, NULL, &t->session);
}

static void begin(fixture *t, const wick_options *o)
{
  *t = (fixture){0};
  ok(wick_context_create(o, &t->context));
}

static void check_run(wick_session *s)
{
  float y[8] = {0};
  ok(wick_run(s, (const void *[]){test_x}, (void *[]){y}));
  assert_memory_equal(y, test_y, sizeof y);
}

static const wick_compile_options no_cache = {.size = sizeof no_cache, .cache = ""};

/* ---- descriptions and results ---- */

static void facts(void **state)
{
  (void)state;
  fixture t;
  begin(&t, NULL);
  ok(go(&t, test_small, &no_cache));
  assert_int_equal(wick_model_ninput(t.model), 1);
  assert_string_equal(wick_model_input(t.model, 0)->name, "x");
  assert_string_equal(wick_model_metadata(t.model, "labels"), "a,b");
  assert_null(wick_model_metadata(t.model, "none"));
  assert_null(wick_model_output(t.model, 1));
  wick_model_free(t.model); /* a compiled model does not need the model */
  t.model = NULL;
  assert_int_equal(wick_compiled_noutput(t.compiled), 1);
  const wick_io *y = wick_compiled_output(t.compiled, 0);
  assert_string_equal(y->name, "y");
  assert_int_equal(y->elem, WICK_F32);
  assert_int_equal(y->rank, 2);
  assert_true(y->dim[0] == 4 && y->dim[1] == 2 && y->nbytes == 32);
  assert_string_equal(wick_compiled_metadata(t.compiled, "labels"), "a,b");
  assert_true(wick_compiled_nkernel(t.compiled) > 0);
  assert_false(wick_compiled_cached(t.compiled));
  check_run(t.session);
  float x[12] = {0};
  fails(wick_run(t.session, (const void *[]){x}, (void *[]){NULL}), WICK_EINVAL,
        "output \"y\" has no address");
  end(&t);
}

/* A model can be compiled several times, and does not change. */
static void twice(void **state)
{
  (void)state;
  fixture t;
  begin(&t, NULL);
  ok(load(&t, test_small));
  for (int i = 0; i < 3; i++) {
    ok(wick_compile(t.model, &no_cache, &t.compiled));
    ok(wick_session_create(t.compiled, NULL, &t.session));
    check_run(t.session);
    wick_session_free(t.session);
    wick_compiled_free(t.compiled);
    t.session = NULL;
    t.compiled = NULL;
    assert_string_equal(wick_model_output(t.model, 0)->name, "y");
  }
  end(&t);
}

static void *thread_runs(void *arg)
{
  wick_session *s = arg;
  for (int i = 0; i < 200; i++) {
    float y[8] = {0};
    if (wick_run(s, (const void *[]){test_x}, (void *[]){y}) || memcmp(y, test_y, sizeof y))
      return arg;
  }
  return NULL;
}

/* Several sessions of one compiled model run concurrently, each with its own workers. */
static void threads(void **state)
{
  (void)state;
  fixture t;
  begin(&t, NULL);
  ok(go(&t, test_small, &no_cache));
  pthread_t thread[4];
  wick_session *s[4];
  for (uint32_t i = 0; i < 4; i++) {
    wick_session_options o = {.size = sizeof o, .threads = 1 + i % 3};
    ok(wick_session_create(t.compiled, &o, &s[i]));
    assert_int_equal(wick_session_threads(s[i]), 1 + i % 3);
    assert_int_equal(pthread_create(&thread[i], NULL, thread_runs, s[i]), 0);
  }
  for (uint32_t i = 0; i < 4; i++) {
    void *failed;
    pthread_join(thread[i], &failed);
    assert_null(failed);
    wick_session_free(s[i]);
  }
  end(&t);
}

static void artifacts(void **state)
{
  (void)state;
  fixture t;
  char path[] = "/tmp/wick-compile-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  begin(&t, NULL);
  ok(go(&t, test_small, &no_cache));
  ok(wick_save(t.compiled, path));
  char *contract = strdup(wick_compiled_contract(t.compiled));
  assert_non_null(contract);
  end(&t);
  begin(&t, NULL);
  ok(wick_compiled_load(t.context, path, &t.compiled));
  assert_string_equal(wick_compiled_contract(t.compiled), contract);
  free(contract);
  ok(wick_session_create(t.compiled, NULL, &t.session));
  check_run(t.session);
  end(&t);
  /* Truncated files are refused. */
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  for (off_t n = st.st_size - 1; n >= 0; n -= n > 512 ? 97 : 1) {
    assert_int_equal(truncate(path, n), 0);
    begin(&t, NULL);
    wick_error *e = wick_compiled_load(t.context, path, &t.compiled);
    assert_non_null(e);
    assert_int_equal(wick_error_code(e), WICK_EPARSE);
    wick_error_free(e);
    end(&t);
  }
  unlink(path);
}

/* ---- failures ---- */

static void errors(void **state)
{
  (void)state;
  fixture t;
  begin(&t, NULL);
  fails(wick_load(t.context, "no/such.onnx", &t.model), WICK_EIO,
        "no/such.onnx: cannot open it: No such file or directory");
  fails(load(&t, "graph @main() -> f32[] { %1 = nope; return %1 }"), WICK_EPARSE,
        "net.txt:1:31: there is no operator \"nope\"");
  ok(load(&t, test_small));
  wick_compile_options o = {.size = sizeof o, .target = "z80", .cache = ""};
  fails(wick_compile(t.model, &o, &t.compiled), WICK_EINVAL, "there is no target \"z80\"");
  const int64_t dim[2] = {5, 3};
  wick_shape shape = {"x", 2, dim}, other = {"z", 2, dim};
  o = (wick_compile_options){.size = sizeof o, .nshape = 1, .shape = &shape, .cache = ""};
  fails(wick_compile(t.model, &o, &t.compiled), WICK_ETYPE,
        "net.txt: input \"x\": it is f32[4,3], f32[5,3] is given");
  o.shape = &other;
  fails(wick_compile(t.model, &o, &t.compiled), WICK_ETYPE,
        "net.txt: input \"z\": the model has no such input");
  o.nshape = 0, o.nsize = 1, o.sizes = &(wick_size){"N", 3};
  fails(wick_compile(t.model, &o, &t.compiled), WICK_EINVAL,
        "net.txt: no input has a size named N");
  end(&t);
}

static void dynamic_sizes(void **state)
{
  (void)state;
  fixture t;
  begin(&t, NULL);
  ok(load(&t, "graph @main(%x: f32[N[1..9],3]) -> f32[N,3] { %1 = relu %x; return %1 }"));
  assert_int_equal(wick_model_input(t.model, 0)->dim[0], -1);
  assert_string_equal(wick_model_input(t.model, 0)->dim_name[0], "N");
  assert_int_equal(wick_model_input(t.model, 0)->nbytes, 0);
  fails(wick_compile(t.model, &no_cache, &t.compiled), WICK_ETYPE,
        "net.txt: the size N of \"x\" is dynamic");
  end(&t);
}

/* A divisor of 0 is found at run time and reported with its location. The next run is not
 * affected. */
static void fault(void **state)
{
  (void)state;
  fixture t;
  begin(&t, NULL);
  ok(go(&t,
        "graph @main(%x: i32[64], %y: i32[64]) -> i32[64] {\n"
        "  %1 = div %x, %y : i32[64] loc(\"net: node \\\"d\\\" (Div)\")\n"
        "  return %1\n"
        "}\n",
        &no_cache));
  int32_t x[64], y[64], z[64];
  for (int i = 0; i < 64; i++) x[i] = 3 * i, y[i] = i == 37 || i == 50 ? 0 : 3;
  const void *in[] = {x, y};
  void *out[] = {z};
  fails(wick_run(t.session, in, out), WICK_EINVAL,
        "net: node \"d\" (Div): element 37 of the result: division by zero");
  y[37] = y[50] = 3;
  ok(wick_run(t.session, in, out));
  for (int i = 0; i < 64; i++) assert_int_equal(z[i], i);
  end(&t);
}

/* A loop with more steps than its stacked results have rows fails before the first step, also if
 * the number of rows is dynamic. Nothing is written beyond them. */
static void too_many_steps(void **state)
{
  (void)state;
  static const char text[] = "graph @main(%%n: i64[], %%x: f32[%s,4]) -> f32[%s,4] {\n"
                             "  %%0 = loop %%n {stacked=1, most=[%s]} (%%i: i64[]) {\n"
                             "    %%1 = dynamic_index %%x, %%i\n"
                             "    %%2 = neg %%1\n"
                             "    %%3 = const 1 : bool[]\n"
                             "    yield %%3, %%2\n"
                             "  } loc(\"net: node \\\"l\\\" (Loop)\")\n"
                             "  return %%0\n"
                             "}\n";
  for (int dynamic = 0; dynamic < 2; dynamic++) {
    fixture t;
    char written[sizeof text + 60];
    const char *rows = dynamic ? "N" : "3";
    snprintf(written, sizeof written, text, dynamic ? "N[1..9]" : "3", rows, rows);
    begin(&t, NULL);
    const wick_compile_options o = {.size = sizeof o, .cache = "", .dynamic = dynamic};
    ok(go(&t, written, &o));
    const int64_t dim[2] = {3, 4};
    ok(wick_session_shape(t.session, 1, &(wick_shape){"x", 2, dim}));
    for (int64_t n = -1; n < 6; n++) {
      float x[12], y[24];
      for (int i = 0; i < 24; i++) y[i] = -1, x[i % 12] = (float)(i % 12);
      const void *in[] = {&n, x};
      void *out[] = {y};
      wick_error *e = wick_run(t.session, in, out);
      if (n > 3)
        fails(e, WICK_ERANGE, "net: node \"l\" (Loop): index 3 is out of bounds");
      else
        ok(e);
      for (int i = 0; i < 12 && n <= 3; i++) assert_true(y[i] == (i < 4 * n ? -x[i] : 0));
      for (int i = 12; i < 24; i++) assert_true(y[i] == -1);
    }
    end(&t);
  }
}

static bool cancel_now(void *arg)
{
  int *left = arg;
  return (*left)-- <= 0;
}

static void count_lines(void *arg, const char *line)
{
  int *count = arg;
  assert_null(strchr(line, '\n'));
  ++*count;
}

static void limits(void **state)
{
  (void)state;
  fixture t;
  int left;
  for (int after = 0; after < 12; after++) {
    left = after;
    begin(&t, &(wick_options){.size = sizeof(wick_options), .cancel = cancel_now, .arg = &left});
    wick_error *e = go(&t, test_small, &no_cache);
    assert_int_equal(wick_error_code(e), WICK_ECANCELED);
    wick_error_free(e);
    end(&t);
  }
  begin(&t, &(wick_options){.size = sizeof(wick_options), .max_seconds = 1e-9});
  fails(go(&t, test_small, &no_cache), WICK_ELIMIT,
        "it takes longer than the limit of 1e-09 seconds");
  end(&t);
  begin(&t, &(wick_options){.size = sizeof(wick_options), .max_bytes = 100000});
  fails(go(&t, test_small, &no_cache), WICK_ELIMIT,
        "it needs more memory than the context's limit");
  end(&t);
}

static void log_lines(void **state)
{
  (void)state;
  fixture t;
  int count = 0;
  begin(&t, &(wick_options){.size = sizeof(wick_options), .log = count_lines, .arg = &count});
  ok(go(&t, test_small, &no_cache));
  assert_true(count > 5);
  end(&t);
}

/* Every allocation from a model to a result fails in turn. */
static uint64_t fail_each(const char *path)
{
  static unsigned char image[64 * 64];
  float y[10];
  for (uint64_t n = 1;; n++) {
    wick_torture torture = {.fail_at = n};
    wick_options o = {.size = sizeof o, .allocator = wick_torture_allocator(&torture)};
    fixture t = {0};
    wick_error *e = wick_context_create(&o, &t.context);
    if (!e) e = path ? wick_load(t.context, path, &t.model) : load(&t, test_small);
    if (!e) e = wick_compile(t.model, &no_cache, &t.compiled);
    if (!e) e = wick_session_create(t.compiled, NULL, &t.session);
    if (!e && path) e = wick_run(t.session, (const void *[]){image}, (void *[]){y});
    if (!e && !path) check_run(t.session);
    if (e) assert_int_equal(wick_error_code(e), WICK_ENOMEM);
    bool failed = e != NULL;
    wick_error_free(e);
    end(&t);
    assert_int_equal(torture.live, 0);
    if (!failed) return n;
    assert_true(n < 10000);
  }
}

static void out_of_memory(void **state)
{
  (void)state;
  assert_true(fail_each(NULL) > 10);
  assert_true(fail_each("examples/digits/digits.onnx") > 100);
}

/* ---- the cache ---- */

static int files_in(const char *folder, char *last, size_t capacity)
{
  int n = 0;
  DIR *d = opendir(folder);
  assert_non_null(d);
  for (const struct dirent *e; (e = readdir(d)) != NULL;)
    if (e->d_name[0] != '.') n++, snprintf(last, capacity, "%s/%s", folder, e->d_name);
  closedir(d);
  return n;
}

static bool cached(const char *folder, const char *text, uint64_t most)
{
  fixture t;
  begin(&t, NULL);
  wick_compile_options o = {.size = sizeof o, .cache = folder, .cache_bytes = most};
  ok(go(&t, text, &o));
  bool hit = wick_compiled_cached(t.compiled);
  if (text == test_small) check_run(t.session);
  end(&t);
  return hit;
}

static void cache(void **state)
{
  (void)state;
  char folder[] = "/tmp/wick-cache-XXXXXX", file[512], other[1024];
  assert_non_null(mkdtemp(folder));
  static const char changed[] =
      "graph @main(%x: f32[4]) -> f32[4] { %1 = neg %x : f32[4]; return %1 }";
  assert_false(cached(folder, test_small, 0));
  assert_true(cached(folder, test_small, 0));
  assert_int_equal(files_in(folder, file, sizeof file), 1);
  struct stat st;
  assert_int_equal(stat(file, &st), 0);

  /* A file that is damaged, truncated or has another key is no hit, and is written again. */
  for (off_t at = 3; at < st.st_size; at += st.st_size / 23) {
    FILE *f = fopen(file, "r+b");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ 4, f);
    fclose(f);
    cached(folder, test_small, 0); /* only damaged padding is not detected; the results are right */
    assert_true(cached(folder, test_small, 0));
  }
  assert_int_equal(truncate(file, st.st_size / 2), 0);
  assert_false(cached(folder, test_small, 0));
  assert_true(cached(folder, test_small, 0));

  /* The least recently used file is removed. */
  assert_false(cached(folder, changed, 0));
  assert_int_equal(files_in(folder, other, sizeof other), 2);
  const struct timespec old[2] = {{1000, 0}, {1000, 0}};
  utimensat(0, file, old, 0);
  /* Not each file that is written looks for them: one of some 10^7 does, with a limit of 8 TiB. */
  assert_int_equal(truncate(file, (off_t)9 << 40), 0);
  assert_false(
      cached(folder, "graph @main(%x: f32[3]) -> f32[3] { return %x }", (uint64_t)8 << 40));
  assert_int_equal(access(file, F_OK), 0);
  utimensat(0, file, old, 0);
  assert_false(cached(folder,
                      "graph @main(%x: f32[2]) -> f32[2] { %1 = neg %x : f32[2]; return %1 }",
                      3 * (uint64_t)st.st_size));
  assert_int_equal(access(file, F_OK), -1);
  assert_true(cached(folder, changed, 0));

  /* If it cannot be written, there is no cache. */
  assert_false(cached("/proc/none", test_small, 0));
  assert_false(cached("/proc/none", test_small, 0));
  while (files_in(folder, file, sizeof file)) unlink(file);
  rmdir(folder);
}

/* ---- dynamic sizes ---- */

/* A loop over tensors without elements: the entry launches no kernel, but is still an entry. */
static void no_kernels(void **state)
{
  (void)state;
  fixture t;
  begin(&t, NULL);
  ok(go(&t,
        "graph @main(%n: i64[], %x: f32[0,3]) -> f32[0,3] {\n"
        "  %0 = loop %n, %x (%i: i64[], %v: f32[0,3]) {\n    %1 = tanh %v\n"
        "    %2 = const 1 : bool[]\n    yield %2, %1\n  } : f32[0,3]\n  return %0\n}\n",
        &no_cache));
  assert_int_equal(wick_compiled_nkernel(t.compiled), 0);
  int64_t n = 3;
  float none[1] = {7};
  ok(wick_run(t.session, (const void *[]){&n, none}, (void *[]){none}));
  assert_true(none[0] == 7);
  end(&t);
}

static const char test_dynamic[] =
    "constant @w : f32[3,2] = [1, 2, 3, 4, 5, 6]\n"
    "graph @main(%x: f32[N[1..40],3], %z: f32[2*N + 1]) -> (f32[N,2], f32[2*N + 1]) {\n"
    "  %1 = const @w : f32[3,2]\n"
    "  %2 = matmul %x, %1 : f32[N,2]\n"
    "  %3 = relu %2 : f32[N,2] as \"y\"\n"
    "  %4 = exp %z : f32[2*N + 1]\n"
    "  %5 = neg %4 : f32[2*N + 1] as \"e\"\n"
    "  return %3, %5\n"
    "}\n";

static void set_shape(wick_session *s, int64_t n, wick_error **out)
{
  const int64_t x[2] = {n, 3}, z = 2 * n + 1;
  const wick_shape shape[2] = {{"x", 2, x}, {"z", 1, &z}};
  *out = wick_session_shape(s, 2, shape);
}

/* One program for all sizes. Runs with sizes that were set before allocate nothing. */
static void sizes_vary(void **state)
{
  (void)state;
  fixture t;
  wick_error *e;
  begin(&t, NULL);
  const wick_compile_options o = {.size = sizeof o, .cache = "", .dynamic = true};
  ok(go(&t, test_dynamic, &o));
  assert_int_equal(wick_compiled_input(t.compiled, 0)->dim[0], -1);
  assert_string_equal(wick_compiled_input(t.compiled, 1)->dim_name[0], "2*N + 1");
  assert_string_equal(wick_compiled_output(t.compiled, 0)->dim_name[0], "N");
  static float x[40 * 3], z[81], y[40 * 2], v[81];
  const void *in[2] = {x, z};
  void *out[2] = {y, v};
  fails(wick_run(t.session, in, out), WICK_EINVAL,
        "the size N varies, and the session has no shapes");
  for (int i = 0; i < 40 * 3; i++) x[i] = (float)(i % 7) - 2;
  for (int round = 0; round < 2; round++)
    for (int64_t n = 40; n >= 1; n--) {
      set_shape(t.session, n, &e);
      ok(e);
      assert_int_equal(wick_session_output(t.session, 0)->dim[0], n);
      assert_int_equal(wick_session_output(t.session, 1)->nbytes, 4 * (2 * n + 1));
      memset(y, 0, sizeof y), memset(v, 0, sizeof v);
      ok(wick_run(t.session, in, out));
      for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
          const float *r = x + 3 * i;
          float want = r[0] * (float)(1 + k) + r[1] * (float)(3 + k) + r[2] * (float)(5 + k);
          assert_true(y[2 * i + k] == (want > 0 ? want : 0));
        }
      for (int64_t i = 0; i < 2 * n + 1; i++) assert_true(v[i] == -1);
      assert_true(n == 40 || (y[2 * n] == 0 && v[2 * n + 1] == 0));
    }
  end(&t);
}

static void sizes_refused(void **state)
{
  (void)state;
  fixture t;
  wick_error *e;
  begin(&t, NULL);
  const wick_compile_options o = {.size = sizeof o, .cache = "", .dynamic = true};
  ok(go(&t, test_dynamic, &o));
  set_shape(t.session, 41, &e);
  fails(e, WICK_ERANGE, "input \"x\": the size N is 41, outside of its range 1..40");
  set_shape(t.session, 0, &e);
  fails(e, WICK_ERANGE, "input \"x\": the size N is 0, outside of its range 1..40");
  const int64_t x[2] = {4, 3}, z = 8, other[2] = {4, 5};
  const wick_shape shape[3] = {{"x", 2, x}, {"z", 1, &z}, {"q", 2, other}};
  fails(wick_session_shape(t.session, 2, shape), WICK_ETYPE,
        "input \"z\": dimension 0 is 9, but 8 was given");
  assert_int_equal(wick_session_input(t.session, 0)->dim[0], -1); /* as before */
  fails(wick_session_shape(t.session, 3, shape), WICK_EINVAL, "there is no input \"q\"");
  const wick_shape misfit = {"x", 2, other};
  fails(wick_session_shape(t.session, 1, &misfit), WICK_ETYPE,
        "input \"x\": dimension 1 is 3, but 5 was given");
  fails(wick_session_shape(t.session, 1, &shape[1]), WICK_ETYPE,
        "input \"x\": its shape is not given: the size N follows from it");
  ok(wick_session_shape(t.session, 1, &shape[0])); /* z's shape follows */
  assert_int_equal(wick_session_input(t.session, 1)->dim[0], 9);
  end(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(facts),         cmocka_unit_test(twice),
      cmocka_unit_test(threads),       cmocka_unit_test(artifacts),
      cmocka_unit_test(errors),        cmocka_unit_test(dynamic_sizes),
      cmocka_unit_test(fault),         cmocka_unit_test(too_many_steps),
      cmocka_unit_test(limits),        cmocka_unit_test(log_lines),
      cmocka_unit_test(out_of_memory), cmocka_unit_test(cache),
      cmocka_unit_test(sizes_vary),    cmocka_unit_test(sizes_refused),
      cmocka_unit_test(no_kernels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
