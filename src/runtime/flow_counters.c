/* A list of tables that only grows. */
#include "runtime/flow_counters.h"

#include <stdatomic.h>
#include <string.h>

#include "base/base.h"

enum { FLOWS_LINE = 64 };

typedef struct flows_table flows_table;
struct flows_table {
  flows_table *next;
  atomic_bool taken;
  int64_t *counts; /* behind this, from a cache line's start to another's */
};

struct wick_flows {
  const wick_program *program;
  wick_allocator allocator;
  _Atomic(flows_table *) first;
};

wick_flows *wick_flows_begin(const wick_program *program, wick_allocator a)
{
  wick_flows *f = a.alloc(a.self, sizeof *f);
  if (f) *f = (wick_flows){.program = program, .allocator = a};
  return f;
}

static size_t flows_nbytes(const wick_program *p)
{
  size_t counts = (size_t)p->nflow * WICK_FLOW_SLOTS * sizeof(int64_t);
  return wick_align_up(counts, FLOWS_LINE) + FLOWS_LINE + sizeof(flows_table);
}

void wick_flows_free(wick_flows *f)
{
  if (!f) return;
  wick_allocator a = f->allocator;
  for (flows_table *t = atomic_load(&f->first), *next; t; t = next)
    next = t->next, a.free(a.self, t, flows_nbytes(f->program));
  a.free(a.self, f, sizeof *f);
}

void wick_flows_clear(const wick_program *program, int64_t *counts)
{
  memset(counts, 0, (size_t)program->nflow * WICK_FLOW_SLOTS * sizeof *counts);
  for (uint32_t i = 0; i < program->nflow; i++)
    if (program->flow[i].kind == WICK_FLOW_LOOP)
      counts[i * WICK_FLOW_SLOTS + WICK_FLOW_LEAST] = INT64_MAX;
}

int64_t *wick_flows_take(wick_flows *f)
{
  wick_allocator a = f->allocator;
  for (flows_table *t = atomic_load(&f->first); t; t = t->next)
    if (!atomic_exchange(&t->taken, true)) return t->counts;
  flows_table *t = a.alloc(a.self, flows_nbytes(f->program));
  if (!t) return NULL;
  *t = (flows_table){.next = atomic_load(&f->first)};
  char *at = (char *)(t + 1);
  t->counts = (int64_t *)(void *)(at + (-(uintptr_t)at & (FLOWS_LINE - 1)));
  atomic_store(&t->taken, true);
  wick_flows_clear(f->program, t->counts);
  while (!atomic_compare_exchange_weak(&f->first, &t->next, t)) continue;
  return t->counts;
}

void wick_flows_give(wick_flows *f, const int64_t *counts)
{
  for (flows_table *t = f && counts ? atomic_load(&f->first) : NULL; t; t = t->next)
    if (t->counts == counts) atomic_store(&t->taken, false);
}

/* Generated code writes it meanwhile, with one instruction. */
static uint64_t flows_at(const flows_table *t, uint32_t slot)
{
  return (uint64_t)__atomic_load_n(&t->counts[slot], __ATOMIC_RELAXED);
}

wick_flow wick_flows_sum(const wick_flows *f, uint32_t i)
{
  const wick_program_flow *of = &f->program->flow[i];
  wick_flow all = {.place = of->place, .kind = (wick_flow_kind)of->kind};
  uint32_t slot = i * WICK_FLOW_SLOTS;
  for (const flows_table *t = atomic_load(&((wick_flows *)(uintptr_t)f)->first); t; t = t->next) {
    uint64_t a = flows_at(t, slot), b = flows_at(t, slot + 1),
             least = flows_at(t, slot + WICK_FLOW_LEAST), most = flows_at(t, slot + WICK_FLOW_MOST);
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
