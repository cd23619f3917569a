/* Builds a kernel's loop function by wick_nest. Operands in the same memory share a parameter. */
#include "lower/lower_kernel.h"

#include <string.h>

#include "codegen/abi.h"
#include "graph/group/template.h"
#include "ir/copy.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "loop/contract.h"
#include "loop/nest.h"
#include "ops/elementwise/scalar.h"
#include "ops/host.h"

/* Returns the buffer's type for a kernel. Only constants are special: kernels do not distinguish
 * buffers of the caller and of the arena. */
static wick_type kernel_buffer(const wick_module *m, wick_type t)
{
  wick_type_info info = *wick_type_get(m, t);
  if (info.space != WICK_CONSTANT) info.space = WICK_IO;
  return wick_type_intern((wick_module *)(uintptr_t)m, &info);
}

/* Failures name their places, so that kernels which may fail are equal only at one place. */
static void kernel_key_places(const wick_func *f, wick_text *key)
{
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (f->node[i].op != WICK_OP_fail) continue;
    for (wick_loc l = f->node[i].loc; l.id; l = wick_loc_call(f->module, l))
      wick_text_printf(key, " \"%s\"", wick_loc_text(f->module, l));
  }
}

const char *wick_kernel_key(const wick_kernel_use *use, wick_arena *tmp)
{
  wick_text text = wick_text_begin(tmp), key = wick_text_begin(tmp);
  wick_print_func(use->group, 0, &text);
  const char *body = strchr(text.at, '(');
  wick_text_add(&key, body ? body : text.at);
  for (uint32_t k = 0; k < use->noperand; k++)
    wick_text_printf(&key, " %u:%u", kernel_buffer(use->group->module, use->type[k]).id,
                     use->same[k]);
  kernel_key_places(use->group, &key);
  return key.at;
}

/* ---- one parameter for operands in the same memory ---- */

/* The loop nest has a parameter for each operand. Merges those that have the same memory into the
 * first one, which is read and written. */
static wick_status kernel_merge(const wick_func *f, const wick_kernel_use *use, wick_arena *mem,
                                const wick_func **out)
{
  bool any = false;
  for (uint32_t k = 0; k < use->noperand; k++) any = any || use->same[k] != k;
  *out = f;
  if (!any) return NULL;
  wick_copier c = {.f = f, .to = wick_new(mem, wick_value, f->nvalue + 1)};
  wick_build_begin(&c.b, f->module, f->level, f->name, mem);
  for (uint32_t k = 0; k < f->nparam; k++) {
    bool again = k < use->noperand && use->same[k] != k;
    wick_qualifier qual = f->qual[k];
    for (uint32_t i = k + 1; i < use->noperand; i++)
      if (use->same[i] == k && f->qual[i] != qual) qual = WICK_INOUT;
    c.to[k + 1] = again ? c.to[use->same[k] + 1]
                        : wick_build_param(&c.b, wick_type_of(f, (wick_value){k + 1}), qual, NULL);
    if (!again) c.b.values.at[c.to[k + 1].id] = f->value[k + 1];
  }
  for (uint32_t i = 0; i < f->nnode; i++) wick_copy_node(&c, &f->node[i]);
  wick_func *merged = NULL;
  WICK_TRY(wick_copy_finish(&c, &merged));
  *out = merged;
  return NULL;
}

/* ---- cost ---- */

/* Returns the number of elements of a parameter that the stages can read: each read takes one at
 * each point of its stage. */
static uint64_t kernel_reads(const wick_schedule *s, wick_value parameter)
{
  double n = 0;
  for (uint32_t i = 0; i < s->nstage; i++) {
    const wick_stage *st = &s->stage[i];
    double points = 1;
    for (uint32_t k = 0; k < st->naxis; k++) {
      points *= (double)wick_dim_typical(s->group->module->dims, st->axis[k].extent);
    }
    for (uint32_t k = st->node + 1; k < s->group->node[st->node].end; k++) {
      const wick_node *r = &s->group->node[k];
      if (r->op == WICK_OP_read && r->in[0].id == parameter.id) n += points;
    }
  }
  return n < 0x1p63 ? (uint64_t)n : UINT64_MAX;
}

static void kernel_facts(const wick_kernel_use *use, const wick_schedule *s, const wick_target *t,
                         wick_lowered_kernel *out)
{
  wick_module *m = use->group->module;
  uint32_t nout = use->noperand - use->group->nparam;
  out->model = wick_cost_of(s, t);
  for (uint32_t k = 0; k < use->noperand; k++) {
    uint64_t nbytes, most;
    const wick_type_info *info = wick_type_get(m, use->type[k]);
    nbytes = wick_type_typical_nbytes(m, use->type[k]);
    if (k >= nout &&
        !wick_mul_overflows(kernel_reads(s, (wick_value){k - nout + 1}),
                            wick_elem_bytes(info->elem, 1), &most) &&
        most < nbytes)
      nbytes = most; /* rows that a run-time index selects */
    out->bytes += nbytes;
    if (info->space == WICK_CONSTANT) out->launch_weights += nbytes;
  }
  out->cost = wick_cost_nanoseconds(t, &out->model, out->bytes);
}

/* ---- building ---- */

static const char *kernel_name(const wick_func *g, wick_arena *tmp)
{
  const char *name = wick_str_printf(tmp, "%s.loop", g->name);
  for (uint32_t k = 1; wick_module_find(g->module, name); k++)
    name = wick_str_printf(tmp, "%s.loop.%u", g->name, k);
  return name;
}

/* Builds an empty function for a call into the runtime, so that it is launched like a kernel. */
static wick_status kernel_host(const wick_kernel_use *use, wick_arena *mem, wick_arena *keep,
                               wick_arena *tmp, wick_lowered_kernel *out)
{
  const wick_func *g = use->group;
  wick_module *m = g->module;
  wick_builder b;
  wick_build_begin(&b, m, WICK_LOOP, kernel_name(g, tmp), mem);
  uint32_t nout = use->noperand - g->nparam;
  for (uint32_t k = 0; k < use->noperand; k++)
    wick_build_param(&b, kernel_buffer(m, use->type[k]), k < nout ? WICK_OUT : WICK_IN, NULL);
  wick_dim_list sizes = wick_func_sizes(g, keep);
  for (uint32_t k = 0; k < sizes.n; k++)
    wick_build_param(&b, wick_type_scalar(m, WICK_I64, 1), WICK_IN, NULL);
  wick_build_param(&b, wick_type_scalar(m, WICK_I64, 1), WICK_IN, "begin");
  wick_build_param(&b, wick_type_scalar(m, WICK_I64, 1), WICK_IN, "end");
  wick_build_return(&b, 0, NULL);
  wick_func *f;
  WICK_TRY(wick_build_end(&b, &f));
  wick_module_set(m, f);
  *out = (wick_lowered_kernel){
      .name = f->name,
      .tasks = wick_dim_const(1),
      .sizes = sizes,
      .scratch_bytes = wick_dim_const(0),
      .fault = true, /* nothing runs concurrently with it */
      .contract = wick_str_printf(keep, "%s: by the runtime", wick_op_of(&g->node[0])->host),
      .schedule = "",
      .host = &g->node[0],
      .group = g,
      .operand = wick_dup(keep, wick_type, use->type, use->noperand)};
  for (uint32_t k = 0; k < use->noperand; k++)
    out->bytes += wick_type_typical_nbytes(m, use->type[k]);
  out->cost = out->bytes;
  return NULL;
}

wick_status wick_kernel_build(const wick_kernel_use *use, const wick_target *t, wick_arena *mem,
                              wick_arena *keep, wick_arena *tmp, wick_lowered_kernel *out)
{
  const wick_func *g = use->group, *f;
  if (wick_host_node(g)) return kernel_host(use, mem, keep, tmp, out);
  wick_type *buffer = wick_new(tmp, wick_type, use->noperand);
  for (uint32_t k = 0; k < use->noperand; k++) buffer[k] = kernel_buffer(g->module, use->type[k]);
  wick_schedule *s = wick_schedule_begin(g, tmp);
  if (g->schedule) WICK_TRY(wick_schedule_apply(s, g->schedule));
  const char *contract = wick_contract_of(s, t);
  if (g->contract && strcmp(g->contract, contract) != 0)
    return wick_fail(tmp, WICK_EINVAL, g->name, "its contract is \"%s\", its schedule keeps \"%s\"",
                     g->contract, contract);
  wick_nest_options options = {.name = kernel_name(g, tmp), .buffer = buffer};
  wick_kernel_info info;
  WICK_TRY(wick_nest(g, s, &options, mem, tmp, &info));
  WICK_TRY(kernel_merge(info.loop, use, mem, &f));
  WICK_TRY(wick_verify_func(f, tmp));
  wick_frame frame;
  WICK_TRY(wick_frame_of(f, t, false, tmp, &frame));
  wick_module_set(g->module, f);
  *out = (wick_lowered_kernel){.name = f->name,
                               .tasks = info.tasks,
                               .sizes = wick_func_sizes(g, keep),
                               .scratch = frame.scratch,
                               .fault = frame.fault,
                               .contract = wick_str_dupn(keep, contract, strlen(contract)),
                               .schedule = g->schedule,
                               .scratch_bytes = info.scratch_bytes};
  kernel_facts(use, s, t, out);
  return NULL;
}

/* Begins a kernel with n numbers as parameters. */
static wick_builder kernel_compare_begin(wick_module *m, const char *what, uint32_t n,
                                         wick_arena *mem)
{
  wick_builder b;
  const char *name = wick_str_printf(mem, "%s.%u", what, m->funcs.n);
  for (uint32_t k = 1; wick_module_find(m, name); k++)
    name = wick_str_printf(mem, "%s.%u.%u", what, m->funcs.n, k);
  wick_build_begin(&b, m, WICK_LOOP, name, mem);
  wick_type i64 = wick_type_scalar(m, WICK_I64, 1);
  for (uint32_t k = 0; k < n; k++) wick_build_param(&b, i64, WICK_IN, NULL);
  wick_build_param(&b, i64, WICK_IN, "begin");
  wick_build_param(&b, i64, WICK_IN, "end");
  return b;
}

/* Fails the run if `op` of x and y is true. */
static void kernel_compare(wick_builder *b, wick_opcode op, wick_value x, wick_value y,
                           wick_value detail, wick_code code)
{
  wick_build_failure(b, code, wick_build2(b, op, x, y), detail, wick_dim_const(0));
}

static wick_status kernel_compare_end(wick_builder *b, wick_lowered_kernel *out)
{
  wick_func *f;
  wick_build_return(b, 0, NULL);
  WICK_TRY(wick_build_end(b, &f));
  wick_module_set(f->module, f);
  *out = (wick_lowered_kernel){.name = f->name,
                               .tasks = wick_dim_const(1),
                               .scratch_bytes = wick_dim_const(0),
                               .fault = true,
                               .contract = "exact",
                               .schedule = "",
                               .cost = 1};
  return NULL;
}

wick_status wick_kernel_equal(wick_module *m, uint32_t npair, wick_arena *mem,
                              wick_lowered_kernel *out)
{
  wick_builder b = kernel_compare_begin(m, "equal", 2 * npair, mem);
  for (uint32_t k = 0; k < npair; k++) {
    wick_value x = {2 * k + 1}, y = {2 * k + 2};
    kernel_compare(&b, WICK_OP_ne, x, y, wick_build_i64(&b, k), WICK_ETYPE);
  }
  return kernel_compare_end(&b, out);
}

wick_status wick_kernel_within(wick_module *m, wick_arena *mem, wick_lowered_kernel *out)
{
  wick_builder b = kernel_compare_begin(m, "within", 2, mem);
  wick_value n = {1}, most = {2};
  kernel_compare(&b, WICK_OP_gt, n, most, most, WICK_ERANGE);
  return kernel_compare_end(&b, out);
}

wick_status wick_kernel_copy_group(wick_module *m, const wick_target *t, wick_elem e, uint32_t rank,
                                   const wick_dim *dim, const uint32_t *order, wick_arena *mem,
                                   wick_arena *tmp, const wick_func **out)
{
  wick_builder b;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], from[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) from[k] = dim[order[k]];
  wick_type type = wick_type_tensor(m, e, rank, dim);
  wick_build_begin(&b, m, WICK_GROUP, wick_str_printf(tmp, "copy.%u", m->funcs.n), mem);
  wick_value x = wick_build_param(&b, wick_type_tensor(m, e, rank, from), WICK_IN, NULL);
  uint32_t naxis = wick_axes_of(&b, type, axis);
  for (uint32_t k = 0; k < naxis; k++) index[k] = axis[order[k]].sym;
  wick_map_begin(&b, "copy", naxis, axis, 1, &type);
  wick_value v = wick_read(&b, x, index, 0, NULL, (wick_value){0});
  wick_value y = wick_map_end(&b, 1, &v);
  wick_build_return(&b, 1, &y);
  wick_func *g;
  WICK_TRY(wick_build_end(&b, &g));
  WICK_TRY(wick_template_schedule(g, t, NULL, tmp));
  *out = g;
  return NULL;
}
