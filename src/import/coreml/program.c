/* Functions of ML programs: chooses the one that is asked for, and joins its inputs and outputs with
 * those of the model's description. Begin with wick_coreml_program. */
#include "import/coreml/program.h"

#include <string.h>

#include "import/coreml/program/state.h"

/* ---- reading ---- */

/* "CoreML5" is the opset of iOS 15. 0: it is none. */
static int program_opset(wick_span text)
{
  int opset = 0;
  if (text.nbytes < 7 || text.nbytes > 9 || memcmp(text.at, "CoreML", 6) != 0) return 0;
  for (size_t i = 6; i < text.nbytes; i++) {
    if (text.at[i] < '0' || text.at[i] > '9') return 0;
    opset = opset * 10 + (text.at[i] - '0');
  }
  return opset;
}

static bool program_same(wick_span a, wick_span b)
{
  return a.nbytes == b.nbytes && a.nbytes && memcmp(a.at, b.at, a.nbytes) == 0;
}

/* Finds the function, and its block for its opset. Returns false after an error. */
static bool program_function(wick_import *c, wick_mil *m, const wick_mil_program *p)
{
  const char *name = m->model->function;
  wick_text known = wick_text_begin(c->tmp);
  for (size_t i = 0; i < p->functions.n; i++) {
    const wick_mil_function_entry *e = &p->functions.at[i];
    wick_text_printf(&known, "%s%s", i ? ", " : "", wick_wire_text(c->tmp, e->key));
    if (wick_span_is(e->key, name)) m->function = e->value;
  }
  if (!m->function) {
    wick_import_error(c, WICK_EPARSE, c->file, "the program has no function \"%s\", it has %s",
                      wick_import_shown(c, name), p->functions.n ? known.at : "none");
    return false;
  }
  for (size_t i = 0; i < m->function->blocks.n; i++)
    if (program_same(m->function->blocks.at[i].key, m->function->opset))
      m->block = m->function->blocks.at[i].value;
  m->opset = program_opset(m->function->opset);
  if (m->block && m->opset) return true;
  wick_import_error(c, WICK_EPARSE, c->file,
                    "the function \"%s\" has no block for its opset \"%s\"",
                    wick_import_shown(c, name), wick_wire_text(c->tmp, m->function->opset));
  return false;
}

/* ---- inputs and outputs ---- */

/* Gives a feature the type that the program declares: numbers are features of rank 1. */
static wick_value program_typed(wick_import *c, wick_value v, const wick_mil_tensor_type *t,
                                const char *location)
{
  wick_elem elem;
  if (!v.id || c->b.status) return v;
  uint32_t rank = wick_built_info(&c->b, v)->rank;
  if (!wick_mil_elem(t->dtype, &elem)) {
    wick_import_error(c, WICK_EUNSUPPORTED, location, "elements of type %lld are not supported",
                      (long long)t->dtype);
    return (wick_value){0};
  }
  c->b.loc = wick_loc_add(c->module, location);
  if (rank == 1 && !t->dimensions.n) v = wick_build_reshape(&c->b, v, 0, NULL);
  if (wick_built_info(&c->b, v)->rank != t->dimensions.n) {
    wick_import_error(c, WICK_EPARSE, location, "its rank is %u, and %zu in the program", rank,
                      t->dimensions.n);
    return (wick_value){0};
  }
  return wick_build_cast(&c->b, v, elem);
}

/* Declares a state, which is 0 before the first run. */
static wick_mil_item program_state(wick_import *c, const wick_mil_named_type *in,
                                   const char *location)
{
  wick_mil *m = wick_mil_of(c);
  const wick_mil_type *type = in->type->state->wrapped;
  const wick_mil_tensor_type *t = type ? type->tensor : NULL;
  int64_t dim[WICK_MAX_RANK];
  wick_elem elem;
  bool good = t && wick_mil_elem(t->dtype, &elem) && t->dimensions.n <= WICK_MAX_RANK;
  for (size_t k = 0; good && k < t->dimensions.n; k++) {
    const wick_mil_dim *d = &t->dimensions.at[k];
    dim[k] = d->constant ? d->constant->size : 0;
    good = !d->unknown && dim[k] >= 0;
  }
  if (!good || c->b.nodes.n) {
    wick_import_error(c, WICK_EUNSUPPORTED, location, "%s",
                      good ? "a state of a model that is a part of another one"
                           : "the type of a state must be known");
    return (wick_mil_item){0};
  }
  wick_value v =
      wick_import_state(c, wick_wire_text(c->tmp, in->name), elem, (uint32_t)t->dimensions.n, dim);
  wick_push(c->tmp, &m->states, (wick_mil_variable){.first = v, .now = v});
  return (wick_mil_item){.kind = v.id ? WICK_MIL_STATE : WICK_MIL_BROKEN, .state = m->states.n - 1};
}

static wick_mil_item program_input(wick_import *c, const wick_mil_named_type *in)
{
  const char *name = wick_wire_text(c->tmp, in->name);
  const char *location =
      wick_str_printf(c->tmp, "%s: input \"%s\"", c->file, wick_import_shown(c, name));
  const wick_value *v = wick_import_find(c, name);
  if (in->type && in->type->state) return program_state(c, in, location);
  if (!v)
    wick_import_error(c, WICK_EPARSE, location, "the description has no such input");
  else if (!in->type || !in->type->tensor)
    wick_import_error(c, WICK_EUNSUPPORTED, location, "it is no tensor");
  else
    return wick_mil_tensor_item(program_typed(c, *v, in->type->tensor, location));
  return (wick_mil_item){0};
}

static void program_output(wick_import *c, wick_span name, const wick_mil_item *item)
{
  const char *text = wick_wire_text(c->tmp, name);
  if (item->kind == WICK_MIL_TENSOR)
    wick_import_rebind(c, text, item->v);
  else if (item->kind != WICK_MIL_BROKEN)
    wick_import_error(c, WICK_EUNSUPPORTED, c->file, "the output \"%s\" is no tensor",
                      wick_import_shown(c, text));
}

static void program_run(wick_import *c, wick_mil *m)
{
  uint32_t nout = (uint32_t)m->block->outputs.n;
  wick_mil_item *out = wick_new(c->tmp, wick_mil_item, nout + 1u);
  wick_mil_enter(c);
  for (int states = 1; states >= 0; states--) /* states come before the first node */
    for (size_t k = 0; k < m->function->inputs.n; k++) {
      const wick_mil_named_type *in = &m->function->inputs.at[k];
      bool is_state = in->type && in->type->state;
      if (is_state == states) wick_mil_bind(c, in->name, program_input(c, in), c->file);
    }
  wick_mil_block_run(c, m->block, 0, NULL, nout, out);
  for (uint32_t k = 0; k < nout; k++) program_output(c, m->block->outputs.at[k], &out[k]);
  for (uint32_t k = 0; k < m->states.n && !c->b.status; k++)
    if (m->states.at[k].written)
      wick_import_state_set(c, m->states.at[k].first, m->states.at[k].now);
}

static const wick_import_op *const program_families[] = {wick_mil_ops};

const wick_import_format wick_coreml_program_format = {.name = "Core ML programs",
                                                       .version_word = "opset",
                                                       .nfamily = WICK_COUNT(program_families),
                                                       .families = program_families,
                                                       .attr = wick_mil_attr_of};

void wick_coreml_program(wick_import *c, const wick_coreml_model *model, wick_span program)
{
  wick_mil m = {.model = model};
  void *message;
  wick_status s = wick_wire_decode(&wick_mil_program_message, program, c->file, c->tmp, &message);
  if (s) {
    wick_import_add(c, NULL, s, c->file);
    return;
  }
  void *back = c->model;
  c->model = &m;
  if (program_function(c, &m, message)) program_run(c, &m);
  c->model = back;
}
