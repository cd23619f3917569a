/* Follows the function with the contents of each root buffer. If several regions may run, the
 * contents of a buffer that one of them writes are unknown afterwards. The interpreter of loops
 * computes kernels, without their schedules. */
#include "driver/specialization/branch_decisions.h"

#include <string.h>

#include "ir/copy.h"
#include "loop/expand_math.h"
#include "loop/interpret.h"
#include "loop/nest.h"
#include "low/alias.h"
#include "ops/host.h"
#include "runtime/program.h"

enum { KNOWN_POINTS = 4096 }; /* most points of a stage that is computed */
_Static_assert(WICK_GUARD_INPUTS_MAX <= 64, "a bit for each");

typedef struct decide_content {
  bool known;
  uint64_t from;    /* a bit for each input that it depends on */
  const void *data; /* if contents are computed */
} decide_content;

typedef struct decide_change {
  uint32_t root;
  decide_content old;
} decide_change;

typedef struct decide_state {
  const wick_func *f;
  wick_alias alias;
  bool computed;      /* contents are computed; otherwise only the inputs that they depend on */
  decide_content *at; /* per root */
  wick_list(decide_change) log;
  uint64_t deciding; /* inputs that decide conditions and counts */
  int8_t *taken;     /* per node: 1 + the region of a branch that is decided */
  wick_arena *mem, *tmp;
} decide_state;

/* ---- contents ---- */

static bool decide_small(const wick_func *f, wick_value v)
{
  uint64_t nbytes;
  return wick_type_nbytes(f->module, wick_type_of(f, v), &nbytes) && nbytes > 0 &&
         nbytes <= WICK_GUARD_BYTES_MAX;
}

static void decide_set(decide_state *s, uint32_t root, decide_content c)
{
  wick_push(s->tmp, &s->log, (decide_change){root, s->at[root]});
  s->at[root] = c;
}

/* Returns the root if v covers all of it; else 0. */
static uint32_t decide_whole(const decide_state *s, wick_value v)
{
  const wick_memref *p = &s->alias.memref[v.id];
  if (!p->root.id || s->alias.tied[p->root.id]) return 0;
  return p->known && wick_memref_covers(p, &s->alias.memref[p->root.id]) ? p->root.id : 0;
}

/* Returns the known contents of a part of a buffer. */
static decide_content decide_read(const decide_state *s, wick_value v)
{
  const wick_memref *p = &s->alias.memref[v.id];
  uint32_t root = p->root.id, d = root ? s->alias.definer[root] : UINT32_MAX;
  if (!root || s->alias.tied[root] || !p->known || p->choice.index.id ||
      !wick_memref_contiguous(p) || !decide_small(s->f, v))
    return (decide_content){0};
  decide_content c = s->at[root];
  if (d != UINT32_MAX && s->f->node[d].op == WICK_OP_const) {
    c.data = wick_constant_get(s->f->module, wick_const_imm(&s->f->node[d])->constant)->data;
    c.known = c.data != NULL;
  }
  if (c.data) c.data = (const char *)c.data + p->offset;
  return c;
}

static void decide_write(decide_state *s, wick_value v, decide_content c)
{
  uint32_t root = s->alias.memref[v.id].root.id;
  if (root) decide_set(s, root, decide_whole(s, v) ? c : (decide_content){0});
}

/* Forgets the contents of all buffers that the node itself writes. */
static void decide_forget(decide_state *s, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nin; k++) {
    bool reads, writes;
    if (!n->in[k].id || wick_info_of(s->f, n->in[k])->kind != WICK_BUFFER) continue;
    wick_low_effect(s->f, n, k, &reads, &writes);
    if (writes) decide_write(s, n->in[k], (decide_content){0});
  }
}

/* ---- kernels ---- */

static bool decide_few(const wick_schedule *s)
{
  for (uint32_t i = 0; i < s->nstage; i++) {
    int64_t points = 1;
    for (uint32_t k = 0; k < s->stage[i].naxis; k++) {
      wick_dim d = s->stage[i].axis[k].extent;
      if (!wick_dim_is_const(d) || wick_mul_overflows(points, d.v, &points)) return false;
    }
    if (points > KNOWN_POINTS) return false;
  }
  return true;
}

/* Runs group g; `arg` has its results, then its parameters. */
static bool decide_run(decide_state *s, const wick_func *g, uint32_t narg, wick_interpret_arg *arg)
{
  wick_kernel_info info;
  wick_nest_options o = {.name = g->name};
  wick_schedule *schedule = wick_schedule_begin(g, s->tmp);
  if (!decide_few(schedule) || wick_nest(g, schedule, &o, s->mem, s->tmp, &info)) return false;
  wick_func *loop;
  const wick_pass_context pass = {.mem = s->mem, .tmp = s->tmp};
  if (wick_pass_expand_math(&pass, info.loop, &loop)) return false;
  if (loop->nparam != narg + 2 || !wick_dim_is_const(info.tasks)) return false;
  arg[narg + 1].number = info.tasks.v;
  return !wick_interpret(loop, loop->nparam, arg, s->mem, s->tmp);
}

static decide_content decide_operand(decide_state *s, wick_value v, bool written,
                                     decide_content all, wick_interpret_arg *out)
{
  const wick_type_info *t = wick_info_of(s->f, v);
  decide_content c = {decide_small(s->f, v), 0, NULL};
  wick_dim n = wick_type_numel(s->f->module, wick_type_of(s->f, v));
  if (!written) c = decide_read(s, v);
  c.known = c.known && all.known && wick_dim_is_const(n) && t->elem != WICK_STRING;
  c.from |= all.from;
  if (!c.known || !s->computed) return c;
  /* aligned to its size */
  void *data = wick_arena_alloc(s->mem, WICK_GUARD_BYTES_MAX, WICK_GUARD_BYTES_MAX);
  uint64_t nbytes = wick_elem_bytes(t->elem, (uint64_t)n.v);
  if (!written) memcpy(data, c.data, (size_t)nbytes);
  c.data = data;
  *out = (wick_interpret_arg){.data = (void *)(uintptr_t)c.data, .nelem = (uint64_t)n.v};
  return c;
}

/* The results of a kernel are known if all of its operands are. */
static void decide_kernel(decide_state *s, const wick_node *n)
{
  const wick_func *g = wick_module_find(s->f->module, n->attr[WICK_ATTR_kernel_callee].s);
  decide_content all = {.known = g && g->level == WICK_GROUP && !wick_host_node(g)};
  uint32_t nout = all.known ? wick_return(g)->nin : 0;
  wick_interpret_arg *arg = wick_new(s->tmp, wick_interpret_arg, n->nin + 2);
  all.known = all.known && n->nin == nout + g->nparam;
  for (uint32_t k = 0; k < n->nin && all.known; k++) {
    decide_content c = decide_operand(s, n->in[k], k < nout, all, &arg[k]);
    all.known = c.known, all.from = c.from;
  }
  if (all.known && s->computed) all.known = decide_run(s, g, n->nin, arg);
  if (!all.known) {
    decide_forget(s, n);
    return;
  }
  for (uint32_t k = 0; k < nout; k++)
    decide_write(s, n->in[k], (decide_content){true, all.from, arg[k].data});
}

/* ---- control flow ---- */

static void decide_region(decide_state *s, const wick_region *r);

/* Restores the state in which the log had `mark` entries. *changed gets the roots that had
 * changed. */
static void decide_back(decide_state *s, uint32_t mark, wick_branch_inputs *changed)
{
  while (s->log.n > mark) {
    decide_change c = s->log.at[--s->log.n];
    wick_push(s->tmp, changed, c.root);
    s->at[c.root] = c.old;
  }
}

static void decide_if(decide_state *s, const wick_node *n)
{
  decide_content c = decide_read(s, n->in[0]);
  if (c.known) s->deciding |= c.from;
  if (c.known && c.data && !n->nout) {
    uint32_t r = *(const unsigned char *)c.data ? 0 : 1;
    s->taken[n - s->f->node] = (int8_t)(1 + r);
    decide_region(s, &n->region[r]);
    return;
  }
  wick_branch_inputs changed = {0};
  for (uint32_t r = 0; r < 2; r++) {
    uint32_t mark = s->log.n;
    decide_region(s, &n->region[r]);
    decide_back(s, mark, &changed);
  }
  for (uint32_t i = 0; i < changed.n; i++) decide_set(s, changed.at[i], (decide_content){0});
}

/* Buffers that a step writes are unknown in all steps. */
static void decide_loop(decide_state *s, const wick_node *n)
{
  const wick_region *r = &n->region[0];
  decide_content c = decide_read(s, n->in[0]);
  if (c.known) s->deciding |= c.from;
  for (uint32_t pass = 0; pass < 2; pass++) {
    decide_forget(s, n);
    for (uint32_t i = r->begin; i < r->end; i++) decide_forget(s, &s->f->node[i]);
    if (!pass) decide_region(s, r);
  }
}

static void decide_node(decide_state *s, const wick_node *n)
{
  switch (n->op) {
  case WICK_OP_if: decide_if(s, n); break;
  case WICK_OP_loop: decide_loop(s, n); break;
  case WICK_OP_kernel: decide_kernel(s, n); break;
  case WICK_OP_copy: decide_write(s, n->in[0], decide_read(s, n->in[1])); break;
  default: decide_forget(s, n);
  }
}

static void decide_region(decide_state *s, const wick_region *r)
{
  for (uint32_t i = r->begin; i + 1 < r->end; i = s->f->node[i].end) decide_node(s, &s->f->node[i]);
}

static decide_state decide_begin(const wick_func *f, bool computed, wick_arena *mem,
                                 wick_arena *tmp)
{
  decide_state s = {.f = f, .computed = computed, .mem = mem, .tmp = tmp};
  s.alias = wick_alias_of(f, tmp);
  s.at = wick_new(tmp, decide_content, f->nvalue + 1);
  s.taken = wick_new(tmp, int8_t, f->nnode + 1);
  return s;
}

/* ---- the interface ---- */

void wick_branch_inputs_find(const wick_func *f, uint32_t ninput, wick_arena *mem, wick_arena *tmp,
                             wick_branch_inputs *out)
{
  wick_branch_inputs from = {0};
  decide_state s = decide_begin(f, false, tmp, tmp);
  for (uint32_t v = 1; v <= ninput && from.n < WICK_GUARD_INPUTS_MAX; v++) {
    wick_elem e = wick_info_of(f, (wick_value){v})->elem;
    bool whole = wick_elem_is_int(e) || e == WICK_BOOL;
    if (!whole || wick_elem_storage[e].bits < 8 || !decide_small(f, (wick_value){v})) continue;
    s.at[v] = (decide_content){.known = true, .from = (uint64_t)1 << from.n};
    wick_push(tmp, &from, v - 1);
  }
  decide_region(&s, &(wick_region){.begin = 0, .end = f->nnode});
  *out = (wick_branch_inputs){0};
  for (uint32_t i = 0; i < from.n; i++)
    if (s.deciding >> i & 1) wick_push(mem, out, from.at[i]);
}

/* Builds the constant condition for region 0 or 1. */
static wick_value decide_constant(wick_builder *b, int8_t taken)
{
  static const unsigned char number[2] = {1, 0};
  wick_module *m = b->module;
  wick_type tensor = wick_type_tensor(m, WICK_BOOL, 0, NULL),
            buffer = wick_type_buffer(m, WICK_BOOL, 0, NULL, WICK_CONSTANT);
  const char *name = taken == 1 ? "known.true" : "known.false";
  uint32_t id = wick_constant_find(m, name);
  if (!id) id = wick_constant_add(m, name, tensor, &number[taken - 1], 1);
  wick_attr a = {.imm = {.constant = id}};
  return wick_build(b, WICK_OP_const, 0, NULL, &a, 1, &buffer);
}

wick_func *wick_branch_decide(const wick_func *f, uint32_t ninput, const void *const *input,
                              wick_arena *mem, wick_arena *tmp)
{
  decide_state s = decide_begin(f, true, mem, tmp);
  for (uint32_t v = 1; v <= ninput; v++)
    if (input[v - 1]) s.at[v] = (decide_content){.known = true, .from = 0, .data = input[v - 1]};
  decide_region(&s, &(wick_region){.begin = 0, .end = f->nnode});
  bool *gone = wick_new(tmp, bool, f->nnode);
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (gone[i] || n->op == WICK_OP_free) continue;
    wick_value old = n->nin ? c.to[n->in[0].id] : (wick_value){0};
    if (s.taken[i]) {
      const wick_region *other = &n->region[s.taken[i] == 1];
      for (uint32_t k = other->begin; k + 1 < other->end; k++) gone[k] = true;
      c.b.loc = n->loc;
      c.to[n->in[0].id] = decide_constant(&c.b, s.taken[i]);
    }
    wick_copy_node(&c, n);
    if (s.taken[i]) c.to[n->in[0].id] = old;
  }
  return wick_copy_end(&c);
}
