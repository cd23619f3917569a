/* Operators of sparse matrices: compressed rows of elements (CSR) or of blocks (BSR). The matrix is made dense, while
 * compiling if it is constant. */
#include "import/relay/state.h"
#include "import/relay/table.h"

/* A matrix in the operands `at`, `at + 1` and `at + 2`: elements or blocks, their columns, and where each row begins. */
typedef struct sparse_matrix {
  int64_t rows, count, high, wide; /* rows and blocks; the size of a block */
  const char *data, *columns, *begins, *elem;
} sparse_matrix;

static bool sparse_read(relay_member *m, uint32_t at, sparse_matrix *s)
{
  uint32_t rank = wick_relay_rank(m, at);
  if ((rank != 1 && rank != 3) || wick_relay_rank(m, at + 1) != 1 ||
      wick_relay_rank(m, at + 2) != 1) {
    wick_relay_fail(m, "the sparse matrix must be vectors of elements or blocks, columns and rows");
    return false;
  }
  s->count = wick_relay_known(m, at + 1, 0), s->rows = wick_relay_known(m, at + 2, 0) - 1;
  s->high = rank == 3 ? wick_relay_known(m, at, 1) : 1;
  s->wide = rank == 3 ? wick_relay_known(m, at, 2) : 1;
  s->data = wick_relay_letter(at), s->elem = wick_elem_name(wick_relay_elem(m, at));
  s->columns = wick_relay_letter(at + 1), s->begins = wick_relay_letter(at + 2);
  if (!m->use->wrong && s->rows < 0) wick_relay_fail(m, "the sparse matrix has no row");
  return !m->use->wrong;
}

/* The row of each element or block. */
static const char *sparse_rows(relay_member *m, const sparse_matrix *s)
{
  return wick_relay_let(m,
                        "search_sorted(range(1i64, 1i64, count = %lld), slice(i64(%s), begin = "
                        "(1,), shape = (%lld,), step = (1,)))",
                        (long long)s->count, s->begins, (long long)s->rows);
}

/* The matrix with so many columns as a tensor, on top of the elements of `start`. */
static const char *sparse_onto(relay_member *m, const sparse_matrix *s, const char *start,
                               int64_t columns)
{
  long long high = s->high, wide = s->wide, n = columns;
  const char *block = wick_relay_let(m, "%s * %lldi64 + i64(%s) * %lldi64", sparse_rows(m, s),
                                     high * n, s->columns, wide);
  const char *at = wick_relay_let(m,
                                  "reshape(%s, shape = (-1, 1, 1)) + reshape(range(0i64, %lldi64, "
                                  "count = %lld), shape = (-1, 1)) + range(0i64, 1i64, count = "
                                  "%lld)",
                                  block, n, high, wide);
  return wick_relay_let(
      m,
      "reshape(scatter_elements(reshape(%s, shape = (-1,)), reshape(%s, shape = (-1,)), "
      "reshape(%s, shape = (-1,)), axis = 0, reduction = \"add\"), shape = (%lld, %lld))",
      start, at, s->data, (long long)s->rows * high, n);
}

static const char *sparse_dense(relay_member *m, const sparse_matrix *s, int64_t columns)
{
  return sparse_onto(m, s,
                     wick_relay_text(m, "broadcast_to(%s(0), shape = (%lld,))", s->elem,
                                     (long long)(s->rows * s->high * columns)),
                     columns);
}

/* a times the transposed sparse matrix, or with sparse_lhs the sparse matrix times the transposed a. */
static const char *sparse_product(relay_member *m)
{
  sparse_matrix s;
  if (wick_relay_rank(m, 0) != 2) return wick_relay_fail(m, "the first operand must be a matrix");
  int64_t n = wick_relay_known(m, 0, 1);
  if (!sparse_read(m, 1, &s)) return NULL;
  const char *w = sparse_dense(m, &s, n);
  if (wick_relay_int(m, "sparse_lhs", 0))
    return wick_relay_text(m, "matmul(%s, transpose(a, perm = (1, 0)))", w);
  return wick_relay_text(m, "matmul(a, transpose(%s, perm = (1, 0)))", w);
}

static const char *sparse_sum(relay_member *m)
{
  sparse_matrix s;
  if (wick_relay_rank(m, 0) != 2) return wick_relay_fail(m, "the first operand must be a matrix");
  int64_t n = wick_relay_known(m, 0, 1), rows = wick_relay_known(m, 0, 0);
  if (!sparse_read(m, 1, &s)) return NULL;
  if (rows != s.rows * s.high) return wick_relay_fail(m, "the matrices have other rows");
  return sparse_onto(m, &s, "a", n);
}

/* Elements, columns and beginnings of rows of the transposed square matrix. */
static const char *sparse_transposed(relay_member *m)
{
  sparse_matrix s;
  if (!sparse_read(m, 0, &s)) return NULL;
  if (wick_relay_rank(m, 0) != 1) return wick_relay_fail(m, "matrices of blocks are not supported");
  const char *rows = sparse_rows(m, &s),
             *order = wick_relay_let(m, "top_k(i64(b), axis = 0, k = %lld, least = true)",
                                     (long long)s.count);
  return wick_relay_text(m,
                         "(gather(a, %s.1, axis = 0), %s(gather(%s, %s.1, axis = 0)), "
                         "%s(search_sorted(range(0i64, 1i64, count = %lld), %s.0)))",
                         order, wick_elem_name(wick_relay_elem(m, 1)), rows, order,
                         wick_elem_name(wick_relay_elem(m, 2)), (long long)s.rows + 1, order);
}

/* A convolution with a kernel of one element: a product for each position. */
static const char *sparse_convolution(relay_member *m)
{
  sparse_matrix s;
  int64_t size[RELAY_MOST_INTS];
  int n = wick_relay_ints(m, "kernel_size", size);
  bool last = strcmp(wick_relay_word(m, "layout", "NHWC"), "NHWC") == 0;
  for (int i = 0; i < n; i++)
    if (size[i] != 1) return wick_relay_fail(m, "only kernels of one element are supported");
  if (wick_relay_rank(m, 0) != 4) return wick_relay_fail(m, "the first operand must have 4 axes");
  int64_t channels = wick_relay_known(m, 0, last ? 3 : 1);
  if (!sparse_read(m, 1, &s)) return NULL;
  const char *w = sparse_dense(m, &s, channels);
  if (last) return wick_relay_text(m, "matmul(a, transpose(%s, perm = (1, 0)))", w);
  const char *rows = wick_relay_text(m, "reshape(a, shape = (%s, %s, -1))",
                                     wick_relay_size(m, 0, 0), wick_relay_size(m, 0, 1));
  return wick_relay_text(m, "reshape(matmul(%s, %s), shape = (%s, %lld, %s, %s))", w, rows,
                         wick_relay_size(m, 0, 0), (long long)(s.rows * s.high),
                         wick_relay_size(m, 0, 2), wick_relay_size(m, 0, 3));
}

const relay_row wick_relay_sparse[] = {
    RELAY_WRITE("nn.sparse_add", 4, 4, sparse_sum, NULL, "scatter_elements"),
    RELAY_WRITE("nn.sparse_conv2d", 4, 4, sparse_convolution, "layout kernel_size",
                "matmul with a matrix that is made dense; kernels of one element"),
    RELAY_WRITE("nn.sparse_dense", 4, 4, sparse_product, "sparse_lhs",
                "matmul with a matrix that is made dense"),
    RELAY_WRITE("nn.sparse_transpose", 3, 3, sparse_transposed, NULL, "top_k and gather"),
    RELAY_END_OF_ROWS,
};
