/* Random calls of the public interface: each function of wick.h, in any order that respects the
 * lifetimes of objects, with arguments that may be NULL, empty, wrong or right. No call may
 * crash, hang, report a bug in Wick, or return an object together with an error.
 *
 * WICK_RANDOM_CALLS: number of calls (3,000); WICK_RANDOM_SEED: the seed (1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "wick/wick.h"

enum { ANY_COUNT = 3, ANY_OBJECTS = 4, ANY_BUFFER = 65536 };

static uint64_t any_seed;

static unsigned any_below(unsigned n)
{
  any_seed = any_seed * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(any_seed >> 33) % n;
}
#define ANY_OF(list) list[any_below(sizeof(list) / sizeof(list)[0])]

/* ---- values ---- */

static const char model_fixed[] = "graph @main(%x: f32[2,3]) -> f32[2,3] {\n"
                                  "  %0 = tanh %x\n  return %0\n}\n";
static const char model_sizes[] = "graph @main(%x: f32[N[1..8],3], %n: i64[1]) -> f32[N,3] {\n"
                                  "  %0 = mul %x, %x\n  return %0\n}\n";

static const char *any_string(void)
{
  static const char *const some[] = {NULL,  "",    "x",    "n",     "N",       "host",
                                     "x-y", "f64", "bf16", "saved", "../x/\n", "x.grad"};
  return ANY_OF(some);
}

static const char *const *any_strings(void)
{
  static const char *some[ANY_COUNT];
  for (unsigned i = 0; i < ANY_COUNT; i++) some[i] = any_string();
  return any_below(3) ? some : NULL;
}

static int64_t any_number(void)
{
  static const int64_t some[] = {0, 1, 2, 3, 8, -1, INT64_MIN, INT64_MAX};
  return ANY_OF(some);
}

static const int64_t *any_numbers(void)
{
  static int64_t some[WICK_MAX_DIMS];
  for (unsigned i = 0; i < WICK_MAX_DIMS; i++) some[i] = any_number();
  return any_below(3) ? some : NULL;
}

static uint32_t any_count(void) { return any_below(ANY_COUNT + 1); }
static uint32_t any_index(void) { return any_below(8) ? any_below(4) : UINT32_MAX; }
static bool any_bool(void) { return any_below(2); }

static double any_double(void)
{
  static const double some[] = {0, 1, -1, 1e300};
  return any_below(8) ? ANY_OF(some) : strtod("nan", NULL);
}

/* The number of bytes that any_bytes returns. */
static size_t any_nbytes(void)
{
  static const size_t some[] = {0, 1, 8, sizeof model_fixed - 1, sizeof model_sizes - 1};
  return ANY_OF(some);
}

static const void *any_bytes(void)
{
  static char some[2][256];
  memcpy(some[0], model_fixed, sizeof model_fixed - 1);
  memcpy(some[1], model_sizes, sizeof model_sizes - 1);
  return any_below(6) ? some[any_below(2)] : NULL;
}

/* Returns the size of a struct, never one that makes the callee read beyond it. */
static size_t any_size(size_t own)
{
  const size_t some[] = {0, 1, 8, own - 8, own - 1, SIZE_MAX, (size_t)1 << 40};
  return ANY_OF(some);
}

static void **any_buffers(void)
{
  static _Alignas(64) char buffer[ANY_OBJECTS][ANY_BUFFER];
  static void *some[ANY_OBJECTS];
  for (unsigned i = 0; i < ANY_OBJECTS; i++) some[i] = any_below(6) ? buffer[i] : NULL;
  if (some[0] == some[1] && some[0]) some[1] = buffer[1];
  return any_below(8) ? some : NULL;
}

static const bool *any_bools(void)
{
  static bool some[ANY_OBJECTS];
  for (unsigned i = 0; i < ANY_OBJECTS; i++) some[i] = any_bool();
  return any_below(3) ? some : NULL;
}

/* ---- objects: a context's models, compiled models and heaps, a compiled model's sessions, a heap's
 * data ---- */

enum { CONTEXT, MODEL, COMPILED, SESSION, HEAP, DATUM, LIBRARY, KINDS };

typedef struct any_slot {
  void *object;
  struct any_slot *owner;
  unsigned nowned;
} any_slot;

static any_slot any_slots[KINDS][ANY_OBJECTS];
static any_slot *any_last[KINDS]; /* the objects that the current call uses */
static uint64_t any_nmade[KINDS];
static void *any_made;

static void *any_object(unsigned kind)
{
  any_last[kind] = &any_slots[kind][any_below(ANY_OBJECTS)];
  return any_last[kind]->object;
}

static wick_compiled *any_data;       /* takes data */
static const wick_datatype *any_list; /* its type */

static const wick_datatype *any_type(void) { return any_below(6) ? any_list : NULL; }

/* Data, whose memory serves for tensors, too. */
static const void *const *any_fields(void)
{
  static const void *some[ANY_OBJECTS];
  for (unsigned i = 0; i < ANY_OBJECTS; i++)
    some[i] = any_slots[DATUM][any_below(ANY_OBJECTS)].object;
  return any_below(6) ? some : NULL;
}

/* What models are printed with: reads all of the text. */
static void any_print(void *arg, const char *text, size_t nbytes)
{
  assert_null(arg);
  assert_null(memchr(text, 0, nbytes));
}

static void *any_out(unsigned kind)
{
  (void)kind;
  any_made = &any_made; /* an address that no call returns */
  return any_below(8) ? &any_made : NULL;
}

static void any_destroy(unsigned kind, any_slot *s)
{
  switch (kind) {
  case CONTEXT: wick_context_free(s->object); break;
  case MODEL: wick_model_free(s->object); break;
  case COMPILED: wick_compiled_free(s->object); break;
  case HEAP: wick_data_heap_free(s->object); break;
  case DATUM: wick_datum_free(s->object); break;
  case LIBRARY: wick_declarations_free(s->object); break;
  default: wick_session_free(s->object);
  }
  if (s->owner) s->owner->nowned--;
  *s = (any_slot){0};
}

static void any_free(unsigned kind)
{
  any_slot *s = &any_slots[kind][any_below(ANY_OBJECTS)];
  if (!s->nowned && (!s->object || any_below(2))) any_destroy(kind, s);
}

static void any_keep(unsigned kind, void *object)
{
  any_slot *s = NULL, *owner = kind == CONTEXT   ? NULL
                               : kind == SESSION ? any_last[COMPILED]
                               : kind == DATUM
                                   ? any_last[HEAP] ? any_last[HEAP] : any_last[DATUM]->owner
                               : any_last[CONTEXT] ? any_last[CONTEXT]
                                                   : any_last[MODEL]->owner;
  for (unsigned i = 0; i < ANY_OBJECTS; i++)
    if (!any_slots[kind][i].object) s = &any_slots[kind][i];
  any_slot full = {0};
  any_nmade[kind]++;
  if (!s) s = &full;
  *s = (any_slot){object, owner, 0};
  if (owner) owner->nowned++;
  if (s == &full) any_destroy(kind, s);
}

static void any_ended(const char *name, int kind, wick_error *e)
{
  wick_code code = wick_error_code(e);
  if (code == WICK_EINTERNAL || (e && !*wick_error_message(e)))
    fail_msg("%s: %s", name, wick_error_message(e));
  wick_error_free(e);
  void *made = any_made;
  if (kind < 0 || made == &any_made) { /* the address of the result was NULL */
    if (kind >= 0 && !e) fail_msg("%s succeeds without a place for its result", name);
    return;
  }
  if (!e != (made != NULL)) fail_msg("%s: an error and an object, or none of both", name);
  if (made) any_keep((unsigned)kind, made);
}

#include "api_calls.h"

/* ---- the test ---- */

/* Creates one object of each kind, so that calls have objects from the start. */
static void any_begin(void)
{
  static const char text[] = "graph @main(%x: f32[2]) -> f32[2] { %y = relu %x; return %y }";
  const wick_compile_options options = {.size = sizeof options, .cache = ""};
  wick_context *context = NULL;
  wick_model *model = NULL;
  wick_compiled *compiled = NULL;
  wick_session *session = NULL;
  wick_data_heap *heap = NULL;
  wick_datum *datum = NULL;
  wick_declarations *library = NULL;
  memset(any_last, 0, sizeof any_last);
  assert_null(wick_context_create(NULL, &context));
  assert_null(wick_load_bytes(context, "relu.wick", text, sizeof text - 1, &model));
  assert_null(wick_compile(model, &options, &compiled));
  assert_null(wick_session_create(compiled, NULL, &session));
  any_list = wick_compiled_input(any_data, 0)->data;
  assert_null(wick_data_heap_create(context, 1 << 16, &heap));
  assert_null(wick_datum_create(heap, any_list, 0, NULL, &datum));
  FILE *file = fopen("any.wick", "w");
  assert_non_null(file);
  fputs("type List[a] { Nil, Cons(a, List[a]) }\nfn f(x: f32) { Cons(x, Nil) }\n", file);
  fclose(file);
  assert_null(wick_declarations_load(context, "any.wick", &library));
  void *const object[KINDS] = {context, model, compiled, session, heap, datum, library};
  for (unsigned kind = 0; kind < KINDS; kind++) {
    any_keep(kind, object[kind]);
    any_last[kind] = &any_slots[kind][ANY_OBJECTS - 1]; /* any_keep takes the last free slot */
    assert_ptr_equal(any_last[kind]->object, object[kind]);
  }
}

/* The model whose type data has lives as long as the test. */
static void any_data_begin(wick_context **context)
{
  static const char text[] = "data @List { Nil, Cons(i64[], @List) }\n"
                             "graph @main(%l: @List) -> @List { return %l }";
  const wick_compile_options options = {.size = sizeof options, .cache = ""};
  wick_model *model = NULL;
  assert_null(wick_context_create(NULL, context));
  assert_null(wick_load_bytes(*context, "list.wick", text, sizeof text - 1, &model));
  assert_null(wick_compile(model, &options, &any_data));
  wick_model_free(model);
}

static void random_calls(void **state)
{
  (void)state;
  wick_context *data = NULL;
  const char *n = getenv("WICK_RANDOM_CALLS"), *seed = getenv("WICK_RANDOM_SEED");
  uint64_t most = n ? strtoull(n, NULL, 10) : 3000, first = seed ? strtoull(seed, NULL, 10) : 1;
  any_data_begin(&data);
  any_begin();
  for (uint64_t i = 0; i < most; i++) {
    any_seed = first * 1000003 + i;
    any_below(2);
    memset(any_last, 0, sizeof any_last);
    any_made = &any_made;
    any_call(any_below(ANY_NCALL));
  }
  for (unsigned kind = 0; kind < KINDS; kind++)
    print_message("%llu objects of kind %u\n", (unsigned long long)any_nmade[kind], kind);
  for (unsigned kind = 0; kind < KINDS; kind++) assert_true(any_nmade[kind] > 0);
  for (unsigned kind = KINDS; kind-- > 0;)
    for (unsigned i = 0; i < ANY_OBJECTS; i++) any_destroy(kind, &any_slots[kind][i]);
  wick_compiled_free(any_data), wick_context_free(data);
}

static void refused(void **state)
{
  (void)state;
  wick_context *c = NULL;
  wick_model *m = NULL;
  wick_options none = {0};
  wick_error *e = wick_context_create(&none, &c);
  assert_non_null(e);
  assert_non_null(strstr(wick_error_message(e), "sizeof(wick_options)"));
  wick_error_free(e);
  assert_null(wick_context_create(NULL, &c));
  e = wick_load_bytes(c, "/etc/hostname", NULL, 0, &m);
  assert_int_equal(wick_error_code(e), WICK_EINVAL);
  assert_string_equal(wick_error_message(e),
                      "wick_load_bytes: there are no bytes, the address is NULL");
  wick_error_free(e);
  struct {
    wick_compile_options known;
    size_t more;
  } newer = {{.size = sizeof newer, .cache = ""}, 1};
  wick_compiled *k = NULL;
  assert_null(wick_load_bytes(c, "m", model_fixed, sizeof model_fixed - 1, &m));
  e = wick_compile(m, &newer.known, &k);
  assert_int_equal(wick_error_code(e), WICK_EINVAL);
  wick_error_free(e);
  newer.more = 0;
  newer.known.nshape = 2; /* without an array */
  e = wick_compile(m, &newer.known, &k);
  assert_string_equal(wick_error_message(e), "shape: the count is 2, and the array is NULL");
  wick_error_free(e);
  newer.known.nshape = 0;
  assert_null(wick_compile(m, &newer.known, &k));
  wick_compiled_free(k), wick_model_free(m), wick_context_free(c);
}

int main(void)
{
  char folder[] = "/tmp/wick-calls-XXXXXX"; /* the folder for artifacts, the cache and bundles */
  const struct CMUnitTest tests[] = {cmocka_unit_test(refused), cmocka_unit_test(random_calls)};
  if (!mkdtemp(folder) || setenv("WICK_CACHE_DIR", folder, 1) || chdir(folder)) return 1;
  int bad = cmocka_run_group_tests(tests, NULL, NULL);
  if (chdir("/")) return 1;
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return bad || system(command);
}
