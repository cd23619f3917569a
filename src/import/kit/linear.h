/* Linear algebra on batches of matrices, for importers: steps over rows or columns, each for all matrices
 * of the batch at once. Matrices are f64 of rank 3, [batch, rows, columns], by wick_linear_batch. Where a
 * matrix has no result (a pivot of 0, a matrix that is not positive definite), elements are infinite or no
 * numbers. Misfits are the builder's failures, as those of emit.h. */
#ifndef WICK_IMPORT_KIT_LINEAR_H
#define WICK_IMPORT_KIT_LINEAR_H

#include "import/kit/emit.h"

/* x [..., rows, columns], of floats and of rank 2 at least, as [batch, rows, columns] in f64. */
wick_value wick_linear_batch(wick_builder *b, wick_value x);
/* y [batch, ...] with the leading dimensions of the matrices x, in x's element type if y is f64. */
wick_value wick_linear_unbatch(wick_builder *b, wick_value y, wick_value x);
/* Ones on the diagonal of each of x's matrices, which must be square. */
wick_value wick_linear_identity(wick_builder *b, wick_value x);
/* x where the column is at most (at least, if not lower) the row, zeros elsewhere. */
wick_value wick_linear_triangle(wick_builder *b, wick_value x, bool lower);
/* [batch, n]: the elements [i, i], of the first columns or rows if x is not square. */
wick_value wick_linear_diagonal(wick_builder *b, wick_value x);

/* z with a z = y, for y [batch, n, k], by Gauss and Jordan's elimination. */
wick_value wick_linear_solve(wick_builder *b, wick_value a, wick_value y);
/* The same for a triangle; the other half of a is not read. */
wick_value wick_linear_solve_triangle(wick_builder *b, wick_value a, wick_value y, bool lower);
/* The lower triangle l with l l' = a. The upper half of a is not read. */
wick_value wick_linear_cholesky(wick_builder *b, wick_value a);
/* Both triangles of l u = the rows `order` of a in one matrix (l has ones on its diagonal, which are left
 * out), and order [batch, n] in i64. */
wick_value wick_linear_lu(wick_builder *b, wick_value a, wick_value *order);
/* The sign of the determinant, and the logarithm of its size; both [batch]. */
wick_value wick_linear_log_det(wick_builder *b, wick_value a, wick_value *log);
/* q [batch, m, m] and r [batch, m, n] with q r = a, by Householder's reflections with LAPACK's signs. */
wick_value wick_linear_qr(wick_builder *b, wick_value a, wick_value *r);

/* The eigenvalues [batch, n] of symmetric matrices, ascending, and eigenvectors as columns. The upper
 * half of a is not read. Jacobi's method. */
wick_value wick_linear_eigen(wick_builder *b, wick_value a, wick_value *vectors);
/* The singular values [batch, min(m, n)], descending, and u [batch, m, m] and v [batch, n, n] with
 * u s v' = a. The number of rows and columns must be known, or at least which one is larger. Jacobi's
 * method on one side. */
wick_value wick_linear_svd(wick_builder *b, wick_value a, wick_value *u, wick_value *v);

#endif
