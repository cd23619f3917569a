/* Lists and trees. A list that is mapped, reversed or extended is changed in place; what is new
 * comes from malloc. */
#include <stdint.h>
#include <stdlib.h>

typedef struct list {
  struct list *rest;
  int64_t x;
} list;

static list *cons(int64_t x, list *rest)
{
  list *l = malloc(sizeof *l);
  *l = (list){rest, x};
  return l;
}
static list *upto(int64_t n)
{
  list *l = NULL;
  for (int64_t i = n; i > 0; i--) l = cons(i, l);
  return l;
}
static void drop(list *l)
{
  for (list *next; l; l = next) next = l->rest, free(l);
}
static int64_t total(list *l)
{
  int64_t s = 0;
  for (list *i = l; i; i = i->rest) s += i->x;
  drop(l);
  return s;
}
static int64_t hash(list *l)
{
  int64_t h = 0;
  for (list *i = l; i; i = i->rest) h = (h * 31 + i->x) % 1000000007;
  drop(l);
  return h;
}

int64_t list_fold(int64_t n)
{
  list *l = upto(n);
  int64_t s = 0;
  for (int64_t k = 0; k < 100; k++)
    for (list *i = l; i; i = i->rest) s += i->x ^ k;
  drop(l);
  return s;
}
int64_t list_map(int64_t n)
{
  list *l = upto(n);
  for (int64_t k = 0; k < 100; k++)
    for (list *i = l; i; i = i->rest) i->x += k;
  return total(l);
}
int64_t list_reverse(int64_t n)
{
  list *l = upto(n);
  for (int64_t k = 0; k < 100; k++) {
    list *a = NULL;
    for (list *next; l; l = next) next = l->rest, l->rest = a, a = l;
    l = a;
  }
  return hash(l);
}
int64_t list_append(int64_t n)
{
  list *l = upto(n);
  for (int64_t k = 0; k < 100; k++) {
    list **end = &l;
    while (*end) end = &(*end)->rest;
    *end = cons(k, NULL);
  }
  return total(l);
}
int64_t list_filter(int64_t n)
{
  list *l = upto(n);
  int64_t s = 0;
  for (int64_t k = 0; k < 100; k++) {
    list *first = NULL, **end = &first;
    for (list *i = l; i; i = i->rest)
      if ((i->x & k) == 0) *end = cons(i->x, NULL), end = &(*end)->rest;
    s += total(first);
  }
  drop(l);
  return s;
}

static list *merge(list *a, list *b)
{
  list *first, **end = &first;
  while (a && b)
    if (a->x <= b->x)
      *end = a, end = &a->rest, a = a->rest;
    else
      *end = b, end = &b->rest, b = b->rest;
  *end = a ? a : b;
  return first;
}
static list *sort(list *l)
{
  if (!l || !l->rest) return l;
  list *a = NULL, *b = NULL;
  for (list *next; l; l = next) {
    list *t = b;
    next = l->rest, b = a, l->rest = t, a = l;
  }
  return merge(sort(a), sort(b));
}
int64_t list_sort(int64_t n)
{
  list *l = NULL;
  for (int64_t s = 42; n > 0; n--) l = cons(s, l), s = (s * 1103515245 + 12345) % 2147483648;
  return hash(sort(l));
}

typedef struct tree {
  struct tree *l, *r;
  int64_t x;
} tree;
static tree *node(tree *l, int64_t x, tree *r)
{
  tree *t = malloc(sizeof *t);
  *t = (tree){l, r, x};
  return t;
}
static tree *grow(int64_t d)
{
  if (d == 0) return NULL;
  tree *l = grow(d - 1), *r = grow(d - 1);
  return node(l, d, r);
}
static int64_t check(const tree *t) { return t ? t->x + check(t->l) + check(t->r) : 1; }
static void fell(tree *t)
{
  if (!t) return;
  fell(t->l);
  fell(t->r);
  free(t);
}
int64_t tree_check(int64_t n)
{
  int64_t s = 0;
  for (int64_t k = 0; k < 20; k++) {
    tree *t = grow(n);
    s += check(t);
    fell(t);
  }
  return s;
}

int64_t tree_insert(int64_t n)
{
  tree *t = NULL;
  int64_t s = 42;
  for (int64_t k = 0; k < n; k++) {
    tree **at = &t;
    while (*at) at = s < (*at)->x ? &(*at)->l : &(*at)->r;
    *at = node(NULL, s, NULL);
    s = (s * 1103515245 + 12345) % 2147483648;
  }
  s = check(t);
  fell(t);
  return s;
}
