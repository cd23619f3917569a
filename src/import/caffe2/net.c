/* Reads the files of a network: the one that was named, and beside it the one with its weights. */
#include "import/caffe2/net.h"

#include <stddef.h>
#include <string.h>

#include "import/caffe2/caffe2.h"

#define FIELD(type, number, kind, member)                                                          \
  {                                                                                                \
#member, number, WICK_WIRE_##kind, offsetof(type, member), NULL                                \
  }

static const wick_wire_field net_arg_fields[] = {
    FIELD(caffe2_arg, 1, BYTES, name),    FIELD(caffe2_arg, 2, F32, f),
    FIELD(caffe2_arg, 3, I64, i),         FIELD(caffe2_arg, 4, BYTES, s),
    FIELD(caffe2_arg, 5, F32S, floats),   FIELD(caffe2_arg, 6, I64S, ints),
    FIELD(caffe2_arg, 7, SPANS, strings),
};
static const wick_wire_message net_arg = {"Argument", sizeof(caffe2_arg), net_arg_fields,
                                          WICK_COUNT(net_arg_fields), 0};

static const wick_wire_field net_op_fields[] = {
    FIELD(caffe2_op, 1, SPANS, input),
    FIELD(caffe2_op, 2, SPANS, output),
    FIELD(caffe2_op, 3, BYTES, name),
    FIELD(caffe2_op, 4, BYTES, type),
    {"arg", 5, WICK_WIRE_MESSAGES, offsetof(caffe2_op, arg), &net_arg},
};
static const wick_wire_message net_op = {"OperatorDef", sizeof(caffe2_op), net_op_fields,
                                         WICK_COUNT(net_op_fields), 0};

static const wick_wire_field net_fields[] = {
    FIELD(caffe2_net, 1, BYTES, name),
    {"op", 2, WICK_WIRE_MESSAGES, offsetof(caffe2_net, op), &net_op},
    FIELD(caffe2_net, 7, SPANS, external_input),
    FIELD(caffe2_net, 8, SPANS, external_output),
};
static const wick_wire_message net_message = {"NetDef", sizeof(caffe2_net), net_fields,
                                              WICK_COUNT(net_fields), 0};

static wick_status net_decode(wick_span bytes, const char *path, wick_arena *mem,
                              const caffe2_net **out)
{
  void *message;
  WICK_TRY(wick_wire_decode(&net_message, bytes, path, mem, &message));
  *out = message;
  return NULL;
}

/* Returns whether an operator fills a blob with numbers of the file: then a network sets weights. */
static bool net_fills(const caffe2_net *n)
{
  for (size_t i = 0; i < n->op.n; i++)
    if (n->op.at[i].type.nbytes >= 4 && !n->op.at[i].input.n &&
        memcmp(n->op.at[i].type.at + n->op.at[i].type.nbytes - 4, "Fill", 4) == 0)
      return true;
  return false;
}

/* Returns the path of the file with the weights: predict_net.pb is beside init_net.pb, and
 * NAME_predict_net.pb or NAME_predict.pb beside NAME_init_net.pb or NAME_init.pb. */
static const char *net_companion(const char *path, wick_arena *mem)
{
  static const char word[] = "predict";
  const char *base = wick_path_base(path), *at = NULL;
  for (const char *s = base; (s = strstr(s, word)); s++) at = s;
  if (!at) return NULL;
  return wick_str_printf(mem, "%.*sinit%s", (int)(at - path), path, at + strlen(word));
}

static wick_status net_open(wick_import *c, wick_span bytes)
{
  caffe2_model *m = wick_new(c->tmp, caffe2_model, 1);
  WICK_TRY(net_decode(bytes, c->file, c->tmp, &m->predict));
  c->model = m;
  const char *path = net_companion(c->path, c->tmp);
  wick_file *file;
  if (!path || !c->options->files) return NULL;
  if (wick_files_map(c->options->files, path, &file)) /* reported where a weight is missing */
    return NULL;
  return net_decode((wick_span){file->at, file->nbytes}, wick_path_base(path), c->tmp, &m->init);
}

/* ---- arguments ---- */

wick_import_attr wick_caffe2_attr(const wick_import_node *n, const char *name, char kind)
{
  const caffe2_op *op = n->data;
  const caffe2_arg *a = NULL;
  wick_arena *mem = n->c->tmp;
  for (size_t i = 0; i < op->arg.n; i++)
    if (wick_span_is(op->arg.at[i].name, name)) a = &op->arg.at[i];
  if (!a) return (wick_import_attr){0};
  if (a->floats.n) {
    double *f = wick_new(mem, double, a->floats.n);
    for (size_t i = 0; i < a->floats.n; i++) f[i] = (double)a->floats.at[i];
    return (wick_import_attr){.kind = 'F', .n = (uint32_t)a->floats.n, .floats = f};
  }
  if (a->ints.n)
    return (wick_import_attr){.kind = 'I', .n = (uint32_t)a->ints.n, .ints = a->ints.at};
  if (a->strings.n)
    return (wick_import_attr){.kind = 'S', .n = (uint32_t)a->strings.n, .texts = a->strings.at};
  if (wick_wire_has(a->has, 2)) return (wick_import_attr){.kind = 'f', .f = (double)a->f};
  if (wick_wire_has(a->has, 3))
    return (wick_import_attr){.kind = kind == 'b' ? 'b' : 'i', .i = a->i};
  if (wick_wire_has(a->has, 4)) return (wick_import_attr){.kind = 's', .s = a->s};
  return kind == 'I' ? (wick_import_attr){.kind = 'I'} : (wick_import_attr){.kind = 'F'};
}

/* ---- the graph ---- */

typedef struct net_graph {
  wick_import *c;
  const caffe2_model *m;
  wick_names weights; /* blobs that the init net fills */
} net_graph;

static const char *net_text(const net_graph *g, wick_span s)
{
  return wick_wire_text(g->c->tmp, s);
}

/* Imports the operators of a network in order; a blob may be written again. */
static void net_import(net_graph *g, const caffe2_net *net)
{
  wick_import *c = g->c;
  for (size_t i = 0; i < net->op.n && !c->over; i++) {
    const caffe2_op *op = &net->op.at[i];
    uint32_t nin = (uint32_t)op->input.n, nout = (uint32_t)op->output.n;
    wick_value *in = wick_new(c->tmp, wick_value, (size_t)nin + 1),
               *out = wick_new(c->tmp, wick_value, (size_t)nout + 1);
    wick_span shown = op->name.nbytes ? op->name : nout ? op->output.at[0] : op->type;
    const char *type = net_text(g, op->type), *name = net_text(g, shown);
    bool broken = false;
    for (uint32_t k = 0; k < nin; k++) {
      const char *blob = net_text(g, op->input.at[k]);
      const wick_value *v = wick_import_find(c, blob);
      if (!v)
        wick_import_error(c, WICK_EPARSE, wick_import_place(c, name, type),
                          "the blob \"%s\" is not defined", wick_import_shown(c, blob));
      in[k] = v ? *v : (wick_value){0};
      broken = broken || !in[k].id;
    }
    wick_import_run(c, type, 1, name, op, nin, in, broken, nout, out);
    for (uint32_t k = 0; k < nout; k++) {
      const char *blob = net_text(g, op->output.at[k]);
      wick_import_rebind(c, blob, out[k]);
      if (out[k].id) wick_import_name(c, out[k], blob);
    }
  }
}

/* Returns whether a blob is read as indices: its elements are then integers. */
static bool net_is_index(const net_graph *g, wick_span blob)
{
  static const char *const ops[] = {
      "Gather", "BatchGather", "SparseLengthsSum", "SparseLengthsMean", "SparseLengthsWeightedSum",
      "OneHot"};
  for (size_t i = 0; i < g->m->predict->op.n; i++) {
    const caffe2_op *op = &g->m->predict->op.at[i];
    for (size_t k = 0; k < WICK_COUNT(ops); k++) {
      size_t first = k == 5 ? 0 : 1; /* OneHot's are its first operand */
      for (size_t j = first; wick_span_is(op->type, ops[k]) && j < op->input.n; j++)
        if (op->input.at[j].nbytes == blob.nbytes &&
            memcmp(op->input.at[j].at, blob.at, blob.nbytes) == 0 && !(k == 4 && j == 1))
          return true;
    }
  }
  return false;
}

/* The inputs are the external ones that the init net does not fill. */
static void net_inputs(net_graph *g)
{
  wick_import *c = g->c;
  const caffe2_net *p = g->m->predict;
  wick_list(wick_value) in = {0};
  wick_list(const char *) name = {0};
  for (size_t i = 0; i < p->external_input.n; i++) {
    const char *blob = net_text(g, p->external_input.at[i]);
    if (wick_names_find(&g->weights, blob, strlen(blob))) continue;
    wick_elem e = net_is_index(g, p->external_input.at[i]) ? WICK_I32 : WICK_F32;
    wick_value v = wick_import_input_open(c, blob, e);
    wick_push(c->tmp, &in, v);
    wick_push(c->tmp, &name, blob);
  }
  for (uint32_t i = 0; i < in.n; i++)
    wick_import_bind(c, name.at[i], in.at[i].id ? wick_import_input_value(c, in.at[i]) : in.at[i]);
}

static void net_build(wick_import *c)
{
  net_graph g = {.c = c, .m = c->model, .weights = wick_names_begin(c->tmp)};
  const caffe2_net *p = g.m->predict, *init = g.m->init;
  for (size_t i = 0; init && i < init->op.n; i++)
    for (size_t k = 0; k < init->op.at[i].output.n; k++) {
      const char *blob = net_text(&g, init->op.at[i].output.at[k]);
      wick_names_add(&g.weights, blob, strlen(blob));
    }
  if (!init && !net_fills(p))
    wick_import_remark(c, c->file,
                       "there is no file with its weights beside it, such as init_net.pb");
  net_inputs(&g);
  for (size_t i = 0; i < p->external_output.n; i++)
    wick_import_declare(c, net_text(&g, p->external_output.at[i]),
                        wick_import_open_type(c, WICK_F32));
  if (!p->external_output.n && p->op.n && p->op.at[p->op.n - 1].output.n)
    wick_import_declare(c, net_text(&g, p->op.at[p->op.n - 1].output.at[0]),
                        wick_import_open_type(c, WICK_F32));
  if (c->interface || c->unlisted) return;
  if (init) net_import(&g, init);
  net_import(&g, p);
  for (uint32_t i = 0; i < c->outs.n; i++) {
    const wick_value *v = wick_import_find(c, c->outs.at[i].name);
    if (v) wick_import_output(c, i, *v);
  }
}

static const wick_import_op *const net_families[] = {wick_caffe2_ops};

const wick_import_format wick_caffe2_format = {.name = "Caffe2",
                                               .version_word = "version",
                                               .nfamily = WICK_COUNT(net_families),
                                               .families = net_families,
                                               .open = net_open,
                                               .graph = net_build,
                                               .attr = wick_caffe2_attr};

wick_status wick_import_caffe2(wick_module *m, wick_span bytes, const char *path,
                               const wick_import_options *options, wick_arena *mem, wick_arena *tmp,
                               const wick_func **out)
{
  return wick_import_with(&wick_caffe2_format, m, bytes, path, options, mem, tmp, out);
}
