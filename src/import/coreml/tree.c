/* Decision trees, by kit/forest.h. */
#include <stdlib.h>
#include <string.h>

#include "import/coreml/classic.h"
#include "import/coreml/classify.h"
#include "import/kit/forest.h"

enum { TREE_NO_TRANSFORM, TREE_SOFTMAX, TREE_LOGISTIC, TREE_SOFTMAX_ZERO, TREE_MOST = 1 << 16 };

typedef struct tree_node {
  int64_t tree, id;
  uint32_t at; /* in the file */
  bool child;
  wick_forest_to to;
} tree_node;

typedef struct tree_reader {
  wick_import *c;
  wick_coreml_messages node;
  tree_node *sorted; /* by tree and id */
  wick_forest_node *inner;
  double *weight;
  wick_forest f;
} tree_reader;

static int tree_order(const void *x, const void *y)
{
  const tree_node *a = x, *b = y;
  if (a->tree != b->tree) return a->tree < b->tree ? -1 : 1;
  return (a->id > b->id) - (a->id < b->id);
}

static tree_node *tree_find(const tree_reader *r, int64_t tree, int64_t id)
{
  const tree_node key = {.tree = tree, .id = id};
  return bsearch(&key, r->sorted, r->node.n, sizeof key, tree_order);
}

/* Numbers the nodes: inner ones and leaves separately. Returns false after it added a problem. */
static bool tree_number(tree_reader *r)
{
  wick_import *c = r->c;
  r->sorted = wick_new(c->tmp, tree_node, (size_t)r->node.n + 1);
  for (uint32_t i = 0; i < r->node.n; i++) {
    const wick_coreml_message *n = &r->node.at[i];
    bool leaf = wick_coreml_int(n, "nodeBehavior", 0) == WICK_FOREST_MEMBER; /* its 6 is a leaf */
    r->sorted[i] = (tree_node){
        .tree = wick_coreml_int(n, "treeId", 0), .id = wick_coreml_int(n, "nodeId", 0), .at = i};
    r->sorted[i].to = leaf ? ~(wick_forest_to)r->f.nleaf++ : (wick_forest_to)r->f.nnode++;
  }
  qsort(r->sorted, r->node.n, sizeof *r->sorted, tree_order);
  for (uint32_t i = 1; i < r->node.n; i++)
    if (tree_order(&r->sorted[i - 1], &r->sorted[i]) == 0) {
      wick_import_error(c, WICK_EPARSE, c->file, "node %lld of tree %lld occurs twice",
                        (long long)r->sorted[i].id, (long long)r->sorted[i].tree);
      return false;
    }
  return true;
}

static bool tree_inner(tree_reader *r, const tree_node *t)
{
  static const char *const names[] = {"trueChildNodeId", "falseChildNodeId"};
  wick_import *c = r->c;
  const wick_coreml_message *n = &r->node.at[t->at];
  int64_t mode = wick_coreml_int(n, "nodeBehavior", 0);
  wick_forest_to to[2];
  for (uint32_t k = 0; k < 2; k++) {
    tree_node *child = tree_find(r, t->tree, wick_coreml_int(n, names[k], 0));
    if (!child || mode < WICK_FOREST_LEQ || mode > WICK_FOREST_NEQ) {
      wick_import_error(c, WICK_EPARSE, c->file,
                        child ? "node %lld of tree %lld has no behaviour"
                              : "node %lld of tree %lld lacks a child",
                        (long long)t->id, (long long)t->tree);
      return false;
    }
    child->child = true;
    to[k] = child->to;
  }
  r->inner[t->to] =
      (wick_forest_node){.mode = (wick_forest_mode)mode,
                         .column = wick_coreml_int(n, "branchFeatureIndex", 0),
                         .value = wick_coreml_real(n, "branchFeatureValue", 0),
                         .tracks = wick_coreml_int(n, "missingValueTracksTrueChild", 0) != 0,
                         .yes = to[0],
                         .no = to[1]};
  return true;
}

static bool tree_leaf(tree_reader *r, const tree_node *t)
{
  wick_import *c = r->c;
  wick_coreml_messages info = wick_coreml_parts(&r->node.at[t->at], "evaluationInfo", c->tmp);
  for (uint32_t i = 0; i < info.n; i++) {
    int64_t target = wick_coreml_int(&info.at[i], "evaluationIndex", 0);
    if (target < 0 || target >= r->f.ntarget) {
      wick_import_error(c, WICK_ERANGE, c->file, "a leaf of tree %lld has index %lld of %u",
                        (long long)t->tree, (long long)target, r->f.ntarget);
      return false;
    }
    r->weight[(size_t)~t->to * r->f.ntarget + (size_t)target] +=
        wick_coreml_real(&info.at[i], "evaluationValue", 0);
  }
  return true;
}

/* Reads TreeEnsembleParameters. */
static bool tree_read(tree_reader *r, const wick_coreml_message *ensemble)
{
  wick_import *c = r->c;
  int64_t targets = wick_coreml_int(ensemble, "numPredictionDimensions", 0);
  r->node = wick_coreml_parts(ensemble, "nodes", c->tmp);
  r->f = (wick_forest){.elem = WICK_F64, .ntarget = (uint32_t)targets};
  if (targets < 1 || targets > TREE_MOST || !r->node.n) {
    wick_import_error(c, WICK_ERANGE, c->file, "%lld results of %u nodes", (long long)targets,
                      r->node.n);
    return false;
  }
  if (!tree_number(r)) return false;
  uint64_t nweight = (uint64_t)r->f.nleaf * r->f.ntarget;
  if (nweight > ((uint64_t)1 << 28) || nweight > 64 * (uint64_t)ensemble->bytes.nbytes) {
    wick_import_error(c, WICK_ELIMIT, c->file, "%u leaves with %u results", r->f.nleaf,
                      r->f.ntarget);
    return false;
  }
  r->inner = wick_new(c->tmp, wick_forest_node, (size_t)r->f.nnode + 1);
  r->weight = wick_new(c->tmp, double, nweight + 1);
  wick_forest_to *root = wick_new(c->tmp, wick_forest_to, r->node.n);
  for (uint32_t i = 0; i < r->node.n; i++) {
    const tree_node *t = &r->sorted[i];
    if (t->to < 0 ? !tree_leaf(r, t) : !tree_inner(r, t)) return false;
  }
  for (uint32_t i = 0; i < r->node.n; i++)
    if (!r->sorted[i].child) root[r->f.nroot++] = r->sorted[i].to;
  r->f.node = r->inner, r->f.root = root, r->f.weight = r->weight;
  return true;
}

/* The scores [1, targets] with the base values. Returns 0 after a problem. */
static wick_value tree_scores(wick_import *c, const wick_coreml_model *m,
                              const wick_coreml_message *part)
{
  wick_coreml_message ensemble = wick_coreml_part(part, "treeEnsemble");
  tree_reader r = {.c = c};
  wick_value x = wick_coreml_vector(c, m);
  if (!x.id || !tree_read(&r, &ensemble)) return (wick_value){0};
  wick_coreml_reals base = wick_coreml_reals_of(&ensemble, "basePredictionValue", c->tmp);
  x = wick_emit_unsqueeze(&c->b, x, 0);
  wick_value y = wick_forest_apply(&c->b, c->tmp, "trees", &r.f, x, WICK_FOREST_SUM);
  if (base.n && base.n != r.f.ntarget && base.n != 1) {
    wick_import_error(c, WICK_EPARSE, c->file, "%u base values for %u results", base.n,
                      r.f.ntarget);
    return (wick_value){0};
  }
  return base.n ? wick_build2(&c->b, WICK_OP_add, y, wick_coreml_numbers(c, base)) : y;
}

static wick_value tree_softmax(wick_import *c, wick_value x)
{
  wick_emit e = wick_emit_begin(&c->b, WICK_OP_softmax);
  wick_emit_set_int(&e, "axis", 1);
  return wick_emit_end1(&e, x);
}

/* Applies a postEvaluationTransform to scores [1, n]. */
static wick_value tree_transform(wick_import *c, int64_t transform, wick_value x)
{
  wick_builder *b = &c->b;
  if (b->status || !x.id) return x;
  if (transform == TREE_LOGISTIC) return wick_build1(b, WICK_OP_sigmoid, x);
  if (transform == TREE_SOFTMAX) return tree_softmax(c, x);
  if (transform == TREE_SOFTMAX_ZERO) {
    wick_value zero = wick_coreml_numbers(c, (wick_coreml_reals){1, (const double[]){0}});
    zero = wick_emit_unsqueeze(b, zero, 0);
    return tree_softmax(c, wick_build_concat(b, 1, 2, (const wick_value[]){zero, x}));
  }
  if (transform)
    wick_import_error(c, WICK_EUNSUPPORTED, c->file, "there is no transform %lld",
                      (long long)transform);
  return x;
}

void wick_coreml_tree_regressor(wick_import *c, const wick_coreml_model *m,
                                const wick_coreml_message *part)
{
  wick_value y = tree_scores(c, m, part);
  y = tree_transform(c, wick_coreml_int(part, "postEvaluationTransform", 0), y);
  if (y.id) wick_coreml_result(c, m, 0, wick_emit_squeeze(&c->b, y, 0));
}

/* With one score for two classes, that is the score of the second. */
void wick_coreml_tree_classifier(wick_import *c, const wick_coreml_model *m,
                                 const wick_coreml_message *part)
{
  wick_builder *b = &c->b;
  uint32_t n;
  wick_value y = tree_scores(c, m, part);
  y = tree_transform(c, wick_coreml_int(part, "postEvaluationTransform", 0), y);
  if (!y.id || c->errors.list.n || b->status) return;
  wick_coreml_labels(c, part, &n);
  if (n == 2 && wick_dim_is(wick_built_info(b, y)->dim[1], 1)) {
    wick_value one = wick_emit_number(b, y, 1);
    wick_value other = wick_build2(b, WICK_OP_sub, one, y);
    y = wick_build_concat(b, 1, 2, (const wick_value[]){other, y});
  }
  wick_coreml_classified(c, m, part, y);
}
