/* Nests of all kernels, and the entry. */
#include "driver/lower.h"

#include "codegen/abi.h"
#include "graph/group/template.h"
#include "ir/build.h"
#include "ir/verify.h"
#include "loop/expand.h"
#include "loop/hoist.h"
#include "loop/nest.h"
#include "low/plan.h"
#include "ops/scalar.h"

typedef struct lower {
  const wick_func *f;
  const wick_target *target;
  wick_arena *mem, *tmp;
  wick_lowered *out;
  wick_builder b; /* the entry */
  wick_value *to; /* per value of f */
  wick_value arena, constants;
} lower;

/* ---- kernels ---- */

static wick_status lower_kernel(lower *s, const wick_func *g, wick_loc loc, const wick_type *buffer,
                                wick_lowered_kernel *out)
{
  wick_schedule *schedule = wick_schedule_begin(g, s->tmp);
  if (g->schedule) WICK_TRY(wick_schedule_apply(schedule, g->schedule));
  wick_nest_options o = {.name = wick_str_printf(s->tmp, "k%u", s->out->kernels.n),
                         .buffer = buffer};
  wick_kernel_info info;
  WICK_TRY(wick_nest(g, schedule, &o, s->mem, s->tmp, &info));
  wick_func *f = wick_pass_hoist(wick_pass_expand(info.loop, s->mem), s->mem);
  WICK_TRY(wick_verify_func(f, s->tmp));
  wick_module_set(f->module, f);
  wick_frame frame;
  WICK_TRY(wick_frame_of(f, s->target, false, s->tmp, &frame));
  if (frame.scratch_bytes > s->out->scratch_bytes) s->out->scratch_bytes = frame.scratch_bytes;
  if (!wick_dim_is_const(info.tasks))
    return wick_fail(s->tmp, WICK_EUNSUPPORTED, g->name, "its number of tasks is not constant");
  *out = (wick_lowered_kernel){f->name, g, loc, info.tasks.v, frame.scratch, frame.fault};
  return NULL;
}

static wick_status lower_launch(lower *s, const wick_func *g, const wick_node *n)
{
  wick_type *buffer = wick_new(s->tmp, wick_type, n->nin);
  wick_value *in = wick_new(s->tmp, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++) {
    in[k] = s->to[n->in[k].id];
    buffer[k] = wick_type_of(s->f, n->in[k]);
  }
  wick_lowered_kernel kernel;
  WICK_TRY(lower_kernel(s, g, n->loc, buffer, &kernel));
  wick_push(s->mem, &s->out->kernels, kernel);
  wick_attr a[2] = {{.s = wick_intern(s->f->module, kernel.name)}, {.i = kernel.tasks}};
  wick_build(&s->b, WICK_OP_launch, n->nin, in, a, 0, NULL);
  return s->b.status;
}

/* A copy is a kernel like others: one map that reads and writes the same element. */
static wick_status lower_copy(lower *s, const wick_node *n)
{
  wick_module *m = s->f->module;
  const wick_type_info *t = wick_info_of(s->f, n->in[0]);
  wick_type tensor = wick_type_tensor(m, t->elem, t->rank, t->dim);
  wick_builder b;
  wick_build_begin(&b, m, WICK_GROUP, wick_str_printf(s->tmp, "copy.%u", s->out->kernels.n),
                   s->mem);
  wick_value x = wick_build_param(&b, tensor, WICK_IN, NULL);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t naxis = wick_axes_of(&b, tensor, axis);
  for (uint32_t k = 0; k < naxis; k++) index[k] = axis[k].sym;
  wick_map_begin(&b, "copy", naxis, axis, 1, &tensor);
  wick_value v = wick_read(&b, x, index, 0, NULL, (wick_value){0});
  v = wick_map_end(&b, 1, &v);
  wick_build_return(&b, 1, &v);
  wick_func *g;
  WICK_TRY(wick_build_end(&b, &g));
  WICK_TRY(wick_template_schedule(g, s->target, s->tmp));
  return lower_launch(s, g, n);
}

/* ---- the entry ---- */

static wick_value lower_view(lower *s, wick_value root, wick_type t, uint64_t offset_bytes)
{
  uint64_t size = wick_elem_bytes(wick_type_get(s->f->module, t)->elem, 1);
  wick_attr a = {.i = (int64_t)(offset_bytes / size)};
  return wick_build(&s->b, WICK_OP_view, 1, &root, &a, 1, &t);
}

static wick_value lower_const(lower *s, const wick_node *n)
{
  wick_lowered *o = s->out;
  uint32_t id = n->attr[0].imm.constant;
  for (uint32_t i = 0; i < o->constants.n; i++)
    if (o->constants.at[i].constant == id)
      return lower_view(s, s->constants, wick_type_of(s->f, n->first), o->constants.at[i].offset);
  uint64_t offset = wick_align_up(o->constant_bytes, WICK_ARENA_ALIGN);
  wick_push(s->mem, &o->constants, (wick_lowered_constant){id, offset});
  o->constant_bytes = offset + wick_constant_get(s->f->module, id)->nbytes;
  return lower_view(s, s->constants, wick_type_of(s->f, n->first), offset);
}

static wick_status lower_node(lower *s, const wick_node *n)
{
  wick_type t = n->nout ? wick_type_of(s->f, n->first) : (wick_type){0};
  wick_value x = n->nin ? s->to[n->in[0].id] : (wick_value){0};
  s->b.loc = n->loc;
  switch (n->op) {
  case WICK_OP_alloc:
    s->to[n->first.id] = lower_view(s, s->arena, t, (uint64_t)n->attr[0].i);
    break;
  case WICK_OP_const: s->to[n->first.id] = lower_const(s, n); break;
  case WICK_OP_view:
    s->to[n->first.id] = wick_build(&s->b, WICK_OP_view, 1, &x, n->attr, 1, &t);
    break;
  case WICK_OP_kernel: return lower_launch(s, wick_module_find(s->f->module, n->attr[0].s), n);
  case WICK_OP_copy: return lower_copy(s, n);
  case WICK_OP_free: break;
  case WICK_OP_return: wick_build_return(&s->b, 0, NULL); break;
  default:
    return wick_fail(s->tmp, WICK_EUNSUPPORTED, wick_loc_text(s->f->module, n->loc),
                     "%s cannot be compiled yet", wick_op_of(n)->name);
  }
  return s->b.status;
}

/* Bytes of the arena by its buffers' places, and room for all constants. */
static uint64_t lower_sizes(const wick_func *f, wick_lowered *out)
{
  uint64_t constants = WICK_ARENA_ALIGN;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    uint64_t nbytes = 0;
    if (n->op == WICK_OP_const)
      constants += wick_align_up(wick_constant_get(f->module, n->attr[0].imm.constant)->nbytes,
                                 WICK_ARENA_ALIGN);
    if (n->op != WICK_OP_alloc || n->attr[0].i < 0 ||
        !wick_type_nbytes(f->module, wick_type_of(f, n->first), &nbytes))
      continue;
    uint64_t end = wick_align_up((uint64_t)n->attr[0].i + nbytes, WICK_ARENA_ALIGN);
    if (end > out->arena_bytes) out->arena_bytes = end;
  }
  return constants;
}

wick_status wick_lower(const wick_func *low, const wick_target *t, wick_arena *mem, wick_arena *tmp,
                       wick_lowered *out)
{
  wick_module *m = low->module;
  *out = (wick_lowered){.entry = wick_intern(m, wick_str_printf(tmp, "%s.entry", low->name))};
  wick_dim constants = {(int64_t)lower_sizes(low, out)},
           arena = {(int64_t)(out->arena_bytes ? out->arena_bytes : WICK_ARENA_ALIGN)};
  lower s = {.f = low, .target = t, .mem = mem, .tmp = tmp, .out = out};
  s.to = wick_new(tmp, wick_value, low->nvalue + 1);
  wick_build_begin(&s.b, m, WICK_LOOP, out->entry, mem);
  s.arena =
      wick_build_param(&s.b, wick_type_buffer(m, WICK_U8, 1, &arena, WICK_ARENA), WICK_INOUT, NULL);
  s.constants = wick_build_param(&s.b, wick_type_buffer(m, WICK_U8, 1, &constants, WICK_CONSTANT),
                                 WICK_IN, NULL);
  for (uint32_t v = 1; v <= low->nparam; v++)
    s.to[v] = wick_build_param(&s.b, low->value[v].type, low->qual[v - 1], NULL);
  for (uint32_t i = 0; i < low->nnode; i++) WICK_TRY(lower_node(&s, &low->node[i]));
  wick_func *f;
  WICK_TRY(wick_build_end(&s.b, &f));
  wick_module_set(m, f);
  return NULL;
}
