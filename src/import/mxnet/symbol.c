/* Reads the symbol and the parameters beside it, then builds the graph. */
#include "import/mxnet/symbol.h"

#include <string.h>

#include "import/mxnet/mxnet.h"

/* ---- files ---- */

/* NAME-NNNN.params, of which the largest number is last in order, or NAME.params. */
static int symbol_fit(const void *arg, const char *name)
{
  static const char tail[] = "-symbol.json", end[] = ".params";
  const char *base = arg, *at = strstr(base, tail);
  size_t n = at ? (size_t)(at - base) : strcspn(base, "."), all = strlen(name);
  if (all < n + sizeof end - 1 || memcmp(name, base, n) != 0 ||
      strcmp(name + all - (sizeof end - 1), end) != 0)
    return 0;
  const char *middle = name + n;
  bool numbered = *middle == '-' && strspn(middle + 1, "0123456789") == all - n - sizeof end;
  return numbered || all == n + sizeof end - 1;
}

static wick_status symbol_nodes(wick_import *c, mxnet_model *m, const wick_json *j)
{
  const wick_json *nodes = wick_json_member(j, "nodes"), *item = nodes ? nodes->first : NULL;
  m->heads = wick_json_member(j, "heads");
  if (!nodes || nodes->kind != WICK_JSON_ARRAY || !m->heads || m->heads->kind != WICK_JSON_ARRAY)
    return wick_fail(c->tmp, WICK_EPARSE, c->file, "it has no lists \"nodes\" and \"heads\"");
  mxnet_node *node = wick_new(c->tmp, mxnet_node, (size_t)nodes->n + 1);
  for (uint32_t i = 0; i < nodes->n; i++, item = item->next) {
    node[i].op = wick_json_unescaped(c->tmp, wick_json_member(item, "op"));
    node[i].name = wick_json_unescaped(c->tmp, wick_json_member(item, "name"));
    node[i].inputs = wick_json_member(item, "inputs");
    static const char *const words[] = {"attrs", "attr",
                                        "param"}; /* by versions, the newest first */
    for (size_t k = 0; k < WICK_COUNT(words) && !node[i].attrs; k++)
      node[i].attrs = wick_json_member(item, words[k]);
    if (!node[i].op || !node[i].name || !node[i].inputs)
      return wick_fail(c->tmp, WICK_EPARSE, c->file, "node %u has no operator, name or inputs", i);
  }
  m->node = node, m->nnode = nodes->n;
  return NULL;
}

static wick_status symbol_open(wick_import *c, wick_span bytes)
{
  mxnet_model *m = wick_new(c->tmp, mxnet_model, 1);
  size_t wrong = 0;
  wick_file *file;
  c->model = m;
  m->names = wick_names_begin(c->tmp);
  const wick_json *j = wick_json_read(c->tmp, (const char *)bytes.at, bytes.nbytes, &wrong);
  if (!j) return wick_fail(c->tmp, WICK_EPARSE, c->file, "at byte %zu: this is no JSON", wrong);
  WICK_TRY(symbol_nodes(c, m, j));
  m->weights = c->options->files ? wick_import_beside(c, symbol_fit, c->file, NULL) : NULL;
  if (!m->weights) return NULL;
  WICK_TRY(wick_files_map(c->options->files, m->weights, &file));
  return wick_mxnet_params(c, m, (wick_span){file->at, file->nbytes}, m->weights);
}

/* ---- the graph ---- */

enum { SYMBOL_RESULTS = 64 };

typedef struct symbol_graph {
  wick_import *c;
  const mxnet_model *m;
  wick_value (*out)[SYMBOL_RESULTS]; /* by node */
  bool *label;                       /* by node: a variable that only a loss reads */
} symbol_graph;

/* Reads entry k of a list of [node, result, version]. Returns false if it is outside. */
static bool symbol_entry(const wick_json *list, uint32_t before, int64_t k, uint32_t *out_node,
                         uint32_t *out_result)
{
  int64_t node, result = 0;
  const wick_json *e = wick_json_item(list, k);
  if (!wick_json_int(wick_json_item(e, 0), &node) || node < 0 || node >= before) return false;
  wick_json_int(wick_json_item(e, 1), &result);
  if (result < 0 || result >= SYMBOL_RESULTS) return false;
  return *out_node = (uint32_t)node, *out_result = (uint32_t)result, true;
}

static bool symbol_is_loss(const char *op)
{
  static const char *const ops[] = {"SoftmaxOutput",
                                    "LinearRegressionOutput",
                                    "LogisticRegressionOutput",
                                    "MAERegressionOutput",
                                    "SVMOutput",
                                    "Softmax"};
  for (size_t i = 0; i < WICK_COUNT(ops); i++)
    if (strcmp(op, ops[i]) == 0) return true;
  return false;
}

/* Finds the variables that are labels: all of their uses are the second operand of a loss. */
static void symbol_labels(symbol_graph *g)
{
  const mxnet_model *m = g->m;
  bool *other = wick_new(g->c->tmp, bool, (size_t)m->nnode + 1);
  for (uint32_t i = 0; i < m->nnode; i++)
    for (uint32_t k = 0; k < m->node[i].inputs->n; k++) {
      uint32_t node, result;
      if (!symbol_entry(m->node[i].inputs, i, k, &node, &result)) continue;
      bool label = k == 1 && symbol_is_loss(m->node[i].op);
      g->label[node] = g->label[node] || label;
      other[node] = other[node] || !label;
    }
  for (uint32_t i = 0; i < m->nnode; i++) g->label[i] = g->label[i] && !other[i];
}

static const mxnet_param *symbol_param(const mxnet_model *m, const char *name)
{
  uint32_t id = wick_names_find(&m->names, name, strlen(name));
  return id && id <= m->params.n ? &m->params.at[id - 1] : NULL;
}

/* A variable without a value is an input: with the shape and type that it declares, or open. */
static wick_value symbol_input(symbol_graph *g, const mxnet_node *node)
{
  const wick_import_node probe = {.c = g->c, .data = node};
  wick_import_attr shape = wick_mxnet_attr(&probe, "__shape__", 'I'),
                   type = wick_mxnet_attr(&probe, "__dtype__", 'i');
  wick_elem elem = WICK_F32;
  wick_dim dim[WICK_MAX_RANK];
  if (type.kind == 'i') wick_mxnet_elem(type.i, &elem);
  if (shape.kind != 'I' || !shape.n || shape.n > WICK_MAX_RANK)
    return wick_import_input_open(g->c, node->name, elem);
  for (uint32_t k = 0; k < shape.n; k++)
    dim[k] = shape.ints[k] > 0 ? wick_dim_const(shape.ints[k])
                               : wick_import_size(g->c, "", node->name, k);
  return wick_import_input(g->c, node->name, elem, shape.n, dim);
}

static void symbol_variables(symbol_graph *g)
{
  wick_import *c = g->c;
  wick_list(uint32_t) inputs = {0};
  for (uint32_t i = 0; i < g->m->nnode; i++) {
    const mxnet_node *node = &g->m->node[i];
    if (strcmp(node->op, "null") != 0 || symbol_param(g->m, node->name) || g->label[i]) continue;
    g->out[i][0] = symbol_input(g, node);
    wick_push(c->tmp, &inputs, i);
  }
  for (uint32_t k = 0; k < inputs.n; k++)
    if (g->out[inputs.at[k]][0].id)
      g->out[inputs.at[k]][0] = wick_import_input_value(c, g->out[inputs.at[k]][0]);
}

static void symbol_weight(symbol_graph *g, uint32_t i, const mxnet_param *p)
{
  const char *location =
      wick_str_printf(g->c->tmp, "%s: array \"%s\"", wick_path_base(g->m->weights),
                      wick_import_shown(g->c, p->name));
  g->out[i][0] = wick_import_weight(g->c, p->name, p->elem, p->rank, p->dim, p->data, location);
}

static void symbol_node(symbol_graph *g, uint32_t i)
{
  wick_import *c = g->c;
  const mxnet_node *node = &g->m->node[i];
  uint32_t nin = node->inputs->n;
  wick_value *in = wick_new(c->tmp, wick_value, (size_t)nin + 1);
  bool broken = false;
  for (uint32_t k = 0; k < nin; k++) {
    uint32_t from, result;
    if (!symbol_entry(node->inputs, i, k, &from, &result)) {
      wick_import_error(c, WICK_EPARSE, wick_import_place(c, node->name, node->op),
                        "input %u is not a result of an earlier node", k);
      broken = true;
      continue;
    }
    in[k] = g->out[from][result];
    broken = broken || (!in[k].id && !g->label[from]);
  }
  while (nin && !in[nin - 1].id && !broken) nin--; /* labels */
  const wick_import_op *row = wick_import_op_find(c->format, node->op, 1);
  uint32_t nout = !row ? 1 : row->nout == WICK_ANY ? SYMBOL_RESULTS : row->nout;
  wick_import_run(c, node->op, 1, node->name, node, nin, in, broken, nout, g->out[i]);
  if (g->out[i][0].id) wick_import_name(c, g->out[i][0], node->name);
}

/* The name of output k: NAME_output, as MXNet calls it. */
static const char *symbol_output_name(symbol_graph *g, uint32_t node, uint32_t result)
{
  const char *name = g->m->node[node].name;
  return result ? wick_str_printf(g->c->tmp, "%s_output%u", name, result)
                : wick_str_printf(g->c->tmp, "%s_output", name);
}

static void symbol_build(wick_import *c)
{
  symbol_graph g = {.c = c, .m = c->model};
  uint32_t n = g.m->nnode;
  g.out = wick_arena_alloc(c->tmp, ((size_t)n + 1) * sizeof *g.out, sizeof(wick_value));
  memset(g.out, 0, ((size_t)n + 1) * sizeof *g.out);
  g.label = wick_new(c->tmp, bool, (size_t)n + 1);
  symbol_labels(&g);
  if (!g.m->weights)
    wick_import_remark(c, c->file, "there is no file of parameters beside it, NAME-0000.params");
  symbol_variables(&g);
  for (uint32_t k = 0; k < g.m->heads->n; k++) {
    uint32_t node, result;
    if (!symbol_entry(g.m->heads, n, k, &node, &result))
      wick_import_error(c, WICK_EPARSE, c->file, "head %u is no result of a node", k);
    else
      wick_import_declare(c, symbol_output_name(&g, node, result),
                          wick_import_open_type(c, WICK_F32));
  }
  if (c->interface || c->unlisted || c->errors.list.n) return;
  for (uint32_t i = 0; i < n && !c->over; i++) {
    const mxnet_param *p = symbol_param(g.m, g.m->node[i].name);
    if (strcmp(g.m->node[i].op, "null") != 0)
      symbol_node(&g, i);
    else if (p)
      symbol_weight(&g, i, p);
  }
  for (uint32_t k = 0; k < g.m->heads->n; k++) {
    uint32_t node, result;
    if (symbol_entry(g.m->heads, n, k, &node, &result))
      wick_import_output(c, k, g.out[node][result]);
  }
}

static const wick_import_op *const symbol_families[] = {wick_mxnet_ops, wick_mxnet_numpy_ops};

const wick_import_format wick_mxnet_format = {.name = "MXNet",
                                              .version_word = "version",
                                              .nfamily = WICK_COUNT(symbol_families),
                                              .families = symbol_families,
                                              .open = symbol_open,
                                              .graph = symbol_build,
                                              .attr = wick_mxnet_attr};

wick_status wick_import_mxnet(wick_module *m, wick_span bytes, const char *path,
                              const wick_import_options *options, wick_arena *mem, wick_arena *tmp,
                              const wick_func **out)
{
  return wick_import_with(&wick_mxnet_format, m, bytes, path, options, mem, tmp, out);
}
