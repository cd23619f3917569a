/* Groups in turns: some candidates that the model expects most of, measured beside the best. */
#include "tune/tune.h"

#include <math.h>
#include <string.h>

#include "graph/group/cost.h"
#include "graph/group/template.h"
#include "tune/trees.h"

enum {
  TUNE_FEATURES = 14,
  TUNE_DRAWN = 48,   /* candidates that are looked at in a turn */
  TUNE_MEASURED = 5, /* of these */
  TUNE_BLIND = 1,    /* without asking the model */
  TUNE_IDLE = 6,     /* turns without anything found, after which a group rests */
};
static const double tune_margin = 0.02; /* less is no reason to change a choice */

typedef struct tune_candidate {
  wick_knobs knobs;
  const char *steps;
  double feature[TUNE_FEATURES];
  double cycles, expected; /* by the cost model; seconds, by what was learnt */
} tune_candidate;

typedef struct tune_task {
  const wick_tune_group *of;
  const char *key, *first; /* the first choice */
  const char *best;
  wick_knobs knobs; /* of the best, as far as known */
  double seconds, before;
  uint32_t idle, turns;
  wick_names tried;
} tune_task;

typedef struct tune_state {
  tune_task *task;
  uint32_t ntask;
  const wick_target *t;
  const wick_tune_bench *bench;
  wick_records *records;
  wick_list(double) x, y; /* what was learnt from: rows of features; log of seconds a cycle */
  wick_trees trees;
  uint64_t random;
  wick_arena *mem, *tmp;
  wick_tune_report *report;
} tune_state;

static uint32_t tune_random(tune_state *s, uint32_t below)
{ /* a linear congruence; its upper bits */
  s->random = s->random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(s->random >> 33) % below;
}

/* ---- candidates ---- */

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
      (double)x->places,
      (double)x->products,
      x->products ? (double)(x->vectors + x->places) / (double)x->products : 0,
      log2((double)x->stream_bytes + 1),
      log2((double)cost.steps + 1),
      (double)cost.limit,
      loops,
      log2(unrolled),
      inner,
      strstr(c->steps, "prefetch") != NULL,
      (double)c->knobs.outside};
  memcpy(c->feature, feature, sizeof feature);
  return true;
}

static wick_knobs tune_draw(tune_state *s, const tune_task *task)
{
  static const int64_t unroll[] = {1, 2, 4, 8};
  wick_knobs k = {.vectors = 1 + tune_random(s, 8),
                  .columns = 1 + tune_random(s, 28),
                  .rows = tune_random(s, 4) ? 1 : 1 + tune_random(s, 4),
                  .unroll = unroll[tune_random(s, 4)],
                  .outside = 1 + (int)tune_random(s, 2),
                  .prefetch = 1 + (int)tune_random(s, 2)};
  const wick_knobs *b = &task->knobs;
  if (!b->vectors || tune_random(s, 3) == 0) return k;
  uint32_t change = tune_random(s, 6); /* a neighbour of the best */
  wick_knobs near = *b;
  if (change == 0) near.vectors = k.vectors;
  if (change == 1) near.columns = k.columns;
  if (change == 2) near.rows = k.rows, near.columns = k.columns;
  if (change == 3) near.unroll = k.unroll;
  if (change == 4) near.outside = 3 - near.outside;
  if (change == 5) near.prefetch = 3 - near.prefetch;
  return near;
}

/* What is new, and legal, best expected first; the last one is drawn blindly. */
static uint32_t tune_candidates(tune_state *s, tune_task *task, tune_candidate *out)
{
  tune_candidate *found = wick_new(s->tmp, tune_candidate, TUNE_DRAWN);
  uint32_t n = 0, chosen = 0;
  wick_names seen = wick_names_begin(s->tmp);
  for (uint32_t i = 0; i < TUNE_DRAWN; i++) {
    tune_candidate c = {.knobs = tune_draw(s, task)};
    if (wick_template_steps(task->of->group, s->t, &c.knobs, s->tmp, &c.steps) || !c.steps)
      continue;
    size_t length = strlen(c.steps);
    uint32_t before = seen.n;
    wick_names_add(&seen, c.steps, length);
    if (seen.n == before || wick_names_find(&task->tried, c.steps, length)) continue;
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

/* The candidate is faster than the best by more than the noise, when both are measured again. */
static wick_status tune_replace(tune_state *s, tune_task *task, uint32_t index,
                                const tune_candidate *c, double noise)
{
  const char *both[2] = {task->best, c->steps};
  double again[2], more;
  WICK_TRY(s->bench->measure(s->bench->arg, index, 2, both, again, &more));
  double least = noise > more ? noise : more;
  if (again[0] <= 0 || again[1] <= 0) return NULL;
  if (again[1] >= again[0] * (1 - (least > tune_margin ? least : tune_margin))) return NULL;
  /* times of another moment are comparable by their ratio */
  task->seconds = task->seconds * again[1] / again[0];
  task->best = wick_str_dup(s->mem, c->steps), task->knobs = c->knobs, task->idle = 0;
  wick_record *x = wick_records_add(s->records, task->key);
  x->steps = wick_str_dup(s->records->mem, c->steps);
  x->ns = tune_ns(task->seconds), x->was = tune_ns(task->before);
  return s->bench->progress(
      s->bench->arg, wick_str_printf(s->tmp, "%s: %.1f us, was %.1f us", task->of->group->name,
                                     1e6 * task->seconds, 1e6 * task->before));
}

/* Candidates that could not be measured are counted; that none of a turn could is said, too. */
static wick_status tune_refused(tune_state *s, const tune_task *task, uint32_t n,
                                const char *message)
{
  s->report->nrefused += n;
  if (!message) return NULL;
  return s->bench->progress(s->bench->arg,
                            wick_str_printf(s->tmp, "%s: %u schedules are not compiled: %s",
                                            task->of->group->name, n, message));
}

static wick_status tune_turn(tune_state *s, uint32_t index)
{
  tune_task *task = &s->task[index];
  tune_candidate c[TUNE_MEASURED];
  const char *steps[TUNE_MEASURED + 1] = {task->best};
  double seconds[TUNE_MEASURED + 1], noise = 0;
  uint32_t n = tune_candidates(s, task, c), best = UINT32_MAX;
  task->turns++, task->idle = n ? task->idle + 1 : TUNE_IDLE;
  if (!n) return NULL;
  for (uint32_t i = 0; i < n; i++) steps[i + 1] = c[i].steps;
  wick_status failed = s->bench->measure(s->bench->arg, index, n + 1, steps, seconds, &noise);
  if (failed && failed->code == WICK_ECANCELED) return failed;
  for (uint32_t i = 0; i < n; i++) wick_names_add(&task->tried, c[i].steps, strlen(c[i].steps));
  if (failed || seconds[0] <= 0)
    return tune_refused(s, task, n,
                        failed ? failed->message : "the nest refuses the choice so far");
  wick_record *x = wick_records_add(s->records, task->key);
  for (uint32_t i = 0; i < n; i++) {
    if (seconds[i + 1] <= 0) {
      WICK_TRY(tune_refused(s, task, 1, NULL));
      continue;
    }
    s->report->ntrial++;
    wick_record_try(s->records, x, c[i].steps, tune_ns(seconds[i + 1]));
    tune_learn(s, &c[i], seconds[i + 1]);
    if (best == UINT32_MAX || seconds[i + 1] < seconds[best + 1]) best = i;
  }
  wick_trees_fit(s->x.at, s->y.at, s->y.n, TUNE_FEATURES, s->tmp, &s->trees);
  if (best == UINT32_MAX || seconds[best + 1] >= seconds[0] * (1 - tune_margin)) return NULL;
  return tune_replace(s, task, index, &c[best], noise);
}

/* ---- the groups ---- */

/* The schedule without the halos, which belong to the buffers. */
static const char *tune_first(const wick_func *g, wick_arena *mem)
{
  const char *steps = g->schedule ? g->schedule : "", *halo = strstr(steps, "halo ");
  return wick_str_dupn(mem, steps, halo ? (size_t)(halo - steps) : strlen(steps));
}

/* Where earlier runs ended. */
static void tune_resume(tune_state *s, tune_task *task)
{
  const wick_record *x = wick_records_find(s->records, task->key);
  if (!x) return;
  if (x->steps) task->best = x->steps;
  for (uint32_t i = 0; i < x->trials.n; i++) {
    tune_candidate c = {.steps = x->trials.at[i].steps};
    wick_names_add(&task->tried, c.steps, strlen(c.steps));
    if (tune_features(s, task, &c)) tune_learn(s, &c, 1e-9 * (double)x->trials.at[i].ns);
  }
}

static wick_status tune_begin(tune_state *s, const wick_tune_group *group, uint32_t n)
{
  wick_names keys = wick_names_begin(s->mem);
  s->task = wick_new(s->mem, tune_task, n);
  for (uint32_t i = 0; i < n; i++) {
    const char *key = wick_records_key(group[i].group, s->t, s->mem);
    uint32_t before = keys.n;
    wick_names_add(&keys, key, strlen(key));
    tune_task *task = &s->task[i];
    *task = (tune_task){.of = &group[i], .key = key, .tried = wick_names_begin(s->mem)};
    task->best = task->first = tune_first(group[i].group, s->mem);
    if (keys.n == before) task->idle = TUNE_IDLE; /* the same group on other buffers */
    wick_names_add(&task->tried, task->first, strlen(task->first));
    tune_resume(s, task);
    const char *both[2] = {task->best, task->first};
    double seconds[2], noise;
    WICK_TRY(s->bench->measure(s->bench->arg, i, 2, both, seconds, &noise));
    task->seconds = seconds[0], task->before = seconds[1];
    if (seconds[0] <= 0 || seconds[1] <= 0) task->idle = TUNE_IDLE;
    s->ntask = i + 1;
  }
  wick_trees_fit(s->x.at, s->y.at, s->y.n, TUNE_FEATURES, s->tmp, &s->trees);
  return NULL;
}

/* The group whose next turn is worth most: of much time, and few turns yet. */
static uint32_t tune_next(const tune_state *s)
{
  uint32_t best = UINT32_MAX;
  double most = 0;
  for (uint32_t i = 0; i < s->ntask; i++) {
    const tune_task *x = &s->task[i];
    double worth = x->seconds * x->of->launches / (1 + x->turns * (1 + 0.5 * x->idle));
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
    if (x->seconds <= 0 || x->before <= 0) continue;
    out->ngroup++;
    out->nfound += strcmp(x->best, x->first) != 0;
    out->before += x->before * x->of->launches, out->after += x->seconds * x->of->launches;
    sum += log(x->seconds / x->before);
  }
  out->gain = out->ngroup ? exp(sum / out->ngroup) : 1;
}

wick_status wick_tune(const wick_tune_group *group, uint32_t ngroup, const wick_target *t,
                      double seconds, const wick_tune_bench *bench, wick_records *records,
                      wick_arena *mem, wick_arena *tmp, wick_tune_report *out)
{
  *out = (wick_tune_report){0};
  tune_state s = {.t = t,
                  .bench = bench,
                  .records = records,
                  .random = 1,
                  .mem = mem,
                  .tmp = tmp,
                  .report = out};
  double end = bench->now(bench->arg) + seconds;
  WICK_TRY(tune_begin(&s, group, ngroup));
  while (bench->now(bench->arg) < end) {
    uint32_t next = tune_next(&s);
    if (next == UINT32_MAX) break;
    wick_mark mark = wick_arena_mark(tmp);
    WICK_TRY(tune_turn(&s, next));
    wick_arena_rewind(tmp, mark);
  }
  tune_report(&s, out);
  return NULL;
}
