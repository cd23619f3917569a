/* Sets of axes are propagated through the regions to a fixed point. */
#include "loop/states.h"

#include "ir/op.h"

enum { STATES_AXES = 64 };

/* Returns the axes that an attribute's expressions use. */
static uint64_t states_of_dims(const wick_func *g, const wick_node *fold, const wick_attr *a)
{
  uint64_t set = 0;
  for (uint32_t k = 0; k < a->n; k++)
    for (uint32_t i = 0; i < wick_stage_axes(fold)->n && i < STATES_AXES; i++)
      if (!wick_dim_eq(a->dims[k], WICK_DIM_ANY) &&
          wick_dim_uses(g->module->dims, a->dims[k], wick_stage_axes(fold)->axes[i].sym))
        set |= (uint64_t)1 << i;
  return set;
}

/* Finds the axes that the values of a region depend on, given those of the components that are its
 * parameters. */
static void states_region(const wick_func *g, const wick_node *fold, const wick_region *r,
                          uint32_t n, const uint64_t *axes, uint64_t *value)
{
  for (uint32_t i = 0; i < r->nparam; i++) value[r->first.id + i] = axes[i % n];
  for (uint32_t i = r->begin; i < r->end - 1; i++) {
    const wick_node *x = &g->node[i];
    uint64_t set = x->op == WICK_OP_read || x->op == WICK_OP_index
                       ? states_of_dims(g, fold, wick_read_index(x))
                       : 0;
    for (uint32_t k = 0; k < x->nin; k++) set |= value[x->in[k].id];
    for (uint32_t k = 0; k < x->nout; k++) value[x->first.id + k] = set;
  }
}

wick_states wick_states_of(const wick_func *g, const wick_node *fold, wick_arena *mem)
{
  uint32_t n = g->node[fold->region[0].end - 1].nin;
  uint64_t *axes = wick_new(mem, uint64_t, n + 1), *value = wick_new(mem, uint64_t, g->nvalue + 1);
  for (bool more = n > 0; more;) {
    more = false;
    for (uint32_t r = 0; r < 4; r++) {
      states_region(g, fold, &fold->region[r], n, axes, value);
      const wick_node *yield = &g->node[fold->region[r].end - 1];
      for (uint32_t c = 0; r < 3 && c < n; c++) {
        uint64_t set = axes[c] | value[yield->in[c].id];
        more = more || set != axes[c];
        axes[c] = set;
      }
    }
  }
  return (wick_states){n, axes, value};
}
