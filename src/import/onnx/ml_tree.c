/* Imports TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor: reads their attributes
 * as a forest, and converts its scores to results. */
#include "import/kit/forest.h"
#include "import/onnx/ml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/element.h"

/* ---- attributes ---- */

typedef struct tree_numbers {
  const double *at;
  size_t n;
} tree_numbers;

static bool tree_tensor(wick_onnx_op *o, const char *name, tree_numbers *out)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  wick_onnx_data d;
  *out = (tree_numbers){0};
  if (!a || !a->t) return false;
  wick_status s = wick_onnx_tensor_read(a->t, &o->c->outside, o->location, o->c->tmp, &d);
  if (s) {
    wick_errors_add(&o->c->errors, s);
    o->failed = true;
    return false;
  }
  bool is_float = wick_elem_is_float(d.elem);
  if (!is_float && !wick_elem_is_int(d.elem)) {
    wick_onnx_fail(o, WICK_ETYPE, "%s holds elements of type %s", name, wick_elem_name(d.elem));
    return false;
  }
  size_t n = 1;
  for (uint32_t k = 0; k < d.rank; k++) n *= (size_t)d.dim[k];
  double *v = wick_new(o->c->tmp, double, n + 1);
  for (size_t i = 0; i < n; i++) {
    wick_scalar x = wick_load_elem(d.elem, d.data, i);
    v[i] = is_float ? x.f : (double)x.i;
  }
  *out = (tree_numbers){v, n};
  return true;
}

/* Reads a list of floats, or the tensor of the same name with _as_tensor. */
static tree_numbers tree_floats(wick_onnx_op *o, const char *name)
{
  tree_numbers out;
  if (tree_tensor(o, wick_str_printf(o->c->tmp, "%s_as_tensor", name), &out)) return out;
  wick_wire_f32s list = wick_ml_floats(o, name);
  double *v = wick_new(o->c->tmp, double, list.n + 1);
  for (size_t i = 0; i < list.n; i++) v[i] = (double)list.at[i];
  return (tree_numbers){v, list.n};
}

/* Checks that an attribute has n elements. With `optional` it may be absent. */
static bool tree_length(wick_onnx_op *o, const char *name, size_t have, size_t n, bool optional)
{
  if (have == n || (optional && !have)) return true;
  wick_onnx_fail(o, WICK_ETYPE, "%s has %zu elements, expected %zu", name, have, n);
  return false;
}

static bool tree_ints(wick_onnx_op *o, const char *name, size_t n, bool optional,
                      const int64_t **out)
{
  wick_wire_i64s list = wick_onnx_ints(o, name);
  *out = list.n ? list.at : NULL;
  return tree_length(o, name, list.n, n, optional);
}

static wick_elem tree_elem(const wick_onnx_op *o)
{
  wick_elem e = wick_onnx_info(o, 0)->elem;
  return e == WICK_F32 || e == WICK_F16 || e == WICK_BF16 ? WICK_F32 : WICK_F64;
}

/* ---- TreeEnsembleClassifier, TreeEnsembleRegressor ---- */

/* A node is identified by its tree and its number. */
typedef struct tree_name {
  int64_t tree, id;
  uint32_t node;
} tree_name;

static int tree_name_order(const void *x, const void *y)
{
  const tree_name *a = x, *b = y;
  if (a->tree != b->tree) return a->tree < b->tree ? -1 : 1;
  return a->id < b->id ? -1 : a->id > b->id;
}

typedef struct tree_old {
  wick_onnx_op *o;
  size_t n;
  const int64_t *tree, *id, *column, *yes, *no, *tracks;
  tree_numbers value;
  wick_forest_mode *mode;
  tree_name *name;
  wick_forest_to *to; /* per node: its position in the forest */
} tree_old;

static bool tree_find(const tree_old *t, int64_t tree, int64_t id, wick_forest_to *out)
{
  tree_name key = {tree, id, 0};
  const tree_name *found = bsearch(&key, t->name, t->n, sizeof key, tree_name_order);
  if (found) *out = t->to[found->node];
  if (!found)
    wick_onnx_fail(t->o, WICK_EPARSE, "tree %lld has no node %lld", (long long)tree, (long long)id);
  return found != NULL;
}

static bool tree_modes(tree_old *t)
{
  wick_onnx_op *o = t->o;
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "nodes_modes");
  if (!tree_length(o, "nodes_modes", a ? a->strings.n : 0, t->n, false)) return false;
  for (size_t i = 0; i < t->n; i++) {
    int k = 0;
    bool found = false;
    for (const char *s = WICK_FOREST_WORDS; *s && !found; k += !found) {
      size_t n = strcspn(s, " ");
      found = n == a->strings.at[i].nbytes && memcmp(s, a->strings.at[i].at, n) == 0;
      s += n + (s[n] == ' ');
    }
    if (!found || k == WICK_FOREST_MEMBER) {
      wick_onnx_fail(o, WICK_EPARSE, "nodes_modes \"%s\" is not one of: " WICK_FOREST_WORDS,
                     wick_wire_text(o->c->tmp, a->strings.at[i]));
      return false;
    }
    t->mode[i] = (wick_forest_mode)k;
  }
  return true;
}

static bool tree_old_read(wick_onnx_op *o, tree_old *t)
{
  wick_wire_i64s tree = wick_onnx_ints(o, "nodes_treeids");
  size_t n = tree.n;
  *t = (tree_old){.o = o, .n = n, .tree = tree.at, .value = tree_floats(o, "nodes_values")};
  if (!n || n > INT32_MAX / 4) {
    wick_onnx_fail(o, n ? WICK_ELIMIT : WICK_EPARSE, "nodes_treeids has %zu elements", n);
    return false;
  }
  t->mode = wick_new(o->c->tmp, wick_forest_mode, n);
  if (!tree_ints(o, "nodes_nodeids", n, false, &t->id) ||
      !tree_ints(o, "nodes_featureids", n, false, &t->column) ||
      !tree_ints(o, "nodes_truenodeids", n, false, &t->yes) ||
      !tree_ints(o, "nodes_falsenodeids", n, false, &t->no) ||
      !tree_ints(o, "nodes_missing_value_tracks_true", n, true, &t->tracks) ||
      !tree_length(o, "nodes_values", t->value.n, n, false) || !tree_modes(t))
    return false;
  t->name = wick_new(o->c->tmp, tree_name, n);
  for (size_t i = 0; i < n; i++) t->name[i] = (tree_name){t->tree[i], t->id[i], (uint32_t)i};
  qsort(t->name, n, sizeof *t->name, tree_name_order);
  for (size_t i = 1; i < n; i++)
    if (tree_name_order(&t->name[i - 1], &t->name[i]) == 0) {
      wick_onnx_fail(o, WICK_EPARSE, "tree %lld has two nodes %lld", (long long)t->name[i].tree,
                     (long long)t->name[i].id);
      return false;
    }
  return true;
}

/* Numbers the nodes and leaves. The first node of each tree is its root. */
static bool tree_old_nodes(tree_old *t, wick_forest *f)
{
  wick_arena *tmp = t->o->c->tmp;
  wick_forest_node *node = wick_new(tmp, wick_forest_node, t->n);
  wick_list(wick_forest_to) root = {0};
  t->to = wick_new(tmp, wick_forest_to, t->n);
  for (size_t i = 0; i < t->n; i++)
    t->to[i] =
        t->mode[i] == WICK_FOREST_LEAF ? ~(wick_forest_to)f->nleaf++ : (wick_forest_to)f->nnode++;
  for (size_t i = 0, first = 0; i < t->n; i++) {
    if (i == 0 || t->name[i].tree != t->name[i - 1].tree) first = i;
    if (t->name[i].node < t->name[first].node) first = i;
    if (i + 1 == t->n || t->name[i].tree != t->name[i + 1].tree)
      wick_push(tmp, &root, t->to[t->name[first].node]);
  }
  for (size_t i = 0; i < t->n; i++) {
    if (t->to[i] < 0) continue;
    wick_forest_node *n = &node[t->to[i]];
    *n = (wick_forest_node){.mode = t->mode[i],
                            .column = t->column[i],
                            .value = t->value.at[i],
                            .tracks = t->tracks && t->tracks[i]};
    if (!tree_find(t, t->tree[i], t->yes[i], &n->yes) ||
        !tree_find(t, t->tree[i], t->no[i], &n->no))
      return false;
  }
  f->node = node;
  f->root = root.at;
  f->nroot = root.n;
  return true;
}

/* Properties of the leaves' weights. They are read from attributes that begin with `of` ("class"
 * or "target"). */
typedef struct tree_weights {
  int64_t only; /* the target of all weights; -1: there are several */
  bool positive;
} tree_weights;

static bool tree_old_weights(tree_old *t, wick_forest *f, const char *of, int aggregate,
                             tree_weights *out)
{
  wick_onnx_op *o = t->o;
  wick_arena *tmp = o->c->tmp;
  const char *name = wick_str_printf(tmp, "%s_weights", of);
  tree_numbers w = tree_floats(o, name);
  const int64_t *tree, *id, *target;
  if (!tree_ints(o, wick_str_printf(tmp, "%s_treeids", of), w.n, false, &tree) ||
      !tree_ints(o, wick_str_printf(tmp, "%s_nodeids", of), w.n, false, &id) ||
      !tree_ints(o, wick_str_printf(tmp, "%s_ids", of), w.n, false, &target))
    return false;
  size_t n = (size_t)f->nleaf * f->ntarget;
  double *weight = wick_new(tmp, double, n), none = aggregate == WICK_FOREST_MIN ? (double)INFINITY
                                                    : aggregate == WICK_FOREST_MAX
                                                        ? -(double)INFINITY
                                                        : 0;
  for (size_t i = 0; i < n; i++) weight[i] = none;
  *out = (tree_weights){w.n ? target[0] : -1, true};
  for (size_t i = 0; i < w.n; i++) {
    wick_forest_to leaf;
    if (!tree_find(t, tree[i], id[i], &leaf)) return false;
    if (target[i] < 0 || target[i] >= f->ntarget) {
      wick_onnx_fail(o, WICK_ERANGE, "%s_ids has %lld, of %u", of, (long long)target[i],
                     f->ntarget);
      return false;
    }
    out->only = out->only == target[i] ? out->only : -1;
    out->positive = out->positive && w.at[i] >= 0;
    if (leaf >= 0) continue; /* the weight of an inner node is ignored */
    double *to = &weight[(size_t)~leaf * f->ntarget + (size_t)target[i]];
    if (aggregate == WICK_FOREST_MIN)
      *to = fmin(*to, w.at[i]);
    else if (aggregate == WICK_FOREST_MAX)
      *to = fmax(*to, w.at[i]);
    else
      *to += w.at[i];
  }
  f->weight = weight;
  return true;
}

/* Adds the base values. If there are fewer than targets, the others are 0. */
static wick_value tree_base(wick_onnx_op *o, wick_value scores, const wick_forest *f)
{
  tree_numbers base = tree_floats(o, "base_values");
  if (!base.n || !scores.id) return scores;
  if (base.n > f->ntarget) {
    wick_onnx_fail(o, WICK_ETYPE, "%zu base values for %u targets", base.n, f->ntarget);
    return (wick_value){0};
  }
  double *v = wick_new(o->c->tmp, double, f->ntarget);
  memcpy(v, base.at, base.n * sizeof *v);
  wick_value add = wick_onnx_table(o, f->elem, 1, (const int64_t[]){f->ntarget}, v);
  return wick_build2(o->b, WICK_OP_add, scores, add);
}

static wick_value tree_apply(wick_onnx_op *o, const wick_forest *f, wick_value x, int aggregate)
{
  wick_dim features = wick_built_info(o->b, x)->dim[1];
  if (wick_dim_is_const(features))
    return wick_forest_apply(o->b, o->c->tmp, wick_onnx_name(o->c, o->node->output.at[0]), f, x,
                             aggregate);
  wick_onnx_must_be_known(o, "the number of features", features);
  return (wick_value){0};
}

/* Computes the scores. A target without a weight in any reached leaf gets 0, not an infinity. */
static wick_value tree_scores(wick_onnx_op *o, const wick_forest *f, int aggregate)
{
  wick_value x = wick_ml_matrix(o, 0, f->elem);
  if (!x.id) return x;
  wick_value y = tree_apply(o, f, x, aggregate);
  if (!y.id || o->b->status || aggregate == WICK_FOREST_SUM || aggregate == WICK_FOREST_AVERAGE)
    return y;
  wick_value none = wick_build1(o->b, WICK_OP_isinf, y), zero = wick_emit_number(o->b, y, 0);
  return wick_build3(o->b, WICK_OP_where, none, zero, y);
}

static void tree_regressor(wick_onnx_op *o)
{
  wick_ml_post post = (wick_ml_post)wick_onnx_word(o, "post_transform", WICK_ML_POST_WORDS);
  int aggregate = WICK_FOREST_SUM;
  if (wick_onnx_attr_find(o, "aggregate_function"))
    aggregate = wick_onnx_word(o, "aggregate_function", "AVERAGE SUM MIN MAX");
  int64_t n = wick_onnx_int(o, "n_targets", 1);
  tree_old t;
  tree_weights w;
  if (n < 1 || n > 1 << 20) {
    wick_onnx_fail(o, WICK_ERANGE, "%lld targets", (long long)n);
    return;
  }
  wick_forest f = {.elem = tree_elem(o), .ntarget = (uint32_t)n};
  if (!tree_old_read(o, &t) || !tree_old_nodes(&t, &f) ||
      !tree_old_weights(&t, &f, "target", aggregate, &w))
    return;
  wick_value y = tree_base(o, tree_scores(o, &f, aggregate), &f);
  if (y.id) y = wick_build_cast(o->b, y, WICK_F32);
  o->out[0] = wick_ml_post_apply(o, y, post);
}

/* ---- classes ---- */

/* Returns 1, the second of two classes, if the score in column k is above the threshold, else 0. */
static wick_value tree_above(wick_onnx_op *o, wick_value scores, int64_t k, double threshold)
{
  wick_value one = wick_emit_slice(o->b, scores, 1, wick_dim_const(k), wick_dim_const(1));
  wick_value yes = wick_emit_by(o->b, WICK_OP_gt, wick_emit_squeeze(o->b, one, 1), threshold);
  return o->b->status ? yes : wick_build_cast(o->b, yes, WICK_I64);
}

static wick_value tree_best(wick_onnx_op *o, wick_value scores)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_argmax);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_int(&e, "keepdims", 0);
  return wick_emit_end1(&e, scores);
}

/* For two classes, all weights may belong to one class. If it is class 0, its score is that of
 * the second class: a probability if no weight is negative, else the logarithm of the odds. */
static void tree_classifier(wick_onnx_op *o)
{
  wick_ml_post post = (wick_ml_post)wick_onnx_word(o, "post_transform", WICK_ML_POST_WORDS);
  int64_t n;
  wick_value labels = wick_ml_labels(o, "classlabels_int64s", "classlabels_strings", &n);
  tree_old t;
  tree_weights w;
  if (!labels.id) return;
  wick_forest f = {.elem = tree_elem(o), .ntarget = (uint32_t)n};
  if (!tree_old_read(o, &t) || !tree_old_nodes(&t, &f) ||
      !tree_old_weights(&t, &f, "class", WICK_FOREST_SUM, &w))
    return;
  wick_value scores = tree_base(o, tree_scores(o, &f, WICK_FOREST_SUM), &f), index;
  if (!scores.id) return;
  scores = wick_build_cast(o->b, scores, WICK_F32);
  bool alone = n == 2 && w.only >= 0 && tree_floats(o, "base_values").n < 2;
  index = alone ? tree_above(o, scores, w.only, w.positive ? 0.5 : 0) : tree_best(o, scores);
  o->out[0] = wick_ml_label_at(o, labels, index);
  if (alone && w.only == 0) {
    wick_value one = wick_emit_slice(o->b, scores, 1, wick_dim_const(0), wick_dim_const(1));
    o->out[1] = wick_ml_post_two(o, one, post, !w.positive);
  } else {
    o->out[1] = wick_ml_post_apply(o, scores, post);
  }
}

/* ---- TreeEnsemble ---- */

static int tree_number_order(const void *x, const void *y)
{
  double a = *(const double *)x, b = *(const double *)y;
  return a < b ? -1 : a > b;
}

/* Reads the sets of MEMBER nodes, in order. A NaN ends each set. */
static bool tree_members(wick_onnx_op *o, wick_forest_node *node, size_t n)
{
  tree_numbers all;
  tree_tensor(o, "membership_values", &all);
  size_t at = 0;
  for (size_t i = 0; i < n && !o->failed; i++) {
    if (node[i].mode != WICK_FOREST_MEMBER) continue;
    size_t end = at;
    while (end < all.n && !isnan(all.at[end])) end++;
    double *m = wick_new(o->c->tmp, double, end - at + 1);
    if (end > at) memcpy(m, all.at + at, (end - at) * sizeof *m);
    qsort(m, end - at, sizeof *m, tree_number_order);
    for (size_t k = 0; k < end - at; k++)
      if (!node[i].nmember || m[k] != m[node[i].nmember - 1]) m[node[i].nmember++] = m[k];
    node[i].member = m;
    at = end < all.n ? end + 1 : end;
  }
  return !o->failed;
}

typedef struct tree_new {
  const int64_t *column, *yes, *no, *yes_leaf, *no_leaf, *tracks;
  tree_numbers split, mode;
} tree_new;

static bool tree_new_to(wick_onnx_op *o, int64_t i, bool leaf, const wick_forest *f,
                        wick_forest_to *out)
{
  uint32_t n = leaf ? f->nleaf : f->nnode;
  if (i < 0 || i >= n) {
    wick_onnx_fail(o, WICK_ERANGE, "%s %lld of %u", leaf ? "leaf" : "node", (long long)i, n);
    return false;
  }
  *out = leaf ? ~(wick_forest_to)i : (wick_forest_to)i;
  return true;
}

static bool tree_new_nodes(wick_onnx_op *o, const tree_new *t, wick_forest *f)
{
  wick_forest_node *node = wick_new(o->c->tmp, wick_forest_node, (size_t)f->nnode + 1);
  for (uint32_t i = 0; i < f->nnode; i++) {
    double mode = t->mode.at[i];
    if (!(mode >= WICK_FOREST_LEQ && mode <= WICK_FOREST_MEMBER)) {
      wick_onnx_fail(o, WICK_ERANGE, "nodes_modes has %g, expected 0 to %d", mode,
                     WICK_FOREST_MEMBER);
      return false;
    }
    node[i] = (wick_forest_node){.mode = (wick_forest_mode)mode,
                                 .column = t->column[i],
                                 .value = t->split.at[i],
                                 .tracks = t->tracks && t->tracks[i]};
    if (!tree_new_to(o, t->yes[i], t->yes_leaf[i] != 0, f, &node[i].yes) ||
        !tree_new_to(o, t->no[i], t->no_leaf[i] != 0, f, &node[i].no))
      return false;
  }
  f->node = node;
  return tree_members(o, node, f->nnode);
}

static bool tree_new_leaves(wick_onnx_op *o, wick_forest *f, int aggregate)
{
  tree_numbers w;
  const int64_t *target;
  if (!tree_tensor(o, "leaf_weights", &w) || !tree_ints(o, "leaf_targetids", w.n, false, &target) ||
      w.n > INT32_MAX / 4)
    return false;
  f->nleaf = (uint32_t)w.n;
  double *weight = wick_new(o->c->tmp, double, w.n * f->ntarget + 1),
         none = aggregate == WICK_FOREST_MIN   ? (double)INFINITY
                : aggregate == WICK_FOREST_MAX ? -(double)INFINITY
                                               : 0;
  for (size_t i = 0; i < w.n * f->ntarget; i++) weight[i] = none;
  for (size_t i = 0; i < w.n; i++) {
    if (target[i] < 0 || target[i] >= f->ntarget) {
      wick_onnx_fail(o, WICK_ERANGE, "leaf_targetids has %lld, of %u", (long long)target[i],
                     f->ntarget);
      return false;
    }
    weight[i * f->ntarget + (size_t)target[i]] = w.at[i];
  }
  f->weight = weight;
  return true;
}

/* A tree that is a single leaf is given as a node whose children are both that leaf. */
static void tree_ensemble(wick_onnx_op *o)
{
  int64_t aggregate = wick_onnx_int(o, "aggregate_function", 1),
          post = wick_onnx_int(o, "post_transform", 0), n = wick_onnx_int(o, "n_targets", 1);
  wick_wire_i64s root = wick_onnx_ints(o, "tree_roots");
  size_t nnode = wick_onnx_ints(o, "nodes_featureids").n;
  if (aggregate < 0 || aggregate > WICK_FOREST_MAX || post < 0 || post > WICK_ML_PROBIT || n < 1 ||
      n > 1 << 20 || nnode > INT32_MAX / 4) {
    wick_onnx_fail(o, WICK_ERANGE, "aggregate_function %lld, post_transform %lld, %lld targets",
                   (long long)aggregate, (long long)post, (long long)n);
    return;
  }
  tree_new t = {0};
  tree_tensor(o, "nodes_splits", &t.split);
  tree_tensor(o, "nodes_modes", &t.mode);
  if (!tree_ints(o, "nodes_featureids", nnode, false, &t.column) ||
      !tree_ints(o, "nodes_truenodeids", nnode, false, &t.yes) ||
      !tree_ints(o, "nodes_falsenodeids", nnode, false, &t.no) ||
      !tree_ints(o, "nodes_trueleafs", nnode, false, &t.yes_leaf) ||
      !tree_ints(o, "nodes_falseleafs", nnode, false, &t.no_leaf) ||
      !tree_ints(o, "nodes_missing_value_tracks_true", nnode, true, &t.tracks) ||
      !tree_length(o, "nodes_splits", t.split.n, nnode, false) ||
      !tree_length(o, "nodes_modes", t.mode.n, nnode, false))
    return;
  wick_forest f = {.elem = tree_elem(o), .ntarget = (uint32_t)n, .nnode = (uint32_t)nnode};
  if (!tree_new_leaves(o, &f, (int)aggregate) || !tree_new_nodes(o, &t, &f)) return;
  wick_forest_to *to = wick_new(o->c->tmp, wick_forest_to, root.n + 1);
  for (size_t i = 0; i < root.n; i++)
    if (!tree_new_to(o, root.at[i], false, &f, &to[i])) return;
  f.root = to;
  f.nroot = (uint32_t)root.n;
  wick_value y = tree_scores(o, &f, (int)aggregate);
  y = wick_ml_post_apply(o, y, (wick_ml_post)post);
  if (y.id) o->out[0] = wick_build_cast(o->b, y, wick_onnx_info(o, 0)->elem);
}

#define TREE_NODES                                                                                 \
  "base_values:F nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:F "                        \
  "nodes_missing_value_tracks_true:I nodes_modes:S nodes_nodeids:I nodes_treeids:I "               \
  "nodes_truenodeids:I nodes_values:F post_transform:s "
#define TREE_TENSORS "base_values_as_tensor:t nodes_hitrates_as_tensor:t nodes_values_as_tensor:t "
#define TREE_CLASS                                                                                 \
  "class_ids:I class_nodeids:I class_treeids:I class_weights:F classlabels_int64s:I "              \
  "classlabels_strings:S"
#define TREE_TARGET                                                                                \
  "aggregate_function:s n_targets:i target_ids:I target_nodeids:I target_treeids:I "               \
  "target_weights:F"

const wick_onnx_row wick_onnx_ml_tree_rows[] = {
    {"ai.onnx.ml.TreeEnsemble",
     5,
     {1, 1},
     1,
     "aggregate_function:i leaf_targetids:I! leaf_weights:t! membership_values:t n_targets:i "
     "nodes_falseleafs:I! nodes_falsenodeids:I! nodes_featureids:I! nodes_hitrates:t "
     "nodes_missing_value_tracks_true:I nodes_modes:t! nodes_splits:t! nodes_trueleafs:I! "
     "nodes_truenodeids:I! post_transform:i tree_roots:I!",
     tree_ensemble,
     0,
     0},
    {"ai.onnx.ml.TreeEnsembleClassifier",
     1,
     {1, 1},
     2,
     TREE_NODES TREE_CLASS,
     tree_classifier,
     0,
     0},
    {"ai.onnx.ml.TreeEnsembleClassifier",
     3,
     {1, 1},
     2,
     TREE_NODES TREE_TENSORS TREE_CLASS " class_weights_as_tensor:t",
     tree_classifier,
     0,
     0},
    {"ai.onnx.ml.TreeEnsembleRegressor",
     1,
     {1, 1},
     1,
     TREE_NODES TREE_TARGET,
     tree_regressor,
     0,
     0},
    {"ai.onnx.ml.TreeEnsembleRegressor",
     3,
     {1, 1},
     1,
     TREE_NODES TREE_TENSORS TREE_TARGET " target_weights_as_tensor:t",
     tree_regressor,
     0,
     0},
    {0},
};
