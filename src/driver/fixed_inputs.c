#include "driver/fixed_inputs.h"

#include <string.h>

#include "import/kit/emit.h"
#include "ir/copy.h"

const void *wick_fixed_input(const wick_given *g, const char *name)
{
  for (uint32_t k = 0; k < g->ncontent; k++)
    if (g->fixed[k] && strcmp(g->contents[k].input, name) == 0) return g->contents[k].data;
  return NULL;
}

/* Returns whether all elements of x are those of the bytes. NaN differs from itself: then every run
 * fails. */
static wick_value fixed_same(wick_builder *b, wick_value x, const wick_io *io, const void *data)
{
  int64_t axes[WICK_MAX_RANK];
  uint32_t k = wick_constant_add(b->module, io->name, b->values.at[x.id].type, data, io->nbytes);
  wick_value same = wick_build2(b, WICK_OP_eq, x, wick_build_constant(b, k));
  for (uint32_t d = 0; d < io->rank; d++) axes[d] = d;
  if (!io->rank) return same;
  same = wick_build_cast(b, same, WICK_I32);
  same = wick_emit_reduce(b, WICK_OP_reduce_min, same, io->rank, axes, false);
  return wick_build_cast(b, same, WICK_BOOL);
}

static void fixed_assert(wick_builder *b, wick_value same, const char *name, wick_arena *tmp)
{
  const char *text = wick_str_printf(
      tmp, "input \"%s\" has other contents than those that the code was compiled for", name);
  const wick_attr attr[] = {[WICK_ATTR_assert_message] = {.s = wick_intern(b->module, text)},
                            [WICK_ATTR_assert_strings] = {.n = 0}};
  wick_build(b, WICK_OP_assert, 1, &same, attr, 0, NULL);
}

/* The code cannot compare strings, nor as many elements as only the run knows. */
static wick_status fixed_comparable(wick_compilation *c, const wick_io *io)
{
  bool constant = io->elem != WICK_STRING;
  for (uint32_t k = 0; k < io->rank; k++) constant = constant && io->dim[k] >= 0;
  if (constant) return NULL;
  return wick_fail(&c->mem, WICK_EUNSUPPORTED, wick_path_base(c->model->path),
                   "sizes depend on the contents of input \"%s\", which a bundle does not check",
                   io->name);
}

wick_status wick_fixed_inputs_assert(wick_compilation *c, const wick_io *io)
{
  const wick_func *f = c->graph;
  bool any = false;
  for (uint32_t i = 0; i < f->nparam; i++) {
    if (!wick_fixed_input(&c->given, io[i].name)) continue;
    WICK_TRY(fixed_comparable(c, &io[i]));
    any = true;
  }
  if (!any) return NULL;
  wick_copier copy = wick_copy_begin(f, &c->module->mem);
  for (uint32_t i = 0; i < f->nparam; i++) {
    const void *data = wick_fixed_input(&c->given, io[i].name);
    if (data)
      fixed_assert(&copy.b, fixed_same(&copy.b, copy.to[i + 1], &io[i], data), io[i].name, &c->tmp);
  }
  for (uint32_t i = 0; i < f->nnode; i++) wick_copy_node(&copy, &f->node[i]);
  wick_func *g;
  WICK_TRY(wick_copy_finish(&copy, &g));
  wick_module_set(c->module, g);
  c->graph = g;
  return NULL;
}
