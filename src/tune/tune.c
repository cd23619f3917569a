/* Tunes groups in turns: measures some candidates for which the model predicts the most, together
 * with the best schedule. */
#include "tune/tune.h"

#include <math.h>
#include <string.h>

#include "graph/group/cost.h"
#include "graph/group/template.h"
#include "tune/trees.h"

enum {
  TUNE_FEATURES = 14,
  TUNE_DRAWN = 48,   /* candidates that are generated in a turn */
  TUNE_MEASURED = 5, /* of which so many are measured */
  TUNE_BLIND = 1,    /* of which so many are chosen at random */
  TUNE_IDLE = 6,     /* turns without an improvement after which a group is skipped */
};
static const double tune_margin = 0.02, /* a smaller improvement does not change a choice */
    tune_cycle = 1 / 3e9;               /* seconds of a cycle before anything was measured */

typedef struct tune_candidate {
  wick_knobs knobs;
  const char *steps;
  double feature[TUNE_FEATURES];
  double cycles, expected; /* cycles by the cost model; seconds by the regression */
} tune_candidate;

typedef struct tune_task {
  const wick_tune_group *of;
  uint32_t launches;       /* of all groups with that key */
  const char *key, *first; /* the first schedule */
  const char *best;
  wick_knobs knobs;       /* of the best one, if known */
  double seconds, before; /* of the best and of the first schedule; 0: not measured yet */
  double guess;           /* the estimate until then */
  uint32_t idle, turns;
  wick_names tried;
} tune_task;

typedef struct tune_state {
  tune_task *task;
  uint32_t ntask;
  const wick_target *t;
  const wick_tune_bench *bench;
  wick_tuning_records *records;
  wick_list(double) x, y; /* training data: rows of features; logarithms of seconds per cycle */
  wick_trees trees;
  uint64_t random;
  wick_arena *mem, *tmp;
  wick_tune_report *report;
} tune_state;

static uint32_t tune_random(tune_state *s, uint32_t below)
{ /* the upper bits of a linear congruential generator */
  s->random = s->random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(s->random >> 33) % below;
}

/* ---- candidates ---- */

/* Returns the outermost axis of the output. Everything inside is repeated for each part of it. */
static uint32_t tune_outside(const wick_schedule *plan)
{
  const wick_stage *out = &plan->stage[plan->output];
  for (uint32_t i = 0; i < out->loops.n; i++) {
    wick_dim extent = out->axis[out->loops.at[i].axis].extent;
    if (!wick_dim_is(extent, 1)) return out->loops.at[i].axis;
  }
  return 0;
}

static bool tune_features(tune_state *s, const tune_task *task, tune_candidate *c)
{
  wick_schedule *plan = wick_schedule_begin(task->of->group, s->tmp);
  if (wick_schedule_apply(plan, c->steps)) return false;
  wick_cost cost = wick_cost_of(plan, s->t);
  double loops = 0, unrolled = 1, inner = 1;
  for (uint32_t i = 0; i < plan->nstage; i++)
    for (uint32_t k = 0; k < plan->stage[i].loops.n; k++) {
      const wick_sloop *l = &plan->stage[i].loops.at[k];
      loops += l->kind == WICK_PARALLEL;
      if (l->kind == WICK_UNROLL && l->size) unrolled *= (double)l->size;
      if (l->kind == WICK_UNROLL && l->size && plan->stage[i].axis[l->axis].reduce)
        inner *= (double)l->size;
    }
  c->cycles = cost.cycles > 1 ? cost.cycles : 1;
  const wick_cost_tile *x = &cost.tile;
  const double feature[TUNE_FEATURES] = {
      log2(c->cycles),
      cost.least > 0 ? c->cycles / cost.least : 0,
      (double)x->vectors,
      (double)x->positions,
      (double)x->products,
      x->products ? (double)(x->vectors + x->positions) / (double)x->products : 0,
      log2((double)x->stream_bytes + 1),
      log2((double)cost.steps + 1),
      (double)cost.limit,
      loops,
      log2(unrolled),
      inner,
      strstr(c->steps, "prefetch") != NULL,
      (double)tune_outside(plan)};
  memcpy(c->feature, feature, sizeof feature);
  return true;
}

/* Returns random knobs, or a neighbour of the best. Knobs that a template does not use have no
 * effect. */
static wick_knobs tune_draw(tune_state *s, const tune_task *task)
{
  static const int64_t unroll[] = {1, 2, 4, 8};
  wick_knobs k = {.vectors = 1 + tune_random(s, 8),
                  .columns = 1 + tune_random(s, 28),
                  .rows = tune_random(s, 2) ? 1 : 1 + tune_random(s, 8),
                  .parts = 1 << tune_random(s, 4),
                  .unroll = unroll[tune_random(s, 4)],
                  .keep = 1 + (int)tune_random(s, 2),
                  .outside = 1 + (int)tune_random(s, 2),
                  .prefetch = 1 + (int)tune_random(s, 3)};
  wick_knobs near = task->knobs;
  if (!near.vectors || tune_random(s, 3) == 0) return k;
  switch (tune_random(s, 8)) {
  case 0: near.vectors = k.vectors; break;
  case 1: near.columns = k.columns; break;
  case 2: near.rows = k.rows, near.columns = k.columns; break;
  case 3: near.unroll = k.unroll; break;
  case 4: near.outside = k.outside; break;
  case 5: near.parts = k.parts; break;
  case 6: near.keep = k.keep; break;
  default: near.prefetch = k.prefetch;
  }
  return near;
}

/* Generates new, legal candidates. Returns those with the best predictions, and a last one at
 * random. */
static uint32_t tune_candidates(tune_state *s, tune_task *task, tune_candidate *out)
{
  tune_candidate *found = wick_new(s->tmp, tune_candidate, TUNE_DRAWN);
  uint32_t n = 0, chosen = 0;
  wick_names observed = wick_names_begin(s->tmp);
  for (uint32_t i = 0; i < TUNE_DRAWN; i++) {
    tune_candidate c = {.knobs = tune_draw(s, task)};
    if (wick_template_steps(task->of->group, s->t, &c.knobs, s->tmp, &c.steps) || !c.steps)
      continue;
    size_t length = strlen(c.steps);
    uint32_t before = observed.n;
    wick_names_add(&observed, c.steps, length);
    if (observed.n == before || wick_names_find(&task->tried, c.steps, length)) continue;
    if (!tune_features(s, task, &c)) continue;
    c.expected = c.cycles * exp(s->y.n ? wick_trees_value(&s->trees, c.feature) : 0);
    found[n++] = c;
  }
  for (; chosen < TUNE_MEASURED && chosen < n; chosen++) {
    uint32_t best = chosen + tune_random(s, n - chosen);
    if (chosen + TUNE_BLIND < TUNE_MEASURED)
      for (uint32_t k = best = chosen; k < n; k++)
        if (found[k].expected < found[best].expected) best = k;
    tune_candidate c = found[best];
    found[best] = found[chosen];
    out[chosen] = found[chosen] = c;
  }
  return chosen;
}

/* ---- measuring ---- */

static void tune_learn(tune_state *s, const tune_candidate *c, double seconds)
{
  for (uint32_t k = 0; k < TUNE_FEATURES; k++) wick_push(s->mem, &s->x, c->feature[k]);
  wick_push(s->mem, &s->y, log(seconds / c->cycles));
}

static uint64_t tune_ns(double seconds) { return seconds > 1e-9 ? (uint64_t)(1e9 * seconds) : 1; }

/* Replaces the best schedule if the candidate is faster by more than the noise, also when both are
 * measured again. */
static wick_status tune_replace(tune_state *s, tune_task *task, uint32_t index,
                                const tune_candidate *c, double noise)
{
  const char *both[2] = {task->best, c->steps};
  double again[2], more;
  WICK_TRY(s->bench->measure(s->bench->arg, index, 2, both, again, &more));
  double least = noise > more ? noise : more;
  if (again[0] <= 0 || again[1] <= 0) return NULL;
  if (again[1] >= again[0] * (1 - (least > tune_margin ? least : tune_margin))) return NULL;
  /* only ratios of times are comparable between different moments */
  task->seconds = task->seconds * again[1] / again[0];
  task->best = wick_str_dup(s->mem, c->steps), task->knobs = c->knobs, task->idle = 0;
  wick_tuning_record *x = wick_tuning_records_add(s->records, task->key);
  x->steps = wick_str_dup(s->records->mem, c->steps);
  x->ns = tune_ns(task->seconds), x->was = tune_ns(task->before);
  return s->bench->progress(
      s->bench->arg, wick_str_printf(s->tmp, "%s: %.1f us, was %.1f us", task->of->group->name,
                                     1e6 * task->seconds, 1e6 * task->before));
}

/* Reports that none of a turn's candidates could be measured. */
static wick_status tune_refused(tune_state *s, const tune_task *task, uint32_t n,
                                const char *message)
{
  s->report->nrefused += n;
  return s->bench->progress(s->bench->arg,
                            wick_str_printf(s->tmp, "%s: %u schedules are not compiled: %s",
                                            task->of->group->name, n, message));
}

/* Records the measurements of the schedules that existed before: the best and the first one. */
static void tune_known(tune_state *s, tune_task *task, const double *seconds, uint32_t nold)
{
  if (task->before > 0) return;
  task->seconds = seconds[0], task->before = seconds[nold - 1];
  tune_candidate c = {.steps = task->first};
  wick_tuning_record *x = wick_tuning_records_add(s->records, task->key);
  wick_tuning_record_try(s->records, x, c.steps, tune_ns(task->before));
  if (tune_features(s, task, &c)) tune_learn(s, &c, task->before);
}

/* Records the candidates' times. Returns the best one, or UINT32_MAX. */
static uint32_t tune_note(tune_state *s, tune_task *task, const tune_candidate *c, uint32_t n,
                          const double *seconds)
{
  uint32_t best = UINT32_MAX;
  wick_tuning_record *x = wick_tuning_records_add(s->records, task->key);
  for (uint32_t i = 0; i < n; i++) {
    if (seconds[i] <= 0) {
      s->report->nrefused++;
      continue;
    }
    s->report->ntrial++;
    wick_tuning_record_try(s->records, x, c[i].steps, tune_ns(seconds[i]));
    tune_learn(s, &c[i], seconds[i]);
    if (best == UINT32_MAX || seconds[i] < seconds[best]) best = i;
  }
  wick_trees_fit(s->x.at, s->y.at, s->y.n, TUNE_FEATURES, s->tmp, &s->trees);
  return best;
}

static wick_status tune_turn(tune_state *s, uint32_t index)
{
  tune_task *task = &s->task[index];
  tune_candidate c[TUNE_MEASURED];
  const char *steps[TUNE_MEASURED + 2] = {task->best, task->first};
  double seconds[TUNE_MEASURED + 2], noise = 0;
  uint32_t n = tune_candidates(s, task, c),
           nold = task->before > 0 || strcmp(task->best, task->first) == 0 ? 1 : 2;
  task->turns++, task->idle = n ? task->idle + 1 : TUNE_IDLE;
  if (!n) return NULL;
  for (uint32_t i = 0; i < n; i++) steps[nold + i] = c[i].steps;
  wick_status failed = s->bench->measure(s->bench->arg, index, nold + n, steps, seconds, &noise);
  if (failed && failed->code == WICK_ECANCELED) return failed;
  for (uint32_t i = 0; i < n; i++) wick_names_add(&task->tried, c[i].steps, strlen(c[i].steps));
  if (failed || seconds[0] <= 0 || seconds[nold - 1] <= 0)
    return tune_refused(s, task, n,
                        failed ? failed->message : "the nest refuses the choice so far");
  tune_known(s, task, seconds, nold);
  uint32_t best = tune_note(s, task, c, n, seconds + nold);
  if (best == UINT32_MAX || seconds[nold + best] >= seconds[0] * (1 - tune_margin)) return NULL;
  return tune_replace(s, task, index, &c[best], noise);
}

/* ---- the groups ---- */

const char *wick_tune_steps(const wick_func *g, wick_arena *mem)
{
  const char *steps = g->schedule ? g->schedule : "", *halo = strstr(steps, "halo ");
  return wick_str_dupn(mem, steps, halo ? (size_t)(halo - steps) : strlen(steps));
}

/* Continues with the result of earlier runs. */
static void tune_resume(tune_state *s, tune_task *task)
{
  const wick_tuning_record *x = wick_tuning_records_find(s->records, task->key);
  if (!x) return;
  if (x->steps) task->best = x->steps;
  for (uint32_t i = 0; i < x->trials.n; i++) {
    tune_candidate c = {.steps = x->trials.at[i].steps};
    wick_names_add(&task->tried, c.steps, strlen(c.steps));
    if (tune_features(s, task, &c)) tune_learn(s, &c, 1e-9 * (double)x->trials.at[i].ns);
  }
}

static void tune_begin(tune_state *s, const wick_tune_group *group, uint32_t n)
{
  wick_names keys = wick_names_begin(s->mem);
  wick_list(uint32_t) unique = {0}; /* per key: the first group */
  s->task = wick_new(s->mem, tune_task, n), s->ntask = n;
  for (uint32_t i = 0; i < n; i++) {
    const char *key = wick_tuning_records_key(group[i].group, s->t, s->mem);
    uint32_t before = keys.n, id = wick_names_add(&keys, key, strlen(key));
    tune_task *task = &s->task[i];
    *task = (tune_task){.of = &group[i], .key = key, .tried = wick_names_begin(s->mem)};
    wick_push(s->tmp, &unique, i);
    if (keys.n == before) unique.n--; /* the same group on other buffers */
    s->task[unique.at[id - 1]].launches += group[i].launches;
    task->best = task->first = wick_tune_steps(group[i].group, s->mem);
    if (keys.n == before) task->idle = TUNE_IDLE;
    wick_names_add(&task->tried, task->first, strlen(task->first));
    tune_candidate c = {.steps = task->first};
    if (tune_features(s, task, &c))
      task->guess = tune_cycle * c.cycles;
    else
      task->idle = TUNE_IDLE;
    tune_resume(s, task);
  }
  wick_trees_fit(s->x.at, s->y.at, s->y.n, TUNE_FEATURES, s->tmp, &s->trees);
}

/* Returns the group whose next turn is most useful: one with much time and few turns. */
static uint32_t tune_next(const tune_state *s)
{
  uint32_t best = UINT32_MAX;
  double most = 0;
  for (uint32_t i = 0; i < s->ntask; i++) {
    const tune_task *x = &s->task[i];
    double seconds = x->before > 0 ? x->seconds : x->guess,
           worth = seconds * x->launches / (1 + x->turns * (1 + 0.5 * x->idle));
    if (x->idle >= TUNE_IDLE || worth <= most) continue;
    best = i, most = worth;
  }
  return best;
}

static void tune_report(const tune_state *s, wick_tune_report *out)
{
  double sum = 0;
  for (uint32_t i = 0; i < s->ntask; i++) {
    const tune_task *x = &s->task[i];
    if (x->before <= 0) continue;
    out->ngroup++;
    out->nfound += strcmp(x->best, x->first) != 0;
    out->before += x->before * x->launches, out->after += x->seconds * x->launches;
    sum += log(x->seconds / x->before);
  }
  out->gain = out->ngroup ? exp(sum / out->ngroup) : 1;
}

wick_status wick_tune(const wick_tune_group *group, uint32_t ngroup, const wick_target *t,
                      double seconds, const wick_tune_bench *bench, wick_tuning_records *records,
                      wick_arena *mem, wick_arena *tmp, wick_tune_report *report)
{
  tune_state s = {.t = t,
                  .bench = bench,
                  .records = records,
                  .random = 1,
                  .mem = mem,
                  .tmp = tmp,
                  .report = report};
  double end = bench->now(bench->arg) + seconds;
  tune_begin(&s, group, ngroup);
  for (bool first = seconds > 0; first || bench->now(bench->arg) < end; first = false) {
    uint32_t next = tune_next(&s);
    if (next == UINT32_MAX) break;
    wick_mark mark = wick_arena_mark(tmp);
    WICK_TRY(tune_turn(&s, next));
    wick_arena_rewind(tmp, mark);
  }
  tune_report(&s, report);
  return NULL;
}
