/* The importer: the functions that models become, and all errors. */
#include <stddef.h>

#include "base/torture.h"
#include "import/onnx/onnx_testing.h"

static void test_values(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 N,3; const w 1 3 = 0,-1,2; Add x,w -> y; LeakyRelu y -> z alpha=f0.5; out "
       "z; out y",
       "graph @main(%p0: f32[N[1..536870912],3]) -> (f32[N,3], f32[N,3]) {\n"
       "  %0 = const @w : f32[3]\n"
       "  %1 = add %p0, %0 : f32[N,3]\n"
       "  %2 = leaky_relu %1 {alpha=0.5} : f32[N,3]\n"
       "  return %2, %1\n"
       "}"},
      {"opset 13; in x 1 2; const x 1 2 = 1,2; Relu x -> y; out y", "graph @main() -> f32[2] {\n"
                                                                    "  %0 = const @x : f32[2]\n"
                                                                    "  %1 = relu %0 : f32[2]\n"
                                                                    "  return %1\n"
                                                                    "}"},
      {"opset 13; in x 1 2; out x; out x", "graph @main(%p0: f32[2]) -> (f32[2], f32[2]) {\n"
                                           "  %0 = reshape %p0 {shape=[2]} : f32[2]\n"
                                           "  %1 = reshape %p0 {shape=[2]} : f32[2]\n"
                                           "  return %0, %1\n"
                                           "}"},
      {"opset 13; const w 1 2 = 1,2; out w", "graph @main() -> f32[2] {\n"
                                             "  %0 = const @w : f32[2]\n"
                                             "  return %0\n"
                                             "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_dimensions(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 batch-size,3x,?,-1; in y 1 batch-size,a.b,a_b; Relu x -> z; Relu y -> w; "
       "out z; out w",
       "graph @main(%p0: "
       "f32[\"batch-size\"[1..536870912],3,\"x.2\"[1..536870912],\"x.3\"[1..536870912]], %p1: "
       "f32[\"batch-size\",\"a.b\"[1..536870912],a_b[1..536870912]]) -> "
       "(f32[\"batch-size\",3,\"x.2\",\"x.3\"], "
       "f32[\"batch-size\",\"a.b\",a_b]) {\n"
       "  %0 = relu %p0 : f32[\"batch-size\",3,\"x.2\",\"x.3\"]\n"
       "  %1 = relu %p1 : f32[\"batch-size\",\"a.b\",a_b]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 13; in x 1 4294967296,4294967296,4; Relu x -> y; out y",
       "m.onnx: input \"x\": the product of its dimensions overflows"},
      {"opset 13; in x 1 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1; Relu x -> y; out y",
       "m.onnx: input \"x\": its rank is 17, the most is 16"},
      {"opset 13; in x 1 2; in y 77 2; in z 27 2; Relu x -> a; out a",
       "m.onnx: input \"y\": elements of type 77 are not supported\n"
       "m.onnx: input \"z\": elements of type FLOAT6E2M3 are not supported"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_names(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 2; Relu x -> x; out x",
       "m.onnx: node \"x\" (Relu): \"x\" is defined a second time"},
      {"opset 13; in x 1 2; Relu x -> y; Relu y -> y; out y",
       "m.onnx: node \"y\" (Relu): \"y\" is defined a second time"},
      {"opset 13; in x 1 2; Relu y -> z; Relu x -> y; out z",
       "graph @main(%p0: f32[2]) -> f32[2] {\n"
       "  %0 = relu %p0 : f32[2]\n"
       "  %1 = relu %0 : f32[2]\n"
       "  return %1\n"
       "}"},
      {"opset 13; in x 1 2; Relu x -> y; Relu q -> r; Add r,q -> t; out t; out u",
       "m.onnx: node \"r\" (Relu): the input \"q\" is not defined before it is used\n"
       "m.onnx: output \"u\": the value \"u\" is not defined before it is used"},
      {"opset 13; in _ 1 2; const _ 1 1 = 1; Relu x -> y",
       "m.onnx: input \"\": it has no name\n"
       "m.onnx: node \"y\" (Relu): the input \"x\" is not defined before it is used\n"
       "m.onnx: the graph has no outputs"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_counts(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 2; Relu x,x -> y; Add x -> z; Add x,_ -> w; Relu x -> a,b; out y",
       "m.onnx: node \"y\" (Relu): it has 2 inputs, expected 1\n"
       "m.onnx: node \"z\" (Add): it has 1 inputs, expected 2\n"
       "m.onnx: node \"w\" (Add): input 1 is missing\n"
       "m.onnx: node \"a\" (Relu): it has 2 outputs, expected at most 1"},
      {"opset 13; in x 1 2; Relu x,_ -> y; out y", "graph @main(%p0: f32[2]) -> f32[2] {\n"
                                                   "  %0 = relu %p0 : f32[2]\n"
                                                   "  return %0\n"
                                                   "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_opsets(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"in x 1 2; Relu x -> y; out y", "m.onnx: it does not declare its opset"},
      {"ir 1; in x 1 2; Relu x -> y; out y", "graph @main(%p0: f32[2]) -> f32[2] {\n"
                                             "  %0 = relu %p0 : f32[2]\n"
                                             "  return %0\n"
                                             "}"},
      {"opset 29; in x 1 2; Relu x -> y; out y", "m.onnx: opset 29 is outside 1 to 28"},
      {"opset 0; in x 1 2; Relu x -> y; out y", "m.onnx: opset 0 is outside 1 to 28"},
      {"opset 6; in x 1 2; Erf x -> y; out y", "graph @main(%p0: f32[2]) -> f32[2] {\n"
                                               "  %0 = erf %p0 : f32[2]\n"
                                               "  return %0\n"
                                               "}"},
      {"opset 13; in x 1 2; ai.onnx/Relu x -> y; com.microsoft/Relu x -> z; out y",
       "m.onnx: node \"z\" (Relu): the operator com.microsoft.Relu is not supported"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_attributes(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 2; Elu x -> a alpha=i1; Elu x -> b alpha=F1; Elu x -> c beta=f1; Softmax "
       "x -> d axis=sone; out a",
       "m.onnx: node \"a\" (Elu): attribute \"alpha\" is an integer, expected a float\n"
       "m.onnx: node \"b\" (Elu): attribute \"alpha\" is a list of floats, expected a float\n"
       "m.onnx: node \"c\" (Elu): there is no attribute \"beta\" in opset 13\n"
       "m.onnx: node \"d\" (Softmax): attribute \"axis\" is a string, expected an integer"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

/* Calls are expanded, their attributes replace references, and locations name both. */
static void test_functions(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; def my/F a,b -> y slope; LeakyRelu a -> t alpha=f@slope; Add t,b -> y; end; in x "
       "1 2; my/F x,x -> z slope=f0.25; out z",
       "graph @main(%p0: f32[2]) -> f32[2] {\n"
       "  %0 = leaky_relu %p0 {alpha=0.25} : f32[2]\n"
       "  %1 = add %0, %p0 : f32[2]\n"
       "  return %1\n"
       "}"},
      {"opset 13; def my/F a -> y slope=f0.5; LeakyRelu a -> y alpha=f@slope; end; in x 1 2; my/F "
       "x -> z; my/F x -> w slope=f2; out z; out w",
       "graph @main(%p0: f32[2]) -> (f32[2], f32[2]) {\n"
       "  %0 = leaky_relu %p0 {alpha=0.5} : f32[2]\n"
       "  %1 = leaky_relu %p0 {alpha=2} : f32[2]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 13; def my/F a -> y slope; LeakyRelu a -> y alpha=f@slope; end; in x 1 2; my/F x -> "
       "z; my/F x -> w slope=i2; out z",
       "m.onnx: node \"w\" (F): node \"y\" (LeakyRelu): attribute \"alpha\" is an integer, "
       "expected "
       "a float"},
      {"opset 13; def my/F a,lo,hi -> y; Clip a,lo,hi -> y; end; in x 1 2; const h 1 - = 6; my/F "
       "x,_,h -> z; out z",
       "graph @main(%p0: f32[2]) -> f32[2] {\n"
       "  %0 = const @h : f32[]\n"
       "  %1 = clip %p0, _, %0 : f32[2]\n"
       "  return %1\n"
       "}"},
      {"opset 13; def my/F a -> y; Foo a -> y; end; in x 1 2; my/F x -> z; my/F z -> w; out z",
       "m.onnx: node \"z\" (F): node \"y\" (Foo): the operator Foo is not supported"},
      {"opset 13; def my/F a -> y; my/F a -> y; end; in x 1 2; my/F x -> z; out z",
       "m.onnx: node \"z\" (F): node \"y\" (F): the function calls itself"},
      {"opset 13; def my/F a -> y; Relu b -> y; end; in x 1 2; my/F x -> z; my/F x,x -> w; my/F -> "
       "v; out z",
       "m.onnx: node \"z\" (F): node \"y\" (Relu): the input \"b\" is not defined before it is "
       "used\n"
       "m.onnx: node \"w\" (F): it has 2 inputs and 1 outputs, but its function has 1 and 1\n"
       "m.onnx: node \"v\" (F): node \"y\" (Relu): the input \"b\" is not defined before it is "
       "used"},
      {"opset 13; def my/F a -> y; Relu a -> y; end; def my/F a -> y; Abs a -> y; end; in x 1 2; "
       "my/F x -> z; out z",
       "m.onnx: function \"F\": it is defined a second time"},
      {"opset 13; def my/G a -> y; Relu a -> b; my/F b -> y s=f3; end; def my/F a -> y s; Elu a -> "
       "y alpha=f@s; end; in x 1 2; my/G x -> z; out z",
       "graph @main(%p0: f32[2]) -> f32[2] {\n"
       "  %0 = relu %p0 : f32[2]\n"
       "  %1 = elu %0 {alpha=3} : f32[2]\n"
       "  return %1\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_unsupported(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 2; Foo x -> y; Bar y -> z; Foo z -> w; a/Foo x -> v; Relu u -> q; Elu x "
       "-> e alpha=i1; out z",
       "m.onnx: node \"q\" (Relu): the input \"u\" is not defined before it is used\n"
       "m.onnx: node \"e\" (Elu): attribute \"alpha\" is an integer, expected a float\n"
       "m.onnx: node \"y\" (Foo): the operator Foo is not supported (2 such nodes)\n"
       "m.onnx: node \"z\" (Bar): the operator Bar is not supported\n"
       "m.onnx: node \"v\" (Foo): the operator a.Foo is not supported"},
      {"opset 13; in c 9 -; If c -> y; Loop c -> z; Scan c -> w; out y",
       "m.onnx: node \"y\" (If): attribute \"then_branch\" is missing\n"
       "m.onnx: node \"y\" (If): attribute \"else_branch\" is missing\n"
       "m.onnx: node \"z\" (Loop): attribute \"body\" is missing\n"
       "m.onnx: node \"w\" (Scan): attribute \"body\" is missing\n"
       "m.onnx: node \"w\" (Scan): attribute \"num_scan_inputs\" is missing"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

/* ---- whole models: names, locations, metadata ---- */

static wick_guard guard;
static wick_arena mem;

static int begin(void **state)
{
  (void)state;
  guard = (wick_guard){.allocator = wick_allocator_malloc()};
  mem = wick_arena_make(&guard);
  return setjmp(guard.where);
}

static int end(void **state)
{
  (void)state;
  wick_arena_free(&mem);
  return 0;
}

static void test_places(void **state)
{
  (void)state;
  wick_span bytes = onnx_encode(&mem, "opset 13; def my/F a -> y; Relu a -> y; end; meta labels "
                                      "zero,one; in x 1 N; const w 1 1 = 2;"
                                      "my/F x -> t; Mul t,w -> u; out u; out t");
  wick_module *m = wick_module_create(&guard, "");
  const wick_func *f;
  assert_null(wick_import_onnx(m, bytes, "a/b/net.onnx", NULL, &mem, &mem, &f));
  wick_text t = wick_text_begin(&mem);
  wick_print_module(m, WICK_PRINT_ALL, &t);
  assert_ptr_equal(wick_module_find(m, "main"), f);
  assert_string_equal(
      t.at + strspn(t.at, "\n"),
      "metadata \"labels\" = \"zero,one\"\n"
      "constant @w : f32[1] = [2]\n"
      "graph @main(%x: f32[N[1..536870912]]) -> (f32[N], f32[N]) {\n"
      "  %0 = const @w : f32[1] as \"w\"\n"
      "  %1 = relu %x : f32[N] as \"t\" loc(\"net.onnx: node \\\"t\\\" (F): node \\\"y\\\" "
      "(Relu)\")\n"
      "  %2 = mul %1, %0 : f32[N] as \"u\" loc(\"net.onnx: node \\\"u\\\" (Mul)\")\n"
      "  return %2, %1\n"
      "}\n");
  wick_module_free(m);
}

/* The range and the size of a dimension come from the options. External data must be in the
 * model's folder. */
static void test_options(void **state)
{
  (void)state;
  wick_span bytes = onnx_encode(&mem, "opset 13; in x 1 N,M; Relu x -> y; out y");
  static const wick_import_range range[] = {{"N", 2, 8, 1}, {"M", 5, 5, 1}};
  wick_import_options options = {.range = range, .nrange = 2};
  wick_module *m = wick_module_create(&guard, "");
  const wick_func *f;
  assert_null(wick_import_onnx(m, bytes, "net.onnx", &options, &mem, &mem, &f));
  wick_text t = wick_text_begin(&mem);
  wick_type_print(m, wick_type_of(f, (wick_value){1}), &t);
  assert_string_equal(t.at, "f32[N,5]");
  int64_t lo, hi;
  wick_dim_range(m->dims, wick_info_of(f, (wick_value){1})->dim[0], &lo, &hi);
  assert_int_equal(lo, 2);
  assert_int_equal(hi, 8);
  wick_module_free(m);
}

/* A model that fits only for some sizes is described without them, and imported when they are
 * given. */
static void test_describe(void **state)
{
  (void)state;
  static const char model[] = "opset 15; in x 1 N,2,2; const z 7 1 = 0; Shape x -> n end=i1; "
                              "Unsqueeze x,n -> y; out y 1 N,2";
  static const wick_import_range range = {"N", 2, 2, 1};
  bool described = false;
  const struct {
    wick_import_options options;
    const char *want;
  } rows[] = {
      {{.described = NULL},
       "m.onnx: node \"y\" (Unsqueeze): axes must be known when the model is compiled: a number "
       "must be given for N"},
      {{.described = &described},
       "graph @main(%p0: f32[N[1..536870912],2,2]) -> f32[N,2] {\n  %0 = const 0 : f32[N,2]\n  "
       "return %0\n}"},
      {{.described = &described, .range = &range, .nrange = 1},
       "graph @main(%p0: f32[2,2,2]) -> f32[2,2,1,2] {\n"
       "  %0 = reshape %p0 {shape=[2, 2, 1, 2]} : f32[2,2,1,2]\n  return %0\n}"},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++)
    assert_string_equal(
        onnx_import_with(&guard, &mem, onnx_encode(&mem, model), &rows[i].options, 0),
        rows[i].want);
}

/* An input that sizes depend on becomes a constant when its contents are given. Other inputs do
 * not. */
static void test_contents(void **state)
{
  (void)state;
  static const char model[] = "opset 15; in x 1 6; in shape 7 2; in y 1 3,2; Reshape x,shape -> z;"
                              "Add z,y -> v; out v 1 3,2";
  static const int64_t shape[2] = {3, 2};
  static const float y[6];
  const wick_import_content content[] = {{"y", {(const void *)y, sizeof y}},
                                         {"shape", {(const void *)shape, sizeof shape}}};
  bool described = false, follows = false, fixed[2];
  wick_import_options open = {.described = &described, .follows = &follows},
                      given = {.content = content, .ncontent = 2, .fixed = fixed};
  assert_string_equal(onnx_import_with(&guard, &mem, onnx_encode(&mem, model), &open, 0),
                      "graph @main(%p0: f32[6], %p1: i64[2], %p2: f32[3,2]) -> f32[3,2] {\n"
                      "  %0 = const 0 : f32[3,2]\n  return %0\n}");
  assert_true(described && follows);
  assert_string_equal(onnx_import_with(&guard, &mem, onnx_encode(&mem, model), &given, 0),
                      "graph @main(%p0: f32[6], %p1: i64[2], %p2: f32[3,2]) -> f32[3,2] {\n"
                      "  %0 = reshape %p0 {shape=[3, 2]} : f32[3,2]\n"
                      "  %1 = add %0, %p2 : f32[3,2]\n  return %1\n}");
  assert_true(fixed[1] && !fixed[0]);
  given.ncontent = 1;
  assert_string_equal(onnx_import_with(&guard, &mem, onnx_encode(&mem, model), &given, 0),
                      "m.onnx: node \"z\" (Reshape): the shape must be known when the model is "
                      "compiled");
}

/* ---- hostile files ---- */

/* Imports bytes from a block of exactly their size, so that a sanitizer detects reads beyond
 * them. Verifies the function, or checks that there is a message. Returns true if the import
 * succeeds. */
static bool takes(const void *bytes, size_t nbytes)
{
  void *exact = test_malloc(nbytes + !nbytes);
  memcpy(exact, bytes, nbytes);
  wick_arena tmp = wick_arena_make(&guard);
  wick_module *m = wick_module_create(&guard, "");
  const wick_func *f;
  wick_status s = wick_import_onnx(m, (wick_span){exact, nbytes}, "net.onnx", NULL, &tmp, &tmp, &f);
  bool taken = !s;
  if (taken) assert_null(wick_verify_func(f, &tmp));
  if (s) assert_true(strlen(s->message) > strlen("net.onnx: "));
  wick_module_free(m);
  wick_arena_free(&tmp);
  test_free(exact);
  return taken;
}

static void test_truncations(void **state)
{
  (void)state;
  wick_span b = onnx_encode(
      &mem, "opset 13; meta k v; def my/F a -> y s=f1; Elu a -> y alpha=f@s; end;"
            "in x 1 N,1,3; const w 1 2,1,2 = 1,2,3,4; Conv x,w -> t pads=I1,1; my/F t -> u;"
            "Reshape u,k -> v; const k 7 2 = 0,-1; out v");
  for (size_t n = 0; n < b.nbytes; n++) assert_false(takes(b.at, n));
  assert_true(takes(b.at, b.nbytes));
}

/* Sets every byte of a small model to each of some values. */
static void test_bytes(void **state)
{
  (void)state;
  static const unsigned char values[] = {0, 1, 2, 8, 10, 0x12, 0x1a, 0x7f, 0x80, 0xff};
  wick_span b = onnx_encode(&mem, "opset 13; in x 1 N,1,3; const w 1 2,1,2 = 1,2,3,4; Conv x,w -> "
                                  "t pads=I1,1; Relu t -> v; out v");
  unsigned char *copy = wick_dup(&mem, unsigned char, b.at, b.nbytes);
  for (size_t i = 0; i < b.nbytes; i++)
    for (size_t k = 0; k < sizeof values; k++) {
      unsigned char was = copy[i];
      copy[i] = values[k];
      takes(copy, b.nbytes);
      copy[i] = was;
    }
}

/* A graph in an attribute of a node of a graph, and so on, 100,000 levels deep. It is written
 * from the inside out. */
static void test_deep(void **state)
{
  (void)state;
  enum { DEPTH = 100000, ROOM = 40 * DEPTH };
  static const unsigned char fields[] = {
      0x0a, 0x2a, 0x32}; /* GraphProto.node, NodeProto.attribute, AttributeProto.g */
  unsigned char *at = wick_new(&mem, unsigned char, ROOM);
  size_t n = 0;
  for (int k = 0; k <= 3 * DEPTH; k++) {
    unsigned char head[12];
    size_t len = 0, left = n;
    head[len++] = k == 3 * DEPTH ? 0x3a : fields[(3 * DEPTH - 1 - k) % 3];
    for (; left > 127; left >>= 7) head[len++] = (unsigned char)(left | 128);
    head[len++] = (unsigned char)left;
    n += len;
    memcpy(at + ROOM - n, head, len);
  }
  assert_false(takes(at + ROOM - n, n));
}

/* Forty functions, each of which calls the next one twice. If they were expanded, there would be
 * 2^40 nodes. */
static void test_bomb(void **state)
{
  (void)state;
  wick_text t = wick_text_begin(&mem);
  wick_text_add(&t,
                "opset 13; def my/F40 a -> y; Relu a -> y; end; in x 1 1; my/F0 x -> z; out z;");
  for (int k = 0; k < 40; k++)
    wick_text_printf(&t, "def my/F%d a -> y; my/F%d a -> b; my/F%d b -> y; end;", k, k + 1, k + 1);
  wick_span b = onnx_encode(&mem, t.at);
  wick_module *m = wick_module_create(&guard, "");
  const wick_func *f;
  wick_status s = wick_import_onnx(m, b, "net.onnx", NULL, &mem, &mem, &f);
  assert_non_null(s);
  assert_int_equal(s->code, WICK_ELIMIT);
  assert_non_null(
      strstr(s->message, "the model has too many nodes, or its functions expand into too much"));
  assert_null(strchr(s->message, '\n')); /* the message occurs once */
  wick_module_free(m);
}

/* Each of the importer's own allocations fails in turn. */
static void test_memory(void **state)
{
  (void)state;
  wick_span b = onnx_encode(&mem, "opset 13; in x 1 N,1,3; const w 1 2,1,2 = 1,2,3,4; Conv x,w -> "
                                  "t pads=I1,1; Relu t -> v; out v");
  for (uint64_t n = 1;; n++) {
    wick_torture torture = {.fail_at = n};
    wick_guard g = {.allocator = wick_torture_allocator(&torture)};
    wick_arena tmp = wick_arena_make(&g);
    wick_module *volatile m = NULL;
    const wick_func *f;
    if (!setjmp(g.where)) {
      m = wick_module_create(&g, "");
      assert_null(wick_import_onnx(m, b, "net.onnx", NULL, &tmp, &tmp, &f));
    }
    wick_module_free(m);
    wick_arena_free(&tmp);
    assert_int_equal(torture.live, 0);
    if (torture.calls < n) break;
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_dimensions),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_opsets),
      cmocka_unit_test(test_attributes),
      cmocka_unit_test(test_functions),
      cmocka_unit_test(test_unsupported),
      cmocka_unit_test_setup_teardown(test_places, begin, end),
      cmocka_unit_test_setup_teardown(test_options, begin, end),
      cmocka_unit_test_setup_teardown(test_describe, begin, end),
      cmocka_unit_test_setup_teardown(test_contents, begin, end),
      cmocka_unit_test_setup_teardown(test_truncations, begin, end),
      cmocka_unit_test_setup_teardown(test_bytes, begin, end),
      cmocka_unit_test_setup_teardown(test_deep, begin, end),
      cmocka_unit_test_setup_teardown(test_bomb, begin, end),
      cmocka_unit_test_setup_teardown(test_memory, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
