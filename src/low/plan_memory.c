/* Passes the sizes and live intervals of the buffers to the planner (base/plan.h), writes the
 * offsets that it returns into the `alloc` instructions, and checks the finished plan. */
#include "low/plan_memory.h"

#include "base/plan.h"
#include "ir/copy.h"
#include "low/liveness.h"

/* Collects the buffers for the planner. With `most`, a dynamic size counts with its largest value.
 * Without it, returns false if a size is dynamic. */
static bool plan_memory_buffers(const wick_func *f, const wick_liveness *l, bool most,
                                wick_plan_buffer *buffer)
{
  for (uint32_t i = 0; i < l->nroot; i++) {
    const wick_live_root *r = &l->root[i];
    uint64_t nbytes = most ? wick_type_most_nbytes(f->module, wick_type_of(f, r->root)) : 0;
    if (!most && !wick_type_nbytes(f->module, wick_type_of(f, r->root), &nbytes)) return false;
    uint32_t name = f->value[r->root.id].name;
    buffer[i] = (wick_plan_buffer){.name = name ? wick_names_get(&f->module->names, name) : NULL,
                                   .nbytes = nbytes,
                                   .first = r->live.first,
                                   .last = r->live.last};
  }
  return true;
}

/* Copies the function with offsets. Allocs without uses get offset 0. */
static wick_func *plan_memory_offsets(const wick_func *f, const int64_t *offset, wick_arena *mem)
{
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    wick_node n = f->node[i];
    wick_attr at;
    if (n.op == WICK_OP_alloc && offset[n.first.id] >= 0) {
      at = (wick_attr){.i = offset[n.first.id]};
      n.attr = wick_dup(mem, wick_attr, &at, 1);
    }
    /* the copier keeps a pointer to a node with regions until they are copied */
    wick_copy_node(&c, n.nregion ? &f->node[i] : &n);
  }
  return wick_copy_end(&c);
}

wick_status wick_low_plan_make(const wick_func *f, uint64_t nstep, uint64_t limit, bool most,
                               wick_arena *mem, wick_arena *tmp, wick_func **out,
                               wick_low_plan *out_plan)
{
  wick_mark mark = wick_arena_mark(tmp);
  wick_alias a = wick_alias_of(f, tmp);
  wick_liveness l = wick_liveness_of(&a, 1, tmp);
  wick_plan_buffer *buffer = wick_new(tmp, wick_plan_buffer, l.nroot);
  if (!plan_memory_buffers(f, &l, most, buffer)) {
    *out = (wick_func *)(uintptr_t)f;
    *out_plan = (wick_low_plan){.nbuffer = l.nroot, .dynamic = true};
    wick_arena_rewind(tmp, mark);
    return NULL;
  }
  wick_plan_options options = {
      .align_bytes = WICK_ARENA_ALIGN, .limit_bytes = limit, .nstep = nstep};
  wick_plan plan;
  WICK_TRY(wick_plan_make(buffer, l.nroot, &options, mem, tmp, &plan));
  int64_t *offset = wick_new(tmp, int64_t, f->nvalue + 1);
  for (uint32_t v = 0; v <= f->nvalue; v++) offset[v] = -1;
  for (uint32_t i = 0; i < l.nroot; i++) offset[l.root[i].root.id] = (int64_t)plan.offset_bytes[i];
  *out_plan = (wick_low_plan){.arena_nbytes = plan.nbytes,
                              .bound_nbytes = plan.live_nbytes,
                              .padding_nbytes = plan.bound_nbytes - plan.live_nbytes,
                              .nbuffer = l.nroot};
  *out = plan_memory_offsets(f, offset, mem);
  wick_arena_rewind(tmp, mark);
#ifndef NDEBUG
  WICK_TRY(wick_low_plan_check(*out, out_plan, tmp));
#endif
  return NULL;
}

wick_status wick_pass_plan_memory(const wick_pass_context *pass, const wick_func *f,
                                  wick_func **out)
{
  wick_low_plan plan;
  return wick_low_plan_make(f, WICK_PLAN_STEPS, 0, false, pass->mem, pass->tmp, out, &plan);
}

wick_status wick_pass_plan_memory_most(const wick_pass_context *pass, const wick_func *f,
                                       wick_func **out)
{
  wick_low_plan plan;
  return wick_low_plan_make(f, WICK_PLAN_STEPS, 0, true, pass->mem, pass->tmp, out, &plan);
}

uint64_t wick_low_peak(const wick_func *f, uint64_t align, wick_arena *tmp)
{
  wick_mark mark = wick_arena_mark(tmp);
  wick_alias a = wick_alias_of(f, tmp);
  uint64_t peak = wick_liveness_of(&a, align, tmp).peak_nbytes;
  wick_arena_rewind(tmp, mark);
  return peak;
}

/* ---- the check ---- */

/* A buffer that the current instruction needs: its value, the last instruction that uses it, and
 * its bytes lo .. end-1 in the arena. */
typedef struct plan_memory_held {
  uint32_t root, last;
  uint64_t lo, end;
} plan_memory_held;

static wick_status plan_memory_fail(const wick_func *f, uint32_t i, wick_arena *tmp,
                                    const char *what)
{
  return wick_fail(tmp, WICK_EINTERNAL, wick_loc_text(f->module, f->node[i].loc),
                   "the plan of @%s: node %u: %s", f->name, i, what);
}

/* Checks the buffer's own offset, and returns its bytes. */
static wick_status plan_memory_hold(const wick_func *f, const wick_alias *a,
                                    const wick_live_root *r, const wick_low_plan *plan,
                                    wick_arena *tmp, plan_memory_held *out)
{
  uint32_t node = a->definer[r->root.id];
  int64_t offset = f->node[node].attr[WICK_ATTR_alloc_offset].i;
  if (offset < 0) return plan_memory_fail(f, node, tmp, "it has no offset");
  if (offset % WICK_ARENA_ALIGN) return plan_memory_fail(f, node, tmp, "its offset is not aligned");
  uint64_t nbytes = wick_type_most_nbytes(f->module, wick_type_of(f, r->root));
  *out = (plan_memory_held){r->root.id, r->live.last, (uint64_t)offset, (uint64_t)offset + nbytes};
  return out->end <= plan->arena_nbytes
             ? NULL
             : plan_memory_fail(f, node, tmp, "it extends beyond the end of the arena");
}

wick_status wick_low_plan_check(const wick_func *f, const wick_low_plan *plan, wick_arena *tmp)
{
  wick_mark mark = wick_arena_mark(tmp);
  wick_alias a = wick_alias_of(f, tmp);
  wick_liveness l = wick_liveness_of(&a, 1, tmp);
  uint32_t *first = wick_new(tmp, uint32_t, f->nnode), *next = wick_new(tmp, uint32_t, l.nroot + 1);
  /* Linked lists of the buffers whose lives begin at an instruction: first[i] is the index of a
   * buffer + 1, and next[] of it is the following one; 0 ends a list. */
  for (uint32_t i = l.nroot; i > 0; i--)
    next[i] = first[l.root[i - 1].live.first], first[l.root[i - 1].live.first] = i;
  plan_memory_held *held = wick_new(tmp, plan_memory_held, l.nroot + 1);
  uint32_t nheld = 0;
  for (uint32_t i = 0; i < f->nnode; i++) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < nheld; k++)
      if (held[k].last >= i) held[kept++] = held[k];
    nheld = kept;
    for (uint32_t r = first[i]; r; r = next[r]) {
      plan_memory_held now;
      WICK_TRY(plan_memory_hold(f, &a, &l.root[r - 1], plan, tmp, &now));
      for (uint32_t k = 0; k < nheld; k++)
        if (now.lo < held[k].end && held[k].lo < now.end)
          return plan_memory_fail(f, i, tmp, "two buffers that are in use share bytes");
      held[nheld++] = now;
    }
  }
  wick_arena_rewind(tmp, mark);
  return NULL;
}
