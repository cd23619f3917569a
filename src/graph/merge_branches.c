/* Merges in one traversal. The sums of a tree of additions are collected as terms; each product is a
 * host, which may take other terms, or a guest. The hosts are built at the end of the tree, with the weights of
 * their guests. */
#include "graph/merge_branches.h"

#include <string.h>

#include "graph/match.h"
#include "ir/copy.h"
#include "ir/element.h"
#include "ops/nn/window.h"

enum { MERGE_TERMS = 32 };

typedef enum merge_kind {
  MERGE_OTHER,
  MERGE_NUMBERS, /* along the channels */
  MERGE_FACTOR,  /* x times numbers along the channels */
  MERGE_PRODUCT  /* a convolution, or a matrix product, with constant weights */
} merge_kind;

typedef struct merge_term {
  merge_kind kind;
  wick_value v;       /* as it is added */
  const wick_node *n; /* of a product or factor */
  wick_value x;       /* what is multiplied */
  wick_window window; /* of a convolution */
  double *numbers;    /* NUMBERS, FACTOR: [channels]; PRODUCT: its bias, or NULL */
  int32_t host;       /* the term that takes this one; -1: none */
  bool takes;         /* others are merged into it */
} merge_term;

typedef struct merge {
  wick_match k;
  wick_copier c;
  wick_arena *mem;
  const uint32_t *region; /* per node: the number of its region */
  bool *gone;             /* per old value: it is part of a tree that is merged */
  const wick_node *root;
  wick_type type;
  uint32_t rank, axis; /* of the sum; that of its channels */
  int64_t channels;
  merge_term term[MERGE_TERMS];
  uint32_t nterm;
} merge;

static bool merge_is_alone(const merge *s, wick_value v)
{
  const wick_node *n = wick_match_node(&s->k, v);
  return n && n->nout == 1 && !n->nregion && wick_match_user(&s->k, v) &&
         wick_type_eq(wick_type_of(s->k.f, v), s->type) &&
         s->region[n - s->k.f->node] == s->region[s->root - s->k.f->node];
}

/* Returns the numbers along the channels that v is, or NULL. */
static double *merge_numbers(const merge *s, wick_value v)
{
  double *out = wick_new(s->mem, double, (size_t)s->channels);
  return wick_match_along(&s->k, v, s->rank, s->axis, s->channels, out) ? out : NULL;
}

/* ---- terms ---- */

static bool merge_product_of(merge *s, const wick_node *n, merge_term *t)
{
  int64_t d[WICK_MAX_RANK];
  if ((n->op != WICK_OP_conv && n->op != WICK_OP_matmul) || !wick_match_constant(&s->k, n->in[1]))
    return false;
  bool conv = n->op == WICK_OP_conv;
  const wick_type_info *w = wick_info_of(s->k.f, n->in[1]);
  if (!wick_type_const_dims(w, d) || w->elem != wick_type_get(s->k.f->module, s->type)->elem ||
      (!conv && w->rank != 2) || s->axis != (conv ? 1 : s->rank - 1))
    return false;
  *t = (merge_term){MERGE_PRODUCT, n->first, n, n->in[0], .host = -1};
  if (!conv) return true;
  t->window = wick_window_of(n->attr, w->rank - 2, d + 2);
  if (n->nin < 3 || !n->in[2].id) return true;
  t->numbers = wick_new(s->mem, double, (size_t)s->channels);
  return wick_match_along(&s->k, n->in[2], 1, 0, s->channels, t->numbers);
}

static bool merge_factor_of(merge *s, const wick_node *n, merge_term *t)
{
  if (n->op != WICK_OP_mul) return false;
  for (uint32_t k = 0; k < 2; k++) {
    if (!wick_type_eq(wick_type_of(s->k.f, n->in[k]), s->type)) continue;
    double *numbers = merge_numbers(s, n->in[1 - k]);
    if (!numbers) continue;
    *t = (merge_term){MERGE_FACTOR, n->first, n, n->in[k], .numbers = numbers, .host = -1};
    return true;
  }
  return false;
}

/* Collects the terms of v, which the tree adds. Returns false if there are too many. */
static bool merge_collect(merge *s, wick_value v, uint32_t depth)
{
  const wick_node *n = wick_match_node(&s->k, v);
  bool root = n == s->root, alone = root || merge_is_alone(s, v);
  if (alone && n->op == WICK_OP_add)
    return depth < MERGE_TERMS && merge_collect(s, n->in[0], depth + 1) &&
           merge_collect(s, n->in[1], depth + 1);
  if (s->nterm == MERGE_TERMS) return false;
  merge_term *t = &s->term[s->nterm++];
  *t = (merge_term){MERGE_OTHER, v, .host = -1};
  if (alone && (merge_product_of(s, n, t) || merge_factor_of(s, n, t))) return true;
  *t = (merge_term){MERGE_OTHER, v, .host = -1};
  double *numbers = wick_match_imm(&s->k, v) ? merge_numbers(s, v) : NULL;
  if (numbers) t->kind = MERGE_NUMBERS, t->numbers = numbers;
  return true;
}

/* ---- which term takes which ---- */

/* Finds the element of the host's window that reads what element 0 of a window with that padding reads, and
 * says whether all `kernel` elements, `dilation` apart, are among the host's. */
static bool merge_fits(const wick_window *host, uint32_t k, int64_t begin, int64_t kernel,
                       int64_t dilation, int64_t *at)
{
  int64_t shift = host->begin[k] - begin, step = host->dilation[k];
  *at = shift / step;
  return shift >= 0 && shift % step == 0 && (kernel == 1 || dilation == step) &&
         *at + kernel <= host->kernel[k];
}

static bool merge_takes(const merge *s, const merge_term *host, const merge_term *guest)
{
  if (host->x.id != guest->x.id || host->kind != MERGE_PRODUCT) return false;
  const wick_window *h = &host->window, *g = &guest->window;
  bool conv = host->n->op == WICK_OP_conv;
  int64_t at;
  if (guest->kind == MERGE_FACTOR) { /* the window's element at the result's position */
    if (!conv || !wick_dim_is(wick_info_of(s->k.f, host->x)->dim[1], s->channels)) return false;
    for (uint32_t k = 0; k < h->n; k++)
      if (h->stride[k] != 1 || !merge_fits(h, k, 0, 1, 1, &at)) return false;
    return true;
  }
  if (guest->kind != MERGE_PRODUCT || guest->n->op != host->n->op) return false;
  if (!conv) return true;
  if (guest->n->attr[WICK_ATTR_conv_group].i % host->n->attr[WICK_ATTR_conv_group].i) return false;
  for (uint32_t k = 0; k < h->n; k++)
    if (h->stride[k] != g->stride[k] ||
        !merge_fits(h, k, g->begin[k], g->kernel[k], g->dilation[k], &at))
      return false;
  return true;
}

/* Returns true if a may take more than b: its window has more elements, or its groups are larger. */
static bool merge_is_larger(const merge *s, const merge_term *a, const merge_term *b)
{
  int64_t size[2] = {1, 1}, own[2];
  for (uint32_t i = 0; i < 2; i++) {
    const merge_term *t = i ? b : a;
    for (uint32_t k = 0; k < t->window.n; k++) size[i] *= t->window.kernel[k];
    own[i] = wick_info_of(s->k.f, t->n->in[1])->dim[1].v;
  }
  return size[0] != size[1] ? size[0] > size[1] : own[0] > own[1];
}

/* Gives a host with guests the terms that are x itself. */
static void merge_match_plain(merge *s, const merge_term *host)
{
  for (uint32_t i = 0; i < s->nterm; i++) {
    merge_term *t = &s->term[i], factor = {MERGE_FACTOR, t->v, NULL, t->v, .host = -1};
    if (t->kind != MERGE_OTHER || !merge_takes(s, host, &factor)) continue;
    factor.numbers = wick_new(s->mem, double, (size_t)s->channels);
    for (int64_t k = 0; k < s->channels; k++) factor.numbers[k] = 1;
    factor.host = (int32_t)(host - s->term);
    *t = factor;
  }
}

/* Finds a host for each term; the largest product is the first one to take others. Returns true if there is a
 * host. */
static bool merge_match(merge *s)
{
  bool any = false;
  for (uint32_t round = 0; round < s->nterm; round++) {
    merge_term *host = NULL;
    for (uint32_t i = 0; i < s->nterm; i++)
      if (s->term[i].host < 0 && !s->term[i].takes && s->term[i].kind == MERGE_PRODUCT &&
          (!host || merge_is_larger(s, &s->term[i], host)))
        host = &s->term[i];
    if (!host) break;
    host->takes = true; /* it has had its turn */
    bool some = false;
    for (uint32_t i = 0; i < s->nterm; i++) {
      merge_term *t = &s->term[i];
      if (t == host || t->host >= 0 || t->takes || !merge_takes(s, host, t)) continue;
      t->host = (int32_t)(host - s->term), some = true;
    }
    if (some) merge_match_plain(s, host);
    any = any || some;
  }
  return any;
}

/* Returns the bytes of a product's weights, or NULL. */
static const void *merge_bytes(const merge *s, const merge_term *t)
{
  return t->kind == MERGE_PRODUCT
             ? wick_constant_bytes(s->k.f->module, wick_match_imm(&s->k, t->n->in[1])->constant)
             : NULL;
}

/* Returns true if the weights of all products that are merged are available. */
static bool merge_has_bytes(const merge *s)
{
  bool has = true;
  for (uint32_t i = 0; i < s->nterm; i++) {
    const merge_term *t = &s->term[i];
    if (t->host < 0) continue;
    has =
        has && merge_bytes(s, &s->term[t->host]) && (t->kind != MERGE_PRODUCT || merge_bytes(s, t));
  }
  return has;
}

/* ---- building ---- */

/* Adds output channel `o` of a term's weights to `row`, those of the host: [C/group, elements of the window]. */
static void merge_add_channel(const merge *s, const merge_term *host, const merge_term *t,
                              const void *bytes, int64_t o, double *row)
{
  const wick_window *h = &host->window;
  const wick_node *n = t->kind == MERGE_FACTOR ? NULL : t->n;
  int64_t group = host->n->attr[WICK_ATTR_conv_group].i, at[WICK_WINDOW_MAX] = {0}, area = 1,
          all = 1, own = n ? wick_info_of(s->k.f, n->in[1])->dim[1].v : 1,
          first = n ? o / (s->channels / n->attr[WICK_ATTR_conv_group].i) * own : o,
          channels = wick_info_of(s->k.f, host->n->in[1])->dim[1].v;
  first -= o / (s->channels / group) * channels; /* of the host's group */
  for (uint32_t k = 0; k < h->n; k++) {
    int64_t kernel = n ? t->window.kernel[k] : 1;
    merge_fits(h, k, n ? t->window.begin[k] : 0, kernel, n ? t->window.dilation[k] : 1, &at[k]);
    area *= kernel, all *= h->kernel[k];
  }
  for (int64_t c = 0; c < own; c++)
    for (int64_t i = 0; i < area; i++) {
      int64_t rest = i, to = 0, step = 1;
      for (uint32_t k = h->n; k-- > 0; step *= h->kernel[k]) {
        int64_t kernel = n ? t->window.kernel[k] : 1;
        to += (at[k] + rest % kernel) * step, rest /= kernel;
      }
      wick_elem e = wick_type_get(s->k.f->module, s->type)->elem;
      row[(first + c) * all + to] +=
          n ? wick_load_elem(e, bytes, (uint64_t)((o * own + c) * area + i)).f : t->numbers[o];
    }
}

/* Returns the weights of a host and its guests. */
static wick_value merge_weights(merge *s, uint32_t host)
{
  wick_module *m = s->k.f->module;
  const merge_term *h = &s->term[host];
  const wick_constant *w = wick_match_constant(&s->k, h->n->in[1]);
  wick_elem e = wick_type_get(m, s->type)->elem;
  bool conv = h->n->op == WICK_OP_conv;
  uint64_t rows = conv ? (uint64_t)s->channels : 1,
           n = w->nbytes / wick_elem_bytes(e, 1) / rows; /* elements of a row */
  const void *bytes[MERGE_TERMS];
  char *data = wick_arena_alloc(&m->mem, w->nbytes, 64);
  double *row = wick_new(s->mem, double, n);
  for (uint32_t i = 0; i < s->nterm; i++) bytes[i] = merge_bytes(s, &s->term[i]);
  for (uint64_t o = 0; o < rows; o++) {
    memset(row, 0, n * sizeof *row);
    for (uint32_t i = 0; i < s->nterm; i++) {
      const merge_term *t = &s->term[i];
      if (i != host && t->host != (int32_t)host) continue;
      if (conv)
        merge_add_channel(s, h, t, bytes[i], (int64_t)o, row);
      else
        for (uint64_t k = 0; k < n; k++) row[k] += wick_load_elem(e, bytes[i], k).f;
    }
    for (uint64_t k = 0; k < n; k++)
      wick_store_elem(e, data, o * n + k, (wick_scalar){.f = row[k]});
  }
  const char *name = wick_str_printf(s->mem, "%s.merged", w->name);
  return wick_build_constant(&s->c.b, wick_constant_add(m, name, w->type, data, w->nbytes));
}

/* Builds a host with the weights of its guests, which has these numbers added along the channels. */
static wick_value merge_build_host(merge *s, uint32_t host, const double *shift)
{
  wick_builder *b = &s->c.b;
  wick_module *m = s->k.f->module;
  const merge_term *h = &s->term[host];
  wick_elem e = wick_type_get(m, s->type)->elem;
  bool conv = h->n->op == WICK_OP_conv, any = shift;
  uint64_t nbytes = wick_elem_bytes(e, (uint64_t)s->channels);
  double *sum = wick_new(s->mem, double, (size_t)s->channels);
  if (shift) memcpy(sum, shift, (size_t)s->channels * sizeof *sum);
  for (uint32_t i = 0; i < s->nterm; i++) {
    const merge_term *t = &s->term[i];
    if ((i != host && t->host != (int32_t)host) || t->kind != MERGE_PRODUCT || !t->numbers)
      continue;
    any = true;
    for (int64_t k = 0; k < s->channels; k++) sum[k] += t->numbers[k];
  }
  wick_value in[3] = {s->c.to[h->x.id], merge_weights(s, host)}, bias = {0};
  if (any) {
    void *data = wick_arena_alloc(&m->mem, nbytes, 64);
    for (int64_t k = 0; k < s->channels; k++)
      wick_store_elem(e, data, (uint64_t)k, (wick_scalar){.f = sum[k]});
    bias = wick_build_constant(b, wick_constant_add(m, "merged.bias",
                                                    wick_type_tensor_const(m, e, 1, &s->channels),
                                                    data, nbytes));
  }
  if (conv) in[2] = bias;
  wick_value y =
      wick_build(b, h->n->op, in[2].id ? 3 : 2, in, h->n->nattr ? h->n->attr : NULL, 0, NULL);
  return bias.id && !conv ? wick_build2(b, WICK_OP_add, y, bias) : y;
}

static wick_value merge_build(merge *s)
{
  wick_value sum = {0};
  bool shifted = false;
  int32_t first = -1; /* the host that takes the numbers */
  double *shift = wick_new(s->mem, double, (size_t)s->channels);
  s->c.b.loc = s->root->loc;
  for (uint32_t i = 0; i < s->nterm; i++) {
    if (s->term[i].host >= 0 && first < 0) first = s->term[i].host;
    if (s->term[i].kind != MERGE_NUMBERS) continue;
    shifted = true;
    for (int64_t k = 0; k < s->channels; k++) shift[k] += s->term[i].numbers[k];
  }
  for (uint32_t i = 0; i < s->nterm; i++) {
    const merge_term *t = &s->term[i];
    bool host = false;
    for (uint32_t k = 0; k < s->nterm; k++) host = host || s->term[k].host == (int32_t)i;
    if (t->host >= 0 || t->kind == MERGE_NUMBERS) continue;
    wick_value v = !host ? s->c.to[t->v.id]
                         : merge_build_host(s, i, shifted && first == (int32_t)i ? shift : NULL);
    sum = sum.id ? wick_build2(&s->c.b, WICK_OP_add, sum, v) : v;
  }
  return sum;
}

/* ---- trees ---- */

/* Returns true if n is the last addition of a tree that can be merged, and collects its terms. */
static bool merge_is_root(merge *s, const wick_node *n)
{
  if (n->op != WICK_OP_add) return false;
  const wick_type_info *t = wick_info_of(s->k.f, n->first);
  s->root = n, s->type = wick_type_of(s->k.f, n->first), s->nterm = 0;
  const wick_node *user = wick_match_user(&s->k, n->first);
  if (t->rank < 2 || (t->elem != WICK_F32 && t->elem != WICK_F64) ||
      (user && user->op == WICK_OP_add && user->nout == 1 &&
       wick_type_eq(wick_type_of(s->k.f, user->first), s->type) &&
       s->region[user - s->k.f->node] == s->region[n - s->k.f->node]))
    return false;
  const uint32_t axes[2] = {1, t->rank - 1u}; /* of convolutions, of matrices */
  for (uint32_t k = 0; k < (t->rank > 2 ? 2 : 1); k++) {
    s->rank = t->rank, s->axis = axes[k], s->nterm = 0;
    if (!wick_dim_is_const(t->dim[axes[k]]) || t->dim[axes[k]].v < 1) continue;
    s->channels = t->dim[axes[k]].v;
    if (merge_collect(s, n->first, 0) && merge_match(s) && merge_has_bytes(s)) return true;
  }
  return false;
}

/* Marks what only the tree reads: its sums, and the products and factors that are merged. */
static void merge_mark(merge *s, wick_value v)
{
  const wick_node *n = wick_match_node(&s->k, v);
  if (n && n->op == WICK_OP_add && (n == s->root || merge_is_alone(s, v))) {
    s->gone[v.id] = true;
    merge_mark(s, n->in[0]);
    merge_mark(s, n->in[1]);
  }
  for (uint32_t i = 0; i < s->nterm; i++) {
    const merge_term *t = &s->term[i];
    if (t->v.id != v.id || !t->n) continue;
    for (uint32_t k = 0; k < s->nterm; k++)
      if (t->host >= 0 || s->term[k].host == (int32_t)i) s->gone[v.id] = true;
  }
}

wick_status wick_pass_merge_branches(const wick_pass_context *pass, const wick_func *f,
                                     wick_func **out)
{
  wick_arena *mem = pass->mem;
  merge s = {.k = wick_match_begin(f, mem), .mem = mem};
  uint32_t nproduct = 0;
  for (uint32_t i = 0; i < f->nnode; i++)
    nproduct += f->node[i].op == WICK_OP_conv || f->node[i].op == WICK_OP_matmul;
  if (nproduct < 2) {
    *out = (wick_func *)(uintptr_t)f;
    return NULL;
  }
  s.c = wick_copy_begin(f, mem);
  s.region = wick_match_regions(f, mem);
  s.gone = wick_new(mem, bool, f->nvalue + 1);
  for (uint32_t i = 0; i < f->nnode; i++)
    if (f->node[i].nout == 1 && merge_is_root(&s, &f->node[i])) merge_mark(&s, f->node[i].first);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->nout != 1 || n->nregion || !s.gone[n->first.id]) {
      wick_copy_node(&s.c, n);
      continue;
    }
    if (n->op != WICK_OP_add || !merge_is_root(&s, n)) continue;
    wick_value v = s.c.to[n->first.id] = merge_build(&s);
    wick_build_name(&s.c.b, v, f->value[n->first.id].name, f->value[n->first.id].relation);
  }
  return wick_copy_finish(&s.c, out);
}
