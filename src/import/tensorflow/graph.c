/* Resolves the names of a graph's edges. */
#include "import/tensorflow/state.h"

#include <ctype.h>
#include <string.h>

/* Outputs of operators that have several, by name, for edges in functions: "node:values:0". An
 * operator that is not here has one output or one list of outputs. */
static const struct {
  const char *op, *outputs;
} graph_outputs[] = {
    {"BlockLSTM", "i cs f o ci co h"},
    {"BlockLSTMV2", "i cs f o ci co h"},
    {"BroadcastGradientArgs", "r0 r1"},
    {"CombinedNonMaxSuppression", "nmsed_boxes nmsed_scores nmsed_classes valid_detections"},
    {"FusedBatchNorm", "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
    {"FusedBatchNormV2", "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
    {"FusedBatchNormV3",
     "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3"},
    {"FusedBatchNormGrad",
     "x_backprop scale_backprop offset_backprop reserve_space_3 reserve_space_4"},
    {"FusedBatchNormGradV2",
     "x_backprop scale_backprop offset_backprop reserve_space_3 reserve_space_4"},
    {"FusedBatchNormGradV3",
     "x_backprop scale_backprop offset_backprop reserve_space_4 reserve_space_5"},
    {"GRUBlockCell", "r u c h"},
    {"BatchSelfAdjointEigV2", "e v"},
    {"BatchSvd", "s u v"},
    {"ListDiff", "out idx"},
    {"LogMatrixDeterminant", "sign log_abs_determinant"},
    {"LookupTableExportV2", "keys values"},
    {"LSTMBlockCell", "i cs f o ci co h"},
    {"Lu", "lu p"},
    {"MaxPoolWithArgmax", "output argmax"},
    {"Merge", "output value_index"},
    {"NonMaxSuppressionV4", "selected_indices valid_outputs"},
    {"NonMaxSuppressionV5", "selected_indices selected_scores valid_outputs"},
    {"Qr", "q r"},
    {"RefMerge", "output value_index"},
    {"RefSwitch", "output_false output_true"},
    {"SelfAdjointEigV2", "e v"},
    {"SoftmaxCrossEntropyWithLogits", "loss backprop"},
    {"SparseCross", "output_indices output_values output_shape"},
    {"SparseFillEmptyRows", "output_indices output_values empty_row_indicator reverse_index_map"},
    {"SparseReshape", "output_indices output_shape"},
    {"SparseSoftmaxCrossEntropyWithLogits", "loss backprop"},
    {"StatelessRandomGetKeyCounter", "key counter"},
    {"StatelessRandomGetKeyCounterAlg", "key counter alg"},
    {"StringNGrams", "ngrams ngrams_splits"},
    {"StringSplit", "indices values shape"},
    {"StringSplitV2", "indices values shape"},
    {"Svd", "s u v"},
    {"Switch", "output_false output_true"},
    {"TensorArrayConcatV3", "value lengths"},
    {"TensorArrayV3", "handle flow"},
    {"TensorListConcat", "tensor lengths"},
    {"TensorListConcatV2", "tensor lengths"},
    {"TensorListPopBack", "output_handle tensor"},
    {"TopK", "values indices"},
    {"TopKV2", "values indices"},
    {"Unique", "y idx"},
    {"UniqueV2", "y idx"},
    {"UniqueWithCounts", "y idx count"},
    {"UniqueWithCountsV2", "y idx count"},
};

static const char *graph_outputs_of(const char *op)
{
  for (size_t i = 0; i < WICK_COUNT(graph_outputs); i++)
    if (strcmp(graph_outputs[i].op, op) == 0) return graph_outputs[i].outputs;
  return "";
}

/* Returns the position of the output of that name; 0 if the operator has no such name. */
static uint32_t graph_output(const char *op, wick_span name)
{
  uint32_t at = 0;
  for (const char *s = graph_outputs_of(op); *s; at++) {
    size_t n = strcspn(s, " ");
    if (n == name.nbytes && memcmp(s, name.at, n) == 0) return at;
    s += n + (s[n] == ' ');
  }
  return 0;
}

static uint32_t graph_noutput(const char *op)
{
  const char *s = graph_outputs_of(op);
  uint32_t n = 1;
  for (; *s; s++) n += *s == ' ';
  return n;
}

static wick_span graph_before(wick_span s, char c, wick_span *rest)
{
  size_t n = 0;
  *rest = s;
  if (!s.nbytes) return s; /* and perhaps no address */
  while (n < s.nbytes && s.at[n] != (unsigned char)c) n++;
  bool found = n < s.nbytes;
  *rest = (wick_span){s.at + n + found, s.nbytes - n - found};
  return (wick_span){s.at, n};
}

static bool graph_number(wick_span s, uint32_t *out)
{
  *out = 0;
  for (size_t i = 0; i < s.nbytes; i++) {
    if (!isdigit(s.at[i]) || *out > 1000000) return false;
    *out = *out * 10 + s.at[i] - '0';
  }
  return s.nbytes > 0;
}

bool wick_tf_edge_find(const wick_tf_graph *g, wick_span text, wick_tf_edge *out)
{
  wick_span rest, number, name = graph_before(text, ':', &rest);
  uint32_t id = name.nbytes ? wick_names_find(&g->names, (const char *)name.at, name.nbytes) : 0;
  *out = (wick_tf_edge){0};
  if (!id || id > g->n) return false;
  out->node = id - 1;
  if (!rest.nbytes) return true;
  if (isdigit(*rest.at)) return graph_number(rest, &out->output);
  wick_span output = graph_before(rest, ':', &number);
  out->output = graph_output(g->vertex[out->node].op, output);
  uint32_t more = 0;
  if (number.nbytes && !graph_number(number, &more)) return false;
  out->output += more;
  return true;
}

/* ---- building ---- */

static const char *graph_location(wick_import *c, const wick_tf_graph *g, const wick_tf_vertex *v)
{
  const char *place = wick_import_place(c, v->name, v->op);
  if (!*g->name) return place;
  return wick_str_printf(c->tmp, "%s: function \"%s\": node \"%s\" (%s)", c->file,
                         wick_import_shown(c, g->name), wick_import_shown(c, v->name),
                         wick_import_shown(c, v->op));
}

static wick_tf_order graph_order(const char *op)
{
  static const char *const lazy[] = {"Merge", "RefMerge", "Exit", "RefExit"};
  static const char *const ignored[] = {
      "Assert",         "SaveV2",           "Save",         "MergeV2Checkpoints", "PrintV2",
      "ScalarSummary",  "HistogramSummary", "ImageSummary", "WriteSummary",       "MergeSummary",
      "ShardedFilename"};
  for (size_t i = 0; i < WICK_COUNT(lazy); i++)
    if (strcmp(op, lazy[i]) == 0) return WICK_TF_LAZY;
  for (size_t i = 0; i < WICK_COUNT(ignored); i++)
    if (strcmp(op, ignored[i]) == 0) return WICK_TF_IGNORED;
  return strcmp(op, "NoOp") == 0 ? WICK_TF_ORDERED : WICK_TF_EAGER;
}

static bool graph_names(wick_import *c, wick_tf_graph *g, const wick_tf_nodes *nodes)
{
  bool good = true;
  for (uint32_t i = 0; i < g->n; i++) {
    wick_tf_vertex *v = &g->vertex[i];
    wick_span name;
    if (i < g->narg) {
      name = g->def->signature->input_arg.at[i].name;
      *v = (wick_tf_vertex){.op = "argument", .nout = 1};
    } else {
      const wick_tf_node *def = &nodes->at[i - g->narg];
      name = def->name;
      *v = (wick_tf_vertex){.def = def, .op = wick_wire_text(c->tmp, def->op)};
      v->nout = graph_noutput(v->op);
      v->order = graph_order(v->op);
    }
    v->name = wick_wire_text(c->tmp, name);
    uint32_t id = name.nbytes ? wick_names_add(&g->names, (const char *)name.at, name.nbytes) : 0;
    if (id == i + 1) continue;
    wick_import_error(c, WICK_EPARSE, graph_location(c, g, v), "%s",
                      id ? "another node has the same name" : "it has no name");
    good = false;
    break; /* numbers of names are those of nodes no longer */
  }
  return good;
}

void wick_tf_consume(wick_tf_graph *g, wick_tf_edge e)
{
  wick_tf_vertex *v = &g->vertex[e.node];
  if (e.output >= v->nout) v->nout = e.output + 1;
  g->consumed[e.node] = true;
}

static bool graph_edges(wick_import *c, wick_tf_graph *g, wick_tf_vertex *v)
{
  size_t n = v->def->input.n;
  wick_tf_edge *in = wick_new(c->tmp, wick_tf_edge, n + 1);
  uint32_t *control = wick_new(c->tmp, uint32_t, n + 1);
  for (size_t i = 0; i < n; i++) {
    wick_span s = v->def->input.at[i];
    bool is_control = s.nbytes && s.at[0] == '^';
    wick_tf_edge e;
    if (is_control) s = (wick_span){s.at + 1, s.nbytes - 1};
    if (!wick_tf_edge_find(g, s, &e)) {
      wick_import_error(c, WICK_EPARSE, graph_location(c, g, v),
                        "its input \"%s\" is no output of a node",
                        wick_import_shown(c, wick_wire_text(c->tmp, s)));
      return false;
    }
    wick_tf_consume(g, e);
    if (is_control)
      control[v->ncontrol++] = e.node;
    else
      in[v->nin++] = e;
  }
  v->in = in, v->control = control;
  return true;
}

static const wick_tf_pair *graph_ret(const wick_tf_pairs *pairs, wick_span key)
{
  for (size_t i = 0; i < pairs->n; i++)
    if (pairs->at[i].key.nbytes == key.nbytes && key.nbytes &&
        memcmp(pairs->at[i].key.at, key.at, key.nbytes) == 0)
      return &pairs->at[i];
  return NULL;
}

static bool graph_results(wick_import *c, wick_tf_graph *g)
{
  const wick_tf_args *out = &g->def->signature->output_arg;
  const char *location =
      wick_str_printf(c->tmp, "%s: function \"%s\"", c->file, wick_import_shown(c, g->name));
  wick_tf_edge *ret = wick_new(c->tmp, wick_tf_edge, out->n + 1);
  uint32_t *control = wick_new(c->tmp, uint32_t, g->def->control_ret.n + 1);
  for (size_t i = 0; i < out->n; i++) {
    const wick_tf_pair *p = graph_ret(&g->def->ret, out->at[i].name);
    if (!p || !wick_tf_edge_find(g, p->value, &ret[i])) {
      wick_import_error(c, WICK_EPARSE, location, "its result %zu is not computed", i);
      return false;
    }
    wick_tf_consume(g, ret[i]);
  }
  for (size_t i = 0; i < g->def->control_ret.n; i++) {
    wick_tf_edge e;
    if (!wick_tf_edge_find(g, g->def->control_ret.at[i].value, &e)) {
      wick_import_error(c, WICK_EPARSE, location, "its control result %zu is no node", i);
      return false;
    }
    control[g->ncontrol_ret++] = e.node;
  }
  g->ret = ret, g->nret = (uint32_t)out->n;
  g->control_ret = control;
  return true;
}

wick_tf_graph *wick_tf_graph_make(wick_import *c, const wick_tf_nodes *nodes,
                                  const wick_tf_function *def)
{
  wick_tf_graph *g = wick_new(c->tmp, wick_tf_graph, 1);
  g->def = def;
  g->name = def ? wick_wire_text(c->tmp, def->signature->name) : "";
  g->narg = def ? (uint32_t)def->signature->input_arg.n : 0;
  g->n = g->narg + (uint32_t)nodes->n;
  g->vertex = wick_new(c->tmp, wick_tf_vertex, g->n + 1);
  g->consumed = wick_new(c->tmp, bool, g->n + 1);
  g->names = wick_names_begin(c->tmp);
  bool good = graph_names(c, g, nodes);
  for (uint32_t i = g->narg; i < g->n && good; i++) good = graph_edges(c, g, &g->vertex[i]);
  if (good && def) good = graph_results(c, g);
  return good ? g : NULL;
}
