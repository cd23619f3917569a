/* Builds the discrete Fourier transform of many 1-D slices as passes of the operator `fourier`.
 * Below, "lines" is the number of these slices. Begin with wick_dft at the end. */
#include <math.h>

#include "import/kit/dft.h"

enum {
  DFT_LINE = 32,  /* the largest size that one `fourier` transforms */
  DFT_PASS = 16,  /* the same if there are several passes, except for primes: larger passes do not
                     fit in registers */
  DFT_DENSE = 64, /* larger primes are not a product with a matrix */
  DFT_TRIED = 6,  /* sizes of a pass */
  DFT_LANES = 16, /* numbers that should be contiguous after a pass */
};

static const double dft_pi = 3.14159265358979323846;

typedef struct fourier {
  wick_builder *b;
  wick_arena *tmp;
  const char *name; /* of constants */
  wick_elem elem;
  bool inverse;
} fourier;

/* Builds exp(sign * 2 pi i j k / n) for j in [from, to) and k in [0, columns), as planes [2, to -
 * from, columns]. The products j * k are exact, and so is the angle. */
static wick_value dft_roots(const fourier *f, int64_t from, int64_t to, int64_t columns, int64_t n)
{
  const int64_t dim[] = {2, to - from, columns};
  size_t half = (size_t)((to - from) * columns);
  wick_mark m = wick_arena_mark(f->tmp);
  double *at = wick_new(f->tmp, double, 2 * half);
  for (int64_t j = from; j < to; j++)
    for (int64_t k = 0; k < columns; k++) {
      double angle = (f->inverse ? 2 : -2) * dft_pi * (double)(j * k % n) / (double)n;
      size_t i = (size_t)((j - from) * columns + k);
      at[i] = cos(angle), at[half + i] = sin(angle);
    }
  wick_value table = wick_emit_table(f->b, f->name, f->elem, 3, dim, at);
  wick_arena_rewind(f->tmp, m);
  return table;
}

static wick_value dft_plane(const fourier *f, wick_value x, int64_t k)
{
  return wick_emit_slice(f->b, x, 0, wick_dim_const(k), wick_dim_const(1));
}

static bool dft_is_real(const fourier *f, wick_value x)
{
  return !f->b->status && wick_dim_is(wick_built_info(f->b, x)->dim[0], 1);
}

/* Multiplies planes: x times y element by element, or their product as matrices. y is complex. */
static wick_value dft_times(const fourier *f, wick_opcode op, wick_value x, wick_value y)
{
  wick_builder *b = f->b;
  wick_value xr = dft_plane(f, x, 0), yr = dft_plane(f, y, 0), yi = dft_plane(f, y, 1);
  wick_value z[2] = {wick_build2(b, op, xr, yr), {0}};
  z[1] = wick_build2(b, op, xr, yi);
  if (!dft_is_real(f, x)) {
    wick_value xi = dft_plane(f, x, 1), v = wick_build2(b, op, xi, yi);
    z[0] = wick_build2(b, WICK_OP_sub, z[0], v);
    v = wick_build2(b, op, xi, yr);
    z[1] = wick_build2(b, WICK_OP_add, z[1], v);
  }
  return wick_build_concat(f->b, 0, 2, z);
}

/* ---- passes ---- */

/* Transforms by a prime r that is too large for `fourier`: multiplies [planes, lines, r, rest] by a
 * matrix. */
static wick_value dft_dense(const fourier *f, wick_value x, int64_t r)
{
  static const int64_t last[] = {0, 1, 3, 2}, first[] = {0, 2, 1, 3};
  x = wick_build_transpose(f->b, x, 4, last); /* [planes, lines, rest, r] */
  wick_value m = dft_roots(f, 0, r, r, r);
  const wick_dim dim[] = {wick_dim_const(2), wick_dim_const(1), wick_dim_const(r),
                          wick_dim_const(r)};
  wick_value y = dft_times(f, WICK_OP_matmul, x, wick_build_reshape(f->b, m, 4, dim));
  y = wick_build_transpose(f->b, y, 4, last);
  return wick_build_transpose(f->b, y, 4, first);
}

/* [planes, lines, r, rest] -> [2, r, lines, rest], times the roots of r * rest. In the last pass
 * rest is 1; then it transposes so that lines are contiguous. */
static wick_value dft_pass(const fourier *f, wick_value x, wick_dim lines, int64_t r, int64_t rest)
{
  wick_builder *b = f->b;
  bool dense = r > DFT_LINE, last = rest == 1;
  if (b->status) return x;
  wick_dim planes = wick_built_info(b, x)->dim[0], one = wick_dim_const(1), n = wick_dim_const(r),
           side = wick_dim_const(rest);
  if (last) {
    x = wick_build_reshape(b, x, 3, (const wick_dim[]){planes, lines, n});
    x = wick_build_transpose(b, x, 3, (const int64_t[]){0, 2, 1});
    side = lines, lines = one;
  }
  x = wick_build_reshape(b, x, 4, (const wick_dim[]){planes, lines, n, side});
  if (dense) {
    x = dft_dense(f, x, r);
    if (last) return x;
    wick_value w = dft_roots(f, 0, r, rest, r * rest);
    w = wick_build_reshape(b, w, 4, (const wick_dim[]){wick_dim_const(2), n, one, side});
    return dft_times(f, WICK_OP_mul, x, w);
  }
  wick_emit e = wick_emit_begin(b, WICK_OP_dft_pass);
  wick_emit_set_int(&e, "inverse", f->inverse);
  if (last) return wick_emit_end1(&e, x);
  return wick_emit_end2(&e, x, dft_roots(f, 1, r, rest, r * rest));
}

static int64_t dft_prime(int64_t n) /* the largest prime that divides n */
{
  int64_t most = 1;
  for (int64_t p = 2; p * p <= n; p++)
    for (; n % p == 0; n /= p) most = p;
  return n > 1 ? n : most;
}

/* Returns the number of passes that n needs, and sets *out_first to the size of the first. Prefers
 * few passes, then passes of similar size. Returns 0 if n has no such passes. */
static int64_t dft_passes(int64_t n, int64_t *out_first)
{
  int64_t best = 0, least = 0, prime = dft_prime(n);
  *out_first = n;
  if (n <= DFT_PASS || prime == n) return n <= DFT_DENSE;
  for (int64_t r = DFT_DENSE, tried = 0; r > 1 && tried < DFT_TRIED; r--) {
    int64_t next, more;
    if (n % r || r == n || (r > DFT_PASS && r != prime)) continue;
    tried++;
    more = dft_passes(n / r, &next);
    if (!more) continue;
    int64_t narrow = n / r < DFT_LANES, most = (r > next ? r : next) + 64 * narrow;
    if (!best || more + 1 < best || (more + 1 == best && most < least))
      best = more + 1, least = most, *out_first = r;
  }
  return best;
}

/* ---- the transform ---- */

wick_value wick_dft_fit(wick_builder *b, wick_value x, int64_t size)
{
  if (b->status) return x;
  uint32_t rank = wick_built_info(b, x)->rank;
  int64_t from = wick_built_info(b, x)->dim[rank - 1].v;
  if (size == from) return x;
  if (size < from) return wick_emit_slice(b, x, rank - 1, wick_dim_const(0), wick_dim_const(size));
  wick_dim pad[2 * WICK_MAX_RANK];
  for (uint32_t k = 0; k < 2 * rank; k++) pad[k] = wick_dim_const(0);
  pad[2 * rank - 1] = wick_dim_const(size - from);
  wick_emit e = wick_emit_begin(b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  return wick_emit_end1(&e, x);
}

static wick_value dft_lines(const fourier *f, wick_value x, int64_t n);

/* Transforms a size with a large prime by Bluestein's algorithm: j * k = (j^2 + k^2 - (k - j)^2) /
 * 2 makes it a convolution, which a transform of a power of two computes. */
static wick_value dft_chirped(const fourier *f, wick_value x, int64_t n)
{
  static const int64_t turn[] = {0, 2, 1};
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  wick_mark mark = wick_arena_mark(f->tmp);
  double *at = wick_new(f->tmp, double, 2 * (size_t)m), *im = at + m,
         *chirp = wick_new(f->tmp, double, 2 * (size_t)n);
  for (int64_t k = 0; k < n; k++) {
    double angle = dft_pi * (double)(k * k % (2 * n)) / (double)n;
    chirp[k] = cos(angle), chirp[n + k] = (f->inverse ? 1 : -1) * sin(angle);
    at[k] = chirp[k], im[k] = -chirp[n + k];
    if (k) at[m - k] = at[k], im[m - k] = im[k];
  }
  fourier forth = *f, back = *f;
  forth.inverse = false, back.inverse = true;
  wick_value w = wick_emit_table(f->b, f->name, f->elem, 3, (const int64_t[]){2, 1, n}, chirp),
             filter = wick_emit_table(f->b, f->name, f->elem, 3, (const int64_t[]){2, 1, m}, at);
  wick_arena_rewind(f->tmp, mark);
  filter = wick_build_transpose(f->b, dft_lines(&forth, filter, m), 3, turn); /* of constants */
  wick_value y = wick_dft_fit(f->b, dft_times(f, WICK_OP_mul, x, w), m);
  y = wick_build_transpose(f->b, dft_lines(&forth, y, m), 3, turn);
  y = dft_lines(&back, dft_times(f, WICK_OP_mul, y, filter), m);
  y = wick_emit_slice(f->b, y, 1, wick_dim_const(0), wick_dim_const(n));
  y = wick_emit_by(f->b, WICK_OP_div, y, (double)m);
  return dft_times(f, WICK_OP_mul, y, wick_build_transpose(f->b, w, 3, turn));
}

/* [planes, lines, n] -> [2, n, lines] */
static wick_value dft_lines(const fourier *f, wick_value x, int64_t n)
{
  wick_dims *t = f->b->module->dims;
  int64_t r, rest = n;
  if (f->b->status) return x;
  wick_dim lines = wick_built_info(f->b, x)->dim[1];
  if (!dft_passes(n, &r)) return dft_chirped(f, x, n);
  wick_dim all = lines;
  do {
    r = n;
    if (n > DFT_LINE) dft_passes(rest, &r);
    rest /= r;
    x = dft_pass(f, x, all, r, rest);
    all = wick_dim_mul(t, all, wick_dim_const(r));
  } while (rest > 1);
  if (f->b->status) return x;
  const wick_dim dim[] = {wick_dim_const(2), wick_dim_const(n), lines};
  return wick_build_reshape(f->b, x, 3, dim);
}

wick_value wick_dft(wick_builder *b, wick_arena *tmp, const char *name, wick_value x, int64_t n,
                    bool inverse)
{
  if (n < 1 || n > WICK_DFT_LARGEST)
    wick_build_fail(b, WICK_ERANGE, "a transform of %lld elements, expected 1 to %d", (long long)n,
                    WICK_DFT_LARGEST);
  if (b->status) return x;
  fourier f = {b, tmp, name, wick_built_info(b, x)->elem, inverse};
  return dft_lines(&f, wick_dft_fit(b, x, n), n);
}
