#include "driver/donate.h"

#include <stdlib.h>
#include <string.h>

typedef struct donate_pair {
  uint32_t distance, param, result; /* distance: UINT32_MAX: the result does not depend on it */
} donate_pair;

typedef struct donate_state {
  const wick_func *f;
  const wick_io *io;
  bool *donated; /* per parameter */
  uint32_t *distance;
  wick_arena *tmp;
  wick_list(donate_pair) pairs;
} donate_state;

static bool donate_is(const char *input, const char *name)
{
  size_t n = strlen(name);
  return n && strncmp(input, name, n) == 0 && (!input[n] || input[n] == '.');
}

static wick_status donate_names(donate_state *s, uint32_t n, const char *const *name)
{
  wick_errors all = wick_errors_begin(s->tmp, 20);
  for (uint32_t k = 0; k < n; k++) {
    bool found = false;
    for (uint32_t i = 0; i < s->f->nparam; i++) {
      if (wick_is_state(s->f->qual[i]) || !donate_is(s->io[i].name, name[k])) continue;
      found = s->donated[i] = true;
      if (s->io[i].data || s->io[i].elem == WICK_STRING)
        wick_errors_add(&all, wick_fail(s->tmp, WICK_ETYPE, NULL,
                                        "input \"%s\" is donated, but it is no tensor of numbers",
                                        s->io[i].name));
    }
    if (!found)
      wick_errors_add(
          &all, wick_fail(s->tmp, WICK_ETYPE, NULL, "there is no input \"%s\" to donate", name[k]));
  }
  return wick_errors_end(&all);
}

/* Counts the nodes from a parameter to each value through values of the same type: old weights to
 * new ones, not to the loss. What a branch or a loop gives is one node away from its operands and
 * from what its regions yield. */
static void donate_distances(donate_state *s, uint32_t param)
{
  const wick_func *f = s->f;
  uint32_t *d = s->distance;
  for (uint32_t v = 1; v <= f->nvalue; v++) d[v] = UINT32_MAX;
  d[param + 1] = 0;
  for (int sweep = 0; sweep < 2; sweep++) /* regions follow the node that has them */
    for (uint32_t i = 0; i < f->nnode; i++) {
      const wick_node *n = &f->node[i];
      uint32_t least = UINT32_MAX;
      for (uint32_t k = 0; k < n->nin; k++) least = d[n->in[k].id] < least ? d[n->in[k].id] : least;
      for (uint32_t r = 0; r < n->nregion; r++) {
        const wick_node *y = &f->node[n->region[r].end - 1];
        for (uint32_t k = 0; k < y->nin; k++)
          least = d[y->in[k].id] < least ? d[y->in[k].id] : least;
      }
      for (uint32_t k = 0; k < n->nout && least != UINT32_MAX; k++) {
        uint32_t v = n->first.id + k;
        if (f->value[v].type.id == f->value[param + 1].type.id && least + 1 < d[v])
          d[v] = least + 1;
      }
    }
}

static int donate_compare(const void *a, const void *b)
{
  const donate_pair *x = a, *y = b;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  if (x->param != y->param) return x->param < y->param ? -1 : 1;
  return x->result < y->result ? -1 : x->result > y->result;
}

static void donate_list(donate_state *s)
{
  const wick_node *r = wick_return(s->f);
  for (uint32_t i = 0; i < s->f->nparam; i++) {
    if (!s->donated[i]) continue;
    donate_distances(s, i);
    for (uint32_t k = 0; k < r->nin; k++) {
      donate_pair p = {s->distance[r->in[k].id], i, k};
      if (wick_type_of(s->f, r->in[k]).id == s->f->value[i + 1].type.id)
        wick_push(s->tmp, &s->pairs, p);
    }
  }
  if (s->pairs.n) qsort(s->pairs.at, s->pairs.n, sizeof *s->pairs.at, donate_compare);
}

static wick_status donate_choose(donate_state *s, wick_qualifier *qual)
{
  bool *taken = wick_new(s->tmp, bool, wick_return(s->f)->nin + 1u);
  for (uint32_t i = 0; i < s->f->nparam; i++)
    if (wick_is_given(qual[i])) taken[wick_given_result(qual[i])] = true;
  for (uint32_t p = 0; p < s->pairs.n; p++) {
    const donate_pair *x = &s->pairs.at[p];
    if (wick_is_given(qual[x->param]) || taken[x->result]) continue;
    qual[x->param] = (wick_qualifier)(WICK_GIVEN + x->result);
    taken[x->result] = true;
  }
  wick_errors all = wick_errors_begin(s->tmp, 20);
  for (uint32_t i = 0; i < s->f->nparam; i++)
    if (s->donated[i] && !wick_is_given(qual[i]))
      wick_errors_add(&all,
                      wick_fail(s->tmp, WICK_ETYPE, NULL,
                                "input \"%s\" is donated, but no output of its type is left for it",
                                s->io[i].name));
  return wick_errors_end(&all);
}

wick_status wick_donate(const wick_func *f, const wick_io *io, uint32_t n, const char *const *name,
                        wick_arena *mem, wick_arena *tmp, const wick_func **out)
{
  *out = f;
  if (!n) return NULL;
  donate_state s = {.f = f, .io = io, .tmp = tmp};
  s.donated = wick_new(tmp, bool, f->nparam + 1u);
  s.distance = wick_new(tmp, uint32_t, f->nvalue + 1u);
  WICK_TRY(donate_names(&s, n, name));
  donate_list(&s);
  wick_qualifier *qual = wick_dup(mem, wick_qualifier, f->qual, f->nparam);
  WICK_TRY(donate_choose(&s, qual));
  wick_func *g = wick_dup(mem, wick_func, f, 1);
  g->qual = qual;
  wick_module_set(f->module, g);
  *out = g;
  return NULL;
}

const uint32_t *wick_donors(const wick_func *f, wick_arena *mem)
{
  uint32_t n = wick_return(f)->nin, *donor = wick_new(mem, uint32_t, n + 1u);
  for (uint32_t k = 0; k < n; k++) donor[k] = UINT32_MAX;
  for (uint32_t i = 0; i < f->nparam; i++)
    if (wick_is_given(f->qual[i])) donor[wick_given_result(f->qual[i])] = i;
  return donor;
}
