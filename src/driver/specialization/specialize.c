/* Compiles the text of the base program with numbers for its sizes. */
#include "driver/specialization/specialize.h"

#include <string.h>

#include "base/plan.h"
#include "codegen/client.h"
#include "codegen/link.h"
#include "driver/compile.h"
#include "driver/report/contract.h"
#include "driver/specialization/branch_decisions.h"
#include "ir/specialize_dims.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "runtime/specialization.h"

_Static_assert(WICK_SPECIALIZE_SECTIONS == WICK_LINK_SECTIONS + 3, "program, sizes, guards");

enum { SPECIALISE_LITTLE = 64 }; /* bytes of a constant that the entry may read */

/* ---- the source ---- */

static void specialize_constant(const wick_module *m, uint32_t id, bool *observed, wick_text *out)
{
  const wick_constant *c = wick_constant_get(m, id);
  if (observed[id]) return;
  observed[id] = true;
  wick_print_constant(m, id, c->nbytes <= SPECIALISE_LITTLE ? WICK_PRINT_DATA : 0, out);
}

/* Prints the constants and the groups that f names, each once. */
static void specialize_names(const wick_func *f, bool *observed, wick_names *groups, wick_text *out)
{
  const wick_module *m = f->module;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op == WICK_OP_const && wick_const_imm(n)->constant)
      specialize_constant(m, wick_const_imm(n)->constant, observed, out);
    uint32_t before = groups->n;
    if (n->op != WICK_OP_kernel) continue;
    const char *name = n->attr[WICK_ATTR_kernel_callee].s;
    const wick_func *g = wick_module_find(m, name);
    wick_names_add(groups, name, strlen(name));
    if (groups->n > before && g->level == WICK_GROUP) wick_print_func(g, WICK_PRINT_LOCS, out);
  }
}

wick_span wick_specialize_source(const wick_func *low, const wick_lowered *l, wick_arena *mem)
{
  const wick_module *m = low->module;
  wick_text out = wick_text_begin(mem);
  bool *observed = wick_new(mem, bool, m->constants.n);
  for (uint32_t i = 0; i < l->constants.n; i++)
    specialize_constant(m, l->constants.at[i].constant, observed, &out);
  wick_names groups = wick_names_begin(mem);
  for (uint32_t i = 0; i < m->funcs.n; i++) {
    const wick_func *f = m->funcs.at[i];
    if (f->level != WICK_LOW || (f != low && !f->procedure)) continue;
    specialize_names(f, observed, &groups, &out);
    if (f != low) wick_print_func(f, WICK_PRINT_LOCS, &out);
  }
  wick_print_func(low, WICK_PRINT_LOCS, &out);
  return (wick_span){(const unsigned char *)out.at, out.n};
}

/* ---- a specialization ---- */

typedef struct specialize_state {
  wick_specialize *s;
  wick_module *m;
  wick_arena *mem, *tmp;
  const wick_func *low;
  wick_lowered lowered;
} specialize_state;

static wick_status specialize_fail(specialize_state *x, const char *what)
{
  return wick_fail(x->mem, WICK_EINTERNAL, NULL, "a specialization: %s", what);
}

static wick_status specialize_read(specialize_state *x)
{
  wick_status bad =
      wick_parse_module(x->m, "source", (const char *)x->s->source.at, x->s->source.nbytes, x->tmp);
  if (bad) return specialize_fail(x, bad->message);
  for (uint32_t i = 0; i < x->m->funcs.n; i++)
    if (x->m->funcs.at[i]->level == WICK_LOW && !x->m->funcs.at[i]->procedure)
      x->low = x->m->funcs.at[i];
  return x->low ? NULL : specialize_fail(x, "there is no low function");
}

static wick_status specialize_pin_one(specialize_state *x, const wick_func *f,
                                      const wick_dim_values *dim_values, const wick_func **out)
{
  wick_func *g;
  WICK_TRY(wick_func_specialize_dims(f, dim_values, x->mem, &g));
  WICK_TRY(wick_verify_func(g, x->tmp));
  wick_module_set(x->m, g);
  *out = g;
  return NULL;
}

static wick_status specialize_pin_groups(specialize_state *x, const wick_dim_values *dim_values)
{
  wick_names done = wick_names_begin(x->tmp);
  for (uint32_t i = 0; i < x->low->nnode; i++) {
    const wick_node *n = &x->low->node[i];
    uint32_t before = done.n;
    if (n->op != WICK_OP_kernel) continue;
    wick_names_add(&done, n->attr[WICK_ATTR_kernel_callee].s,
                   strlen(n->attr[WICK_ATTR_kernel_callee].s));
    const wick_func *g = wick_module_find(x->m, n->attr[WICK_ATTR_kernel_callee].s);
    if (!g) return specialize_fail(x, "a group is missing");
    if (done.n > before) WICK_TRY(specialize_pin_one(x, g, dim_values, &g));
  }
  return NULL;
}

/* Specializes the low function first, and then only the groups that it still calls. */
static wick_status specialize_pin(specialize_state *x)
{
  wick_dim_list sym = wick_func_sizes(x->low, x->mem);
  if (sym.n != x->s->program->sizes.nsymbol)
    return specialize_fail(x, "its symbols are not those of the program");
  wick_dim *by = wick_new(x->mem, wick_dim, sym.n + 1);
  for (uint32_t i = 0; i < sym.n; i++) by[i] = wick_dim_const(x->s->sizes[i]);
  wick_dim_values dim_values = {sym.n, sym.at, by};
  WICK_TRY(specialize_pin_one(x, x->low, &dim_values, &x->low));
  return specialize_pin_groups(x, &dim_values);
}

/* Decides branches by sizes and guarded contents. */
static void specialize_decide(specialize_state *x)
{
  const wick_program *p = x->s->program;
  const void **input = wick_new(x->tmp, const void *, p->ninput + 1);
  const int64_t *guards = x->s->guards;
  for (uint32_t i = 0; i < p->nguard_input; i++) {
    if (guards[0]) input[p->guard_input[i]] = guards + 1;
    guards += 1 + wick_guards_nbody(p, i);
  }
  x->low = wick_branch_decide(x->low, p->ninput, input, x->mem, x->tmp);
}

static wick_status specialize_lower(specialize_state *x)
{
  wick_pipeline *p = &x->s->pipeline;
  wick_pipeline_begin(p, x->m);
  p->target = *x->s->target;
  p->lowered = &x->lowered, p->keep = x->mem;
  p->base = x->s->program;
  const char *name = x->low->name;
  wick_module_set(x->m, x->low);
  WICK_TRY(wick_pipeline_run_named(p, "specialize", NULL, x->tmp));
  WICK_TRY(wick_lowered_frames(&x->lowered, x->m, x->s->target, x->tmp));
  x->low = wick_module_find(x->m, name);
  for (uint32_t i = 0; i < x->lowered.kernels.n; i++)
    if (x->lowered.kernels.at[i].host)
      return wick_fail(x->mem, WICK_EUNSUPPORTED, NULL,
                       "a program whose parts run in the runtime cannot be specialized");
  return NULL;
}

/* Makes the base program's interface with these sizes, and the specialization's own kernels. */
static wick_status specialize_program(specialize_state *x, wick_section *out)
{
  const wick_program *base = x->s->program;
  const wick_lowered *l = &x->lowered;
  wick_program p = {.entry = l->entry,
                    .contract = wick_contract_text(l, &x->s->pipeline, x->mem),
                    .arena_bytes = l->arena_bytes,
                    .scratch_bytes = (uint64_t)l->scratch_bytes.v,
                    .packed_bytes = base->packed_bytes,
                    .ninput = base->ninput,
                    .noutput = base->noutput,
                    .donor = base->donor,
                    .nstate = base->nstate,
                    .initial = wick_new(x->mem, const void *, base->nstate + 1u),
                    .nkernel = l->kernels.n,
                    .nflow = l->flows.n,
                    .flow = l->flows.at};
  uint32_t n = p.ninput + p.noutput;
  if (x->low->nparam != n) return specialize_fail(x, "its interface is not that of the program");
  wick_io *io = wick_dup(x->mem, wick_io, base->io, n);
  for (uint32_t i = 0; i < n; i++) {
    const wick_type_info *t = wick_info_of(x->low, (wick_value){i + 1});
    bool known = t->rank == io[i].rank && wick_type_const_dims(t, io[i].dim) &&
                 wick_type_nbytes(x->m, wick_type_of(x->low, (wick_value){i + 1}), &io[i].nbytes);
    if (!known) return specialize_fail(x, "a size is not known");
    io[i].nbytes = wick_io_nbytes(io[i].elem, io[i].nbytes);
    for (uint32_t k = 0; k < io[i].rank; k++) io[i].dim_name[k] = "";
  }
  p.io = io;
  p.fixed = wick_new(x->mem, const void *, n + 1);
  p.kernel = wick_compile_kernels(x->m, l, x->mem);
  *out = (wick_section){"program", wick_program_write(&p, x->mem), 0, 0};
  return NULL;
}

static wick_status specialize_whole(specialize_state *x, wick_artifact_parts *out)
{
  static const wick_codegen_options options = {.output = WICK_OUTPUT_OBJECT, .clean = true};
  const wick_specialize *s = x->s;
  WICK_TRY(specialize_read(x));
  WICK_TRY(specialize_pin(x));
  specialize_decide(x);
  WICK_TRY(specialize_lower(x));
  wick_codegen_limits limits = {.control = s->control};
  wick_span *object;
  uint32_t nobject, n = WICK_LINK_SECTIONS;
  WICK_TRY(wick_codegen_module(x->m, s->target, &options, &limits, x->mem, &object, &nobject));
  wick_section *section = wick_new(x->mem, wick_section, WICK_SPECIALIZE_SECTIONS + s->nmore);
  WICK_TRY(wick_link(nobject, object, s->target, x->mem, section));
  WICK_TRY(specialize_program(x, &section[n++]));
  section[n++] = wick_specialization_words("sizes", s->program->sizes.nsymbol, s->sizes, x->mem);
  section[n++] =
      wick_specialization_words("guards", wick_guards_nword(s->program), s->guards, x->mem);
  for (uint32_t i = 0; i < s->nmore; i++) section[n++] = s->more[i];
  return wick_artifact_make(s->target->machine, s->target->needs, n, section, x->mem, out);
}

wick_status wick_specialize_make(wick_specialize *s, wick_guard *guard, wick_arena *mem,
                                 wick_artifact_parts *out)
{
  s->tmp = wick_arena_make(guard);
  s->module = wick_module_create(guard, "");
  specialize_state x = {.s = s, .m = s->module, .mem = mem, .tmp = &s->tmp};
  wick_status bad = specialize_whole(&x, out);
  return bad ? wick_fail(mem, bad->code, NULL, "%s", bad->message) : NULL;
}

void wick_specialize_end(wick_specialize *s)
{
  wick_pipeline_free(&s->pipeline);
  if (s->module) wick_module_free(s->module);
  if (s->tmp.guard) wick_arena_free(&s->tmp);
  s->module = NULL;
}
