/* Chooses between implementations: measures all options together, once. */
#include <string.h>

#include "tune/tune.h"

enum { CHOOSE_MOST = 8 };
static const double choose_margin = 0.02;

static uint64_t choose_ns(double seconds) { return seconds > 1e-9 ? (uint64_t)(1e9 * seconds) : 1; }

/* Returns true if all options have been measured, now or in an earlier run. */
static bool choose_is_known(const wick_tuning_records *r, const wick_choice *c)
{
  const wick_tuning_record *x = wick_tuning_records_find(r, c->key);
  return x && x->trials.n >= c->noption;
}

/* Finds the option that is faster than the first one by more than the noise, also when both are
 * measured again; else the first one. */
static wick_status choose_best(const wick_tune_bench *b, const wick_choice *c,
                               const uint32_t *option, const double *seconds, double noise,
                               uint32_t *out, double *out_ratio)
{
  uint32_t best = 0;
  for (uint32_t i = 1; i < c->noption; i++)
    if (seconds[i] > 0 && seconds[i] < seconds[best]) best = i;
  *out = c->first, *out_ratio = 1;
  if (!best || seconds[best] >= seconds[0] * (1 - choose_margin)) return NULL;
  uint32_t both[2] = {option[0], option[best]};
  double again[2], more;
  WICK_TRY(b->compare(b->arg, c, 2, both, again, &more));
  double least = noise > more ? noise : more;
  if (again[0] <= 0 || again[1] <= 0) return NULL;
  if (again[1] >= again[0] * (1 - (least > choose_margin ? least : choose_margin))) return NULL;
  *out = option[best], *out_ratio = again[1] / again[0];
  return NULL;
}

static wick_status choose_one(const wick_tune_bench *b, const wick_choice *c,
                              wick_tuning_records *records, wick_arena *tmp,
                              wick_tune_report *report)
{
  uint32_t option[CHOOSE_MOST] = {c->first}, n = 1, best;
  double seconds[CHOOSE_MOST], noise, ratio;
  for (uint32_t i = 0; i < c->noption; i++)
    if (i != c->first) option[n++] = i;
  wick_status failed = b->compare(b->arg, c, n, option, seconds, &noise);
  if (failed && failed->code == WICK_ECANCELED) return failed;
  if (failed || seconds[0] <= 0) return NULL; /* the first option does not compile */
  WICK_TRY(choose_best(b, c, option, seconds, noise, &best, &ratio));
  wick_tuning_record *x = wick_tuning_records_add(records, c->key);
  for (uint32_t i = 0; i < n; i++)
    if (seconds[i] > 0)
      wick_tuning_record_try(records, x, c->option[option[i]].steps, choose_ns(seconds[i]));
  report->nchoice++;
  if (best == c->first) return NULL;
  report->nchosen++;
  x->steps = wick_str_dup(records->mem, c->option[best].steps);
  x->ns = choose_ns(ratio * seconds[0]), x->was = choose_ns(seconds[0]);
  return b->progress(b->arg,
                     wick_str_printf(tmp, "%s: %s: %.1f us, was %.1f us", strchr(c->key, '('),
                                     x->steps, 1e6 * ratio * seconds[0], 1e6 * seconds[0]));
}

wick_status wick_tune_choices(double seconds, const wick_tune_bench *bench,
                              wick_tuning_records *records, wick_arena *tmp,
                              wick_tune_report *report)
{
  double end = bench->now(bench->arg) + seconds;
  bool first = seconds > 0; /* at least one */
  for (uint32_t i = 0; i < records->choices.n; i++) {
    if (!first && bench->now(bench->arg) >= end) break;
    const wick_choice *c = &records->choices.at[i];
    if (c->noption > CHOOSE_MOST || choose_is_known(records, c)) continue;
    wick_mark mark = wick_arena_mark(tmp);
    WICK_TRY(choose_one(bench, c, records, tmp, report));
    first = false;
    wick_arena_rewind(tmp, mark);
  }
  return NULL;
}
