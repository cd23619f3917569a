/* Nodes of a model: their rows, counts and attributes. */
#include <string.h>

#include "import/kit/bounded.h"

void wick_import_fail(wick_import_node *n, wick_code code, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  wick_status s = wick_vfail(n->c->tmp, code, n->location, fmt, args);
  va_end(args);
  wick_import_add(n->c, n, s, n->location);
  n->failed = true;
}

/* ---- rows ---- */

const wick_import_op *wick_import_op_find(const wick_import_format *format, const char *name,
                                          int version)
{
  const wick_import_op *found = NULL;
  for (size_t f = 0; f < format->nfamily && !found; f++)
    for (const wick_import_op *r = format->families[f]; r->name; r++)
      if (strcmp(r->name, name) == 0 && (!found || r->since <= version)) found = r;
  return found;
}

const char *wick_import_place(const wick_import *c, const char *name, const char *op)
{
  return wick_str_printf(c->tmp, "%s: node \"%s\" (%s)", c->outer ? c->outer : c->file,
                         wick_import_shown(c, name), wick_import_shown(c, op));
}

static void node_counts(wick_import_node *n)
{
  const wick_import_op *r = n->row;
  while (n->nin > r->nin[1] && r->nin[1] != WICK_ANY && !n->in[n->nin - 1].id) n->nin--;
  if (n->nin < r->nin[0] || (r->nin[1] != WICK_ANY && n->nin > r->nin[1]))
    wick_import_fail(n, WICK_EPARSE,
                     r->nin[0] == r->nin[1] ? "it has %u inputs, expected %u"
                                            : "it has %u inputs, expected %u to %u",
                     n->nin, r->nin[0], r->nin[1]);
  if (r->nout != WICK_ANY && n->nout > r->nout)
    wick_import_fail(n, WICK_EPARSE, "it has %u outputs, expected at most %u", n->nout, r->nout);
}

/* ---- attributes ---- */

wick_import_attr wick_import_attr_of(const wick_import_node *n, const char *name, char kind)
{
  return n->c->format->attr ? n->c->format->attr(n, name, kind) : (wick_import_attr){0};
}

/* Reads "axis:i pads:I! mode:s" and checks each attribute that the node has. */
static void node_attrs(wick_import_node *n)
{
  const char *at = n->row->attrs;
  while (at && *at) {
    size_t size = strcspn(at, ":");
    const char *name = wick_str_dupn(n->c->tmp, at, size);
    char kind = at[size + 1];
    bool required = at[size + 2] == '!';
    wick_import_attr a = wick_import_attr_of(n, name, kind);
    bool number = kind == 'f' && a.kind == 'i', numbers = kind == 'F' && a.kind == 'I';
    if (!a.kind && required)
      wick_import_fail(n, WICK_EPARSE, "the attribute \"%s\" is missing", name);
    else if (a.kind && a.kind != kind && !number && !numbers)
      wick_import_fail(n, WICK_EPARSE, "the attribute \"%s\" has another type than expected", name);
    at += size + 2 + required;
    while (*at == ' ') at++;
  }
}

bool wick_import_attr_has(const wick_import_node *n, const char *name)
{
  return wick_import_attr_of(n, name, 0).kind != 0;
}

int64_t wick_import_int(const wick_import_node *n, const char *name, int64_t otherwise)
{
  wick_import_attr a = wick_import_attr_of(n, name, 'i');
  if (a.kind != 'i' && a.kind != 'b') a = wick_import_attr_of(n, name, 'b');
  return a.kind == 'i' || a.kind == 'b' ? a.i : otherwise;
}

double wick_import_real(const wick_import_node *n, const char *name, double otherwise)
{
  wick_import_attr a = wick_import_attr_of(n, name, 'f');
  return a.kind == 'f' ? a.f : a.kind == 'i' ? (double)a.i : otherwise;
}

const char *wick_import_text(const wick_import_node *n, const char *name, const char *otherwise)
{
  wick_import_attr a = wick_import_attr_of(n, name, 's');
  return a.kind == 's' ? wick_str_dupn(n->c->tmp, (const char *)a.s.at, a.s.nbytes) : otherwise;
}

wick_import_attr wick_import_ints(const wick_import_node *n, const char *name)
{
  wick_import_attr a = wick_import_attr_of(n, name, 'I');
  return a.kind == 'I' ? a : (wick_import_attr){0};
}

int wick_import_word(wick_import_node *n, const char *name, const char *words)
{
  const char *text = wick_import_text(n, name, NULL);
  size_t size = text ? strlen(text) : 0;
  int i = 0;
  for (const char *at = words; text && *at; i++) {
    size_t k = strcspn(at, " ");
    if (k == size && memcmp(at, text, k) == 0) return i;
    at += k + (at[k] == ' ');
  }
  if (text)
    wick_import_fail(n, WICK_EUNSUPPORTED, "%s is \"%s\", expected one of: %s", name,
                     wick_import_shown(n->c, text), words);
  return 0;
}

/* ---- the run of one node ---- */

static void node_unsupported(wick_import_node *n, const char *op)
{
  const wick_import_op none = {.name = wick_import_shown(n->c, op)};
  const char *why = n->row && n->row->why ? n->row->why : NULL;
  n->row = &none;
  wick_import_fail(n, WICK_EUNSUPPORTED,
                   why ? "the operator %s is not supported: %s"
                       : "the operator %s is not supported%s",
                   none.name, why ? why : "");
}

static void node_run(wick_import_node *n, bool broken)
{
  wick_import *c = n->c;
  node_counts(n);
  node_attrs(n);
  if (broken || n->failed) {
    n->failed = true;
    return;
  }
  uint32_t before = c->errors.list.n + c->errors.more, misfits = c->misfits;
  uint32_t first = c->b.nodes.n, value = c->b.values.n;
  uint64_t left = c->nodes_left;
  c->b.loc = wick_loc_add(c->module, n->location);
  n->row->import(n);
  if (c->bounded.n && c->nodes_left == left) wick_import_bounded_follow(n, first, value);
  if (c->bounded.n && c->nodes_left < left) wick_import_bounded_bodies(n, first);
  if (c->b.status) { /* found by inference */
    wick_import_add(c, n, c->b.status, n->location);
    c->b.status = NULL;
    n->failed = true;
  }
  c->misfits = misfits + c->errors.list.n + c->errors.more - before; /* with its bodies' own */
}

bool wick_import_run(wick_import *c, const char *op, int version, const char *name,
                     const void *data, uint32_t nin, const wick_value *in, bool broken,
                     uint32_t nout, wick_value *out)
{
  wick_import_node n = {.c = c, .b = &c->b, .data = data, .name = name, .version = version};
  for (uint32_t k = 0; k < nout; k++) out[k] = (wick_value){0};
  if (c->over) return false;
  if (!c->nodes_left--) {
    wick_import_error(c, WICK_ELIMIT, c->file, "it has more nodes than the limit allows");
    c->over = true;
    c->nodes_left = 0;
    return false;
  }
  n.location = wick_import_place(c, name, op);
  n.row = wick_import_op_find(c->format, op, version);
  uint32_t most = n.row && n.row->nin[1] != WICK_ANY ? n.row->nin[1] : 0;
  wick_value *all = wick_new(c->tmp, wick_value, (size_t)nin + most + 1);
  if (nin) memcpy(all, in, nin * sizeof *in);
  n.nin = nin, n.in = all, n.nout = nout;
  n.out = wick_new(c->tmp, wick_value, (size_t)nout + 1);
  if (!n.row || !n.row->import)
    node_unsupported(&n, op);
  else
    node_run(&n, broken);
  for (uint32_t k = 0; k < nout && !n.failed; k++) out[k] = n.out[k];
  return !n.failed;
}
