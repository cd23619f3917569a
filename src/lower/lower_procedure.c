/* Lowers procedures: low functions with numbers in registers become loop functions, which call
 * their kernels. The buffers of a procedure are parts of its frame. Constants are in the blob of
 * the program, whose address is the last parameter of a procedure that reads some, or that calls
 * one that does. */
#include <string.h>

#include "ir/call.h"
#include "ir/copy.h"
#include "ir/verify.h"
#include "lower/lower_state.h"

static const char *procedure_name(const wick_module *m, const char *name, wick_arena *tmp)
{
  return wick_intern((wick_module *)(uintptr_t)m, wick_str_printf(tmp, "%s.loop", name));
}

static bool procedure_has_constant(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (f->node[i].op == WICK_OP_const && wick_info_of(f, f->node[i].first)->kind == WICK_BUFFER)
      return true;
  return false;
}

/* ---- kernels ---- */

/* Makes a procedure of a kernel: it runs all of its tasks. */
static wick_status procedure_of_kernel(const wick_func *f, int64_t tasks, wick_arena *mem,
                                       const wick_func **out)
{
  wick_copier c = {.f = f, .to = wick_new(mem, wick_value, f->nvalue + 1)};
  wick_build_begin(&c.b, f->module, WICK_LOOP, f->name, mem);
  c.b.procedure = true;
  for (uint32_t v = 1; v + 2 <= f->nparam; v++) {
    c.to[v] = wick_build_param(&c.b, f->value[v].type, f->qual[v - 1], NULL);
    c.b.values.at[c.to[v].id] = f->value[v];
  }
  c.to[f->nparam - 1] = wick_build_i64(&c.b, 0);
  c.to[f->nparam] = wick_build_i64(&c.b, tasks);
  for (uint32_t i = 0; i < f->nnode; i++) wick_copy_node(&c, &f->node[i]);
  wick_func *done;
  WICK_TRY(wick_copy_finish(&c, &done));
  wick_module_set(f->module, done);
  *out = done;
  return NULL;
}

/* Makes a procedure of the kernel k, an operator of the runtime: it calls that. `f`: the function that
 * takes its operands and does nothing. */
static wick_status procedure_of_host(lower_state *s, const wick_node *n, const wick_func *f,
                                     wick_lowered_kernel *k, const wick_func **out)
{
  wick_module *m = s->f->module;
  wick_builder b;
  uint32_t nin = f->nparam - 2;
  wick_value *in = wick_new(s->tmp, wick_value, nin + 1u);
  const wick_attr index = {.i = s->out->kernels.n};
  wick_build_begin(&b, m, WICK_LOOP, procedure_name(m, k->name, s->tmp), s->mem);
  b.procedure = true;
  for (uint32_t v = 1; v <= nin; v++)
    in[v - 1] = wick_build_param(&b, f->value[v].type, f->qual[v - 1], NULL);
  wick_build(&b, WICK_OP_host_call, nin, in, &index, 0, NULL);
  wick_build_return(&b, 0, NULL);
  wick_func *made;
  WICK_TRY(wick_build_end(&b, &made));
  wick_module_set(m, made);
  k->loc = n->loc;
  wick_push(s->keep, &s->out->kernels, *k);
  *out = made;
  return NULL;
}

/* Returns whether all failures of f name their places. */
static bool procedure_has_places(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++) {
    wick_opcode op = f->node[i].op;
    if ((op == WICK_OP_fail && !f->node[i].loc.id) || op == WICK_OP_host_call) return false;
  }
  return true;
}

/* Returns the place of the first of f's nodes that has one. */
static wick_loc procedure_place(const wick_func *f)
{
  uint32_t i = 0;
  while (i + 1 < f->nnode && !f->node[i].loc.id) i++;
  return f->node[i].loc;
}

wick_status lower_call_kernel(lower_state *s, const wick_node *n, const wick_kernel_use *use,
                              const wick_value *operand)
{
  lower_procedures *all = s->procedures;
  const char *key = wick_kernel_key(use, s->tmp);
  uint32_t id = wick_names_add(&all->keys, key, strlen(key)), nin = 0;
  if (id > all->kernel.n) {
    wick_lowered_kernel k;
    const wick_func *f;
    WICK_TRY(wick_kernel_build(use, s->target, s->mem, s->keep, s->tmp, &k));
    f = wick_module_find(s->f->module, k.name);
    if (k.host && k.sizes.n)
      return lower_fail(s, n, WICK_EUNSUPPORTED,
                        "it runs outside of the program, which functions that are called cannot "
                        "where sizes are open");
    WICK_TRY(k.host ? procedure_of_host(s, n, f, &k, &f)
                    : procedure_of_kernel(f, k.tasks.v, s->mem, &f));
    wick_push(s->tmp, &all->kernel, f);
  }
  wick_value *in = wick_new(s->tmp, wick_value, use->noperand);
  for (uint32_t i = 0; i < use->noperand; i++)
    if (use->same[i] == i) in[nin++] = operand[i];
  wick_attr callee = {.s = all->kernel.at[id - 1]->name};
  bool places = procedure_has_places(all->kernel.at[id - 1]);
  s->b.loc = places ? (wick_loc){0} : n->loc; /* no call of the user's program */
  wick_build(&s->b, WICK_OP_call, nin, in, &callee, 0, NULL);
  return s->b.status;
}

wick_status lower_launch_function(lower_state *s, const wick_node *n, const wick_func *g,
                                  const wick_value *operand)
{
  uint32_t nin = g->nparam;
  const char *name = procedure_name(g->module, g->name, s->tmp);
  wick_value *in = wick_new(s->tmp, wick_value, nin + 2u);
  for (uint32_t k = 0; k < nin; k++) in[k] = operand[k];
  if (wick_func_reaches(g, procedure_has_constant, s->tmp)) in[nin++] = s->constants;
  uint32_t id = wick_names_add(&s->keys, name, strlen(name));
  if (id > s->out->kernels.n) /* nothing runs concurrently with it */
    wick_push(s->keep, &s->out->kernels,
              ((wick_lowered_kernel){.name = name,
                                     .loc = n->loc.id ? n->loc : procedure_place(g),
                                     .tasks = wick_dim_const(1),
                                     .scratch_bytes = wick_dim_const(0),
                                     .fault = true,
                                     .contract = "exact",
                                     .schedule = "",
                                     .cost = 1}));
  return lower_launch_kernel(s, n, &s->out->kernels.at[id - 1], nin, in);
}

/* ---- nodes ---- */

static wick_status procedure_region(lower_state *s, const wick_region *r);

static wick_status procedure_operands(lower_state *s, const wick_node *n, wick_value *out)
{
  for (uint32_t k = 0; k < n->nin; k++) {
    if (n->in[k].id && wick_info_of(s->f, n->in[k])->kind == WICK_BUFFER)
      WICK_TRY(lower_operand(s, n, n->in[k], &out[k]));
    else
      out[k] = s->to[n->in[k].id];
  }
  return NULL;
}

static void procedure_bind(lower_state *s, wick_value first, uint32_t n, wick_value to)
{
  for (uint32_t k = 0; k < n; k++) s->to[first.id + k].id = to.id + k;
}

static wick_status procedure_regions(lower_state *s, const wick_node *n, const wick_value *in)
{
  wick_build_open(&s->b, n->op, n->nin, in, n->attr, 0, NULL);
  for (uint32_t r = 0; r < n->nregion; r++) {
    const wick_region *g = &n->region[r];
    wick_type *type = wick_new(s->tmp, wick_type, g->nparam + 1u);
    uint32_t nmade = s->made.n;
    for (uint32_t k = 0; k < g->nparam; k++) type[k] = s->f->value[g->first.id + k].type;
    procedure_bind(s, g->first, g->nparam, wick_region_begin(&s->b, g->nparam, type));
    WICK_TRY(procedure_region(s, g));
    while (s->made.n > nmade) s->to[s->made.at[--s->made.n]] = (wick_value){0};
  }
  procedure_bind(s, n->first, n->nout, wick_build_close(&s->b));
  return s->b.status;
}

static wick_status procedure_scalar(lower_state *s, const wick_node *n)
{
  wick_module *m = s->f->module;
  wick_value *in = wick_new(s->tmp, wick_value, n->nin + 1u);
  wick_type *type = wick_new(s->tmp, wick_type, n->nout + 1u);
  uint32_t nin = n->nin;
  const wick_attr *attr = n->nattr ? n->attr : NULL;
  wick_attr callee;
  WICK_TRY(procedure_operands(s, n, in));
  if (n->nregion) return procedure_regions(s, n, in);
  if (n->op == WICK_OP_call) {
    const wick_func *g = wick_module_find(m, n->attr[WICK_ATTR_call_callee].s);
    if (!g || g->level != WICK_LOW)
      return lower_fail(s, n, WICK_EINVAL, "its callee is no low function");
    callee = (wick_attr){.s = procedure_name(m, g->name, s->tmp)}, attr = &callee;
    if (wick_func_reaches(g, procedure_has_constant, s->tmp)) in[nin++] = s->constants;
  }
  for (uint32_t k = 0; k < n->nout; k++) type[k] = s->f->value[n->first.id + k].type;
  bool typed = wick_op_of(n)->typed;
  procedure_bind(s, n->first, n->nout,
                 wick_build(&s->b, n->op, nin, in, attr, typed ? n->nout : 0, typed ? type : NULL));
  return s->b.status;
}

static wick_status procedure_node(lower_state *s, const wick_node *n)
{
  bool buffer = n->nout && wick_info_of(s->f, n->first)->kind == WICK_BUFFER;
  s->b.loc = n->loc;
  if (n->op == WICK_OP_kernel) return lower_group(s, n);
  if (n->op == WICK_OP_copy) return lower_copy(s, n);
  return buffer || n->op == WICK_OP_free ? NULL : procedure_scalar(s, n);
}

/* Lowers the nodes of a region, or of the function. */
static wick_status procedure_region(lower_state *s, const wick_region *r)
{
  const wick_node *y = &s->f->node[r->end - 1];
  wick_value *in = wick_new(s->tmp, wick_value, y->nin + 1u);
  for (uint32_t i = r->begin; i + 1 < r->end; i = s->f->node[i].end)
    WICK_TRY(procedure_node(s, &s->f->node[i]));
  WICK_TRY(procedure_operands(s, y, in));
  if (y->op == WICK_OP_yield)
    wick_yield(&s->b, y->nin, in);
  else
    wick_build_return(&s->b, y->nin, in);
  return s->b.status;
}

/* ---- functions ---- */

static bool procedure_is_launched(const wick_func *entry, const wick_func *g)
{
  for (uint32_t i = 0; i < entry->nnode; i++)
    if (entry->node[i].op == WICK_OP_kernel &&
        entry->node[i].attr[WICK_ATTR_kernel_callee].s == g->name)
      return true;
  return false;
}

/* Returns the bytes of the frame: the end of the last buffer that the plan gave an offset. Buffers
 * without elements are in the frame, too, so that it must not be empty. */
static int64_t procedure_frame(const wick_func *f)
{
  int64_t end = 0;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op != WICK_OP_alloc || n->attr[WICK_ATTR_alloc_offset].i < 0) continue;
    int64_t nbytes = (int64_t)wick_type_most_nbytes(f->module, wick_type_of(f, n->first));
    end = wick_max_i64(end, n->attr[WICK_ATTR_alloc_offset].i + wick_max_i64(nbytes, 1));
  }
  return end;
}

static wick_status procedure_build(const lower_state *entry, const wick_func *f,
                                   lower_procedures *all)
{
  wick_module *m = f->module;
  lower_state s = *entry;
  bool launched = procedure_is_launched(entry->f, f);
  wick_dim frame = wick_dim_const(procedure_frame(f)),
           blob = wick_dim_const((int64_t)entry->out->constant_bytes);
  wick_type i64 = wick_type_scalar(m, WICK_I64, 1);
  s.f = f, s.procedures = all, s.made.n = 0, s.constants = (wick_value){0};
  s.offsets = (wick_value){0}; /* of the entry: a frame's are constant */
  s.alias = wick_alias_of(f, s.tmp);
  s.to = wick_new(s.tmp, wick_value, f->nvalue + 1);
  s.made.at = NULL, s.made.cap = 0;
  wick_build_begin(&s.b, m, WICK_LOOP, procedure_name(m, f->name, s.tmp), s.mem);
  s.b.procedure = !launched;
  for (uint32_t v = 1; v <= f->nparam; v++) {
    s.to[v] = wick_build_param(&s.b, f->value[v].type, f->qual[v - 1], NULL);
    wick_build_name(&s.b, s.to[v], f->value[v].name, f->value[v].relation);
  }
  if (wick_func_reaches(f, procedure_has_constant, s.tmp))
    s.constants = wick_build_param(&s.b, wick_type_buffer(m, WICK_U8, 1, &blob, WICK_CONSTANT),
                                   WICK_IN, "constants");
  for (uint32_t k = 0; launched && k < 2; k++)
    wick_build_param(&s.b, i64, WICK_IN, k ? "end" : "begin");
  wick_type arena = wick_type_buffer(m, WICK_U8, 1, &frame, WICK_ARENA);
  if (frame.v) s.arena = wick_build(&s.b, WICK_OP_alloc, 0, NULL, NULL, 1, &arena);
  WICK_TRY(procedure_region(&s, &(wick_region){.begin = 0, .end = f->nnode}));
  wick_func *done;
  WICK_TRY(wick_build_end(&s.b, &done));
  WICK_TRY(wick_verify_func(done, s.tmp));
  wick_module_set(m, done);
  return NULL;
}

wick_status lower_all_procedures(lower_state *s)
{
  const wick_module *m = s->f->module;
  lower_procedures all = {.keys = wick_names_begin(s->tmp)};
  wick_list(const wick_func *) list = {0};
  for (uint32_t i = 0; i < m->funcs.n; i++)
    if (m->funcs.at[i]->level == WICK_LOW && m->funcs.at[i]->procedure)
      wick_push(s->tmp, &list, m->funcs.at[i]);
  for (uint32_t i = 0; i < list.n; i++) { /* so that the bytes of all constants are known */
    lower_state here = *s;
    here.f = list.at[i];
    for (uint32_t k = 0; k < list.at[i]->nnode; k++) {
      const wick_node *n = &list.at[i]->node[k];
      uint64_t offset;
      if (n->op == WICK_OP_const && wick_info_of(list.at[i], n->first)->kind == WICK_BUFFER)
        WICK_TRY(lower_constant(&here, n, &offset));
    }
  }
  for (uint32_t i = 0; i < list.n; i++) WICK_TRY(procedure_build(s, list.at[i], &all));
  return NULL;
}
