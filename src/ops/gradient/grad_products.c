/* Sums of products, which are multiplied late.
 *
 * The cotangent of a matrix that a recursion passes on gets the product of a column and a row at each
 * call. Instead of the matrix, which each call would read and write, the calls pass a list of the
 * columns and rows. At the end, a product of matrices adds many of them at once.
 *
 * The list has a type for each element type and shape: End, Product(column, row, rest), and
 * Whole(matrix, rest) for what is no product. */
#include "ir/expr.h"
#include "ops/gradient/grad.h"

enum { PRODUCTS_END, PRODUCTS_ONE, PRODUCTS_WHOLE };
enum {
  PRODUCTS_RANK = 8,   /* most columns of one product */
  PRODUCTS_ROWS = 32,  /* products that are multiplied at once */
  PRODUCTS_LESS = 4,   /* how many times smaller the column and the row are than the matrix */
  PRODUCTS_LEAST = 512 /* fewest elements of a matrix */
};

bool wick_products_pay(int64_t m, int64_t k, int64_t rank)
{
  return rank <= PRODUCTS_RANK && m * k >= PRODUCTS_LEAST &&
         rank * (m + k) * PRODUCTS_LESS <= m * k;
}

wick_type wick_products_type(wick_module *mod, wick_elem e, int64_t m, int64_t k, wick_arena *mem)
{
  const int64_t dim[2] = {m, k};
  wick_type column = wick_type_tensor_const(mod, e, 1, dim),
            row = wick_type_tensor_const(mod, e, 1, dim + 1),
            matrix = wick_type_tensor_const(mod, e, 2, dim);
  uint32_t before = mod->data.n;
  wick_type made =
      wick_data_type(mod, wick_str_printf(mem, "products.%s.%lld.%lld", wick_elem_name(e),
                                          (long long)m, (long long)k));
  if (mod->data.n == before) return made;
  wick_type one[3] = {column, row, made}, whole[2] = {matrix, made};
  const wick_ctor ctor[3] = {[PRODUCTS_END] = {.name = "End"},
                             [PRODUCTS_ONE] = {.name = "Product", .nfield = 3, .field = one},
                             [PRODUCTS_WHOLE] = {.name = "Whole", .nfield = 2, .field = whole}};
  wick_data_define(mod, made, 3, ctor);
  return made;
}

static const wick_type_info *products_matrix(const wick_builder *b, wick_type t)
{
  return wick_type_get(b->module, wick_data_get(b->module, t)->ctor[PRODUCTS_WHOLE].field[0]);
}

static const wick_node *products_node(const wick_builder *b, wick_value v)
{
  for (uint32_t i = b->nodes.n; i-- > 0;) {
    const wick_node *n = &b->nodes.at[i];
    if (n->nout && n->first.id <= v.id && v.id < n->first.id + n->nout) return n;
  }
  return NULL;
}

/* Adds the products that v, a matrix [m, k] or the transpose of one, is a sum of. Returns false if it
 * is something else; without `sum` nothing is built. */
static bool products_push(wick_builder *b, wick_value v, int64_t m, int64_t k, bool turned,
                          wick_value *sum)
{
  int64_t x[WICK_MAX_RANK], y[WICK_MAX_RANK];
  const wick_node *at = b->status ? NULL : products_node(b, v);
  if (!at) return false;
  const wick_node n = *at;
  if (n.op == WICK_OP_reshape) return products_push(b, n.in[0], m, k, turned, sum);
  if (n.op == WICK_OP_add)
    return wick_type_eq(wick_built_type(b, n.in[0]), wick_built_type(b, n.in[1])) &&
           products_push(b, n.in[0], m, k, turned, sum) &&
           products_push(b, n.in[1], m, k, turned, sum);
  if (n.op == WICK_OP_transpose) {
    const wick_type_info *t = wick_built_info(b, v);
    return t->rank == 2 && n.attr[WICK_ATTR_transpose_perm].ints[0] == 1 &&
           wick_type_const_dims(t, x) && x[0] == (turned ? k : m) && x[1] == (turned ? m : k) &&
           products_push(b, n.in[0], m, k, !turned, sum);
  }
  if (n.op != WICK_OP_matmul) return false;
  const wick_type_info *tx = wick_built_info(b, n.in[0]), *ty = wick_built_info(b, n.in[1]);
  if (tx->rank != 2 || ty->rank != 2 || !wick_type_const_dims(tx, x) ||
      !wick_type_const_dims(ty, y))
    return false;
  if (x[0] != (turned ? k : m) || y[1] != (turned ? m : k) || x[1] > PRODUCTS_RANK) return false;
  for (int64_t i = 0; sum && i < x[1]; i++) {
    wick_dim from = wick_dim_const(i), one = wick_dim_const(1), height = wick_dim_const(x[0]),
             width = wick_dim_const(y[1]);
    wick_value left = x[1] == 1 ? n.in[0] : wick_grad_slice(b, n.in[0], 1, from, one, 1);
    wick_value right = x[1] == 1 ? n.in[1] : wick_grad_slice(b, n.in[1], 0, from, one, 1);
    left = wick_grad_reshape(b, left, 1, &height);
    right = wick_grad_reshape(b, right, 1, &width);
    wick_value field[3] = {turned ? right : left, turned ? left : right, *sum};
    if (!b->status)
      *sum = wick_build_construct(b, wick_built_type(b, *sum), PRODUCTS_ONE, 3, field);
  }
  return true;
}

wick_value wick_products_add(wick_builder *b, wick_value sum, wick_value v)
{
  if (b->status) return sum;
  const wick_type_info *matrix = products_matrix(b, wick_built_type(b, sum));
  int64_t m = matrix->dim[0].v, k = matrix->dim[1].v;
  if (products_push(b, v, m, k, false, NULL)) {
    products_push(b, v, m, k, false, &sum);
    return sum;
  }
  wick_value field[2] = {wick_grad_reshape(b, v, 2, matrix->dim), sum};
  return b->status ? sum
                   : wick_build_construct(b, wick_built_type(b, sum), PRODUCTS_WHOLE, 2, field);
}

/* ---- the sum ---- */

static wick_value products_number(wick_builder *b, wick_elem e, int64_t v)
{
  return wick_build_const(b, wick_type_tensor(b->module, e, 0, NULL), 0, v);
}

/* Builds the columns [rows, m] and the rows [rows, k] of the list's first products, and what is left of
 * it: out[0..2] are the rest, the columns and the rows. After its products there are zeros. */
static void products_take(wick_builder *b, wick_value list, wick_value *out)
{
  wick_type type = wick_built_type(b, list);
  const wick_data d = *wick_data_get(b->module, type);
  wick_value in[2] = {products_number(b, WICK_I64, PRODUCTS_ROWS), list};
  wick_type carried[2] = {wick_type_tensor(b->module, WICK_I64, 0, NULL), type};
  wick_dim most = wick_dim_const(PRODUCTS_ROWS);
  const wick_attr attr[] = {
      [WICK_ATTR_loop_stacked] = {.i = 2}, [WICK_ATTR_loop_most] = {.n = 1, .dims = &most}};
  wick_build_open(b, WICK_OP_loop, 2, in, attr, 0, NULL);
  wick_value p = wick_region_begin(b, 2, carried), l = {p.id + 1};
  wick_build_open(b, WICK_OP_switch, 1, &l, NULL, 0, NULL);
  for (uint32_t c = 0; c < d.nctor; c++) {
    wick_value field = wick_region_begin(b, d.ctor[c].nfield, d.ctor[c].field), y[3] = {l};
    const wick_type *of = d.ctor[PRODUCTS_ONE].field;
    if (c == PRODUCTS_ONE) {
      y[0] = (wick_value){field.id + 2}, y[1] = field, y[2] = (wick_value){field.id + 1};
    } else {
      y[1] = wick_build_const(b, of[0], 0, 0);
      y[2] = wick_build_const(b, of[1], 0, 0);
    }
    wick_yield(b, 3, y);
  }
  wick_value v = wick_build_close(b), y[4] = {products_number(b, WICK_BOOL, 1)};
  for (uint32_t i = 0; i < 3; i++) y[1 + i] = (wick_value){v.id + i};
  wick_yield(b, 4, y);
  v = wick_build_close(b);
  for (uint32_t i = 0; i < 3; i++) out[i] = (wick_value){v.id + i};
}

/* Builds the function that adds all that a list of this type holds. */
static wick_status products_define(wick_module *mod, wick_type type, const char *name,
                                   wick_arena *mem)
{
  wick_builder b;
  wick_func *made;
  wick_build_begin(&b, mod, WICK_GRAPH, name, mem);
  wick_value list = wick_build_param(&b, type, WICK_IN, NULL);
  const wick_data d = *wick_data_get(mod, type);
  wick_type matrix = d.ctor[PRODUCTS_WHOLE].field[0],
            carried[3] = {wick_type_tensor(mod, WICK_I64, 0, NULL), type, matrix};
  wick_value in[3] = {products_number(&b, WICK_I64, INT64_MAX), list};
  in[2] = wick_build_const(&b, matrix, 0, 0);
  wick_build_open(&b, WICK_OP_loop, 3, in, NULL, 0, NULL);
  wick_value p = wick_region_begin(&b, 3, carried), l = {p.id + 1}, sum = {p.id + 2};
  wick_build_open(&b, WICK_OP_switch, 1, &l, NULL, 0, NULL);
  for (uint32_t c = 0; c < d.nctor && !b.status; c++) {
    wick_value field = wick_region_begin(&b, d.ctor[c].nfield, d.ctor[c].field),
               y[3] = {products_number(&b, WICK_BOOL, c != PRODUCTS_END), l, sum}, part[3];
    if (c == PRODUCTS_ONE) {
      products_take(&b, l, part);
      y[1] = part[0];
      y[2] =
          expr_add(&b, sum, wick_build2(&b, WICK_OP_matmul, wick_build_swap(&b, part[1]), part[2]));
    } else if (c == PRODUCTS_WHOLE) {
      y[1] = (wick_value){field.id + 1};
      y[2] = expr_add(&b, sum, field);
    }
    wick_yield(&b, 3, y);
  }
  wick_value v = wick_build_close(&b), y[3];
  for (uint32_t i = 0; i < 3; i++) y[i] = (wick_value){v.id + i};
  wick_yield(&b, 3, y);
  v = wick_build_close(&b);
  v.id++;
  wick_build_return(&b, 1, &v);
  wick_status s = wick_build_end(&b, &made);
  if (!s) wick_module_set(mod, made);
  return s;
}

wick_value wick_products_total(wick_builder *b, wick_value sum, wick_value x)
{
  if (b->status) return sum;
  wick_module *mod = b->module;
  wick_type type = wick_built_type(b, sum);
  const wick_data d = *wick_data_get(mod, type);
  wick_attr callee = {.s = wick_intern(mod, wick_str_printf(b->mem, "%s.total", d.name))};
  if (!wick_module_find(mod, callee.s)) b->status = products_define(mod, type, callee.s, b->mem);
  if (b->status) return sum;
  wick_value v = wick_build(b, WICK_OP_call, 1, &sum, &callee, 1, &d.ctor[PRODUCTS_WHOLE].field[0]);
  return wick_grad_shape_of(b, v, x);
}
