/* wick check: imports models, and says what they are, or all that Wick cannot take of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "import/onnx/onnx.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/evaluate.h"

#include "args.h"
#include "command.h"
#include "feed.h"
#include "job.h"

typedef struct check_flags {
  bool print, data, json;
  wick_words inputs; /* files */
  const char *outputs;
  wick_onnx_range *range;
  uint32_t nrange;
} check_flags;

static void check_value(const wick_module *m, const wick_value_info *v, const char *what,
                        wick_text *out)
{
  wick_text_printf(out, "  %-6s %s: ", what, wick_names_get(&m->names, v->name));
  wick_type_print(m, v->type, out);
  wick_text_char(out, '\n');
}

/* The symbols of its parameters' sizes. */
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

/* What is open, and what must be equal. */
static void check_open(const wick_func *f, wick_arena *tmp, wick_text *out)
{
  const wick_module *m = f->module;
  wick_dim_list sym = check_sizes(f, tmp);
  for (uint32_t i = 0; i < sym.n; i++) {
    int64_t lo, hi;
    wick_dim_range(m->dims, sym.at[i], &lo, &hi);
    wick_text_printf(out, "  size   %s: %lld to %lld\n", check_dim(m, sym.at[i], tmp),
                     (long long)lo, (long long)hi);
  }
  for (uint32_t i = 0; i < f->ncheck; i++)
    wick_text_printf(out, "  equal  %s and %s, for %s\n", check_dim(m, f->check[i].a, tmp),
                     check_dim(m, f->check[i].b, tmp), wick_loc_text(m, f->check[i].loc));
}

/* What metadata say of an input or output that is no tensor (import/onnx/ports.c): its words. */
typedef struct check_port {
  const char *kind, *name, *type, *keys; /* keys: "" where there are none, or they are not known */
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
  enum { KEYS = 100 }; /* bytes of them */
  check_port p;
  for (uint32_t i = 0; i < m->metadata.n; i++) {
    if (!check_port_of(&m->metadata.at[i], tmp, &p)) continue;
    wick_text_printf(out, "  %-6s %s is %s", p.kind, p.name, p.type);
    size_t n = strlen(p.keys) > KEYS ? KEYS : strlen(p.keys);
    while (n == KEYS && n && (p.keys[n] & 0xc0) == 0x80) n--; /* no part of a letter */
    if (n) wick_text_printf(out, ", keys %.*s%s", (int)n, p.keys, p.keys[n] ? "..." : "");
    wick_text_char(out, '\n');
  }
}

/* The module's size, its inputs and outputs, and the sizes that are open. */
static void check_print(const char *path, const wick_func *f, wick_arena *tmp)
{
  const wick_module *m = f->module;
  const wick_node *r = wick_return(f);
  uint64_t nbytes = 0;
  for (uint32_t i = 1; i < m->constants.n; i++) nbytes += m->constants.at[i].nbytes;
  wick_text t = wick_text_begin(tmp);
  wick_text_printf(&t, "%s: %u nodes, %.2f MiB of constants\n", path, f->nnode,
                   (double)nbytes / 1048576);
  for (uint32_t i = 1; i <= f->nparam; i++) check_value(m, &f->value[i], "input", &t);
  for (uint32_t i = 0; i < r->nin; i++) check_value(m, &f->value[r->in[i].id], "output", &t);
  check_ports(m, tmp, &t);
  check_open(f, tmp, &t);
  fputs(t.at, stdout);
}

/* ---- what is wrong ---- */

/* "net.onnx: node \"a\" (Foo): the operator Foo is not supported (ai.onnx, opset 13; 4 nodes:
 * \"a\",
 * \"b\", \"c\", ...)" */
static void check_problem(const wick_onnx_problem *p, wick_text *out)
{
  wick_text_printf(out, "%s%s%s", p->place, *p->place ? ": " : "", p->what);
  if (*p->op_type) {
    wick_text_printf(out, " (%s, opset %lld", p->domain, (long long)p->opset);
    if (p->count > 1) wick_text_printf(out, "; %u nodes:", p->count);
    for (uint32_t i = 0; i < p->count && i < WICK_ONNX_NAMES && p->count > 1; i++)
      wick_text_printf(out, "%s \"%s\"", i ? "," : "", p->node[i]);
    wick_text_add(out, p->count > WICK_ONNX_NAMES ? ", ...)" : ")");
  }
  wick_text_char(out, '\n');
}

static void check_problems(const wick_onnx_problems *list, wick_status s, wick_arena *tmp)
{
  wick_text t = wick_text_begin(tmp);
  for (uint32_t i = 0; i < list->n; i++) check_problem(&list->at[i], &t);
  if (!list->n) wick_text_printf(&t, "%s\n", s->message);
  if (list->more) wick_text_printf(&t, "(and %u more)\n", list->more);
  fputs(t.at, stderr);
}

/* ---- for programs ---- */

static json_t *check_json_value(const wick_module *m, const wick_value_info *v, wick_arena *tmp)
{
  wick_text type = wick_text_begin(tmp);
  wick_type_print(m, v->type, &type);
  return json_pack("{s:s, s:s}", "name", wick_names_get(&m->names, v->name), "type", type.at);
}

static json_t *check_json_problem(const wick_onnx_problem *p)
{
  json_t *nodes = json_array();
  for (uint32_t i = 0; i < p->count && i < WICK_ONNX_NAMES && *p->op_type; i++)
    json_array_append_new(nodes, json_string(p->node[i]));
  json_t *o =
      json_pack("{s:s, s:s, s:b, s:I, s:o}", "place", p->place, "message", p->what, "unsupported",
                p->code == WICK_EUNSUPPORTED, "count", (json_int_t)p->count, "nodes", nodes);
  if (*p->op_type) {
    json_object_set_new(o, "operator", json_string(p->op_type));
    json_object_set_new(o, "domain", json_string(p->domain));
    json_object_set_new(o, "opset", json_integer((json_int_t)p->opset));
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
    json_array_append_new(sizes, json_pack("{s:s, s:I, s:I}", "name", check_dim(m, sym.at[i], tmp),
                                           "least", (json_int_t)lo, "most", (json_int_t)hi));
  }
  for (uint32_t i = 0; i < f->ncheck; i++)
    json_array_append_new(
        equal, json_pack("{s:s, s:[s, s]}", "place", wick_loc_text(m, f->check[i].loc), "sizes",
                         check_dim(m, f->check[i].a, tmp), check_dim(m, f->check[i].b, tmp)));
  json_object_set_new(o, "sizes", sizes);
  json_object_set_new(o, "equal", equal);
}

/* Of inputs and outputs that are no tensors. */
static json_t *check_json_ports(const wick_module *m, wick_arena *tmp)
{
  json_t *all = json_array();
  check_port p;
  for (uint32_t i = 0; i < m->metadata.n; i++) {
    if (!check_port_of(&m->metadata.at[i], tmp, &p)) continue;
    json_t *o = json_pack("{s:s, s:s, s:s}", "kind", p.kind, "name", p.name, "type", p.type),
           *keys = *p.keys ? json_loads(p.keys, 0, NULL) : NULL;
    if (keys) json_object_set_new(o, "keys", keys);
    json_array_append_new(all, o);
  }
  return all;
}

/* One object a model; f is NULL where it could not be imported. */
static json_t *check_json(const char *path, const wick_func *f, const wick_onnx_problems *list,
                          wick_status s, wick_arena *tmp)
{
  json_t *o = json_pack("{s:s, s:b}", "file", path, "good", s == NULL), *problems = json_array(),
         *in = json_array(), *out = json_array();
  for (uint32_t i = 0; i < list->n; i++)
    json_array_append_new(problems, check_json_problem(&list->at[i]));
  if (s && !list->n) {
    const wick_onnx_problem all = {
        .code = s->code, .place = "", .what = s->message, .op_type = "", .count = 1};
    json_array_append_new(problems, check_json_problem(&all));
  }
  for (uint32_t i = 1; f && i <= f->nparam; i++)
    json_array_append_new(in, check_json_value(f->module, &f->value[i], tmp));
  const wick_node *r = f ? wick_return(f) : NULL;
  for (uint32_t i = 0; f && i < r->nin; i++)
    json_array_append_new(out, check_json_value(f->module, &f->value[r->in[i].id], tmp));
  if (f) json_object_set_new(o, "nodes", json_integer((json_int_t)f->nnode));
  json_object_set_new(o, "inputs", in);
  json_object_set_new(o, "outputs", out);
  if (f) json_object_set_new(o, "ports", check_json_ports(f->module, tmp));
  if (f) check_json_open(f, o, tmp);
  json_object_set_new(o, "problems", problems);
  return o;
}

/* ---- its results on files, by the slow definitions ---- */

/* The files' tensors, one an input, and what of them the import is told: sizes may follow from it.
 */
static wick_status check_feed(const check_flags *flags, wick_span bytes, const char *path,
                              wick_onnx_options *o, wick_arena *mem, wick_arena *tmp,
                              wick_arrays *out)
{
  for (uint32_t i = 0; i < flags->inputs.n; i++)
    WICK_TRY(wick_arrays_read(o->files, flags->inputs.at[i], mem, tmp, out));
  for (uint32_t i = 0; i < out->n; i++)
    if (out->at[i].json)
      return wick_fail(mem, WICK_EUNSUPPORTED, path,
                       "maps are inputs of wick run --reference alone");
  if (!out->n) return NULL;
  bool described = false;
  const wick_func *f;
  wick_onnx_options interface = *o;
  interface.described = &described, interface.problems = NULL;
  wick_module *m = wick_module_create(mem->guard, "");
  bool good =
      !wick_import_onnx(m, bytes, path, &interface, mem, tmp, &f); /* else it is said later */
  uint32_t n = good ? f->nparam : out->n;
  wick_onnx_content *content = wick_new(mem, wick_onnx_content, out->n);
  for (uint32_t i = 0; good && i < n && n == out->n; i++)
    content[i] =
        (wick_onnx_content){wick_str_dup(mem, wick_names_get(&m->names, f->value[i + 1].name)),
                            {out->at[i].data, out->at[i].nbytes}};
  wick_module_free(m);
  o->content = content, o->ncontent = good ? n : 0;
  o->fixed = wick_new(mem, bool, out->n);
  return n == out->n
             ? NULL
             : wick_fail(mem, WICK_EINVAL, path, "%u inputs are given, wanted %u", out->n, n);
}

static wick_status check_evaluate(const wick_func *f, const wick_arrays *array, const char *folder,
                                  wick_arena *mem, wick_arena *tmp)
{
  uint32_t n = array->n, nout = wick_return(f)->nin;
  wick_arena scratch = wick_arena_make(mem->guard);
  wick_tensor *in = wick_new(mem, wick_tensor, n), *result = wick_new(mem, wick_tensor, nout);
  for (uint32_t i = 0; i < n; i++) {
    const wick_array *a = &array->at[i];
    in[i] = (wick_tensor){
        .elem = a->elem, .rank = a->rank, .data = wick_arena_copy(mem, a->data, a->nbytes, 64)};
    memcpy(in[i].dim, a->dim, a->rank * sizeof *a->dim);
  }
  wick_module_align(f->module);
  wick_status s = wick_evaluate(f, n, in, NULL, mem, tmp, &scratch, result);
  wick_arena_free(&scratch);
  if (s) return s;
  wick_array *out = wick_new(mem, wick_array, nout);
  for (uint32_t k = 0; k < nout; k++) {
    out[k] = (wick_array){
        .name = "", .elem = result[k].elem, .rank = result[k].rank, .data = result[k].data};
    memcpy(out[k].dim, result[k].dim, result[k].rank * sizeof *out[k].dim);
    if (!wick_array_nbytes(out[k].elem, out[k].rank, out[k].dim, &out[k].nbytes)) out[k].nbytes = 0;
  }
  return wick_feed_write(out, nout, folder, tmp);
}

/* ---- one model ---- */

static wick_status check_import(const char *path, const check_flags *flags, wick_module *m,
                                wick_files *files, wick_onnx_problems *problems, wick_arena *mem,
                                wick_arena *tmp, const wick_func **out)
{
  wick_file *file;
  WICK_TRY(wick_files_map(files, path, &file));
  wick_onnx_options options = {
      .files = files, .range = flags->range, .nrange = flags->nrange, .problems = problems};
  wick_span bytes = {file->at, file->nbytes};
  wick_arrays feed = {0};
  WICK_TRY(check_feed(flags, bytes, path, &options, mem, tmp, &feed));
  WICK_TRY(wick_import_onnx(m, bytes, path, &options, mem, tmp, out));
  WICK_TRY(wick_verify_func(*out, tmp));
  return flags->outputs ? check_evaluate(*out, &feed, flags->outputs, mem, tmp) : NULL;
}

/* Says what it is, or what is wrong; whether it is good. */
static bool check_model(const char *path, const check_flags *flags, wick_module *m,
                        wick_files *files, json_t *json, wick_arena *mem, wick_arena *tmp)
{
  wick_onnx_problems problems = {0};
  const wick_func *f = NULL;
  wick_status s = check_import(path, flags, m, files, &problems, mem, tmp, &f);
  if (flags->json) {
    json_array_append_new(json, check_json(path, s ? NULL : f, &problems, s, tmp));
    return !s;
  }
  if (s) {
    check_problems(&problems, s, tmp);
    return false;
  }
  check_print(path, f, tmp);
  if (!flags->print && !flags->data) return true;
  wick_text t = wick_text_begin(tmp);
  wick_print_module(m, flags->data ? WICK_PRINT_ALL : WICK_PRINT_LOCS | WICK_PRINT_NAMES, &t);
  fputs(t.at, stdout);
  return true;
}

static int check_run(int argc, char **argv, wick_guard *guard, wick_files *files, wick_arena *mem,
                     wick_arena *tmp)
{
  check_flags f = {0};
  wick_words dims = {0};
  const wick_flag flag[] = {
      {"dim", 0, WICK_FLAG_LIST, &dims, "NAME=N...",
       "sizes of symbolic dimensions, or ranges: NAME=LO..HI, NAME=LO..HI:STEP"},
      {"inputs", 'i', WICK_FLAG_LIST, &f.inputs, "FILE...",
       "tensors: what the imported function gives for them, by the slow definitions"},
      {"outputs", 'o', WICK_FLAG_STRING, &f.outputs, "DIR", "where to: DIR/output_K.npy"},
      {"print", 0, WICK_FLAG_BOOL, &f.print, NULL, "prints the imported module"},
      {"data", 0, WICK_FLAG_BOOL, &f.data, NULL, "prints it with the numbers of its constants"},
      {"json", 0, WICK_FLAG_BOOL, &f.json, NULL, "prints all of it for programs"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = UINT32_MAX};
  int stop = wick_args_parse(&args, mem, argc, argv);
  if (stop >= 0) return stop;
  f.range = wick_new(mem, wick_onnx_range, dims.n);
  for (; f.nrange < dims.n; f.nrange++) {
    wick_size_range r;
    if (!wick_job_dim(dims.at[f.nrange], mem, &r)) {
      fprintf(stderr, "wick check: --dim %s: wanted NAME=N, NAME=LO..HI or NAME=LO..HI:STEP\n",
              dims.at[f.nrange]);
      return WICK_EXIT_USAGE;
    }
    f.range[f.nrange] = (wick_onnx_range){r.name, r.least, r.most, r.step};
  }
  int exit_status = WICK_EXIT_OK;
  json_t *json = f.json ? json_array() : NULL;
  for (uint32_t i = 0; i < args.word.n; i++) {
    wick_module *m = wick_module_create(guard, "");
    if (!check_model(args.word.at[i], &f, m, files, json, mem, tmp))
      exit_status = WICK_EXIT_FAILURE;
    wick_module_free(m);
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
    fputs("wick check: out of memory\n", stderr);
  else
    status = check_run(argc, argv, &guard, &files, &mem, &tmp);
  wick_files_close(&files);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
  return status;
}
