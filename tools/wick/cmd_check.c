/* wick check: reads models, modules in text, artifacts and programs, and describes them, or lists
 * everything that is wrong or not supported. Begin with check_import. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "base/shown.h"
#include "driver/model.h"
#include "driver/output_size.h"
#include "driver/states.h"
#include "import/format.h"
#include "import/onnx/onnx.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "lang/lower/custom.h"

#include "args.h"
#include "args_value.h"
#include "check_artifact.h"
#include "check_evaluate.h"
#include "check_program.h"
#include "command.h"
#include "invocation.h"

typedef struct check_flags {
  bool print, data, json, unlimited;
  wick_words inputs; /* files */
  const char *outputs, *ops;
  wick_import_range *range;
  uint32_t nrange;
} check_flags;

/* The result of an import; f is NULL if it failed. */
typedef struct check_result {
  const wick_func *f;
  wick_import_problems problems;
  bool described; /* f is only the interface, and `needs` must be given first */
  wick_import_needs needs;
  wick_import_remarks remarks;
  const wick_compiled *compiled; /* it is an artifact: there is no f */
} check_result;

/* Returns whether the type's rank is dynamic. */
static bool check_unranked(const wick_module *m, wick_type type)
{
  const wick_type_info *t = wick_type_get(m, type);
  wick_dim unknown = wick_dim_symbol(m->dims, WICK_IMPORT_UNRANKED, 1, WICK_IMPORT_LARGEST);
  return t->kind == WICK_TENSOR && t->rank == 1 && wick_dim_eq(t->dim[0], unknown);
}

static void check_type(const wick_module *m, wick_type type, wick_text *out)
{
  if (check_unranked(m, type))
    wick_text_printf(out, "%s[" WICK_IMPORT_UNRANKED "]",
                     wick_elem_name(wick_type_get(m, type)->elem));
  else
    wick_type_print(m, type, out);
}

static void check_value(const wick_module *m, const wick_value_info *v, const char *what,
                        wick_text *out)
{
  const char *name = wick_names_get(&m->names, v->name);
  wick_text_printf(out, "  %-6s ", what);
  wick_text_shown(out, name, strlen(name));
  wick_text_add(out, ": ");
  check_type(m, v->type, out);
}

/* Finds the results that give sizes of others (driver/output_size.h). */
static wick_output_sizes check_sized(const wick_func *f, wick_arena *tmp)
{
  const wick_node *r = wick_return(f);
  const char **name = wick_new(tmp, const char *, r->nin);
  uint32_t *rank = wick_new(tmp, uint32_t, r->nin);
  for (uint32_t i = 0; i < r->nin; i++) {
    const wick_type_info *t = wick_info_of(f, r->in[i]);
    name[i] = wick_names_get(&f->module->names, f->value[r->in[i].id].name);
    rank[i] = t->kind == WICK_TENSOR ? t->rank : 0;
  }
  return wick_output_sizes_of(name, rank, r->nin, tmp);
}

static void check_outputs(const wick_func *f, wick_arena *tmp, wick_text *out)
{
  const wick_node *r = wick_return(f);
  const wick_output_sizes s = check_sized(f, tmp);
  for (uint32_t i = 0; i < r->nin - wick_states_count(f); i++) {
    if (s.of[i] < r->nin) continue;
    check_value(f->module, &f->value[r->in[i].id], "output", out);
    for (uint32_t k = 0; k < s.nsize; k++)
      if (s.of[s.size[k]] == i)
        wick_text_printf(out, ", at most: its size along axis %u depends on data",
                         s.axis[s.size[k]]);
    wick_text_char(out, '\n');
  }
}

/* Returns the symbols in the sizes of the parameters. */
static wick_dim_list check_sizes(const wick_func *f, wick_arena *tmp)
{
  wick_func head = *f;
  head.nnode = 0;
  return wick_func_sizes(&head, tmp);
}

static const char *check_dim(const wick_module *m, wick_dim d, wick_arena *tmp)
{
  wick_text t = wick_text_begin(tmp);
  wick_dim_print(m->dims, d, &t);
  return t.at;
}

/* Adds the dynamic sizes and their shape constraints. */
static void check_dynamic_sizes(const wick_func *f, wick_arena *tmp, wick_text *out)
{
  const wick_module *m = f->module;
  wick_dim_list sym = check_sizes(f, tmp);
  for (uint32_t i = 0; i < sym.n; i++) {
    int64_t lo, hi;
    wick_dim_range(m->dims, sym.at[i], &lo, &hi);
    wick_text_printf(out, "  size   %s: %lld to %lld\n", check_dim(m, sym.at[i], tmp),
                     (long long)lo, (long long)hi);
  }
  for (uint32_t i = 0; i < f->nconstraint; i++)
    wick_text_printf(out, "  equal  %s and %s, for %s\n", check_dim(m, f->constraint[i].a, tmp),
                     check_dim(m, f->constraint[i].b, tmp), wick_loc_text(m, f->constraint[i].loc));
}

/* An input or output that is not a tensor, as the metadata describe it (import/onnx/ports.c). */
typedef struct check_port {
  const char *kind, *name, *type, *keys; /* keys: "" if there are none, or if they are unknown */
} check_port;

static bool check_port_of(const wick_pair *p, wick_arena *tmp, check_port *out)
{
  bool in = strncmp(p->key, "onnx.input.", 11) == 0;
  if (!in && strncmp(p->key, "onnx.output.", 12) != 0) return false;
  const char *word = p->value;
  for (int k = 0; word && k < 2; k++) word = (word = strchr(word, ' ')) ? word + 1 : NULL;
  if (!word) return false;
  size_t n = strcspn(word, " ");
  *out = (check_port){in ? "input" : "output", p->key + (in ? 11 : 12), wick_str_dupn(tmp, word, n),
                      word[n] ? word + n + 1 : ""};
  return true;
}

static void check_ports(const wick_module *m, wick_arena *tmp, wick_text *out)
{
  enum { KEYS = 100 }; /* bytes of the keys that are printed */
  check_port p;
  for (uint32_t i = 0; i < m->metadata.n; i++) {
    if (!check_port_of(&m->metadata.at[i], tmp, &p)) continue;
    wick_text_printf(out, "  %-6s %s is %s", p.kind, p.name, p.type);
    size_t n = strlen(p.keys) > KEYS ? KEYS : strlen(p.keys);
    while (n == KEYS && n && (p.keys[n] & 0xc0) == 0x80) n--; /* not in the middle of a character */
    if (n) wick_text_printf(out, ", keys %.*s%s", (int)n, p.keys, p.keys[n] ? "..." : "");
    wick_text_char(out, '\n');
  }
}

/* ---- problems ---- */

/* "net.onnx: node \"a\" (Foo): the operator Foo is not supported (ai.onnx, opset 13; 4 nodes:
 * \"a\", \"b\", \"c\", ...)" */
static void check_problem(const wick_import_problem *p, wick_text *out)
{
  wick_text_printf(out, "%s%s%s", p->location, *p->location ? ": " : "", p->what);
  if (*p->op_type) {
    wick_text_printf(out, " (%s, %s %lld", p->domain, p->word, (long long)p->opset);
    if (p->count > 1) wick_text_printf(out, "; %u nodes:", p->count);
    for (uint32_t i = 0; i < p->count && i < WICK_IMPORT_NAMES && p->count > 1; i++)
      wick_text_printf(out, "%s \"%s\"", i ? "," : "", p->node[i]);
    wick_text_add(out, p->count > WICK_IMPORT_NAMES ? ", ...)" : ")");
  }
  wick_text_char(out, '\n');
}

/* Adds what the user must give before the model can be compiled, why, and with which options. */
static void check_needs(const check_result *c, wick_text *out)
{
  const wick_import_needs *n = &c->needs;
  for (uint32_t i = 0; i < n->ncontent; i++)
    wick_text_printf(out, "  needs  the contents of the input \"%s\"\n", n->content[i]);
  if (n->shapes) wick_text_add(out, "  needs  the shapes of inputs\n");
  if (n->sizes) wick_text_add(out, "  needs  numbers for sizes\n");
  for (uint32_t i = 0; i < c->problems.n; i++) {
    wick_text_add(out, "  why    ");
    check_problem(&c->problems.at[i], out);
  }
  if (n->ncontent || n->shapes)
    wick_text_add(out, "  give   --inputs FILE..., the tensors of all inputs\n");
  if (n->sizes) wick_text_add(out, "  give   --dim NAME=N, or --inputs FILE...\n");
}

/* Prints the module's size, its inputs and outputs, its dynamic sizes, and what must be given. */
static void check_print(const char *path, const check_result *c, wick_arena *tmp)
{
  const wick_func *f = c->f;
  const wick_module *m = f->module;
  uint64_t nbytes = 0;
  for (uint32_t i = 1; i < m->constants.n; i++) nbytes += m->constants.at[i].nbytes;
  wick_text t = wick_text_begin(tmp);
  if (c->described)
    wick_text_printf(&t, "%s: it cannot be compiled before its sizes or contents are given\n",
                     path);
  else
    wick_text_printf(&t, "%s: %u nodes, %.2f MiB of constants\n", path, f->nnode,
                     (double)nbytes / 1048576);
  for (uint32_t i = 1; i <= f->nparam; i++) {
    check_value(m, &f->value[i], wick_is_state(f->qual[i - 1]) ? "state" : "input", &t);
    wick_text_char(&t, '\n');
  }
  check_outputs(f, tmp, &t);
  check_ports(m, tmp, &t);
  if (c->described)
    check_needs(c, &t);
  else
    check_dynamic_sizes(f, tmp, &t);
  fputs(wick_str_shown_lines(tmp, t.at), stdout);
}

static void check_problems(const wick_import_problems *list, wick_status s, wick_arena *tmp)
{
  wick_text t = wick_text_begin(tmp);
  for (uint32_t i = 0; i < list->n; i++) check_problem(&list->at[i], &t);
  if (!list->n) wick_text_printf(&t, "%s\n", s->message);
  if (list->more) wick_text_printf(&t, "(and %u more)\n", list->more);
  t.at[t.n - (t.n > 0)] = 0; /* the last newline */
  wick_command_message(t.at);
}

/* ---- as JSON ---- */

static json_t *check_json_value(const wick_module *m, const wick_value_info *v, wick_arena *tmp)
{
  wick_text type = wick_text_begin(tmp);
  check_type(m, v->type, &type);
  return json_pack("{s:s, s:s}", "name", wick_str_utf8(tmp, wick_names_get(&m->names, v->name)),
                   "type", wick_str_utf8(tmp, type.at));
}

/* An output whose size depends on data has its axes as "depends_on_data": [AXIS]. */
static json_t *check_json_outputs(const wick_func *f, wick_arena *tmp)
{
  const wick_node *r = wick_return(f);
  const wick_output_sizes s = check_sized(f, tmp);
  json_t *all = json_array();
  for (uint32_t i = 0; i < r->nin; i++) {
    if (s.of[i] < r->nin) continue;
    json_t *o = check_json_value(f->module, &f->value[r->in[i].id], tmp), *axes = json_array();
    for (uint32_t k = 0; k < s.nsize; k++)
      if (s.of[s.size[k]] == i)
        json_array_append_new(axes, json_integer((json_int_t)s.axis[s.size[k]]));
    if (json_array_size(axes)) json_object_set(o, "depends_on_data", axes);
    json_decref(axes);
    json_array_append_new(all, o);
  }
  return all;
}

static json_t *check_json_problem(const wick_import_problem *p, wick_arena *tmp)
{
  json_t *nodes = json_array();
  for (uint32_t i = 0; i < p->count && i < WICK_IMPORT_NAMES && *p->op_type; i++)
    json_array_append_new(nodes, json_string(wick_str_utf8(tmp, p->node[i])));
  json_t *o =
      json_pack("{s:s, s:s, s:b, s:I, s:o}", "location", wick_str_utf8(tmp, p->location), "message",
                wick_str_utf8(tmp, p->what), "unsupported", p->code == WICK_EUNSUPPORTED, "count",
                (json_int_t)p->count, "nodes", nodes);
  if (*p->op_type) {
    json_object_set_new(o, "operator", json_string(wick_str_utf8(tmp, p->op_type)));
    json_object_set_new(o, "domain", json_string(wick_str_utf8(tmp, p->domain)));
    json_object_set_new(o, p->word, json_integer((json_int_t)p->opset));
  }
  return o;
}

static void check_json_open(const wick_func *f, json_t *o, wick_arena *tmp)
{
  const wick_module *m = f->module;
  wick_dim_list sym = check_sizes(f, tmp);
  json_t *sizes = json_array(), *equal = json_array();
  for (uint32_t i = 0; i < sym.n; i++) {
    int64_t lo, hi;
    wick_dim_range(m->dims, sym.at[i], &lo, &hi);
    json_array_append_new(sizes, json_pack("{s:s, s:I, s:I}", "name",
                                           wick_str_utf8(tmp, check_dim(m, sym.at[i], tmp)),
                                           "least", (json_int_t)lo, "most", (json_int_t)hi));
  }
  for (uint32_t i = 0; i < f->nconstraint; i++)
    json_array_append_new(
        equal, json_pack("{s:s, s:[s, s]}", "location",
                         wick_str_utf8(tmp, wick_loc_text(m, f->constraint[i].loc)), "sizes",
                         wick_str_utf8(tmp, check_dim(m, f->constraint[i].a, tmp)),
                         wick_str_utf8(tmp, check_dim(m, f->constraint[i].b, tmp))));
  json_object_set_new(o, "sizes", sizes);
  json_object_set_new(o, "equal", equal);
}

/* Lists the inputs and outputs that are not tensors. */
static json_t *check_json_ports(const wick_module *m, wick_arena *tmp)
{
  json_t *all = json_array();
  check_port p;
  for (uint32_t i = 0; i < m->metadata.n; i++) {
    if (!check_port_of(&m->metadata.at[i], tmp, &p)) continue;
    json_t *o = json_pack("{s:s, s:s, s:s}", "kind", p.kind, "name", wick_str_utf8(tmp, p.name),
                          "type", wick_str_utf8(tmp, p.type)),
           *keys = *p.keys ? json_loads(p.keys, 0, NULL) : NULL;
    if (keys) json_object_set_new(o, "keys", keys);
    json_array_append_new(all, o);
  }
  return all;
}

static json_t *check_json_problems(const wick_import_problems *list, wick_status s, wick_arena *tmp)
{
  json_t *problems = json_array();
  for (uint32_t i = 0; i < list->n; i++)
    json_array_append_new(problems, check_json_problem(&list->at[i], tmp));
  if (s && !list->n) {
    const wick_import_problem all = {
        .code = s->code, .location = "", .what = s->message, .op_type = "", .count = 1};
    json_array_append_new(problems, check_json_problem(&all, tmp));
  }
  return problems;
}

/* Lists the shapes, sizes and contents that must be given before the model can be compiled. */
static json_t *check_json_needs(const check_result *r, wick_arena *tmp)
{
  json_t *contents = json_array();
  for (uint32_t i = 0; i < r->needs.ncontent; i++)
    json_array_append_new(contents, json_string(wick_str_utf8(tmp, r->needs.content[i])));
  return json_pack("{s:o, s:b, s:b, s:o}", "contents", contents, "shapes", r->needs.shapes, "sizes",
                   r->needs.sizes, "why", check_json_problems(&r->problems, NULL, tmp));
}

/* Makes the object for a model. */
static json_t *check_json(const char *path, const check_result *c, wick_status s, wick_arena *tmp)
{
  static const wick_import_problems none;
  const wick_func *f = s ? NULL : c->f;
  json_t *o = json_pack("{s:s, s:b}", "file", wick_str_utf8(tmp, path), "good", s == NULL),
         *in = json_array(), *states = json_array(),
         *out = f ? check_json_outputs(f, tmp) : json_array(),
         *problems = check_json_problems(s ? &c->problems : &none, s, tmp);
  for (uint32_t i = 1; f && i <= f->nparam; i++)
    json_array_append_new(wick_is_state(f->qual[i - 1]) ? states : in,
                          check_json_value(f->module, &f->value[i], tmp));
  bool whole = f && !c->described;
  if (whole) json_object_set_new(o, "nodes", json_integer((json_int_t)f->nnode));
  json_object_set_new(o, "inputs", in);
  json_object_set_new(o, "outputs", out);
  json_object_set_new(o, "states", states);
  if (f) json_object_set_new(o, "ports", check_json_ports(f->module, tmp));
  if (whole) check_json_open(f, o, tmp);
  if (f && !whole) json_object_set_new(o, "needs", check_json_needs(c, tmp));
  json_object_set_new(o, "problems", problems);
  json_object_set_new(o, "remarks", wick_check_remarks(c->remarks.n, c->remarks.at, tmp));
  return o;
}

/* ---- inputs ---- */

typedef struct check_input {
  const char *path;
  const check_flags *flags;
  wick_span bytes;               /* of a folder: none */
  wick_import_read *read;        /* the importer of the file's format */
  wick_module *module;           /* the module to fill */
  wick_check_artifact *artifact; /* the artifact to fill */
  wick_files *files;
  wick_arena *mem, *tmp;
} check_input;

/* Reads the files' tensors, one for each input, and passes those on which sizes may depend to the
 * import. */
static wick_status check_feed(check_input *in, wick_import_options *o, wick_arrays *out)
{
  const check_flags *flags = in->flags;
  const char *path = in->path;
  wick_arena *mem = in->mem, *tmp = in->tmp;
  WICK_TRY(wick_check_arrays(&flags->inputs, path, o->files, mem, tmp, out));
  if (!out->n) return NULL;
  bool described = false;
  const wick_func *f;
  wick_import_options interface = *o;
  interface.described = &described, interface.problems = NULL;
  wick_module *m = wick_module_create(mem->guard, "");
  bool good =
      (!flags->ops || !wick_custom_load(flags->ops, 0, NULL, m, mem, tmp, &interface.custom)) &&
      !in->read(m, in->bytes, path, &interface, mem, tmp,
                &f); /* the next import reports a failure */
  uint32_t n = good ? f->nparam - wick_states_count(f) : out->n;
  wick_import_content *content = wick_new(mem, wick_import_content, out->n);
  wick_import_shape *shape = wick_new(mem, wick_import_shape, out->n);
  for (uint32_t i = 0; good && i < n && n == out->n; i++) {
    const wick_array *a = &out->at[i];
    const char *name = wick_str_dup(mem, wick_names_get(&m->names, f->value[i + 1].name));
    content[i] = (wick_import_content){name, {a->data, a->nbytes}};
    if (check_unranked(m, f->value[i + 1].type))
      shape[o->nshape++] = (wick_import_shape){name, a->rank, a->dim};
  }
  o->shape = shape;
  wick_module_free(m);
  o->content = content, o->ncontent = good ? n : 0;
  o->fixed = wick_new(mem, bool, out->n);
  return n == out->n
             ? NULL
             : wick_fail(mem, WICK_EINVAL, path, "%u inputs are given, expected %u", out->n, n);
}

/* ---- one model ---- */

static wick_status check_imported(check_input *in, check_result *out)
{
  const check_flags *flags = in->flags;
  wick_import_options options = {.files = in->files,
                                 .range = flags->range,
                                 .nrange = flags->nrange,
                                 .problems = &out->problems,
                                 .remarks = &out->remarks};
  wick_arrays model_inputs = {0};
  WICK_TRY(check_feed(in, &options, &model_inputs));
  if (!model_inputs.n) options.described = &out->described, options.needs = &out->needs;
  if (flags->ops)
    WICK_TRY(wick_custom_load(flags->ops, 0, NULL, in->module, in->mem, in->tmp, &options.custom));
  wick_status bad = in->read(in->module, in->bytes, in->path, &options, in->mem, in->tmp, &out->f);
  wick_custom_end(options.custom);
  if (bad) return bad;
  WICK_TRY(wick_verify_func(out->f, in->tmp));
  WICK_TRY(wick_states_last(out->f, in->mem, in->tmp, &out->f));
  return flags->outputs && !out->described
             ? wick_check_evaluate(out->f, &model_inputs, in->path, flags->unlimited,
                                   flags->outputs, in->mem, in->tmp)
             : NULL;
}

/* Gives sizes of a module in text, which contains their ranges. */
static wick_status check_text_sizes(check_input *in, check_result *out)
{
  uint32_t n = in->flags->nrange;
  wick_size *sizes = wick_new(in->mem, wick_size, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    const wick_import_range *r = &in->flags->range[i];
    if (r->lo != r->hi)
      return wick_fail(in->mem, WICK_EINVAL, in->path,
                       "a module in text has the ranges of its sizes itself");
    sizes[i] = (wick_size){r->name, r->lo};
  }
  return wick_model_text_sizes(in->module, in->path, n, sizes, in->mem, in->tmp, &out->f);
}

/* Reads a module in Wick's text. */
static wick_status check_text(check_input *in, check_result *out)
{
  const check_flags *flags = in->flags;
  wick_arrays model_inputs = {0};
  WICK_TRY(wick_model_parse(in->module, in->path, in->bytes, in->tmp, &out->f));
  WICK_TRY(check_text_sizes(in, out));
  WICK_TRY(wick_verify_func(out->f, in->tmp));
  WICK_TRY(wick_states_last(out->f, in->mem, in->tmp, &out->f));
  uint32_t ninput = out->f->nparam - wick_states_count(out->f);
  WICK_TRY(wick_check_arrays(&flags->inputs, in->path, in->files, in->mem, in->tmp, &model_inputs));
  if ((model_inputs.n || flags->outputs) && model_inputs.n != ninput)
    return wick_fail(in->mem, WICK_EINVAL, in->path, "%u inputs are given, expected %u",
                     model_inputs.n, ninput);
  return flags->outputs ? wick_check_evaluate(out->f, &model_inputs, in->path, flags->unlimited,
                                              flags->outputs, in->mem, in->tmp)
                        : NULL;
}

/* Opens an artifact. It contains its interface and its sizes, but no graph. */
static wick_status check_artifact(check_input *in, check_result *out)
{
  const check_flags *flags = in->flags;
  const char *option = flags->nrange     ? "--dim"
                       : flags->inputs.n ? "--inputs"
                       : flags->outputs  ? "--outputs"
                       : flags->print    ? "--print"
                       : flags->data     ? "--data"
                                         : NULL;
  if (option)
    return wick_fail(in->mem, WICK_EINVAL, in->path, "it is compiled: %s is for models", option);
  WICK_TRY(wick_check_open(in->path, in->artifact, in->mem));
  out->compiled = in->artifact->compiled;
  return NULL;
}

static wick_status check_import(check_input *in, check_result *out)
{
  wick_file *file;
  const wick_format *format;
  WICK_TRY(wick_format_find_folder(in->path, in->mem, &format));
  if (!format) {
    WICK_TRY(wick_files_map(in->files, in->path, &file));
    in->bytes = (wick_span){file->at, file->nbytes};
    if (file->nbytes >= 4 && memcmp(file->at, "WICK", 4) == 0) return check_artifact(in, out);
    WICK_TRY(wick_format_find(in->bytes, in->path, in->mem, &format));
  }
  in->read = format ? format->read : wick_import_onnx;
  return !format && wick_model_is_text(in->bytes) ? check_text(in, out) : check_imported(in, out);
}

/* Prints a description of the file, or its problems. Returns whether it is valid. */
static bool check_model(check_input *in, json_t *json)
{
  const check_flags *flags = in->flags;
  wick_arena *tmp = in->tmp;
  check_result r = {0};
  wick_status s = check_import(in, &r);
  if (flags->json) {
    json_t *one = !s && r.compiled ? wick_check_artifact_json(in->path, r.compiled, tmp)
                                   : check_json(in->path, &r, s, tmp);
    json_array_append_new(json, one);
    if (s) check_problems(&r.problems, s, tmp);
    return !s;
  }
  for (uint32_t i = 0; i < r.remarks.n; i++)
    printf("remark: %s\n", wick_str_shown_lines(tmp, r.remarks.at[i]));
  if (s) {
    check_problems(&r.problems, s, tmp);
    return false;
  }
  if (r.compiled) {
    wick_check_artifact_print(in->path, r.compiled, tmp);
    return true;
  }
  check_print(in->path, &r, tmp);
  if (!flags->print && !flags->data) return true;
  wick_text t = wick_text_begin(tmp);
  wick_print_module(in->module, flags->data ? WICK_PRINT_ALL : WICK_PRINT_LOCS | WICK_PRINT_NAMES,
                    &t);
  fputs(t.at, stdout);
  return true;
}

static int check_run(int argc, char **argv, wick_guard *guard, wick_files *files, wick_arena *mem,
                     wick_arena *tmp)
{
  check_flags f = {0};
  wick_words dims = {0};
  const wick_flag flag[] = {
      {"dim", 0, WICK_FLAG_DIMS, &dims, "NAME=N...",
       "gives a symbolic dimension a size, or a range: NAME=LO..HI, NAME=LO..HI:STEP"},
      {"inputs", 'i', WICK_FLAG_FILES, &f.inputs, "FILE...",
       "evaluates the model on these tensors, by the operators' definitions"},
      {"outputs", 'o', WICK_FLAG_FOLDER, &f.outputs, "DIR",
       "writes the results of --inputs to DIR/output_K.npy"},
      WICK_UNLIMITED_FLAG(&f.unlimited),
      WICK_OPS_FLAG(&f.ops),
      WICK_LINKS_FLAG(&files->allow_links),
      {"print", 0, WICK_FLAG_BOOL, &f.print, NULL, "prints the imported module"},
      {"data", 0, WICK_FLAG_BOOL, &f.data, NULL,
       "prints the module with the data of its constants"},
      {"json", 0, WICK_FLAG_BOOL, &f.json, NULL, "prints a list in JSON (docs/json.md)"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = UINT32_MAX};
  int stop = wick_args_parse(&args, mem, argc, argv);
  if (stop >= 0) return stop;
  f.range = wick_new(mem, wick_import_range, dims.n);
  for (; f.nrange < dims.n; f.nrange++) {
    wick_size_range r = {0};
    /* valid, because wick_args_parse has checked it */
    (void)wick_value_range(dims.at[f.nrange], mem, &r);
    f.range[f.nrange] = (wick_import_range){r.name, r.least, r.most, r.step};
  }
  int exit_status = WICK_EXIT_OK;
  json_t *json = f.json ? json_array() : NULL;
  for (uint32_t i = 0; i < args.word.n; i++) {
    if (wick_check_is_program(args.word.at[i])) {
      if (!wick_check_program(args.word.at[i], json, tmp)) exit_status = WICK_EXIT_FAILURE;
      wick_arena_free(tmp);
      continue;
    }
    wick_check_artifact artifact = {0};
    check_input in = {.path = args.word.at[i],
                      .flags = &f,
                      .module = wick_module_create(guard, ""),
                      .artifact = &artifact,
                      .files = files,
                      .mem = mem,
                      .tmp = tmp};
    if (!check_model(&in, json)) exit_status = WICK_EXIT_FAILURE;
    wick_check_close(&artifact);
    wick_module_free(in.module);
    wick_arena_free(tmp);
  }
  if (json) json_dumpf(json, stdout, JSON_INDENT(2));
  if (json) putchar('\n');
  json_decref(json);
  return exit_status;
}

int wick_cmd_check(int argc, char **argv)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  wick_files files = wick_files_begin(&mem);
  int status = WICK_EXIT_FAILURE;
  if (setjmp(guard.where))
    wick_command_say("check", "out of memory");
  else
    status = check_run(argc, argv, &guard, &files, &mem, &tmp);
  wick_files_close(&files);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
  return status;
}
