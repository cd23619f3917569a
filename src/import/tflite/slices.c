/* Gathers and scatters of slices as StableHLO has them: of each slice, a vector of indices says where in an
 * array it begins. */
#include <string.h>

#include "import/kit/array.h"
#include "import/tflite/ops.h"

bool wick_tflite_combines(wick_import_node *n, uint32_t graph, wick_opcode *out)
{
  static const struct {
    const char *name;
    wick_opcode op;
  } known[] = {{"ADD", WICK_OP_add},     {"MUL", WICK_OP_mul},       {"MULTIPLY", WICK_OP_mul},
               {"MAXIMUM", WICK_OP_max}, {"MINIMUM", WICK_OP_min},   {"LOGICAL_AND", WICK_OP_and},
               {"AND", WICK_OP_and},     {"LOGICAL_OR", WICK_OP_or}, {"OR", WICK_OP_or}};
  static const char prefix[] = "STABLEHLO_";
  const wick_tflite_at *at = n->data;
  const wick_tflite_model *m = at->body->run->m;
  *out = WICK_OP_none;
  if (graph < m->ngraph && !m->graph[graph].nop) return true;
  if (graph < m->ngraph && m->graph[graph].nop == 1 && m->graph[graph].nin == 2) {
    const char *name = m->graph[graph].op[0].name;
    if (strncmp(name, prefix, sizeof prefix - 1) == 0) name += sizeof prefix - 1;
    for (size_t k = 0; k < WICK_COUNT(known); k++)
      if (strcmp(name, known[k].name) == 0) *out = known[k].op;
  }
  if (*out == WICK_OP_none)
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "its body must be one sum, product, maximum, minimum, and, or");
  return !n->failed;
}

typedef struct slices_list {
  uint32_t n;
  int64_t at[WICK_MAX_RANK];
} slices_list;

/* Reads a list of dimensions, of which there are `rank`. */
static bool slices_dims(wick_import_node *n, uint32_t field, uint32_t rank, slices_list *out)
{
  wick_flat_list l = wick_flat_vector(wick_tflite_op_of(n)->options2, field, 8);
  bool good = l.n <= rank;
  out->n = l.n;
  for (uint32_t k = 0; k < l.n && good; k++) {
    out->at[k] = wick_flat_item_int(l, k, 8);
    good = out->at[k] >= 0 && out->at[k] < rank;
  }
  if (!good)
    wick_import_fail(n, WICK_EPARSE, "a list of its dimensions does not fit an array of rank %u",
                     rank);
  return good;
}

static bool slices_has(const slices_list *l, int64_t dim)
{
  for (uint32_t k = 0; k < l->n; k++)
    if (l->at[k] == dim) return true;
  return false;
}

/* How slices of an array [of rank `rank`] and a tensor that holds all of them correspond. */
typedef struct slices_map {
  uint32_t rank, all;      /* of the array; of the tensor of slices */
  slices_list window;      /* the tensor's dimensions that are the slices', in order */
  slices_list dropped;     /* the array's dimensions that the slices do not have */
  slices_list indexed;     /* the array's dimensions that the indices count along */
  int64_t vector;          /* the dimension of the indices' tensor that holds a vector */
  const wick_type_info *x; /* the array, whose sizes are known */
} slices_map;

/* first: the number of the first of its options. slices: the type of the tensor of slices, NULL for a result. */
static bool slices_read(wick_import_node *n, uint32_t first, const wick_type_info *slices,
                        slices_map *m)
{
  wick_flat o = wick_tflite_op_of(n)->options2;
  m->x = wick_import_info(n, 0);
  m->rank = m->x->rank;
  const wick_type_info *index = wick_import_info(n, 1);
  m->vector = wick_flat_int(o, first + 3, 8, 0);
  if (m->vector < 0 || m->vector > index->rank || index->rank == WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EPARSE, "its index_vector_dim is %lld", (long long)m->vector);
    return false;
  }
  if (!slices_dims(n, first + 1, m->rank, &m->dropped) ||
      !slices_dims(n, first + 2, m->rank, &m->indexed))
    return false;
  uint32_t batch = m->vector < index->rank ? index->rank - 1u : index->rank;
  m->all = slices ? slices->rank : batch + m->rank - m->dropped.n;
  if (m->all > WICK_MAX_RANK || !slices_dims(n, first, m->all, &m->window)) return false;
  bool vector =
      m->vector == index->rank || wick_dim_eq(index->dim[m->vector], wick_dim_const(m->indexed.n));
  if (m->window.n + m->dropped.n != m->rank || batch + m->window.n != m->all || !vector ||
      (m->vector == index->rank && m->indexed.n != 1)) {
    wick_import_fail(n, WICK_EPARSE,
                     "its lists of dimensions do not fit the shapes of its operands");
    return false;
  }
  for (uint32_t k = 0; k < m->rank; k++)
    if (!wick_dim_is_const(m->x->dim[k])) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "the sizes of its first operand must be known");
      return false;
    }
  return true;
}

/* The vectors' elements for dimension indexed.at[k], in i64, broadcast over the slices: of rank m->all. */
static wick_value slices_begin(wick_import_node *n, const slices_map *m, uint32_t k)
{
  wick_builder *b = n->b;
  wick_value at = wick_build_cast(b, n->in[1], WICK_I64);
  if (m->vector < wick_import_info(n, 1)->rank) {
    uint32_t axis = (uint32_t)m->vector;
    at = wick_emit_slice(b, at, axis, wick_dim_const(k), wick_dim_const(1));
    at = wick_emit_squeeze(b, at, axis);
  }
  for (uint32_t d = 0; d < m->all; d++)
    if (slices_has(&m->window, d)) at = wick_emit_unsqueeze(b, at, d);
  return at;
}

/* The positions of the slices' elements along dimension `dim` of the array, broadcast to rank m->all. `size`: the
 * number of positions that a slice takes; if `clamped`, it begins where it fits into the array. */
static wick_value slices_along(wick_import_node *n, const slices_map *m, uint32_t dim,
                               wick_dim size, bool clamped)
{
  wick_builder *b = n->b;
  wick_value at = {0};
  for (uint32_t k = 0; k < m->indexed.n; k++)
    if (m->indexed.at[k] == dim) at = slices_begin(n, m, k);
  if (at.id && clamped) {
    at = wick_emit_by(b, WICK_OP_min, at, (double)(m->x->dim[dim].v - size.v));
    at = wick_emit_by(b, WICK_OP_max, at, 0);
  }
  uint32_t kept = 0;
  for (uint32_t d = 0; d < dim; d++) kept += !slices_has(&m->dropped, d);
  if (!slices_has(&m->dropped, dim)) {
    wick_value along = wick_emit_count_along(b, size, (uint32_t)m->window.at[kept], m->all);
    at = at.id ? wick_build2(b, WICK_OP_add, at, along) : along;
  }
  if (at.id) return at;
  return wick_build_const(b, wick_type_tensor(n->c->module, WICK_I64, 0, NULL), 0, 0);
}

static wick_value slices_flat(wick_import_node *n, const slices_map *m, wick_value flat,
                              wick_value at, uint32_t dim)
{
  flat = wick_emit_by(n->b, WICK_OP_mul, flat, (double)m->x->dim[dim].v);
  return wick_build2(n->b, WICK_OP_add, flat, at);
}

static wick_value slices_zero(wick_import_node *n)
{
  return wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_I64, 0, NULL), 0, 0);
}

/* Operands: the array, the indices. */
static void slices_gather(wick_import_node *n)
{
  wick_builder *b = n->b;
  slices_map m;
  if (!slices_read(n, 0, NULL, &m)) return;
  wick_flat_list sizes = wick_flat_vector(wick_tflite_op_of(n)->options2, 4, 8);
  wick_dim dim[WICK_MAX_RANK];
  wick_value flat = slices_zero(n);
  uint32_t window = 0, batch = 0, vector = (uint32_t)m.vector;
  for (uint32_t d = 0; d < m.rank; d++) {
    int64_t size = sizes.n == m.rank ? wick_flat_item_int(sizes, d, 8) : -1;
    bool kept = !slices_has(&m.dropped, d);
    if (size < !kept || size > m.x->dim[d].v || (!kept && size != 1)) {
      wick_import_fail(n, WICK_EPARSE, "the size of its slices along dimension %u of %lld is %lld",
                       d, (long long)m.x->dim[d].v, (long long)size);
      return;
    }
    if (kept) dim[m.window.at[window++]] = wick_dim_const(size);
    flat = slices_flat(n, &m, flat, slices_along(n, &m, d, wick_dim_const(size), true), d);
  }
  for (uint32_t d = 0; d < m.all; d++) {
    if (slices_has(&m.window, d)) continue;
    batch += batch == vector;
    dim[d] = wick_import_info(n, 1)->dim[batch++];
  }
  const wick_dim all[] = {{-1}};
  flat = wick_emit_expand(b, flat, m.all, dim);
  wick_value x = wick_build_reshape(b, n->in[0], 1, all);
  n->out[0] = wick_emit_gather(b, WICK_OP_gather, x, flat, 0);
}

/* Operands: the array, the indices, the slices. Elements of slices that are outside of the array are left out. */
static void slices_scatter(wick_import_node *n)
{
  wick_builder *b = n->b;
  slices_map m;
  const wick_type_info *slice = wick_import_info(n, 2);
  if (!slices_read(n, 1, slice, &m)) return;
  uint32_t body = (uint32_t)wick_flat_int(wick_tflite_op_of(n)->options2, 6, 4, 0);
  wick_opcode op;
  if (!wick_tflite_combines(n, body, &op)) return;
  int64_t numel = 1;
  wick_value flat = slices_zero(n), inside = {0};
  for (uint32_t d = 0, window = 0; d < m.rank && !n->failed; d++) {
    wick_dim size =
        slices_has(&m.dropped, d) ? wick_dim_const(1) : slice->dim[m.window.at[window++]];
    wick_value at = slices_along(n, &m, d, size, false);
    wick_value low = wick_emit_by(b, WICK_OP_ge, at, 0);
    wick_value high = wick_emit_by(b, WICK_OP_lt, at, (double)m.x->dim[d].v);
    low = wick_build2(b, WICK_OP_and, low, high);
    inside = inside.id ? wick_build2(b, WICK_OP_and, inside, low) : low;
    flat = slices_flat(n, &m, flat, at, d);
    numel *= m.x->dim[d].v;
  }
  if (n->failed || !inside.id) {
    if (!n->failed) wick_import_fail(n, WICK_EUNSUPPORTED, "its first operand has no dimensions");
    return;
  }
  static const struct {
    wick_opcode op;
    int64_t reduction;
  } known[] = {
      {WICK_OP_none, 0}, {WICK_OP_add, 1}, {WICK_OP_mul, 2}, {WICK_OP_max, 3}, {WICK_OP_min, 4}};
  size_t kind = 0;
  while (kind < WICK_COUNT(known) && known[kind].op != op) kind++;
  if (kind == WICK_COUNT(known)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its body is an and or an or");
    return;
  }
  /* What is outside is scattered to an element after the last one. */
  const wick_dim all[] = {{-1}}, one = wick_dim_const(1), last = wick_dim_const(numel);
  flat = wick_build3(b, WICK_OP_where, inside, flat, wick_emit_number(b, flat, (double)numel));
  flat = wick_emit_expand(b, flat, m.all, slice->dim);
  flat = wick_emit_unsqueeze(b, wick_build_reshape(b, flat, 1, all), 1);
  wick_value more = wick_emit_expand(b, wick_emit_number(b, n->in[0], 0), 1, &one);
  const wick_value parts[] = {wick_build_reshape(b, n->in[0], 1, all), more};
  const wick_value in[] = {wick_build_concat(b, 0, 2, parts), flat,
                           wick_build_reshape(b, n->in[2], 1, all)};
  wick_emit e = wick_emit_begin(b, WICK_OP_scatter_nd);
  wick_emit_set_int(&e, "reduction", known[kind].reduction);
  wick_value y = wick_emit_slice(b, wick_emit_end(&e, 3, in), 0, wick_dim_const(0), last);
  n->out[0] = wick_build_reshape(b, y, m.rank, m.x->dim);
}

const wick_import_op wick_tflite_slices_ops[] = {
    {"STABLEHLO_GATHER", 1, {2, 2}, 1, NULL, slices_gather, WICK_OP_none, 0, NULL, NULL},
    {"STABLEHLO_SCATTER", 1, {3, 3}, 1, NULL, slices_scatter, WICK_OP_none, 0, NULL, NULL},
    {0},
};
