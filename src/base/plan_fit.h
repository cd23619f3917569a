/* Inside the planner: the task in the form that first fit and the search work on, and first fit.
 * Only plan*.c include this. */
#ifndef WICK_BASE_PLAN_FIT_H
#define WICK_BASE_PLAN_FIT_H

#include "base/arena.h"
#include "base/base.h"

enum { WICK_PLAN_NOT_PINNED = -1 };

/* One buffer that has bytes. All sizes, offsets and ends of a task count units of some number of
 * bytes that divides them all. */
typedef struct wick_plan_item {
  int64_t size;         /* above 0 */
  int64_t pin;          /* offset, or WICK_PLAN_NOT_PINNED */
  uint32_t first, last; /* both included */
  uint32_t apart;
  uint32_t buffer; /* index in the input */
  uint64_t nbytes; /* the requested size in bytes, without alignment */
} wick_plan_item;

/* Items are sorted by first, then by buffer, and named by their index here. */
typedef struct wick_plan_task {
  const wick_plan_item *item;
  uint32_t n;
  int64_t bound;
  uint64_t live_nbytes; /* the most bytes requested at one time */
  uint64_t ncollision;  /* pairs; those that collide twice, in time and in a set, count twice */
  /* the pairs are so many that first fit scans all placed items instead of the lists */
  bool dense;
  /* the items that collide with i: to[start[i]] to to[start[i+1]-1]; NULL if there are too many
   * pairs */
  const uint64_t *start;
  const uint32_t *to;
  uint64_t step, most_step; /* steps used, and the budget */
  wick_arena *tmp;
} wick_plan_task;

static inline bool wick_plan_collide(const wick_plan_item *a, const wick_plan_item *b)
{
  return (a->first <= b->last && b->first <= a->last) || (a->apart && a->apart == b->apart);
}

/* Fills bound, live_nbytes, ncollision, dense, start and to. item, n and tmp must be set; the sum
 * of all sizes and pins must be less than 2^63. */
void wick_plan_task_measure(wick_plan_task *t);

/* Places the pinned items, then the others in `order` (all items, each once), each at the lowest
 * free offset. Returns the end of the highest item. */
int64_t wick_plan_first_fit(wick_plan_task *t, const uint32_t *order, int64_t *offset);

/* Orders the items by falling key, then by falling size, then by index. */
void wick_plan_order(const wick_plan_task *t, const int64_t *key, uint32_t *order);

typedef enum wick_plan_answer {
  WICK_PLAN_UNKNOWN, /* the steps were used up */
  WICK_PLAN_FOUND,
  WICK_PLAN_NONE
} wick_plan_answer;

/* Looks for a plan that ends at `target` or below, or proves that none exists. `order` determines
 * which items are tried first. Gives up when t->step reaches until_step, and at once if there are
 * no lists or thousands of items. `offset` is the plan if one is found, else undefined. */
wick_plan_answer wick_plan_exact(wick_plan_task *t, const uint32_t *order, int64_t target,
                                 uint64_t until_step, int64_t *offset);

/* Improves the result of first fit by size. `offset` and the returned end are the best that were
 * found. */
int64_t wick_plan_search(wick_plan_task *t, int64_t *offset, int64_t end);

#endif
