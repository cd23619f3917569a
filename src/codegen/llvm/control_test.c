/* Loops, branches, memory, launches and failures, compiled and run on every level of this
 * processor. */
#include <stdlib.h>

#include "codegen/llvm/testing.h"

#define KERNEL "@in %begin: i64, @in %end: i64"
#define F32(n) "buffer<f32[" #n "],io>"
#define I64(n) "buffer<i64[" #n "],io>"

/* Calls `check` with the text compiled for each level. */
static void control_each(const char *text, bool direct, void (*check)(testing *t))
{
  for (uint32_t i = 0; testing_native(i); i++) {
    testing t;
    testing_begin(&t);
    testing_parse(&t, text);
    testing_load(&t, testing_native(i), direct);
    check(&t);
    testing_end(&t);
  }
}

static void control_run(testing *t, const char *name, void **args, int64_t begin, int64_t end)
{
  wick_kernel k = wick_image_kernel(&t->image, name);
  assert_non_null(k);
  k(args, begin, end);
}

/* ---- for, with carried vectors ---- */

static const char sum_text[] = "loop @dot(@out %y: " F32(4) ", @in %x: " F32(400) ", @in %w: " F32(
    100) ", " KERNEL ") {\n"
         "  for %begin, %end (%t: i64) {\n"
         "    %zero = const 0 : i64\n"
         "    %n = const 96 : i64\n"
         "    %c = const 100 : i64\n"
         "    %row = mul %t, %c : i64\n"
         "    %i0 = const 0 : f32x4\n"
         "    %a, %b = for %zero, %n, %i0, %i0 {step=8} (%i: i64, %p: f32x4, %q: f32x4) {\n"
         "      %j = add %row, %i : i64\n"
         "      %x0 = load %x, %j : f32x4\n"
         "      %x1 = load %x, %j {offset=4} : f32x4\n"
         "      %w0 = load %w, %i : f32x4\n"
         "      %w1 = load %w, %i {offset=4} : f32x4\n"
         "      %m0 = mul %x0, %w0 : f32x4\n"
         "      %m1 = mul %x1, %w1 : f32x4\n"
         "      %s0 = add %p, %m0 : f32x4\n"
         "      %s1 = add %q, %m1 : f32x4\n"
         "      yield %s0, %s1\n"
         "    } : f32x4, f32x4\n"
         "    %k = iota : i64x4\n"
         "    %four = const 3 : i64x4\n"
         "    %mask = lt %k, %four : boolx4\n"
         "    %last = add %row, %n : i64\n"
         "    %xt = load %x, %last, %mask : f32x4\n"
         "    %wt = load %w, %n, %mask : f32x4\n"
         "    %mt = mul %xt, %wt : f32x4\n"
         "    %ab = add %a, %b : f32x4\n"
         "    %v = add %ab, %mt : f32x4\n"
         "    %u = shuffle %v, %v {lanes=[2, 3, 0, 1]} : f32x4\n"
         "    %vu = add %v, %u : f32x4\n"
         "    %e0 = extract %vu {lane=0} : f32\n"
         "    %e1 = extract %vu {lane=1} : f32\n"
         "    %r = add %e0, %e1 : f32\n"
         "    store %y, %t, %r\n"
         "    yield\n"
         "  }\n"
         "  return\n"
         "}\n";

static void sum_check(testing *t)
{
  float x[400], w[100], y[4] = {-1, -1, -1, -1};
  for (int i = 0; i < 400; i++) x[i] = (float)(i % 7 - 3);
  for (int i = 0; i < 100; i++) w[i] = (float)(i % 5);
  control_run(t, "dot", (void *[]){y, x, w}, 1, 3);
  for (int r = 1; r < 3; r++) {
    float want = 0;
    for (int i = 0; i < 99; i++) want += x[r * 100 + i] * w[i];
    assert_true(y[r] == want);
  }
  assert_true(y[0] == -1.0f && y[3] == -1.0f);
  control_run(t, "dot", (void *[]){y, x, w}, 2, 2); /* an empty range */
}

static void loops_carry_vectors_and_masks_hide_lanes(void **state)
{
  (void)state;
  control_each(sum_text, false, sum_check);
}

/* A masked access reads and writes nothing where the mask is false: here the next page does not
 * exist. */
static const char mask_text[] =
    "loop @copy(@out %y: " F32(64) ", @in %x: " F32(64) ", @in %n: i64, " KERNEL ") {\n"
                                                        "  for %begin, %end (%t: i64) {\n"
                                                        "    %k = iota : i64x8\n"
                                                        "    %m = broadcast %n : i64x8\n"
                                                        "    %mask = lt %k, %m : boolx8\n"
                                                        "    %v = load %x, %t, %mask : f32x8\n"
                                                        "    store %y, %t, %v, %mask\n"
                                                        "    yield\n"
                                                        "  }\n"
                                                        "  return\n"
                                                        "}\n";

static void mask_check(testing *t)
{
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {0};
  control_run(t, "copy", (void *[]){y, x, (void *)(uintptr_t)3}, 0, 1);
  for (int i = 0; i < 8; i++) assert_true(y[i] == (i < 3 ? x[i] : 0.0f));
  void *edge = testing_guarded(3 * sizeof(float)), *out = testing_guarded(3 * sizeof(float));
  memcpy(edge, x, 3 * sizeof(float));
  control_run(t, "copy", (void *[]){out, edge, (void *)(uintptr_t)3}, 0, 1);
  assert_memory_equal(out, x, 3 * sizeof(float));
  testing_guarded_free(edge, 3 * sizeof(float));
  testing_guarded_free(out, 3 * sizeof(float));
}

static void masked_lanes_are_not_touched(void **state)
{
  (void)state;
  control_each(mask_text, false, mask_check);
}

/* Row n of y gets the lanes below n, row 8 + n those from n on: the masks are known. */
#define ROWS(N)                                                                                    \
  "    %h" #N " = const " #N " : i64\n"                                                            \
  "    %b" #N " = broadcast %h" #N " : i64x8\n"                                                    \
  "    %m" #N " = lt %k, %b" #N " : boolx8\n"                                                      \
  "    %n" #N " = ge %k, %b" #N " : boolx8\n"                                                      \
  "    %r" #N " = mul %h" #N ", %eight : i64\n"                                                    \
  "    store %y, %r" #N ", %v, %m" #N "\n"                                                         \
  "    store %y, %r" #N ", %v, %n" #N " {offset=64}\n"

static const char known_mask_text[] =
    "loop @copy(@out %y: " F32(136) ", @in %x: " F32(64) ", " KERNEL ") {\n"
                                                         "  for %begin, %end (%t: i64) {\n"
                                                         "    %k = iota : i64x8\n"
                                                         "    %eight = const 8 : i64\n"
                                                         "    %v = load %x, %t : f32x8\n" //
    ROWS(0) ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8)               //
    "    yield\n"
    "  }\n"
    "  return\n"
    "}\n";

static void known_mask_check(testing *t)
{
  enum { LANES = 8 };
  float x[LANES] = {1, 2, 3, 4, 5, 6, 7, 8}, y[17 * LANES] = {0}, want[17 * LANES] = {0};
  control_run(t, "copy", (void *[]){y, x}, 0, 1);
  for (int i = 0; i <= LANES; i++)
    for (int k = 0; k < LANES; k++) want[(k < i ? i : LANES + i) * LANES + k] = x[k];
  assert_memory_equal(y, want, sizeof(y));
}

static void lanes_of_known_masks_are_stored(void **state)
{
  (void)state;
  control_each(known_mask_text, false, known_mask_check);
}

/* ---- while, if ---- */

static const char flow_text[] =
    "loop @collatz(@out %y: " I64(64) ", " KERNEL ") {\n"
                                      "  for %begin, %end (%t: i64) {\n"
                                      "    %one = const 1 : i64\n"
                                      "    %two = const 2 : i64\n"
                                      "    %three = const 3 : i64\n"
                                      "    %zero = const 0 : i64\n"
                                      "    %start = add %t, %one : i64\n"
                                      "    %x, %steps = while %start, %zero (%a: i64, %n: i64) {\n"
                                      "      %c = gt %a, %one : bool\n"
                                      "      yield %c\n"
                                      "    } (%b: i64, %m: i64) {\n"
                                      "      %r = rem_unchecked %b, %two : i64\n"
                                      "      %even = eq %r, %zero : bool\n"
                                      "      %next = if %even () {\n"
                                      "        %h = div_unchecked %b, %two : i64\n"
                                      "        yield %h\n"
                                      "      } () {\n"
                                      "        %p = mul %b, %three : i64\n"
                                      "        %q = add %p, %one : i64\n"
                                      "        yield %q\n"
                                      "      } : i64\n"
                                      "      %more = add %m, %one : i64\n"
                                      "      yield %next, %more\n"
                                      "    } : i64, i64\n"
                                      "    store %y, %t, %steps\n"
                                      "    yield\n"
                                      "  }\n"
                                      "  return\n"
                                      "}\n";

static void flow_check(testing *t)
{
  int64_t y[64];
  control_run(t, "collatz", (void *[]){y}, 0, 64);
  for (int64_t i = 0; i < 64; i++) {
    int64_t n = 0;
    for (int64_t a = i + 1; a > 1; n++) a = a % 2 ? 3 * a + 1 : a / 2;
    assert_int_equal(y[i], n);
  }
}

static void while_and_if_carry_values(void **state)
{
  (void)state;
  control_each(flow_text, false, flow_check);
}

/* ---- loops of few iterations, results of loops that do not run ---- */

static const char trip_text[] = "loop @trips(@out %y: " I64(
    8) ", @in %n: i64, " KERNEL ") {\n"
       "  %zero = const 0 : i64\n"
       "  %one = const 1 : i64\n"
       "  %three = const 3 : i64\n"
       "  %seven = const 7 : i64\n"
       "  %a = for %zero, %zero, %seven (%i: i64, %s: i64) {\n"
       "    %p = add %s, %one : i64\n"
       "    yield %p\n"
       "  } : i64\n"
       "  %b = for %zero, %one, %seven (%j: i64, %u: i64) {\n"
       "    %q = add %u, %one : i64\n"
       "    yield %q\n"
       "  } : i64\n"
       "  %c = for %zero, %seven, %seven {step=3} (%k: i64, %v: i64) {\n"
       "    %r = add %v, %k : i64\n"
       "    yield %r\n"
       "  } : i64\n"
       "  %d, %f = for %zero, %n, %seven, %one (%l: i64, %w: i64, %x: i64) {\n"
       "    yield %x, %w\n"
       "  } : i64, i64\n"
       "  store %y, %zero, %a\n"
       "  store %y, %one, %b\n"
       "  store %y, %zero, %c {offset=2}\n"
       "  store %y, %zero, %d {offset=3}\n"
       "  store %y, %zero, %f {offset=4}\n"
       "  return\n"
       "}\n";

static void trip_check(testing *t)
{
  for (int64_t n = -1; n < 4; n++) {
    int64_t y[8] = {0};
    control_run(t, "trips", (void *[]){y, (void *)(intptr_t)n}, 0, 1);
    assert_int_equal(y[0], 7);
    assert_int_equal(y[1], 8);
    assert_int_equal(y[2], 7 + 0 + 3 + 6);
    bool odd = n > 0 && n % 2;
    assert_int_equal(y[3], odd ? 1 : 7); /* yields take effect at the same time */
    assert_int_equal(y[4], odd ? 7 : 1);
  }
}

static void loops_run_as_often_as_they_say(void **state)
{
  (void)state;
  control_each(trip_text, false, trip_check);
}

/* ---- memory: bytes, bools, tables, buffers of the kernel ---- */

static const char memory_text[] =
    "constant @squares: i32[8] = [0, 1, 4, 9, 16, 25, 36, 49]\n"
    "loop @memory(@out %y: buffer<i32[16],io>, @out %z: buffer<bool[16],io>, "
    "@in %x: buffer<u8[64],io>, " KERNEL ") {\n"
    "  %zero = const 0 : i64\n"
    "  %t = const @squares : buffer<i32[8],constant>\n"
    "  %small = alloc : buffer<u8[16],scratch>\n"
    "  %large = alloc : buffer<i32[5000],scratch>\n"
    "  %bytes = load %x, %zero {offset=3} : u8x16\n"
    "  store %small, %zero, %bytes\n"
    "  %part = view %small {offset=1} : buffer<u8[8],scratch>\n"
    "  %b = load %part, %zero : u8x8\n"
    "  %w = cast %b : i32x8\n"
    "  %q = load %t, %zero : i32x8\n"
    "  %s = add %w, %q : i32x8\n"
    "  store %large, %zero, %s {offset=4990}\n"
    "  %back = load %large, %zero {offset=4990} : i32x8\n"
    "  store %y, %zero, %back\n"
    "  %v9 = const 9 : i32x8\n"
    "  %big = gt %back, %v9 : boolx8\n"
    "  store %z, %zero, %big\n"
    "  %again = load %z, %zero : boolx8\n"
    "  %not = not %again : boolx8\n"
    "  store %z, %zero, %not {offset=8}\n"
    "  return\n"
    "}\n";

static void memory_check(testing *t)
{
  static _Alignas(64) unsigned char scratch[32768];
  unsigned char x[64], z[16];
  int32_t y[16];
  wick_frame frame;
  wick_target row;
  assert_true(wick_target_find("x86-64-v1", &row));
  testing_ok(wick_frame_of(wick_module_find(t->m, "memory"), &row, false, &t->mem, &frame));
  assert_true(frame.scratch && frame.range && !frame.fault && !frame.entry);
  assert_int_equal(frame.nslot, 3);
  assert_int_equal(frame.scratch_bytes, wick_align_up(5000 * 4, 64));
  for (int i = 0; i < 64; i++) x[i] = (unsigned char)i;
  control_run(t, "memory", (void *[]){y, z, x, scratch}, 0, 1);
  for (int i = 0; i < 8; i++) {
    assert_int_equal(y[i], x[4 + i] + i * i);
    assert_int_equal(z[i], y[i] > 9);
    assert_int_equal(z[8 + i], !(y[i] > 9));
  }
}

static void buffers_tables_and_bools_are_bytes(void **state)
{
  (void)state;
  control_each(memory_text, false, memory_check);
}

/* ---- fail ---- */

static const char fail_text[] = "loop @gather(@out %y: " F32(8) ", @in %x: " F32(
    8) ", @in %i: " I64(8) ", " KERNEL ") {\n"
                           "  for %begin, %end (%t: i64) {\n"
                           "    %zero = const 0 : i64\n"
                           "    %n = const 8 : i64\n"
                           "    %k = load %i, %t : i64\n"
                           "    %low = lt %k, %zero : bool\n"
                           "    %high = ge %k, %n : bool\n"
                           "    %bad = or %low, %high : bool\n"
                           "    fail %bad, %k {code=5}\n"
                           "    %safe = where %bad, %zero, %k : i64\n"
                           "    %v = load %x, %safe : f32\n"
                           "    store %y, %t, %v\n"
                           "    yield\n"
                           "  }\n"
                           "  return\n"
                           "}\n"
                           "loop @run(@out %y: " F32(8) ", @in %x: " F32(8) ", @in %i: " I64(
                               8) ") {\n"
                                  "  launch @gather %y, %x, %i {tasks=4}\n"
                                  "  launch @gather %y, %x, %i {tasks=8, concurrent=true}\n"
                                  "  return\n"
                                  "}\n";

static void fail_check(testing *t)
{
  float x[8] = {10, 11, 12, 13, 14, 15, 16, 17}, y[8] = {0};
  int64_t i[8] = {0, 7, 3, 3, 2, 9, 1, -1};
  wick_fault fault = {0};
  control_run(t, "gather", (void *[]){y, x, i, &fault}, 0, 5);
  assert_int_equal(fault.code, 0);
  assert_true(y[1] == 17.0f);
  control_run(t, "gather", (void *[]){y, x, i, &fault}, 7, 8);
  assert_int_equal(fault.task, 7);
  /* the failure of an earlier task replaces it */
  control_run(t, "gather", (void *[]){y, x, i, &fault}, 4, 8);
  assert_int_equal(fault.code, 5);
  assert_int_equal(fault.task, 5);
  assert_int_equal(fault.detail, 9);
  control_run(t, "gather", (void *[]){y, x, i, &fault}, 7, 8); /* it is kept */
  assert_int_equal(fault.task, 5);
  assert_true(y[6] == 11.0f); /* execution continues */
}

static void failures_are_recorded_and_the_lowest_task_wins(void **state)
{
  (void)state;
  control_each(fail_text, false, fail_check);
}

/* ---- launch ---- */

typedef struct launched {
  int32_t index, stop_at, count;
  int64_t nargs[4], tasks[4];
  wick_fault fault;
} launched;

static int32_t control_launch(void *context, wick_kernel kernel, int32_t index, void **args,
                              int64_t nargs, int64_t tasks, int32_t beside)
{
  launched *l = context;
  assert_int_equal(beside, l->count == 1);
  void *slots[8];
  memcpy(slots, args, (size_t)nargs * sizeof(void *));
  slots[nargs] = &l->fault;
  l->index = index;
  l->nargs[l->count] = nargs;
  l->tasks[l->count] = tasks;
  if (l->count++ == l->stop_at) return 77;
  kernel(slots, 0, tasks);
  return 0;
}

static void launch_check(testing *t)
{
  float x[8] = {10, 11, 12, 13, 14, 15, 16, 17}, y[8] = {0};
  int64_t i[8] = {0, 7, 3, 3, 2, 1, 1, 1};
  union {
    wick_launch f;
    void *p;
  } launch = {control_launch};
  for (int32_t stop = 0; stop < 3; stop++) {
    launched l = {.stop_at = stop};
    wick_entry run = wick_image_entry(&t->image, "run");
    assert_int_equal(run((void *[]){launch.p, &l, y, x, i}), stop < 2 ? 77 : 0);
    assert_int_equal(l.count, stop < 2 ? stop + 1 : 2);
    assert_int_equal(l.index, 0);
    assert_int_equal(l.nargs[0], 3);
    assert_int_equal(l.tasks[0], 4);
  }
  assert_true(y[1] == 17.0f && y[7] == 11.0f);
}

static void entries_reach_kernels_through_the_runtime(void **state)
{
  (void)state;
  control_each(fail_text, false, launch_check);
}

static void direct_check(testing *t)
{
  float x[8] = {10, 11, 12, 13, 14, 15, 16, 17}, y[8] = {0};
  int64_t i[8] = {0, 7, 3, 3, 2, 1, 1, 99};
  wick_fault fault = {0};
  assert_null(wick_image_symbol(&t->image, "gather"));
  wick_entry run = wick_image_entry(&t->image, "run");
  assert_int_equal(run((void *[]){y, x, i, &fault}), 5);
  assert_int_equal(fault.task, 7);
  assert_int_equal(fault.detail, 99);
  assert_true(y[1] == 17.0f && y[6] == 11.0f);
}

static void direct_entries_call_their_kernels(void **state)
{
  (void)state;
  control_each(fail_text, true, direct_check);
}

/* ---- refusals ---- */

static void control_refused(const char *text, const char *target, const char *want)
{
  testing t;
  wick_span object;
  testing_begin(&t);
  testing_parse(&t, text);
  wick_status s = testing_compile(&t, target, false, &object);
  assert_non_null(s);
  assert_int_equal(s->code, WICK_EUNSUPPORTED);
  if (!strstr(s->message, want)) fail_msg("\"%s\" lacks \"%s\"", s->message, want);
  testing_end(&t);
}

static void what_a_pass_should_have_expanded_is_refused_by_name(void **state)
{
  (void)state;
  control_refused("loop @f(@out %y: " F32(
                      4) ") {\n"
                         "  %z = const 0 : i64\n  %x = load %y, %z : f32\n  %e = exp %x : f32\n"
                         "  store %y, %z, %e\n  return\n}\n",
                  "host", "@f: exp: the LLVM back end has no code");
  control_refused("loop @f(@out %y: buffer<bf16[4],io>) {\n"
                  "  %z = const 0 : i64\n  %x = load %y, %z : bf16\n  %e = add %x, %x : bf16\n"
                  "  store %y, %z, %e\n  return\n}\n",
                  "host", "@f: add: there is no arithmetic of bf16");
  control_refused(
      "loop @f(@out %y: " F32(
          4) ") {\n"
             "  %z = const 0 : i64\n  %x = load %y, %z : f32\n  %e = fma %x, %x, %x : f32\n"
             "  store %y, %z, %e\n  return\n}\n",
      "x86-64-v2", "@f: fma: x86-64-v2 has no instruction for f32");
}

/* The runtime keeps the slots of a launch in an array. */
static void a_launch_of_more_slots_than_the_runtime_keeps_is_refused(void **state)
{
  (void)state;
  enum { SIZE = 65536 };
  char *text = malloc(SIZE);
  assert_non_null(text);
  for (int extra = 0; extra < 2; extra++) {
    size_t n = 0;
    n += (size_t)snprintf(text + n, SIZE - n, "loop @k(");
    for (int i = 0; i < WICK_KERNEL_SLOTS + extra; i++)
      n += (size_t)snprintf(text + n, SIZE - n, "@out %%p%d: " F32(4) ", ", i);
    n += (size_t)snprintf(text + n, SIZE - n, "%s",
                          KERNEL ") {\n  return\n}\n"
                                 "loop @run(@out %y: " F32(4) ") {\n  launch @k ");
    for (int i = 0; i < WICK_KERNEL_SLOTS + extra; i++)
      n += (size_t)snprintf(text + n, SIZE - n, i ? ", %%y" : "%%y");
    snprintf(text + n, SIZE - n, " {tasks=1}\n  return\n}\n");
    testing t;
    wick_span object;
    testing_begin(&t);
    testing_parse(&t, text);
    wick_status s = testing_compile(&t, "host", false, &object);
    if (extra)
      assert_non_null(strstr(s->message, "launch: @k takes 1025 slots, the most is 1024"));
    else
      testing_ok(s);
    testing_end(&t);
  }
  free(text);
}

int main(void)
{
  wick_llvm_begin(&(wick_codegen_options){0});
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loops_carry_vectors_and_masks_hide_lanes),
      cmocka_unit_test(masked_lanes_are_not_touched),
      cmocka_unit_test(lanes_of_known_masks_are_stored),
      cmocka_unit_test(while_and_if_carry_values),
      cmocka_unit_test(loops_run_as_often_as_they_say),
      cmocka_unit_test(buffers_tables_and_bools_are_bytes),
      cmocka_unit_test(failures_are_recorded_and_the_lowest_task_wins),
      cmocka_unit_test(entries_reach_kernels_through_the_runtime),
      cmocka_unit_test(direct_entries_call_their_kernels),
      cmocka_unit_test(what_a_pass_should_have_expanded_is_refused_by_name),
      cmocka_unit_test(a_launch_of_more_slots_than_the_runtime_keeps_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
