/* Computes the live intervals of the planned roots, and their sum per instruction. */
#include "low/liveness.h"

wick_liveness wick_liveness_of(const wick_alias *a, uint64_t align, wick_arena *mem)
{
  const wick_func *f = a->f;
  wick_liveness l = {.nbytes = wick_new(mem, uint64_t, f->nnode + 1)};
  l.root = wick_new(mem, wick_live_root, f->nvalue + 1);
  for (uint32_t v = 1; v <= f->nvalue; v++) {
    wick_live_root r = {.root = {v}};
    if (a->memref[v].root.id != v || !wick_alias_planned(f, a->definer, r.root)) continue;
    if (!wick_alias_live(a, r.root, &r.live)) continue;
    r.nbytes = wick_align_up(wick_type_typical_nbytes(f->module, wick_type_of(f, r.root)), align);
    l.root[l.nroot++] = r;
    l.nbytes[r.live.first] += r.nbytes; /* stored as differences, which are summed below */
    l.nbytes[r.live.last + 1] -= r.nbytes;
  }
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (i) l.nbytes[i] += l.nbytes[i - 1];
    if (l.nbytes[i] > l.peak_nbytes) l.peak_nbytes = l.nbytes[i];
  }
  return l;
}
