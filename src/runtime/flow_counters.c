/* A linked list of tables, one for each session. Tables are added and reused, but not removed
 * before the program is freed, so that readers need no lock. */
#include "runtime/flow_counters.h"

#include <stdatomic.h>
#include <string.h>

#include "base/base.h"

enum { FLOWS_LINE = 64 };

typedef struct flow_counters_table flow_counters_table;
struct flow_counters_table {
  flow_counters_table *next;
  atomic_bool taken;
  int64_t *counts; /* after this struct, in cache lines of their own */
};

struct wick_flow_counters {
  const wick_program *program;
  wick_allocator allocator;
  _Atomic(flow_counters_table *) first;
};

wick_flow_counters *wick_flow_counters_begin(const wick_program *program, wick_allocator a)
{
  wick_flow_counters *f = a.alloc(a.self, sizeof *f);
  if (f) *f = (wick_flow_counters){.program = program, .allocator = a};
  return f;
}

static size_t flow_counters_nbytes(const wick_program *p)
{
  size_t counts = (size_t)p->nflow * WICK_FLOW_SLOTS * sizeof(int64_t);
  return wick_align_up(counts, FLOWS_LINE) + FLOWS_LINE + sizeof(flow_counters_table);
}

void wick_flow_counters_free(wick_flow_counters *f)
{
  if (!f) return;
  wick_allocator a = f->allocator;
  for (flow_counters_table *t = atomic_load(&f->first), *next; t; t = next)
    next = t->next, a.free(a.self, t, flow_counters_nbytes(f->program));
  a.free(a.self, f, sizeof *f);
}

void wick_flow_counters_clear(const wick_program *program, int64_t *counts)
{
  memset(counts, 0, (size_t)program->nflow * WICK_FLOW_SLOTS * sizeof *counts);
  for (uint32_t i = 0; i < program->nflow; i++)
    if (program->flow[i].kind == WICK_FLOW_LOOP)
      counts[i * WICK_FLOW_SLOTS + WICK_FLOW_LEAST] = INT64_MAX;
}

int64_t *wick_flow_counters_take(wick_flow_counters *f)
{
  wick_allocator a = f->allocator;
  for (flow_counters_table *t = atomic_load(&f->first); t; t = t->next)
    if (!atomic_exchange(&t->taken, true)) return t->counts;
  flow_counters_table *t = a.alloc(a.self, flow_counters_nbytes(f->program));
  if (!t) return NULL;
  *t = (flow_counters_table){.next = atomic_load(&f->first)};
  char *at = (char *)(t + 1);
  t->counts = (int64_t *)(void *)(at + (-(uintptr_t)at & (FLOWS_LINE - 1)));
  atomic_store(&t->taken, true);
  wick_flow_counters_clear(f->program, t->counts);
  while (!atomic_compare_exchange_weak(&f->first, &t->next, t)) continue;
  return t->counts;
}

void wick_flow_counters_give(wick_flow_counters *f, const int64_t *counts)
{
  for (flow_counters_table *t = f && counts ? atomic_load(&f->first) : NULL; t; t = t->next)
    if (t->counts == counts) atomic_store(&t->taken, false);
}

/* Generated code may write it at the same time, with one instruction. */
static uint64_t flow_counters_at(const flow_counters_table *t, uint32_t slot)
{
  return (uint64_t)__atomic_load_n(&t->counts[slot], __ATOMIC_RELAXED);
}

wick_flow wick_flow_counters_sum(const wick_flow_counters *f, uint32_t i)
{
  const wick_program_flow *of = &f->program->flow[i];
  wick_flow all = {.location = of->location, .kind = (wick_flow_kind)of->kind};
  uint32_t slot = i * WICK_FLOW_SLOTS;
  for (const flow_counters_table *t = atomic_load(&((wick_flow_counters *)(uintptr_t)f)->first); t;
       t = t->next) {
    uint64_t a = flow_counters_at(t, slot), b = flow_counters_at(t, slot + 1),
             least = flow_counters_at(t, slot + WICK_FLOW_LEAST),
             most = flow_counters_at(t, slot + WICK_FLOW_MOST);
    if (of->kind == WICK_FLOW_IF) {
      all.ntaken[0] += a, all.ntaken[1] += b;
    } else if (a) {
      all.least = all.nloop && all.least < least ? all.least : least;
      all.most = all.most > most ? all.most : most;
      all.nloop += a, all.nstep += b;
    }
  }
  return all;
}
