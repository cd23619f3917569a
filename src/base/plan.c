/* The entry of the planner: checks the request, plans, and reports a buffer that does not fit. The
 * check of a finished plan is here too; it shares no code with the planner. */
#include "base/plan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/plan_fit.h"
#include "base/str.h"

static const char *plan_name(wick_arena *mem, const wick_plan_buffer *buffer, uint32_t i)
{
  if (!buffer[i].name) return wick_str_printf(mem, "buffer %" PRIu32, i);
  return wick_str_printf(mem, "buffer \"%s\"", buffer[i].name);
}

static uint64_t plan_align(const wick_plan_options *options)
{
  return options->align_bytes ? options->align_bytes : 1;
}

static uint64_t plan_round_up(uint64_t n, uint64_t align) { return (n + align - 1) & ~(align - 1); }

/* ---- the request ---- */

static wick_status plan_check_buffer(const wick_plan_buffer *buffer, uint32_t i, uint64_t align,
                                     int64_t *sum, wick_arena *mem)
{
  const wick_plan_buffer *b = &buffer[i];
  if (b->first > b->last)
    return wick_fail(mem, WICK_EINVAL, plan_name(mem, buffer, i),
                     "lives from %" PRIu32 " to %" PRIu32 ", which is before it", b->first,
                     b->last);
  if (b->pinned && b->offset_bytes % align)
    return wick_fail(mem, WICK_EINVAL, plan_name(mem, buffer, i),
                     "pinned at %" PRIu64 ", which is no multiple of %" PRIu64, b->offset_bytes,
                     align);
  uint64_t most = INT64_MAX - (align - 1);
  bool far = b->nbytes > most || (b->pinned && b->offset_bytes > most);
  if (far || wick_add_overflows(*sum, (int64_t)plan_round_up(b->nbytes, align), sum) ||
      (b->pinned && wick_add_overflows(*sum, (int64_t)b->offset_bytes, sum)))
    return wick_fail(mem, WICK_ERANGE, plan_name(mem, buffer, i),
                     "%" PRIu64 " bytes%s, with those before it, pass 2^63 - 1", b->nbytes,
                     b->pinned ? " and its pin" : "");
  return NULL;
}

/* All offsets stay below the sum of all sizes and pins, so nothing overflows later. */
static wick_status plan_check_request(const wick_plan_buffer *buffer, uint32_t nbuffer,
                                      uint64_t align, wick_arena *mem)
{
  if (align & (align - 1) || align > INT64_MAX)
    return wick_fail(mem, WICK_EINVAL, NULL,
                     "the alignment %" PRIu64 " is no power of two below 2^63", align);
  int64_t sum = 0;
  for (uint32_t i = 0; i < nbuffer; i++) WICK_TRY(plan_check_buffer(buffer, i, align, &sum, mem));
  return NULL;
}

static int plan_compare(const void *pa, const void *pb)
{
  const wick_plan_item *a = pa, *b = pb;
  if (a->first != b->first) return a->first < b->first ? -1 : 1;
  return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

static uint64_t plan_gcd(uint64_t a, uint64_t b)
{
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Returns the unit of the task: a common divisor of all sizes and pins. A plan's end is a multiple
 * of it, so that the search has fewer ends to rule out. 1 if there is nothing to plan. */
static uint64_t plan_unit(const wick_plan_buffer *buffer, uint32_t nbuffer, uint64_t align)
{
  uint64_t unit = 0;
  for (uint32_t i = 0; i < nbuffer; i++) {
    unit = plan_gcd(unit, plan_round_up(buffer[i].nbytes, align));
    if (buffer[i].nbytes && buffer[i].pinned) unit = plan_gcd(unit, buffer[i].offset_bytes);
  }
  return unit ? unit : 1;
}

static wick_plan_task plan_task(const wick_plan_buffer *buffer, uint32_t nbuffer, uint64_t align,
                                uint64_t unit, wick_arena *tmp)
{
  wick_plan_item *item = wick_new(tmp, wick_plan_item, nbuffer);
  uint32_t n = 0;
  for (uint32_t i = 0; i < nbuffer; i++) {
    const wick_plan_buffer *b = &buffer[i];
    if (b->nbytes == 0) continue;
    item[n++] = (wick_plan_item){.size = (int64_t)(plan_round_up(b->nbytes, align) / unit),
                                 .pin = b->pinned ? (int64_t)(b->offset_bytes / unit)
                                                  : WICK_PLAN_NOT_PINNED,
                                 .first = b->first,
                                 .last = b->last,
                                 .apart = b->apart,
                                 .buffer = i,
                                 .nbytes = b->nbytes};
  }
  qsort(item, n, sizeof *item, plan_compare);
  return (wick_plan_task){.item = item, .n = n, .tmp = tmp};
}

static wick_status plan_check_pins(const wick_plan_buffer *buffer, const wick_plan_task *t,
                                   wick_arena *mem)
{
  uint32_t *pinned = wick_new(t->tmp, uint32_t, t->n), n = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    const wick_plan_item *a = &t->item[i];
    if (a->pin < 0) continue;
    for (uint32_t k = 0; k < n; k++) {
      const wick_plan_item *b = &t->item[pinned[k]];
      if (a->pin < b->pin + b->size && b->pin < a->pin + a->size && wick_plan_collide(a, b))
        return wick_fail(mem, WICK_EINVAL, plan_name(mem, buffer, b->buffer),
                         "pinned onto %s: both are live at one time, or must stay apart",
                         plan_name(mem, buffer, a->buffer));
    }
    pinned[n++] = i;
  }
  return NULL;
}

/* ---- the result ---- */

/* Reports the first buffer, by start and then by index, that ends above the limit. */
static wick_status plan_over_limit(const wick_plan_buffer *buffer, const wick_plan_task *t,
                                   const int64_t *offset, uint64_t unit, const wick_plan *plan,
                                   uint64_t limit, wick_arena *mem)
{
  uint32_t i = 0;
  while ((uint64_t)(offset[i] + t->item[i].size) * unit <= limit) i++;
  uint32_t b = t->item[i].buffer;
  return wick_fail(mem, WICK_ERANGE, plan_name(mem, buffer, b),
                   "%" PRIu64 " bytes, live from %" PRIu32 " to %" PRIu32 ", do not fit in %" PRIu64
                   " bytes: the plan takes %" PRIu64 ", and none takes less than %" PRIu64,
                   buffer[b].nbytes, buffer[b].first, buffer[b].last, limit, plan->nbytes,
                   plan->bound_nbytes);
}

static wick_status plan_make(const wick_plan_buffer *buffer, uint32_t nbuffer,
                             const wick_plan_options *options, wick_arena *mem, wick_arena *tmp,
                             wick_plan *out)
{
  uint64_t align = plan_align(options), unit = plan_unit(buffer, nbuffer, align);
  wick_plan_task t = plan_task(buffer, nbuffer, align, unit, tmp);
  WICK_TRY(plan_check_pins(buffer, &t, mem));
  wick_plan_task_measure(&t);
  t.most_step = options->nstep;

  int64_t *offset = wick_new(tmp, int64_t, t.n);
  uint32_t *order = wick_new(tmp, uint32_t, t.n);
  int64_t *key = wick_new(tmp, int64_t, t.n); /* all 0: by size */
  wick_plan_order(&t, key, order);
  int64_t end = wick_plan_first_fit(&t, order, offset);
  if (end > t.bound && options->nstep) end = wick_plan_search(&t, offset, end);

  *out = (wick_plan){.nbytes = (uint64_t)end * unit,
                     .bound_nbytes = (uint64_t)t.bound * unit,
                     .live_nbytes = t.live_nbytes,
                     .nstep = t.step};
  if (options->limit_bytes && out->nbytes > options->limit_bytes)
    return plan_over_limit(buffer, &t, offset, unit, out, options->limit_bytes, mem);
  out->offset_bytes = wick_new(mem, uint64_t, nbuffer);
  for (uint32_t i = 0; i < nbuffer; i++)
    if (buffer[i].pinned) out->offset_bytes[i] = buffer[i].offset_bytes;
  for (uint32_t i = 0; i < t.n; i++)
    out->offset_bytes[t.item[i].buffer] = (uint64_t)offset[i] * unit;
  return NULL;
}

wick_status wick_plan_make(const wick_plan_buffer *buffer, uint32_t nbuffer,
                           const wick_plan_options *options, wick_arena *mem, wick_arena *tmp,
                           wick_plan *out)
{
  WICK_TRY(plan_check_request(buffer, nbuffer, plan_align(options), mem));
  wick_mark m = wick_arena_mark(tmp);
  wick_status s = plan_make(buffer, nbuffer, options, mem, tmp, out);
  wick_arena_rewind(tmp, m);
  return s;
}

/* ---- the check ---- */

static wick_status plan_check_one(const wick_plan_buffer *buffer, uint32_t i, uint64_t align,
                                  const wick_plan *plan, wick_arena *mem)
{
  const wick_plan_buffer *b = &buffer[i];
  uint64_t at = plan->offset_bytes[i], end;
  if (at % align)
    return wick_fail(mem, WICK_EINTERNAL, plan_name(mem, buffer, i),
                     "lies at %" PRIu64 ", no multiple of %" PRIu64, at, align);
  if (b->pinned && at != b->offset_bytes)
    return wick_fail(mem, WICK_EINTERNAL, plan_name(mem, buffer, i),
                     "lies at %" PRIu64 ", pinned at %" PRIu64, at, b->offset_bytes);
  if (b->nbytes && (wick_add_overflows(at, b->nbytes, &end) || end > plan->nbytes))
    return wick_fail(mem, WICK_EINTERNAL, plan_name(mem, buffer, i),
                     "%" PRIu64 " bytes at %" PRIu64 " pass the arena's %" PRIu64, b->nbytes, at,
                     plan->nbytes);
  return NULL;
}

static bool plan_share_a_byte(const wick_plan_buffer *a, uint64_t at_a, const wick_plan_buffer *b,
                              uint64_t at_b)
{
  bool meet = a->first <= b->last && b->first <= a->last;
  bool apart = a->apart != 0 && a->apart == b->apart;
  return (meet || apart) && at_a < at_b + b->nbytes && at_b < at_a + a->nbytes && a->nbytes &&
         b->nbytes;
}

wick_status wick_plan_check(const wick_plan_buffer *buffer, uint32_t nbuffer,
                            const wick_plan_options *options, const wick_plan *plan,
                            wick_arena *mem)
{
  if (plan->bound_nbytes > plan->nbytes || plan->live_nbytes > plan->bound_nbytes)
    return wick_fail(mem, WICK_EINTERNAL, NULL,
                     "live %" PRIu64 ", bound %" PRIu64 ", arena %" PRIu64 " do not rise",
                     plan->live_nbytes, plan->bound_nbytes, plan->nbytes);
  for (uint32_t i = 0; i < nbuffer; i++) {
    WICK_TRY(plan_check_one(buffer, i, plan_align(options), plan, mem));
    for (uint32_t k = 0; k < i; k++)
      if (plan_share_a_byte(&buffer[k], plan->offset_bytes[k], &buffer[i], plan->offset_bytes[i]))
        return wick_fail(mem, WICK_EINTERNAL, plan_name(mem, buffer, k),
                         "%" PRIu64 " bytes at %" PRIu64 " share memory with %s, %" PRIu64
                         " bytes at %" PRIu64,
                         buffer[k].nbytes, plan->offset_bytes[k], plan_name(mem, buffer, i),
                         buffer[i].nbytes, plan->offset_bytes[i]);
  }
  return NULL;
}
