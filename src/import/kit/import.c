/* The course of an import: inputs, outputs, weights, scopes, tries. Begin with wick_import_with at
 * the end. */
#include "import/kit/import.h"

#include <string.h>

#include "base/shown.h"
#include "ir/verify.h"

/* ---- messages ---- */

static wick_import_problem import_problem(const wick_import *c, const wick_import_node *n)
{
  return (wick_import_problem){.op_type = n ? n->row->name : "",
                               .domain = n ? c->format->name : "",
                               .word = c->format->version_word,
                               .opset = n ? n->version : 0};
}

/* Adds a failure to the errors and to the caller's list of problems. */
void wick_import_add(wick_import *c, const wick_import_node *n, wick_status s, const char *location)
{
  wick_errors_add(&c->errors, s);
  if (c->options->problems)
    wick_import_problem_add(c->options->problems, s, location, import_problem(c, n),
                            n ? wick_import_shown(c, n->name) : NULL, c->mem);
}

void wick_import_error(wick_import *c, wick_code code, const char *location, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  wick_status s = wick_vfail(c->tmp, code, location, fmt, args);
  va_end(args);
  wick_import_add(c, NULL, s, location);
}

void wick_import_remark(wick_import *c, const char *location, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  const char *text = wick_vfail(c->tmp, WICK_OK, location, fmt, args)->message;
  va_end(args);
  for (uint32_t i = 0; i < c->remarks.n; i++)
    if (strcmp(c->remarks.at[i], text) == 0) return;
  if (c->remarks.n < WICK_IMPORT_REMARKS) wick_push(c->tmp, &c->remarks, text);
}

const char *wick_import_shown(const wick_import *c, const char *name)
{
  enum { MOST = 120 };
  size_t n = strlen(name);
  const char *text = wick_str_shown(c->tmp, n > MOST ? wick_str_dupn(c->tmp, name, MOST) : name);
  return n > MOST ? wick_str_printf(c->tmp, "%s...", text) : text;
}

void wick_import_metadata(wick_import *c, const char *key, const char *value)
{
  wick_arena *mem = &c->module->mem;
  wick_push(mem, &c->module->metadata,
            (wick_pair){wick_str_dup(mem, key), wick_str_dup(mem, value)});
}

void wick_import_name(wick_import *c, wick_value v, const char *name)
{
  if (v.id && *name && !c->b.status)
    wick_build_name(&c->b, v, wick_names_add(&c->module->names, name, strlen(name)), WICK_REL_SAME);
}

/* ---- scopes ---- */

wick_import_scope *wick_import_enter(wick_import *c, bool open)
{
  wick_import_scope *back = c->scope, *s = wick_new(c->tmp, wick_import_scope, 1);
  s->names = wick_names_begin(c->tmp);
  s->around = open ? back : NULL;
  wick_push(c->tmp, &s->bound, (wick_value){0});
  c->scope = s;
  return back;
}

bool wick_import_bind(wick_import *c, const char *name, wick_value v)
{
  wick_import_scope *s = c->scope;
  uint32_t id = wick_names_add(&s->names, name, strlen(name));
  if (id < s->bound.n) return false;
  wick_push(c->tmp, &s->bound, v);
  return true;
}

void wick_import_rebind(wick_import *c, const char *name, wick_value v)
{
  wick_import_scope *s = c->scope;
  uint32_t id = wick_names_find(&s->names, name, strlen(name));
  if (id)
    s->bound.at[id] = v;
  else
    wick_import_bind(c, name, v);
}

const wick_value *wick_import_find(const wick_import *c, const char *name)
{
  size_t n = strlen(name);
  for (const wick_import_scope *s = n ? c->scope : NULL; s; s = s->around) {
    uint32_t id = wick_names_find(&s->names, name, n);
    if (id) return &s->bound.at[id];
  }
  return NULL;
}

/* ---- constants ---- */

enum { IMPORT_ALIGN = 64, IMPORT_LARGE = 1024 }; /* bytes */

static wick_value import_constant(wick_import *c, const char *name, wick_type type,
                                  const void *data, uint64_t nbytes)
{
  return wick_build_constant(&c->b, wick_emit_constant(c->module, name, type, data, nbytes));
}

wick_value wick_import_copied(wick_import *c, const char *name, wick_elem elem, uint32_t rank,
                              const int64_t *dim, const void *data, uint64_t nbytes)
{
  wick_type type = wick_type_tensor_const(c->module, elem, rank, dim);
  return import_constant(c, name, type,
                         wick_arena_copy(&c->module->mem, data, nbytes, IMPORT_ALIGN), nbytes);
}

wick_value wick_import_weight(wick_import *c, const char *name, wick_elem elem, uint32_t rank,
                              const int64_t *dim, wick_span data, const char *location)
{
  uint64_t nbytes;
  wick_type type = wick_type_tensor_const(c->module, elem, rank, dim);
  if (!wick_type_nbytes(c->module, type, &nbytes) || nbytes != data.nbytes) {
    wick_text t = wick_text_begin(c->tmp);
    wick_type_print(c->module, type, &t);
    wick_import_error(c, WICK_EPARSE, location, "its data has %zu bytes, which is not %s",
                      data.nbytes, t.at);
    return (wick_value){0};
  }
  bool loose = c->options->loose && nbytes >= IMPORT_LARGE, dirty = false;
  for (size_t i = 0; elem == WICK_BOOL && i < data.nbytes; i++) dirty |= data.at[i] > 1;
  if (!dirty && nbytes && (loose || (uintptr_t)data.at % wick_elem_storage[elem].align == 0))
    return import_constant(c, name, type, data.at, nbytes);
  unsigned char *to = wick_module_alloc(c->module, (size_t)nbytes + 1);
  if (nbytes) memcpy(to, data.at, (size_t)nbytes);
  for (size_t i = 0; dirty && i < data.nbytes; i++) to[i] = to[i] != 0;
  return import_constant(c, name, type, to, nbytes);
}

/* ---- inputs ---- */

wick_dim wick_import_size(wick_import *c, const char *name, const char *input, uint32_t axis)
{
  return wick_symbols_get(&c->symbols, name, input, axis);
}

/* Builds the given contents of an input as a constant. Returns 0 after an error. */
static wick_value import_content(wick_import *c, const wick_import_content *given, wick_type type,
                                 const char *location)
{
  uint32_t k;
  if (wick_emit_content(c->module, given->input, type, given->data, &k))
    return wick_build_constant(&c->b, k);
  wick_import_error(c, WICK_ETYPE, location, "the %zu bytes that were given are not its size",
                    given->data.nbytes);
  return (wick_value){0};
}

wick_value wick_import_input(wick_import *c, const char *name, wick_elem elem, uint32_t rank,
                             const wick_dim *dim)
{
  const char *location =
      wick_str_printf(c->tmp, "%s: input \"%s\"", c->file, wick_import_shown(c, name));
  if (rank > WICK_MAX_RANK) {
    wick_import_error(c, WICK_EUNSUPPORTED, location, "its rank is %u, the most is %d", rank,
                      WICK_MAX_RANK);
    return (wick_value){0};
  }
  wick_type type = wick_type_tensor(c->module, elem, rank, dim);
  if (wick_dim_eq(wick_type_numel(c->module, type), WICK_DIM_INVALID)) {
    wick_import_error(c, WICK_ERANGE, location, "the product of its dimensions overflows");
    return (wick_value){0};
  }
  wick_value v = wick_build_param(&c->b, type, WICK_IN, name);
  const wick_import_options *o = c->options;
  for (uint32_t i = 0; i < o->ncontent && !c->interface; i++)
    if (o->fixed[i] && strcmp(o->content[i].input, name) == 0)
      wick_push(c->tmp, &c->contents, (wick_import_given){v, &o->content[i], type, location});
  return v;
}

wick_type wick_import_open_type(wick_import *c, wick_elem elem)
{
  wick_dim open = wick_dim_symbol(c->module->dims, WICK_IMPORT_UNRANKED, 1, WICK_IMPORT_LARGEST);
  return wick_type_tensor(c->module, elem, 1, &open);
}

wick_value wick_import_input_open(wick_import *c, const char *name, wick_elem elem)
{
  const wick_import_options *o = c->options;
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < o->nshape; i++) {
    const wick_import_shape *given = &o->shape[i];
    if (strcmp(given->input, name) != 0) continue;
    for (uint32_t k = 0; k < given->rank && k < WICK_MAX_RANK; k++)
      dim[k] =
          given->dim[k] >= 0 ? wick_dim_const(given->dim[k]) : wick_import_size(c, "", name, k);
    return wick_import_input(c, name, elem, given->rank, dim);
  }
  if (!c->unlisted)
    c->unlisted = wick_str_printf(c->tmp, "%s: input \"%s\"", c->file, wick_import_shown(c, name));
  return wick_build_param(&c->b, wick_import_open_type(c, elem), WICK_IN, name);
}

/* Builds the contents that are needed; parameters come before them. */
wick_value wick_import_input_value(wick_import *c, wick_value input)
{
  for (uint32_t i = 0; i < c->contents.n; i++) {
    wick_import_given *g = &c->contents.at[i];
    if (g->input.id == input.id) return import_content(c, g->content, g->type, g->location);
  }
  return input;
}

/* ---- outputs ---- */

void wick_import_declare(wick_import *c, const char *name, wick_type type)
{
  wick_push(c->tmp, &c->outs, (wick_import_out){.name = name, .type = type});
}

void wick_import_output(wick_import *c, uint32_t index, wick_value v)
{
  if (index < c->outs.n) c->outs.at[index].v = v;
}

/* Returns x under that name: another value if x is a parameter, a constant or has another name. */
static wick_value import_result(wick_import *c, wick_value x, const char *text, bool *taken)
{
  uint32_t name = wick_names_add(&c->module->names, text, strlen(text));
  const wick_node *n = wick_emit_definer(&c->b, x);
  bool own = n && n->op != WICK_OP_const && !taken[x.id];
  taken[x.id] = true;
  if (!own) {
    c->b.loc = wick_loc_add(c->module, wick_str_printf(c->tmp, "%s: output \"%s\"", c->file,
                                                       wick_import_shown(c, text)));
    x = wick_build_again(&c->b, x);
  }
  wick_build_name(&c->b, x, name, WICK_REL_SAME);
  return x;
}

/* A result whose size depends on data is followed by NAME.size.AXIS, the number of its elements. */
static void import_return(wick_import *c)
{
  if (!c->outs.n) wick_import_error(c, WICK_EPARSE, c->file, "the model has no outputs");
  if (c->unlisted)
    wick_import_error(c, WICK_ETYPE, c->unlisted,
                      "the model does not declare a shape: one must be given");
  wick_value *out = wick_new(c->tmp, wick_value, 2 * (size_t)c->outs.n + c->states.n + 1);
  bool *taken = wick_new(c->tmp, bool, c->b.values.n + 1);
  uint32_t n = 0;
  if (c->errors.list.n) return;
  for (uint32_t i = 0; i < c->outs.n; i++) {
    const wick_import_out *o = &c->outs.at[i];
    if (!o->v.id) {
      wick_import_error(c, WICK_EPARSE, c->file, "the output \"%s\" is not computed",
                        wick_import_shown(c, o->name));
      return;
    }
    out[n++] = import_result(c, o->v, o->name, taken);
  }
  for (uint32_t i = 0, plain = n; i < plain; i++) {
    const wick_import_sized *s = wick_import_bounded_find(c, c->outs.at[i].v);
    if (!s) continue;
    const char *name = wick_str_printf(c->tmp, "%s.size.%u", c->outs.at[i].name, s->axis);
    c->b.loc = wick_loc_add(c->module, name);
    out[n] = wick_build_again(&c->b, s->count);
    wick_import_name(c, out[n++], name);
  }
  n = wick_import_states_return(c, n, out);
  c->b.loc = (wick_loc){0};
  wick_build_return(&c->b, n, out);
}

/* ---- tries ---- */

static void import_begin(wick_import *c)
{
  c->errors = wick_errors_begin(c->tmp, WICK_IMPORT_ERRORS);
  c->symbols = wick_symbols_begin(c->module, c->options, c->tmp);
  c->remarks.n = c->outs.n = c->bounded.n = c->contents.n = c->twin.n = 0;
  c->states.n = c->module->initials.n = 0;
  if (c->options->problems) *c->options->problems = (wick_import_problems){0};
  c->scope = NULL;
  wick_import_enter(c, false);
  wick_build_begin(&c->b, c->module, WICK_GRAPH, "main", c->mem);
}

/* Builds the graph. Tries again until it is known which inputs' contents are needed. */
static wick_status import_tries(wick_import *c)
{
  const wick_import_options *o = c->options;
  const wick_import first = *c;
  uint32_t nmetadata = c->module->metadata.n;
  for (bool again = true; again;) {
    *c = first;
    c->module->metadata.n = nmetadata;
    import_begin(c);
    uint32_t nfound = c->found->n;
    c->format->graph(c);
    if (!c->over) import_return(c);
    again = c->found->n > nfound;
    for (uint32_t i = 0; i < o->ncontent && c->unknown && c->wanted; i++)
      for (uint32_t k = 0; k < c->b.nparam && !o->fixed[i]; k++)
        if (c->wanted[k] && strcmp(wick_names_get(&c->module->names, c->b.values.at[1 + k].name),
                                   o->content[i].input) == 0)
          o->fixed[i] = again = true;
  }
  return wick_errors_end(&c->errors);
}

/* Lists the facts that are missing. Returns false if there are other errors. */
static bool import_needs(const wick_import *c, wick_import_needs *out)
{
  wick_list(const char *) content = {0};
  uint32_t errors = c->errors.list.n + c->errors.more;
  for (uint32_t k = 0; c->wanted && k < c->b.nparam; k++)
    if (c->wanted[k])
      wick_push(
          c->mem, &content,
          wick_str_dup(c->mem, wick_names_get(&c->module->names, c->b.values.at[1 + k].name)));
  *out = (wick_import_needs){content.at, content.n, c->unlisted != NULL, c->sizes > 0};
  return c->unlisted || errors == c->unknown + c->sizes;
}

/* Builds the inputs, and the outputs as declared. Returns false if a type is not declared. */
static bool import_interface(wick_import *c)
{
  c->interface = true;
  import_begin(c);
  c->format->graph(c);
  wick_value *out = wick_new(c->tmp, wick_value, (size_t)c->outs.n + c->states.n + 1);
  for (uint32_t i = 0; i < c->outs.n; i++) {
    if (!c->outs.at[i].type.id) return false;
    out[i] = wick_build_const(&c->b, c->outs.at[i].type, 0, 0);
    wick_import_name(c, out[i], c->outs.at[i].name);
  }
  wick_build_return(&c->b, wick_import_states_return(c, c->outs.n, out), out);
  return c->outs.n && !c->errors.list.n;
}

/* Replaces the failure of a model whose nodes fit together only for some sizes or contents by its
 * interface. */
static bool import_described(wick_import *c)
{
  const wick_import_options *o = c->options;
  uint32_t errors = c->errors.list.n + c->errors.more, unknown = c->unknown;
  if (!o->described || (!c->unlisted && errors != (c->symbols.symbolic ? c->misfits : c->unknown)))
    return false;
  if (o->needs && !import_needs(c, o->needs)) return false;
  wick_import_problems why = o->problems ? *o->problems : (wick_import_problems){0};
  bool good = import_interface(c);
  if (o->problems) *o->problems = why;
  if (!good) return false;
  *o->described = true;
  if (o->follows) *o->follows = unknown > 0;
  return true;
}

/* Functions that call functions can expand to any number of nodes: the limit depends on the file's
 * size. */
static uint64_t import_most_nodes(const wick_import_options *o, size_t nbytes)
{
  uint64_t most = o->max_nodes ? o->max_nodes : 10000000, fit = 100000 + nbytes / 8;
  return most < fit ? most : fit;
}

wick_status wick_import_with(const wick_import_format *format, wick_module *m, wick_span bytes,
                             const char *path, const wick_import_options *options, wick_arena *mem,
                             wick_arena *tmp, const wick_func **out)
{
  static const wick_import_options none;
  wick_import_founds found = {0};
  *out = NULL;
  wick_import c = {.format = format,
                   .module = m,
                   .mem = mem,
                   .tmp = tmp,
                   .options = options ? options : &none,
                   .found = &found,
                   .path = path,
                   .file = wick_path_base(path)};
  c.nodes_left = import_most_nodes(c.options, bytes.nbytes);
  if (c.options->ncontent) memset(c.options->fixed, 0, c.options->ncontent * sizeof(bool));
  WICK_TRY(format->open(&c, bytes));
  uint32_t nmetadata = m->metadata.n;
  wick_status failure = import_tries(&c);
  if (c.options->remarks) *c.options->remarks = c.remarks;
  if (failure) {
    m->metadata.n = nmetadata;
    if (!import_described(&c)) return failure;
  }
  wick_func *f;
  WICK_TRY(wick_build_end(&c.b, &f));
  wick_module_set(m, f);
  *out = f;
  return NULL;
}
