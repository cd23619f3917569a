/* The search on replayed measurements, which take no time. A log gives the time of a schedule by a
 * part of its steps; the first row that matches counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/group/form_kernels.h"
#include "ir/text.h"
#include "tune/trees.h"
#include "tune/tune.h"

typedef struct tune_row {
  const char *part;
  double us;
} tune_row;

typedef struct tune_replay {
  const tune_row *log;
  double noise, clock;
  bool lucky;        /* a schedule that was fast in a turn is slow when it is measured again */
  const char *fails; /* a part of steps that do not compile */
  uint32_t nwhole;   /* from this turn on, whole turns fail; 0: none */
  uint32_t nturn, nsaid;
  uint32_t nmeasured, nprogress, nagain;
  const char *known; /* schedules that must not be measured again, except the best */
} tune_replay;

static double tune_time(const tune_replay *r, const char *steps)
{
  const tune_row *row = r->log;
  while (*row->part && !strstr(steps, row->part)) row++;
  return 1e-6 * row->us;
}

static wick_status tune_measure(void *arg, uint32_t group, uint32_t n, const char *const *steps,
                                double *seconds, double *noise)
{
  static const struct wick_error whole = {.code = WICK_ELIMIT,
                                          .message = "wick-codegen: it needs more memory"};
  tune_replay *r = arg;
  (void)group;
  r->clock += 1;
  if (r->nwhole && ++r->nturn > r->nwhole) return &whole;
  for (uint32_t i = 0; i < n; i++) {
    seconds[i] = r->lucky && n == 2 ? 1e-3 : tune_time(r, steps[i]);
    if (r->fails && i && strstr(steps[i], r->fails)) seconds[i] = -1;
    r->nagain += i && n > 2 && r->known && strstr(steps[i], r->known);
  }
  r->nmeasured += n;
  *noise = r->noise;
  return NULL;
}

/* Options take 400 us, 300 us and 350 us; `lucky` as above. */
static wick_status tune_compare(void *arg, const wick_choice *c, uint32_t n, const uint32_t *option,
                                double *seconds, double *noise)
{
  static const double us[] = {400, 300, 350};
  tune_replay *r = arg;
  assert_int_equal(option[0], c->first);
  for (uint32_t i = 0; i < n; i++) seconds[i] = r->lucky && n == 2 ? 1e-3 : 1e-6 * us[option[i]];
  r->nmeasured += n;
  r->clock += 1;
  *noise = r->noise;
  return NULL;
}

static double tune_now(void *arg) { return ((tune_replay *)arg)->clock; }

static wick_status tune_progress(void *arg, const char *line)
{
  tune_replay *r = arg;
  bool failed = strstr(line, " schedules are not compiled: wick-codegen: it needs more memory");
  assert_true(failed || strstr(line, " us, was "));
  *(failed ? &r->nsaid : &r->nprogress) += 1;
  return NULL;
}

typedef struct tune_world {
  wick_guard guard;
  wick_arena mem, tmp;
  wick_module *m;
  wick_target t;
  wick_tune_group group;
} tune_world;

static const char tune_text[] =
    "graph @main(%x: f32[60,64], %y: f32[64,96]) -> f32[60,96] { %0 = matmul %x, %y : f32[60,96] "
    "return %0 }";

static wick_status tune_form(tune_world *w, wick_tuning_records *records)
{
  wick_func *low;
  w->m = wick_module_create(&w->guard, "test");
  assert_null(wick_parse_module(w->m, "test", tune_text, strlen(tune_text), &w->tmp));
  const wick_pass_context pass = {
      .target = &w->t, .records = records, .mem = &w->mem, .tmp = &w->tmp};
  wick_status s = wick_pass_form_kernels(&pass, wick_module_find(w->m, "main"), &low);
  for (uint32_t i = 0; !s && i < w->m->funcs.n; i++)
    if (w->m->funcs.at[i]->level == WICK_GROUP)
      w->group = (wick_tune_group){(wick_func *)(uintptr_t)w->m->funcs.at[i], 1};
  return s;
}

static void tune_open(tune_world *w)
{
  *w = (tune_world){.guard.allocator = wick_allocator_malloc()};
  w->mem = wick_arena_make(&w->guard), w->tmp = wick_arena_make(&w->guard);
  assert_true(wick_target_find("x86-64-v4", &w->t));
}

static void tune_close(tune_world *w)
{
  wick_module_free(w->m);
  wick_arena_free(&w->mem);
  wick_arena_free(&w->tmp);
}

static wick_tune_report tune_search(tune_world *w, tune_replay *r, wick_tuning_records *records)
{
  wick_tune_bench bench = {tune_measure, tune_compare, tune_now, tune_progress, r};
  wick_tune_report report = {0};
  assert_null(wick_tune(&w->group, 1, &w->t, 60, &bench, records, &w->mem, &w->tmp, &report));
  return report;
}

static const tune_row tune_log[] = {{"xi:10;", 700}, {"xi:5;", 850}, {"", 1000}};

static void tune_finds(void **state)
{
  (void)state;
  tune_world w;
  tune_open(&w);
  if (setjmp(w.guard.where)) fail_msg("out of memory");
  assert_null(tune_form(&w, NULL));
  wick_tuning_records records = wick_tuning_records_begin("found.records", &w.mem);
  tune_replay r = {.log = tune_log, .noise = 0.01};
  wick_tune_report first = tune_search(&w, &r, &records);
  assert_int_equal(first.nfound, 1);
  assert_true(first.ntrial > 10 && r.nprogress >= 1);
  assert_true(first.gain > 0.69 && first.gain < 0.71);
  const char *key = wick_tuning_records_key(w.group.group, &w.t, &w.mem);
  const wick_tuning_record *x = wick_tuning_records_find(&records, key);
  assert_non_null(strstr(x->steps, "xi:10;"));
  assert_true(x->ns >= 699999 && x->ns <= 700001 && x->was == 1000000);

  r.known = "xi:10;", r.nmeasured = 0; /* again: no tried schedule is measured as a new one */
  const char *best = x->steps;
  wick_tune_report second = tune_search(&w, &r, &records);
  assert_int_equal(second.nfound, 1);
  assert_string_equal(wick_tuning_records_find(&records, key)->steps, best);
  for (uint32_t i = 0; i < x->trials.n; i++)
    for (uint32_t k = 0; k < i; k++)
      assert_string_not_equal(x->trials.at[i].steps, x->trials.at[k].steps);

  wick_module_free(w.m); /* the group uses the schedule that was found */
  assert_null(tune_form(&w, &records));
  assert_string_equal(w.group.group->schedule, best);
  assert_int_equal(records.used.n, 1);
  tune_close(&w);
}

/* A difference within the noise, or by chance, does not replace a choice. */
static void tune_keeps(void **state)
{
  (void)state;
  static const struct {
    double noise;
    bool lucky;
  } rows[] = {{0.5, false}, {0.01, true}};
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    tune_world w;
    tune_open(&w);
    if (setjmp(w.guard.where)) fail_msg("out of memory");
    assert_null(tune_form(&w, NULL));
    wick_tuning_records records = wick_tuning_records_begin("kept.records", &w.mem);
    tune_replay r = {.log = tune_log, .noise = rows[i].noise, .lucky = rows[i].lucky};
    wick_tune_report report = tune_search(&w, &r, &records);
    assert_int_equal(report.nfound, 0);
    assert_int_equal(r.nprogress, 0);
    assert_true(report.ntrial > 0);
    tune_close(&w);
  }
}

/* Schedules that do not compile are counted, single ones or whole turns; whole turns are
 * reported. */
static void tune_refuses(void **state)
{
  (void)state;
  for (uint32_t whole = 0; whole < 2; whole++) {
    tune_world w;
    tune_open(&w);
    if (setjmp(w.guard.where)) fail_msg("out of memory");
    assert_null(tune_form(&w, NULL));
    wick_tuning_records records = wick_tuning_records_begin("refused.records", &w.mem);
    tune_replay r = {.log = tune_log, .noise = 0.01, .fails = whole ? NULL : "xi:10;"};
    r.nwhole = whole; /* the first turn succeeds */
    wick_tune_report report = tune_search(&w, &r, &records);
    assert_true(report.nrefused > 0);
    assert_int_equal(r.nsaid > 0, whole);
    tune_close(&w);
  }
}

static void tune_illegal(void **state)
{
  (void)state;
  tune_world w;
  tune_open(&w);
  if (setjmp(w.guard.where)) fail_msg("out of memory");
  assert_null(tune_form(&w, NULL));
  wick_tuning_records records = wick_tuning_records_begin("dir/bad.records", &w.mem);
  wick_tuning_record *x =
      wick_tuning_records_add(&records, wick_tuning_records_key(w.group.group, &w.t, &w.mem));
  x->steps = "vector out.q; ";
  wick_module_free(w.m);
  wick_status s = tune_form(&w, &records);
  assert_non_null(s);
  if (!strstr(s->message, "bad.records: its schedule: ") || !strstr(s->message, "no loop `q`"))
    fail_msg("%s", s->message);
  tune_close(&w);
}

/* Implementations: the first stays unless another one is faster beyond the noise, twice. Known
 * options are not measured again, and a compilation uses the one that was found. */
static void tune_chooses(void **state)
{
  (void)state;
  static const wick_option option[] = {{"as it is", ""}, {"tiles of 2", ""}, {"tiles of 4", ""}};
  static const struct {
    uint32_t first;
    double noise;
    bool lucky;
    const char *steps;
  } rows[] = {{0, 0.01, false, "tiles of 2"},
              {1, 0.01, false, NULL},
              {2, 0.01, false, "tiles of 2"},
              {2, 0.2, false, NULL},
              {0, 0.01, true, NULL}};
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    tune_world w;
    tune_open(&w);
    if (setjmp(w.guard.where)) fail_msg("out of memory");
    wick_tuning_records records = wick_tuning_records_begin("some.records", &w.mem);
    wick_choice c = {"host (layer)", 3, rows[i].first, option};
    uint32_t chosen;
    records.tuning = true;
    for (uint32_t k = 0; k < 2; k++) {
      assert_null(wick_tuning_records_choose(&records, &c, &w.tmp, &chosen));
      assert_int_equal(chosen, rows[i].first);
      assert_int_equal(records.choices.n, 1);
    }
    tune_replay r = {.noise = rows[i].noise, .lucky = rows[i].lucky};
    wick_tune_bench bench = {tune_measure, tune_compare, tune_now, tune_progress, &r};
    wick_tune_report report = {0};
    assert_null(wick_tune_choices(60, &bench, &records, &w.tmp, &report));
    assert_int_equal(report.nchoice, 1);
    assert_int_equal(report.nchosen, rows[i].steps != NULL);
    assert_int_equal(r.nprogress, rows[i].steps != NULL);
    const wick_tuning_record *x = wick_tuning_records_find(&records, c.key);
    if (rows[i].steps)
      assert_string_equal(x->steps, rows[i].steps);
    else
      assert_null(x->steps);
    assert_int_equal(x->trials.n, 3);
    uint32_t before = r.nmeasured;
    assert_null(wick_tune_choices(60, &bench, &records, &w.tmp, &report));
    assert_int_equal(r.nmeasured, before);
    assert_null(wick_tuning_records_choose(&records, &c, &w.tmp, &chosen));
    assert_string_equal(option[chosen].steps,
                        rows[i].steps ? rows[i].steps : option[rows[i].first].steps);
    wick_tuning_records_add(&records, c.key)->steps = "tiles of 9";
    wick_status s = wick_tuning_records_choose(&records, &c, &w.tmp, &chosen);
    assert_string_equal(s->message, "some.records: \"tiles of 9\" is no way to compute (layer)");
    wick_arena_free(&w.mem);
    wick_arena_free(&w.tmp);
  }
}

/* Trees learn a step and a slope, and a constant if there are no other features. */
static void tune_trees(void **state)
{
  (void)state;
  tune_world w;
  tune_open(&w);
  if (setjmp(w.guard.where)) fail_msg("out of memory");
  enum { N = 64 };
  double x[2 * N], y[N], flat[N], worst = 0;
  static wick_trees trees;
  for (uint32_t i = 0; i < N; i++) {
    x[2 * i] = i, x[2 * i + 1] = (i * 7) % 5;
    y[i] = (i < 20 ? 3 : 1) + 0.25 * x[2 * i + 1], flat[i] = 2;
  }
  wick_trees_fit(x, y, N, 2, &w.tmp, &trees);
  for (uint32_t i = 0; i < N; i++) {
    double d = wick_trees_value(&trees, x + 2 * i) - y[i];
    worst = d > worst ? d : -d > worst ? -d : worst;
  }
  assert_true(worst < 0.15);
  wick_trees_fit(x, flat, N, 2, &w.tmp, &trees);
  double d = wick_trees_value(&trees, x) - 2;
  assert_true(d < 1e-9 && d > -1e-9);
  tune_close(&w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(tune_finds),   cmocka_unit_test(tune_keeps),
                                     cmocka_unit_test(tune_refuses), cmocka_unit_test(tune_chooses),
                                     cmocka_unit_test(tune_illegal), cmocka_unit_test(tune_trees)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
