/* Initializers that are also inputs: constants, until wick_override makes them inputs. */
#include <string.h>

#include "import/onnx/onnx_testing.h"
#include "wick/wick.h"

static const char override_model[] = "opset 13; in w 1 2; in x 1 N,2; const w 1 2 = 3,4; "
                                     "const k 1 2 = 1,1; Mul x,w -> p; Add p,k -> y; out y";

typedef struct override_file {
  wick_guard guard;
  wick_arena mem;
  wick_context *context;
  wick_model *model;
  unsigned char bytes[512];
} override_file;

/* Writes the model with a version of the file format. If a field occurs twice, the last one
 * counts. */
static void override_load(override_file *f, unsigned char ir_version)
{
  *f = (override_file){.guard = {.allocator = wick_allocator_malloc()}};
  f->mem = wick_arena_make(&f->guard);
  assert_int_equal(setjmp(f->guard.where), 0);
  wick_span s = onnx_encode(&f->mem, override_model);
  assert_true(s.nbytes + 2 <= sizeof f->bytes);
  memcpy(f->bytes, s.at, s.nbytes);
  f->bytes[s.nbytes] = 0x08, f->bytes[s.nbytes + 1] = ir_version;
  assert_null(wick_context_create(NULL, &f->context));
  assert_null(wick_load_bytes(f->context, "m.onnx", f->bytes, s.nbytes + 2, &f->model));
}

static void override_free(override_file *f)
{
  wick_model_free(f->model);
  wick_context_free(f->context);
  wick_arena_free(&f->mem);
}

static void override_run(override_file *f, const float *w, const float *want)
{
  const float x[2] = {1, 2};
  float y[2] = {0, 0};
  const wick_size n = {"N", 1};
  wick_compile_options o = {.size = sizeof o, .cache = "", .nsize = 1, .sizes = &n};
  wick_compiled *c;
  wick_session *s;
  assert_null(wick_compile(f->model, &o, &c));
  assert_int_equal(wick_compiled_ninput(c), w ? 2 : 1);
  assert_null(wick_session_create(c, NULL, &s));
  const void *in[2] = {w ? (const void *)w : x, x};
  assert_null(wick_run(s, in, (void *const[]){y}));
  assert_true(y[0] == want[0] && y[1] == want[1]);
  wick_session_free(s);
  wick_compiled_free(c);
}

static void test_override(void **state)
{
  (void)state;
  override_file f;
  override_load(&f, 8);
  assert_int_equal(wick_model_ninput(f.model), 1);
  assert_int_equal(wick_model_noverridable(f.model), 1);
  const wick_io *io = wick_model_overridable(f.model, 0);
  assert_string_equal(io->name, "w");
  assert_true(io->elem == WICK_F32 && io->rank == 1 && io->dim[0] == 2 && io->nbytes == 8);
  assert_null(wick_model_overridable(f.model, 1));
  override_run(&f, NULL, (const float[]){4, 9});
  assert_null(wick_override(f.model, 1, (const char *const[]){"w"}));
  assert_int_equal(wick_model_ninput(f.model), 2);
  assert_string_equal(wick_model_input(f.model, 0)->name, "w"); /* in the model's order */
  assert_string_equal(wick_model_input(f.model, 1)->name, "x");
  override_run(&f, (const float[]){5, 6}, (const float[]){6, 13});
  assert_null(wick_override(f.model, 0, NULL));
  override_run(&f, NULL, (const float[]){4, 9});
  override_free(&f);
}

static void test_refused(void **state)
{
  (void)state;
  override_file f;
  override_load(&f, 8);
  for (int i = 0; i < 2; i++) {
    wick_error *e = wick_override(f.model, 2, (const char *const[]){"w", i ? "k" : "x"});
    assert_int_equal(wick_error_code(e), WICK_EINVAL);
    assert_string_equal(wick_error_message(e),
                        i ? "m.onnx: it has no overridable initializer \"k\""
                          : "m.onnx: it has no overridable initializer \"x\"");
    wick_error_free(e);
  }
  assert_int_equal(wick_model_ninput(f.model), 1); /* unchanged */
  override_run(&f, NULL, (const float[]){4, 9});
  override_free(&f);
  override_load(&f, 3); /* in this version every initializer is listed as an input */
  assert_int_equal(wick_model_noverridable(f.model), 0);
  override_free(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_override),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
