/* One pass of a Fourier transform: transforms of `r` numbers. Each is written out as straight-line
 * additions and multiplications by constant roots; each lane computes a transform of its own.
 *
 * A transform of n = r1 r2 ... numbers is a series of passes over [planes, slices, r, rest]. Each
 * pass puts the transformed dimension first, so that the last one leaves [planes, n, slices] in
 * natural order (Stockham's form; Cooley and Tukey 1965). The order of factors (4 before 2 before
 * odd ones, with a single 2 in front) and the sums of odd factors are those of Swarztrauber's
 * FFTPACK, which pocketfft keeps. Source: P. Swarztrauber, "Vectorizing the FFTs", 1982. */
#include <math.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"
#include "ops/work.h"

enum { DFT_PASS_MOST = 32 }; /* most numbers of one transform */
static const double dft_pass_pi = 3.14159265358979323846;

/* Computes exp(2 pi i k / n), rounded to the nearest f64. It is exact if a part is 0, 1 or -1. */
static void dft_pass_root(int64_t k, int64_t n, double *re, double *im)
{
  k %= n;
  double angle = 2 * dft_pass_pi * (double)(k % n) / (double)n;
  *re = 4 * k % n == 0 ? (double)(4 * k == 0) - (double)(4 * k == 2 * n) : cos(angle);
  *im = 4 * k % n == 0 ? (double)(4 * k == n) - (double)(4 * k == 3 * n) : sin(angle);
}

static wick_status dft_pass_infer(wick_infer *c)
{
  const wick_type_info *x, *w;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 3, &x));
  int64_t r = x->rank > 2 && wick_dim_is_const(x->dim[2]) ? x->dim[2].v : 0;
  if (x->rank > 4 || (!wick_dim_is(x->dim[0], 1) && !wick_dim_is(x->dim[0], 2)) || r < 1 ||
      r > DFT_PASS_MOST)
    return wick_infer_fail(c, WICK_ETYPE,
                           "%s is transformed, expected [1 or 2, lines, 1 to %d] or with a rest",
                           wick_infer_type_text(c, c->in[0]->type), DFT_PASS_MOST);
  wick_dim dim[4] = {wick_dim_const(2), x->dim[2], x->dim[1], wick_dim_const(1)};
  if (x->rank == 4) dim[3] = x->dim[3];
  if (c->nin > 1 && c->in[1]) {
    WICK_TRY(wick_infer_alike(c, 1, "the roots", 3, &w));
    if (x->rank != 4 || w->rank != 3 || !wick_dim_is(w->dim[0], 2) ||
        !wick_dim_is(w->dim[1], r - 1) || !wick_infer_equal(c, w->dim[2], x->dim[3]))
      return wick_infer_fail(c, WICK_ETYPE, "roots %s do not fit %s",
                             wick_infer_type_text(c, c->in[1]->type),
                             wick_infer_type_text(c, c->in[0]->type));
  }
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  return NULL;
}

/* ---- reference ---- */

static double dft_pass_element(const wick_tensor *t, int64_t at)
{
  return wick_load_elem(t->elem, t->data, (uint64_t)at).f;
}

static wick_status dft_pass_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *w = c->nin > 1 && c->in[1].data ? &c->in[1] : NULL;
  int64_t planes = x->dim[0], lines = x->dim[1], r = x->dim[2], rest = x->rank > 3 ? x->dim[3] : 1,
          all = r * lines * rest;
  for (int64_t i = 0; i < all; i++) {
    int64_t k = i / (lines * rest), a = i / rest % lines, m = i % rest;
    double re = 0, im = 0;
    for (int64_t j = 0; j < r; j++) {
      int64_t at = (a * r + j) * rest + m;
      double c0, s0, xr = dft_pass_element(x, at),
                     xi = planes > 1 ? dft_pass_element(x, at + all) : 0;
      dft_pass_root(j * k, r, &c0, &s0);
      if (!c->attr[WICK_ATTR_dft_pass_inverse].i) s0 = -s0;
      re += xr * c0 - xi * s0, im += xr * s0 + xi * c0;
    }
    if (w && k) {
      double wr = dft_pass_element(w, (k - 1) * rest + m),
             wi = dft_pass_element(w, (r - 1 + k - 1) * rest + m), old = re;
      re = re * wr - im * wi, im = old * wi + im * wr;
    }
    wick_store_elem(x->elem, c->out[0].data, (uint64_t)i, (wick_scalar){.f = re});
    wick_store_elem(x->elem, c->out[0].data, (uint64_t)(all + i), (wick_scalar){.f = im});
  }
  return NULL;
}

/* ---- complex numbers; a part that is always 0 has no value ---- */

typedef struct dft_pass_number {
  wick_value re, im;
} dft_pass_number;

typedef struct dft_pass_line {
  wick_builder *b;
  double sign;
} dft_pass_line;

static wick_value dft_pass_add(const dft_pass_line *f, wick_value x, wick_value y)
{
  return !x.id ? y : !y.id ? x : wick_build2(f->b, WICK_OP_add, x, y);
}

static wick_value dft_pass_sub(const dft_pass_line *f, wick_value x, wick_value y)
{
  if (!y.id) return x;
  return x.id ? wick_build2(f->b, WICK_OP_sub, x, y) : wick_build1(f->b, WICK_OP_neg, y);
}

static wick_value dft_pass_by(const dft_pass_line *f, wick_value x, double by)
{
  if (!x.id || by == 0 || f->b->status) return (wick_value){0};
  if (by == 1) return x;
  if (by == -1) return wick_build1(f->b, WICK_OP_neg, x);
  return wick_build2(f->b, WICK_OP_mul, x, wick_build_like(f->b, x, by));
}

static dft_pass_number dft_pass_plus(const dft_pass_line *f, dft_pass_number x, dft_pass_number y)
{
  dft_pass_number z = {.re = dft_pass_add(f, x.re, y.re)};
  z.im = dft_pass_add(f, x.im, y.im);
  return z;
}

static dft_pass_number dft_pass_minus(const dft_pass_line *f, dft_pass_number x, dft_pass_number y)
{
  dft_pass_number z = {.re = dft_pass_sub(f, x.re, y.re)};
  z.im = dft_pass_sub(f, x.im, y.im);
  return z;
}

/* Builds x times sign * i * by. */
static dft_pass_number dft_pass_turned(const dft_pass_line *f, dft_pass_number x, double by)
{
  dft_pass_number z = {.re = dft_pass_by(f, x.im, -f->sign * by)};
  z.im = dft_pass_by(f, x.re, f->sign * by);
  return z;
}

/* Builds x times the k-th root of n. */
static dft_pass_number dft_pass_rooted(const dft_pass_line *f, dft_pass_number x, int64_t k,
                                       int64_t n)
{
  double c, s;
  dft_pass_root(k, n, &c, &s);
  s *= f->sign;
  wick_value a = dft_pass_by(f, x.re, c), d = dft_pass_by(f, x.im, s), e = dft_pass_by(f, x.re, s),
             g = dft_pass_by(f, x.im, c);
  dft_pass_number z = {.re = dft_pass_sub(f, a, d)};
  z.im = dft_pass_add(f, e, g);
  return z;
}

/* Transforms four numbers. Their multiplications by i cost nothing. */
static void dft_pass_four(const dft_pass_line *f, const dft_pass_number *x, dft_pass_number *y)
{
  dft_pass_number t2 = dft_pass_plus(f, x[0], x[2]), t1 = dft_pass_minus(f, x[0], x[2]),
                  t3 = dft_pass_plus(f, x[1], x[3]),
                  t4 = dft_pass_turned(f, dft_pass_minus(f, x[1], x[3]), 1);
  y[0] = dft_pass_plus(f, t2, t3), y[2] = dft_pass_minus(f, t2, t3);
  y[1] = dft_pass_plus(f, t1, t4), y[3] = dft_pass_minus(f, t1, t4);
}

/* Transforms an odd number of numbers. Those at the same distance from both ends share their sums
 * and differences. */
static void dft_pass_odd(const dft_pass_line *f, int64_t n, const dft_pass_number *x,
                         dft_pass_number *y)
{
  dft_pass_number sum[DFT_PASS_MOST], less[DFT_PASS_MOST];
  y[0] = x[0];
  for (int64_t i = 1; i <= n / 2; i++) {
    sum[i] = dft_pass_plus(f, x[i], x[n - i]), less[i] = dft_pass_minus(f, x[i], x[n - i]);
    y[0] = dft_pass_plus(f, y[0], sum[i]);
  }
  for (int64_t u = 1; u <= n / 2; u++) {
    dft_pass_number even = x[0], odd = {{0}, {0}};
    for (int64_t i = 1; i <= n / 2; i++) {
      double c, s;
      dft_pass_root(u * i, n, &c, &s);
      dft_pass_number by = {.re = dft_pass_by(f, sum[i].re, c)};
      by.im = dft_pass_by(f, sum[i].im, c);
      even = dft_pass_plus(f, even, by);
      odd.re = dft_pass_add(f, odd.re, dft_pass_by(f, less[i].re, f->sign * s));
      odd.im = dft_pass_add(f, odd.im, dft_pass_by(f, less[i].im, f->sign * s));
    }
    y[u].re = dft_pass_sub(f, even.re, odd.im), y[u].im = dft_pass_add(f, even.im, odd.re);
    y[n - u].re = dft_pass_add(f, even.re, odd.im), y[n - u].im = dft_pass_sub(f, even.im, odd.re);
  }
}

/* Returns the first factor of n: a 2 that the fours leave over, a 4, or the least odd factor. */
static int64_t dft_pass_factor(int64_t n)
{
  int64_t twos = 0, odd = 3;
  for (int64_t k = n; k % 2 == 0; k /= 2) twos++;
  if (twos) return twos % 2 ? 2 : 4;
  while (n % odd) odd += 2;
  return odd;
}

/* Transforms the n numbers x[0], x[step], ... to y[0], y[next], ... */
static void dft_pass_numbers(const dft_pass_line *f, int64_t n, const dft_pass_number *x,
                             int64_t step, dft_pass_number *y, int64_t next)
{
  dft_pass_number in[DFT_PASS_MOST] = {{{0}, {0}}}, out[DFT_PASS_MOST], all[DFT_PASS_MOST];
  if (n == 1) {
    *y = *x;
    return;
  }
  int64_t r = dft_pass_factor(n), rest = n / r;
  for (int64_t m = 0; m < rest; m++) {
    for (int64_t j = 0; j < r; j++) in[j] = x[(j * rest + m) * step];
    if (r == 2)
      out[0] = dft_pass_plus(f, in[0], in[1]), out[1] = dft_pass_minus(f, in[0], in[1]);
    else if (r == 4)
      dft_pass_four(f, in, out);
    else
      dft_pass_odd(f, r, in, out);
    for (int64_t k = 0; k < r; k++) all[k * rest + m] = dft_pass_rooted(f, out[k], k * m, n);
  }
  for (int64_t k = 0; k < r; k++)
    dft_pass_numbers(f, rest, &all[k * rest], 1, &y[k * next], r * next);
}

/* Completes a transform of real numbers. Results after the middle are the conjugates of those
 * before it; the middle one of an even number is real. */
static void dft_pass_mirrored(const dft_pass_line *f, int64_t n, dft_pass_number *y)
{
  if (n % 2 == 0) y[n / 2].im = (wick_value){0};
  for (int64_t k = n / 2 + 1; k < n; k++) {
    y[k] = y[n - k];
    if (y[k].im.id) y[k].im = wick_build1(f->b, WICK_OP_neg, y[k].im);
  }
}

/* ---- stages ---- */

/* Multiplies x by a root from the operand. */
static dft_pass_number dft_pass_told(const dft_pass_line *f, const wick_compute *c,
                                     dft_pass_number x, int64_t k, wick_dim m)
{
  wick_value w[2];
  for (int64_t p = 0; p < 2; p++) {
    wick_dim at[3] = {wick_dim_const(p), wick_dim_const(k - 1), m};
    w[p] = wick_read(f->b, c->in[1], at, 0, NULL, (wick_value){0});
  }
  wick_value v[4] = {{0}};
  for (int i = 0; i < 4; i++) {
    wick_value by = i < 2 ? x.re : x.im;
    if (by.id) v[i] = wick_build2(f->b, WICK_OP_mul, by, w[i % 2]);
  }
  dft_pass_number z = {.re = dft_pass_sub(f, v[0], v[3])};
  z.im = dft_pass_add(f, v[1], v[2]);
  return z;
}

/* Returns the contract's text: each number goes through as many roundings as its factors have
 * terms. */
static const char *dft_pass_states(const wick_compute *c, int64_t r, wick_elem e)
{
  int64_t terms = 3;
  for (int64_t n = r; n > 1; n /= dft_pass_factor(n)) terms += dft_pass_factor(n) + 3;
  return wick_str_printf(c->b->mem, "transform of %lld by %.1e sum |x|", (long long)r,
                         (double)terms * ldexp(1, -wick_elem_storage[e].mantissa - 1));
}

static void dft_pass_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info x = *wick_built_info(b, c->in[0]);
  int64_t r = x.dim[2].v;
  dft_pass_line f = {b, c->attr[WICK_ATTR_dft_pass_inverse].i ? 1 : -1};
  dft_pass_number in[DFT_PASS_MOST] = {{{0}, {0}}}, out[DFT_PASS_MOST] = {{{0}, {0}}};
  wick_value v[2 * DFT_PASS_MOST];
  wick_axis axis[2] = {wick_make_axis(b, "line", x.dim[1], false)};
  if (x.rank > 3) axis[1] = wick_make_axis(b, "rest", x.dim[3], false);
  wick_map_begin_within(b, dft_pass_states(c, r, x.elem), "dft_pass", x.rank - 2u, axis, 1,
                        c->out_type);
  for (int64_t j = 0; j < r; j++) {
    wick_dim at[4] = {wick_dim_const(0), axis[0].sym, wick_dim_const(j),
                      x.rank > 3 ? axis[1].sym : wick_dim_const(0)};
    in[j] = (dft_pass_number){wick_read(b, c->in[0], at, 0, NULL, (wick_value){0}), {0}};
    at[0] = wick_dim_const(1);
    if (wick_dim_is(x.dim[0], 2)) in[j].im = wick_read(b, c->in[0], at, 0, NULL, (wick_value){0});
  }
  dft_pass_numbers(&f, r, in, 1, out, 1);
  if (wick_dim_is(x.dim[0], 1)) dft_pass_mirrored(&f, r, out);
  for (int64_t k = 0; k < r && !b->status; k++) {
    if (k && c->nin > 1 && c->in[1].id) out[k] = dft_pass_told(&f, c, out[k], k, axis[1].sym);
    v[k] = out[k].re, v[r + k] = out[k].im;
    if (!v[r + k].id) v[r + k] = wick_build_like(b, v[k], 0);
  }
  c->out[0] = wick_map_end(b, (uint32_t)(2 * r), v);
}

/* ---- derivative ---- */

static wick_value dft_pass_plane(wick_builder *b, wick_value x, int64_t k)
{
  return wick_grad_slice(b, x, 0, wick_dim_const(k), wick_dim_const(1), 1);
}

/* Builds conj(x) * y from planes. */
static wick_value dft_pass_conjugate(wick_builder *b, wick_value x, wick_value y)
{
  wick_value xr = dft_pass_plane(b, x, 0), xi = dft_pass_plane(b, x, 1),
             yr = dft_pass_plane(b, y, 0), yi = dft_pass_plane(b, y, 1), p[4] = {{0}}, z[2];
  p[0] = wick_build2(b, WICK_OP_mul, xr, yr), p[1] = wick_build2(b, WICK_OP_mul, xi, yi);
  p[2] = wick_build2(b, WICK_OP_mul, xr, yi), p[3] = wick_build2(b, WICK_OP_mul, xi, yr);
  z[0] = wick_build2(b, WICK_OP_add, p[0], p[1]), z[1] = wick_build2(b, WICK_OP_sub, p[2], p[3]);
  return wick_grad_concat(b, 0, 2, z);
}

/* Prepends the root for index 0, which is 1: [2, r, 1, rest]. */
static wick_value dft_pass_roots(wick_builder *b, wick_value w)
{
  if (b->status) return w;
  const wick_type_info t = *wick_built_info(b, w);
  wick_dim one = wick_dim_const(1), dim[4] = {wick_dim_const(2), t.dim[1], one, t.dim[2]};
  wick_value v = wick_grad_reshape(b, w, 4, dim), first[2];
  wick_value row = wick_grad_slice(b, v, 1, wick_dim_const(0), one, 1);
  for (int64_t k = 0; k < 2 && !b->status; k++)
    first[k] = wick_grad_fill(b, dft_pass_plane(b, row, k), k == 0);
  wick_value both[2] = {wick_grad_concat(b, 0, 2, first), v};
  return wick_grad_concat(b, 1, 2, both);
}

/* The transform's matrix F is symmetric, and conj(F) is the transform of the opposite sign. */
static void dft_pass_grad(wick_adjoint *a)
{
  wick_builder *b = a->b;
  wick_value x = a->in[0], w = a->node->nin > 1 ? a->in[1] : (wick_value){0}, dy = a->dout[0];
  if (!dy.id || b->status) return;
  const wick_type_info t = *wick_built_info(b, x);
  static const int64_t perm[] = {0, 2, 1, 3};
  if (a->wanted[0]) {
    wick_value z = w.id && t.dim[2].v > 1 ? dft_pass_conjugate(b, dft_pass_roots(b, w), dy) : dy;
    z = wick_grad_transpose(b, z, t.rank, perm);
    wick_attr other = {.i = !a->node->attr[WICK_ATTR_dft_pass_inverse].i};
    z = wick_build(b, WICK_OP_dft_pass, 1, &z, &other, 0, NULL);
    z = wick_grad_transpose(b, z, t.rank, perm);
    a->din[0] = wick_dim_is(t.dim[0], 1) ? dft_pass_plane(b, z, 0) : z;
  }
  if (!w.id || !a->wanted[1] || b->status) return;
  wick_value plain = wick_build(b, WICK_OP_dft_pass, 1, &x, a->node->attr, 0, NULL);
  wick_value d = wick_grad_sum(b, dft_pass_conjugate(b, plain, dy), 1, (const int64_t[]){2}, false);
  a->din[1] = wick_grad_slice(b, d, 1, wick_dim_const(1), wick_dim_const(t.dim[2].v - 1), 1);
}

const wick_op wick_op_dft_pass = {
    .name = "dft_pass",
    .doc = "Fourier transforms of r numbers, not divided by r. x is [planes, slices, r, rest], "
           "where rest may be missing; the planes are the real and imaginary parts, or the real "
           "parts only. The transforms run along r, which comes first in the result [2, r, "
           "slices, rest]. With roots [2, r - 1, rest], all results of a transform but the first "
           "are multiplied by them: this is a pass of a larger transform. `inverse` makes the "
           "sign of the exponent +",
    .nin = {1, 2},
    .nout = {1, 1},
    .attr = {{"inverse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_BIT(WICK_F32) | WICK_BIT(WICK_F64),
    .infer = dft_pass_infer,
    .ref = dft_pass_ref,
    .products = wick_products_dft_pass,
    .compute = dft_pass_compute,
    .grad = dft_pass_grad,
    .ends_kernel = true,
    .batch = {wick_batch_merge, .in = {2}, .out = {3}},
};
