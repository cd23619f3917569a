/* Inputs and outputs that are sequences or optionals: the tensors that they become. */
#include "import/onnx/onnx_testing.h"

static void test_ports(void **state)
{
  (void)state;
  static const int64_t none[] = {-1}, one[] = {1}, two[] = {2}, size[] = {3, 4},
                       part_dynamic[] = {-1, 4};
  static const wick_import_shape pair[] = {{"s", 1, two}, {"s.0", 2, size}, {"s.1", 1, one}},
                                 value[] = {{"s", 1, one}, {"s.0", 1, two}},
                                 nothing[] = {{"s", 1, none}}, part[] = {{"s", 1, one}},
                                 many[] = {{"s", 1, two}}, wrong[] = {{"s", 2, size}},
                                 given[] = {{"x", 2, size}}, rank[] = {{"x", 2, part_dynamic}},
                                 most[] = {{"x", WICK_MAX_RANK + 1, none}};
  static const char identity[] = "opset 18; in s seq1 N; in x 1 2; Identity s -> t; Relu x -> y;"
                                 "out t seq1 ?; out y 1 2",
                    optional[] = "opset 18; in s opt1 2; Identity s -> t; out t opt1 2",
                    unranked[] = "opset 18; in x 1 *; Relu x -> y; out y 1 *",
                    both[] = "opset 18; in s optseq1 2; OptionalHasElement s -> t; out t 9 -";
  bool described = false;
  const struct {
    const char *model;
    wick_import_options options;
    const char *want;
  } rows[] = {
      {identity,
       {.shape = pair, .nshape = 3},
       "graph @main(%p0: f32[3,4], %p1: f32[1], %p2: f32[2]) -> (f32[3,4], f32[1], f32[2]) {"},
      {identity, {.nshape = 0}, "m.onnx: input \"s\": its number of elements must be given"},
      {identity, {.described = &described}, "graph @main(%p0: f32[2]) -> f32[2] {"},
      {identity,
       {.shape = part, .nshape = 1},
       "m.onnx: input \"s\": the shape of \"s.0\" must be given"},
      {identity, {.shape = wrong, .nshape = 1}, "m.onnx: input \"s\": its shape must be [n]"},
      {identity, {.shape = nothing, .nshape = 1}, "m.onnx: input \"s\": its shape must be [n]"},
      {optional, {.shape = value, .nshape = 2}, "graph @main(%p0: f32[2]) -> f32[2] {"},
      {optional, {.shape = nothing, .nshape = 1}, "graph @main() {"},
      {optional, {.shape = many, .nshape = 1}, "m.onnx: input \"s\": its shape must be [n]"},
      {both, {.shape = nothing, .nshape = 1}, "graph @main() -> bool[] {"},
      {both, {.shape = pair, .nshape = 3}, "graph @main(%p0: f32[3,4], %p1: f32[1]) -> bool[] {"},
      {unranked,
       {.nshape = 0},
       "m.onnx: input \"x\": the model does not declare a shape: one must be given"},
      {unranked,
       {.described = &described},
       "graph @main(%p0: f32[\"...\"[1..536870912]]) -> f32[\"...\"] {"},
      {unranked, {.shape = given, .nshape = 1}, "graph @main(%p0: f32[3,4]) -> f32[3,4] {"},
      {unranked,
       {.shape = rank, .nshape = 1},
       "graph @main(%p0: f32[\"x.0\"[1..536870912],4]) -> f32[\"x.0\",4] {"},
      {unranked,
       {.shape = most, .nshape = 1},
       "m.onnx: input \"x\": its rank is 17, the most is 16"},
      {"opset 18; in s seq1 2; Identity s -> t; out t 1 2",
       {.shape = pair, .nshape = 3},
       "m.onnx: output \"t\": it is a sequence of tensors, but the model declares another type"},
      {"opset 18; in s optoptseq1 2; Identity s -> t; out t optseq6 2",
       {.shape = pair, .nshape = 3},
       "m.onnx: output \"t\": element 0 is f32, but the model declares i32"},
      {"opset 18; in x 1 2; Identity x -> t; out t seq1 2",
       {.nshape = 0},
       "m.onnx: output \"t\": it is a tensor, but the model declares another type"},
  };
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) fail_msg("out of memory");
  size_t bad = 0;
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    const char *got =
        onnx_import_with(&guard, &mem, onnx_encode(&mem, rows[i].model), &rows[i].options, 0);
    if (strncmp(got, rows[i].want, strlen(rows[i].want)) == 0) continue;
    print_error("%s\n--- got\n%s\n--- expected\n%s\n", rows[i].model, got, rows[i].want);
    bad++;
  }
  assert_true(described);
  wick_arena_free(&mem);
  assert_int_equal(bad, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ports)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
