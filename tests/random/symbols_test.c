/* Random graphs with symbols: the reference evaluation before and after the graph passes, at
 * five sizes each, within the limits of random_differ.h, which says how far rounding can move a
 * result. Groups are formed, too; those that the nest does not support yet are counted.
 *
 * WICK_RANDOM_GRAPHS: number of graphs (60); WICK_RANDOM_SEED: the first seed;
 * WICK_RANDOM_VERBOSE: prints what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "driver/pipeline.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "random_differ.h"
#include "random_flow.h"
#include "random_symbols.h"
#include "wick/wick.h"

enum { SYMBOLS_SIZES = 5 };

typedef struct symbols_size {
  int64_t val[RANDOM_NSYMBOL];
  wick_tensor in[DIFF_MOST], want[DIFF_MOST];
  diff_bound bound[DIFF_MOST];
  bool fails; /* inference fails, or the reference, or a disturbed run */
} symbols_size;

/* @main, and @part, which it may call. */
typedef struct symbols_funcs {
  const wick_func *main, *part; /* part: NULL if there is none */
} symbols_funcs;

typedef struct symbols_count {
  uint64_t graphs, flow, compared, skipped, refused; /* flow: branches, loops and calls */
  uint64_t copies;
} symbols_count;

/* ---- sizes ---- */

/* Returns value k of a size: the least, the largest, that of the original graph, and others. */
static int64_t symbols_value(diff *d, uint32_t size, uint32_t k)
{
  int64_t lo = random_symbols[k].lo, hi = random_symbols[k].hi;
  return size == 0   ? random_symbols[k].size
         : size == 1 ? lo
         : size == 2 ? hi
                     : lo + (int64_t)(diff_noise(d) % (uint64_t)(hi - lo + 1));
}

static void symbols_prepare(diff *d, symbols_funcs fs, uint32_t size, const wick_dim *sym,
                            symbols_size *s)
{
  const wick_func *f = fs.main;
  for (uint32_t k = 0; k < RANDOM_NSYMBOL; k++) s->val[k] = symbols_value(d, size, k);
  diff_inputs(d, f, false, RANDOM_NSYMBOL, sym, s->val, s->in);
  s->fails = !random_fixed(fs.part ? fs.part : f, sym, s->val, &d->mem, &d->tmp) ||
             diff_reference(d, f, s->in, s->want) != NULL;
  for (uint32_t o = 0; o < wick_return(f)->nin && !s->fails; o++)
    s->bound[o] = diff_bound_of(d, &s->want[o]);
  s->fails = s->fails || !diff_round(d, f, s->in, s->want, s->bound);
}

/* ---- passes ---- */

static void symbols_set(symbols_funcs fs)
{
  if (fs.part) wick_module_set(fs.main->module, fs.part);
  wick_module_set(fs.main->module, fs.main);
}

/* Runs the list of passes on both functions. The module then has the original ones again. */
static wick_status symbols_passed(diff *d, wick_pipeline *p, symbols_funcs fs, const char *names,
                                  symbols_funcs *out)
{
  wick_module *m = fs.main->module;
  wick_pipeline_begin(p, m);
  p->verify = true;
  wick_status status = wick_pipeline_run_all(p, names, &d->tmp);
  *out = (symbols_funcs){wick_module_find(m, "main"), wick_module_find(m, "part")};
  symbols_set(fs);
  return status;
}

/* Returns the passes for graphs, up to the groups. */
static const char *symbols_passes(diff *d)
{
  wick_text names = wick_text_begin(&d->tmp);
  const wick_pass_context none = {0};
  for (const wick_step *s = wick_pipeline_find("graph")->step; s->pass; s++)
    if (!s->when || s->when->holds(&none))
      wick_text_printf(&names, "%s%s", names.n ? "," : "", s->pass);
  return names.at;
}

static void symbols_near(diff *d, const wick_func *f, symbols_size *s, const wick_tensor *got,
                         const char *what, diff_result *r)
{
  uint32_t nout = wick_return(f)->nin;
  diff_compare(d, nout, s->want, s->bound, got, what, r);
  for (int doubt = 0; r->differs && doubt < DIFF_DOUBTS; doubt++) {
    *r = (diff_result){false, ""};
    if (!diff_round(d, f, s->in, s->want, s->bound)) return;
    diff_compare(d, nout, s->want, s->bound, got, what, r);
  }
}

static void symbols_compare(diff *d, symbols_funcs fs, symbols_funcs gs, symbols_size *s,
                            diff_result *r)
{
  wick_tensor got[DIFF_MOST];
  const wick_func *f = fs.main, *g = gs.main;
  symbols_set(gs);
  wick_status status = wick_evaluate(g, g->nparam, s->in, NULL, &d->mem, &d->a, &d->b, got);
  symbols_set(fs);
  *r = (diff_result){.differs = status != NULL};
  if (status)
    snprintf(r->why, sizeof r->why, "after the passes: %s", status->message);
  else
    symbols_near(d, f, s, got, "after the passes", r);
}

static void symbols_text(diff *d, symbols_funcs fs)
{
  wick_text t = wick_text_begin(&d->tmp);
  if (fs.part) wick_print_func(fs.part, 0, &t);
  wick_print_func(fs.main, 0, &t);
  fputs(t.at, stderr);
}

/* Finds the pass that causes a difference: the fewest passes after which a result differs. */
static void symbols_blame(diff *d, symbols_funcs fs, symbols_size *s, const char *names)
{
  for (const char *end = names; *end;) {
    end += strcspn(end, ",");
    const char *first = wick_str_dupn(&d->tmp, names, (size_t)(end - names));
    wick_pipeline p = {0};
    diff_result r = {.differs = true};
    symbols_funcs gs;
    wick_status status = symbols_passed(d, &p, fs, first, &gs);
    if (!status) symbols_compare(d, fs, gs, s, &r);
    if (r.differs) {
      fprintf(stderr, "N=%lld S=%lld T=%lld, after %s: %s\n", (long long)s->val[0],
              (long long)s->val[1], (long long)s->val[2], first, status ? status->message : r.why);
      symbols_text(d, fs);
      if (!status) symbols_text(d, gs);
    }
    wick_pipeline_free(&p);
    if (r.differs) return;
    end += *end == ',';
  }
}

static void symbols_refused(const char *message, symbols_count *count)
{
  count->refused++;
  if (getenv("WICK_RANDOM_VERBOSE")) print_message("%s\n", message);
}

/* ---- the program ---- */

/* Runs with one size: the outputs on one thread and on three, in tensors like the expected ones. */
static wick_error *symbols_run(diff *d, wick_session *session, const wick_compiled *k,
                               const symbols_size *s, wick_tensor *out)
{
  wick_shape shape[DIFF_MOST];
  const void *in[DIFF_MOST];
  void *to[DIFF_MOST];
  uint32_t nin = wick_compiled_ninput(k);
  for (uint32_t i = 0; i < nin; i++) {
    shape[i] = (wick_shape){wick_compiled_input(k, i)->name, s->in[i].rank, s->in[i].dim};
    in[i] = s->in[i].data;
  }
  wick_error *e = wick_session_shape(session, nin, shape);
  if (e) return e;
  for (uint32_t i = 0; i < wick_compiled_noutput(k); i++) {
    out[i] = s->want[i];
    out[i].data = wick_arena_alloc(&d->mem, wick_session_output(session, i)->nbytes, 64);
    to[i] = out[i].data;
  }
  return wick_run(session, in, to);
}

static void symbols_sized(diff *d, const wick_func *f, wick_session *const *session,
                          const wick_compiled *k, symbols_size *s, diff_result *r)
{
  wick_tensor one[DIFF_MOST], three[DIFF_MOST];
  wick_error *e = symbols_run(d, session[0], k, s, one);
  if (!e) symbols_near(d, f, s, one, "the program", r);
  if (!e && !r->differs) e = symbols_run(d, session[1], k, s, three);
  for (uint32_t o = 0; o < wick_return(f)->nin && !e && !r->differs; o++)
    if (memcmp(one[o].data, three[o].data, wick_elem_bytes(one[o].elem, diff_numel(&one[o])))) {
      r->differs = true;
      snprintf(r->why, sizeof r->why, "output %u has other bits with three threads", o);
    }
  if (e) r->differs = true, snprintf(r->why, sizeof r->why, "%s", wick_error_message(e));
  wick_error_free(e);
}

/* Returns the value of the size with that name. */
static int64_t symbols_named(const symbols_size *s, const char *name)
{
  for (uint32_t i = 0; i < RANDOM_NSYMBOL; i++)
    if (strcmp(random_symbols[i].name, name) == 0) return s->val[i];
  fail_msg("there is no symbol %s", name);
  return 0;
}

/* Compiles the program with a specialization for s, which its runs use. */
static wick_error *symbols_copied(diff *d, wick_model *m, const wick_compiled *base,
                                  const symbols_size *s, wick_compiled **k, wick_tensor *out)
{
  wick_size pin[RANDOM_NSYMBOL];
  wick_session *session = NULL;
  uint32_t n = wick_compiled_nsize(base);
  for (uint32_t i = 0; i < n; i++) {
    pin[i].name = wick_compiled_size(base, i).name;
    pin[i].value = symbols_named(s, pin[i].name);
  }
  wick_compile_options o = {.size = sizeof o,
                            .cache = "",
                            .jobs = 1,
                            .dynamic = true,
                            .nspecialize_dim = n,
                            .specialize_dims = pin};
  wick_error *e = wick_compile(m, &o, k);
  if (!e)
    e = wick_session_create(
        *k, &(wick_session_options){.size = sizeof(wick_session_options), .threads = 1}, &session);
  if (!e) e = symbols_run(d, session, *k, s, out);
  wick_session_free(session);
  return e;
}

/* Compares bits, except those of NaN, which may come from either operand. */
static bool symbols_same(const wick_tensor *want, const wick_tensor *got, uint32_t output,
                         diff_result *r)
{
  wick_elem e = want->elem;
  for (uint64_t i = 0, n = diff_numel(want); i < n; i++) {
    wick_scalar w = wick_load_elem(e, want->data, i), g = wick_load_elem(e, got->data, i);
    bool is_float = wick_elem_is_float(e);
    if (is_float ? (isnan(w.f) && isnan(g.f)) || (w.f == g.f && signbit(w.f) == signbit(g.f))
                 : memcmp(&w, &g, sizeof w) == 0)
      continue;
    r->differs = true;
    snprintf(r->why, sizeof r->why, "output %u, element %llu: %.17g, and %.17g by the copy", output,
             (unsigned long long)i, is_float ? w.f : (double)w.i, is_float ? g.f : (double)g.i);
    return false;
  }
  return true;
}

/* Checks that a specialization gives the bits of the base program. */
static void symbols_copy(diff *d, wick_model *m, wick_session *session, const wick_compiled *k,
                         const symbols_size *s, diff_result *r, symbols_count *count)
{
  wick_tensor want[DIFF_MOST], got[DIFF_MOST];
  wick_compiled *copied = NULL;
  wick_profile_entry entry = {0};
  if (!wick_compiled_nsize(k) || s->fails) return;
  wick_error *e = symbols_run(d, session, k, s, want);
  if (!e) e = symbols_copied(d, m, k, s, &copied, got);
  if (e) r->differs = true, snprintf(r->why, sizeof r->why, "copy: %s", wick_error_message(e));
  bool ran = !e && wick_compiled_profile(copied, 0, &entry) && entry.ahead && entry.nrun == 1 &&
             entry.specialized_nanoseconds;
  if (!e && !ran) r->differs = true, snprintf(r->why, sizeof r->why, "the copy did not run");
  for (uint32_t o = 0; ran && o < wick_compiled_noutput(k); o++)
    if (!symbols_same(&want[o], &got[o], o, r)) break;
  count->copies += ran;
  wick_error_free(e);
  wick_compiled_free(copied);
}

/* Runs all sizes, and the first one again. */
static void symbols_program(diff *d, const wick_func *f, const char *text, symbols_size *size,
                            diff_result *r, symbols_count *count)
{
  wick_model *m = NULL;
  wick_compiled *k = NULL;
  wick_session *session[2] = {NULL, NULL};
  wick_error *e = wick_load_bytes(d->context, "random", text, strlen(text), &m);
  wick_compile_options o = {.size = sizeof o, .cache = "", .jobs = 1, .dynamic = true};
  if (!e) e = wick_compile(m, &o, &k);
  for (uint32_t i = 0; i < 2 && !e; i++) {
    wick_session_options so = {.size = sizeof so, .threads = i ? 3 : 1};
    e = wick_session_create(k, &so, &session[i]);
  }
  if (e && wick_error_code(e) == WICK_EUNSUPPORTED)
    symbols_refused(wick_error_message(e), count);
  else if (e)
    r->differs = true, snprintf(r->why, sizeof r->why, "compile: %s", wick_error_message(e));
  for (uint32_t i = 0; i <= SYMBOLS_SIZES && !e && !r->differs; i++) {
    symbols_size *s = &size[i % SYMBOLS_SIZES];
    if (!s->fails) symbols_sized(d, f, session, k, s, r);
    if (r->differs)
      fprintf(stderr, "N=%lld S=%lld T=%lld: %s\n", (long long)s->val[0], (long long)s->val[1],
              (long long)s->val[2], r->why);
  }
  if (!e && !r->differs)
    symbols_copy(d, m, session[0], k, &size[1 + d->noise % (SYMBOLS_SIZES - 1)], r, count);
  wick_error_free(e);
  for (uint32_t i = 0; i < 2; i++) wick_session_free(session[i]);
  wick_compiled_free(k);
  wick_model_free(m);
}

/* ---- the test ---- */

/* Compares after the passes. Returns false if they refuse the graph, or if a result differs. */
static bool symbols_passes_agree(diff *d, symbols_funcs fs, symbols_size *size, diff_result *r,
                                 symbols_count *count)
{
  wick_pipeline p = {0};
  symbols_funcs gs;
  const char *names = symbols_passes(d);
  wick_status status = symbols_passed(d, &p, fs, names, &gs);
  if (status && status->code == WICK_EUNSUPPORTED)
    symbols_refused(status->message, count);
  else if (status)
    r->differs = true, snprintf(r->why, sizeof r->why, "%s", status->message);
  uint32_t at = 0;
  for (; at < SYMBOLS_SIZES && !r->differs && !status; at++) {
    if (size[at].fails) continue;
    symbols_compare(d, fs, gs, &size[at], r);
    count->compared += d->compared, count->skipped += d->skipped;
  }
  wick_pipeline_free(&p);
  if (r->differs && !status) symbols_blame(d, fs, &size[at - 1], names);
  return !status && !r->differs;
}

/* Counts branches, loops and calls. */
static uint64_t symbols_flow(const wick_func *f)
{
  uint64_t n = 0;
  for (uint32_t i = 0; f && i < f->nnode; i++)
    n += f->node[i].nregion || f->node[i].op == WICK_OP_call;
  return n;
}

/* Builds the graph of a seed; a quarter of them is called. main is NULL if it has no symbols. */
static symbols_funcs symbols_draw(diff *d, uint64_t seed, wick_module *m, wick_dim *sym)
{
  random_graph *r = calloc(1, sizeof *r);
  const random_wish wish = {.size = random_symbol_size, .flow = 3};
  bool called = seed % 4 == 3;
  wick_func *f = random_function(r, m, seed, &wish, &d->mem, &d->tmp);
  if (f) f = random_lifted(f, called ? "part" : "main", seed % 8 == 5, &d->mem, &d->tmp, sym);
  symbols_funcs fs = {f, NULL};
  if (f && called) {
    wick_module_set(m, f);
    fs = (symbols_funcs){random_called(r, f, &d->mem), f};
  }
  free(r);
  return fs;
}

static bool symbols_one(diff *d, uint64_t seed, symbols_count *count)
{
  wick_module *m = wick_module_create(&d->guard, "random");
  wick_dim sym[RANDOM_NSYMBOL];
  diff_result result = {false, ""};
  symbols_funcs fs = symbols_draw(d, seed, m, sym);
  if (fs.main) {
    symbols_set(fs);
    wick_status status = wick_verify_module(m, &d->tmp);
    if (status) fail_msg("seed %llu: %s", (unsigned long long)seed, status->message);
    symbols_size *size = wick_new(&d->mem, symbols_size, SYMBOLS_SIZES);
    d->noise = seed;
    for (uint32_t i = 0; i < SYMBOLS_SIZES; i++) symbols_prepare(d, fs, i, sym, &size[i]);
    wick_text text = wick_text_begin(&d->tmp);
    wick_print_module(m, WICK_PRINT_DATA | WICK_PRINT_NAMES, &text);
    if (symbols_passes_agree(d, fs, size, &result, count))
      symbols_program(d, fs.main, text.at, size, &result, count);
    if (result.differs) {
      fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, result.why);
      symbols_text(d, fs);
    }
    count->graphs++;
    count->flow += symbols_flow(fs.main) + symbols_flow(fs.part);
  }
  wick_module_free(m);
  return !result.differs;
}

static bool symbols_graph(uint64_t seed, symbols_count *count)
{
  diff *d = diff_begin();
  if (setjmp(d->guard.where)) fail_msg("out of memory");
  bool good = symbols_one(d, seed, count);
  diff_end(d);
  return good;
}

static void symbols_random_graphs(void **state)
{
  (void)state;
  uint64_t n = diff_setting("WICK_RANDOM_GRAPHS", 60), first = diff_setting("WICK_RANDOM_SEED", 1),
           bad = 0;
  symbols_count count = {0};
  for (uint64_t i = 0; i < n; i++) bad += !symbols_graph(first + i, &count);
  print_message(
      "%llu of %llu graphs have symbols, %llu branches, loops and calls; %llu elements compared, "
      "%llu not stable; %llu graphs were refused; %llu copies have the same bits\n",
      (unsigned long long)count.graphs, (unsigned long long)n, (unsigned long long)count.flow,
      (unsigned long long)count.compared, (unsigned long long)count.skipped,
      (unsigned long long)count.refused, (unsigned long long)count.copies);
  assert_true(2 * count.graphs >= n);
  if (bad) fail_msg("%llu of %llu graphs differ", (unsigned long long)bad, (unsigned long long)n);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(symbols_random_graphs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
