/* Steps edit the records of stages; each step is checked when it is applied. Begin with the table
 * wick_schedule_steps. */
#include "loop/schedule.h"

#include <ctype.h>
#include <string.h>

#include "ir/op.h"

wick_schedule *wick_schedule_begin(const wick_func *group, wick_arena *mem)
{
  wick_schedule *s = wick_new(mem, wick_schedule, 1);
  *s =
      (wick_schedule){.group = group, .mem = mem, .stage = wick_new(mem, wick_stage, group->nnode)};
  for (uint32_t i = 0; i < group->nnode; i = group->node[i].end) {
    const wick_node *n = &group->node[i];
    if (!wick_op_of(n)->stage) continue;
    wick_stage *st = &s->stage[s->nstage++];
    *st = (wick_stage){.node = i,
                       .name = n->attr[WICK_ATTR_map_name].s,
                       .naxis = wick_stage_axes(n)->n,
                       .axis = wick_stage_axes(n)->axes,
                       .fold = n->op == WICK_OP_fold,
                       .loop_nest = n->op == WICK_OP_loop_nest};
    for (int reduce = 0; reduce < 2; reduce++) /* the order of the text, with reduced axes
                                                  innermost */
      for (uint32_t a = 0; a < st->naxis; a++)
        if (st->axis[a].reduce == (bool)reduce) {
          const wick_term *t = wick_dim_get(group->module->dims, st->axis[a].sym).term;
          const char *name = wick_dim_atom(group->module->dims, t->atom[0])->name;
          wick_push(mem, &st->loops, (wick_sloop){.name = name, .axis = a, .factor = 1});
        }
  }
  s->output = s->nstage ? s->nstage - 1 : 0;
  s->halo = wick_new(mem, wick_halo, group->nparam + 1);
  return s;
}

/* ---- the words of a step ---- */

struct schedule_step {
  wick_schedule *s;
  const char *text, *at, *end; /* one step */
};
typedef struct schedule_step schedule_step;

static wick_status schedule_fail(const schedule_step *p, const char *fmt, ...) WICK_PRINTF(2, 3);
static wick_status schedule_fail(const schedule_step *p, const char *fmt, ...)
{
  const char *place = wick_str_printf(p->s->mem, "@%s: step `%.*s`", p->s->group->name,
                                      (int)(p->end - p->text), p->text);
  va_list args;
  va_start(args, fmt);
  wick_status s = wick_vfail(p->s->mem, WICK_EINVAL, place, fmt, args);
  va_end(args);
  return s;
}

typedef struct schedule_word {
  const char *at;
  size_t n;
} schedule_word;

/* Returns the next word. A `:` ends a word and is skipped. Returns an empty word at the step's
 * end. */
static schedule_word schedule_next(schedule_step *p)
{
  while (p->at < p->end && (isspace((unsigned char)*p->at) || *p->at == ':')) p->at++;
  schedule_word w = {p->at, 0};
  while (p->at < p->end && !isspace((unsigned char)*p->at) && *p->at != ':') p->at++, w.n++;
  return w;
}

static bool schedule_is(schedule_word w, const char *s)
{
  return strlen(s) == w.n && memcmp(w.at, s, w.n) == 0;
}

int64_t wick_tail_smaller(int64_t n, bool halves)
{
  return halves ? n / 2 : n - wick_ceildiv_i64(n, 3);
}

uint32_t wick_schedule_stage(const wick_schedule *s, const char *name, size_t n)
{
  for (uint32_t i = 0; i < s->nstage; i++)
    if (strlen(s->stage[i].name) == n && memcmp(s->stage[i].name, name, n) == 0) return i;
  return UINT32_MAX;
}

static uint32_t schedule_loop_of(const wick_stage *st, const char *name, size_t n)
{
  for (uint32_t i = 0; i < st->loops.n; i++)
    if (strlen(st->loops.at[i].name) == n && memcmp(st->loops.at[i].name, name, n) == 0) return i;
  return UINT32_MAX;
}

static wick_status schedule_stage_word(schedule_step *p, schedule_word w, wick_stage **out)
{
  uint32_t i = wick_schedule_stage(p->s, w.at, w.n);
  if (i == UINT32_MAX) return schedule_fail(p, "there is no stage `%.*s`", (int)w.n, w.at);
  *out = &p->s->stage[i];
  return NULL;
}

/* Reads STAGE.LOOP. Names of stages may contain dots; names of loops do not. */
static wick_status schedule_loop_word(schedule_step *p, schedule_word w, wick_stage **out_stage,
                                      wick_sloop **out_loop)
{
  size_t dot = w.n;
  while (dot > 0 && w.at[dot - 1] != '.') dot--;
  if (!dot) return schedule_fail(p, "`%.*s` is not STAGE.LOOP", (int)w.n, w.at);
  WICK_TRY(schedule_stage_word(p, (schedule_word){w.at, dot - 1}, out_stage));
  uint32_t l = schedule_loop_of(*out_stage, w.at + dot, w.n - dot);
  if (l == UINT32_MAX)
    return schedule_fail(p, "stage `%s` has no loop `%.*s`", (*out_stage)->name, (int)(w.n - dot),
                         w.at + dot);
  *out_loop = &(*out_stage)->loops.at[l];
  return NULL;
}

/* ---- the steps ---- */

static wick_status schedule_split(schedule_step *p)
{
  wick_stage *st;
  wick_sloop *l;
  WICK_TRY(schedule_loop_word(p, schedule_next(p), &st, &l));
  schedule_word name = schedule_next(p), number = schedule_next(p);
  int64_t factor = 0;
  for (size_t i = 0; i < number.n; i++) {
    if (!isdigit((unsigned char)number.at[i]) || factor > 1 << 24)
      return schedule_fail(p, "the factor is not a number");
    factor = factor * 10 + (number.at[i] - '0');
  }
  if (!name.n || !number.n || factor < 1)
    return schedule_fail(p, "NEW:FACTOR is expected, FACTOR at least 1");
  if (schedule_loop_of(st, name.at, name.n) != UINT32_MAX)
    return schedule_fail(p, "the stage has a loop `%.*s` already", (int)name.n, name.at);
  if (l->kind != WICK_SERIAL) return schedule_fail(p, "`%s` is no longer serial", l->name);
  if (l->size && l->size % factor && st->axis[l->axis].reduce) /* the contract depends on its
                                                                  order */
    return schedule_fail(p,
                         "%lld does not divide the %lld iterations of a loop that was split before",
                         (long long)factor, (long long)l->size);
  wick_sloop inner = *l;
  inner.name = wick_intern(p->s->group->module, wick_str_dupn(p->s->mem, name.at, name.n));
  inner.size = factor, inner.unit = 0, inner.ncut = 0;
  l->factor *= factor;
  if (l->size) l->size = wick_ceildiv_i64(l->size, factor);
  uint32_t at = (uint32_t)(l - st->loops.at) + 1;
  wick_push(p->s->mem, &st->loops, inner);
  memmove(&st->loops.at[at + 1], &st->loops.at[at], (st->loops.n - 1 - at) * sizeof inner);
  st->loops.at[at] = inner;
  return NULL;
}

static wick_status schedule_order(schedule_step *p)
{
  wick_stage *st;
  WICK_TRY(schedule_stage_word(p, schedule_next(p), &st));
  wick_sloop *now = wick_new(p->s->mem, wick_sloop, st->loops.n);
  uint32_t n = 0;
  for (schedule_word w = schedule_next(p); w.n; w = schedule_next(p)) {
    uint32_t l = schedule_loop_of(st, w.at, w.n);
    if (l == UINT32_MAX)
      return schedule_fail(p, "stage `%s` has no loop `%.*s`", st->name, (int)w.n, w.at);
    for (uint32_t i = 0; i < n; i++)
      if (now[i].name == st->loops.at[l].name)
        return schedule_fail(p, "`%s` is named twice", now[i].name);
    now[n++] = st->loops.at[l];
  }
  if (n != st->loops.n) return schedule_fail(p, "%u of %u loops are named", n, st->loops.n);
  const wick_sloop *last[64] = {NULL};
  for (uint32_t i = 0; i < n; i++) {
    const wick_sloop *l = &now[i];
    if (l->axis < WICK_COUNT(last) && last[l->axis] && last[l->axis]->factor < l->factor)
      return schedule_fail(p, "`%s` is a part of the same axis as `%s`, and goes outside it",
                           l->name, last[l->axis]->name);
    if (l->axis < WICK_COUNT(last)) last[l->axis] = l;
  }
  memcpy(st->loops.at, now, n * sizeof *now);
  return NULL;
}

static wick_status schedule_kind(schedule_step *p, wick_loop_kind kind)
{
  schedule_word w = schedule_next(p);
  if (!w.n) return schedule_fail(p, "STAGE.LOOP is expected");
  for (; w.n; w = schedule_next(p)) {
    wick_stage *st;
    wick_sloop *l;
    WICK_TRY(schedule_loop_word(p, w, &st, &l));
    bool reduce = st->axis[l->axis].reduce;
    if (l->kind != WICK_SERIAL || l->ncut)
      return schedule_fail(p, "`%s` is %s", l->name, l->ncut ? "cut" : "no longer serial");
    if (kind == WICK_PARALLEL && reduce)
      return schedule_fail(p, "`%s` is reduced: its iterations depend on each other", l->name);
    if ((kind == WICK_RFACTOR || kind == WICK_SPANS || kind == WICK_DOT) && !reduce)
      return schedule_fail(p, "`%s` is not reduced", l->name);
    for (uint32_t i = 0; kind == WICK_VECTOR && i < st->loops.n; i++)
      if (st->loops.at[i].kind == WICK_VECTOR)
        return schedule_fail(p, "`%s` is the vector already", st->loops.at[i].name);
    if (kind == WICK_DOT && l->size) return schedule_fail(p, "`%s` is a part of its axis", l->name);
    if (kind == WICK_VECTOR && l->factor != 1)
      return schedule_fail(p, "`%s` is not the innermost part of its axis", l->name);
    l->kind = kind;
  }
  return NULL;
}

static wick_status schedule_at(schedule_step *p)
{
  wick_stage *st, *consumer;
  wick_sloop *l;
  WICK_TRY(schedule_stage_word(p, schedule_next(p), &st));
  WICK_TRY(schedule_loop_word(p, schedule_next(p), &consumer, &l));
  schedule_word store = schedule_next(p);
  if (st >= consumer)
    return schedule_fail(p, "`%s` does not come before `%s`", st->name, consumer->name);
  if (l->kind != WICK_SERIAL && l->kind != WICK_PARALLEL)
    return schedule_fail(p, "`%s` is unrolled or a vector", l->name);
  st->where = WICK_AT;
  st->consumer = (uint32_t)(consumer - p->s->stage);
  st->consumer_loop_name = l->name;
  st->store = schedule_is(store, "reg")     ? WICK_STORE_REG
              : schedule_is(store, "stack") ? WICK_STORE_STACK
                                            : WICK_STORE_SCRATCH;
  if (store.n && st->store == WICK_STORE_SCRATCH && !schedule_is(store, "scratch"))
    return schedule_fail(p, "`%.*s` is not one of reg, stack, scratch", (int)store.n, store.at);
  return NULL;
}

static wick_status schedule_inline(schedule_step *p)
{
  wick_stage *st;
  WICK_TRY(schedule_stage_word(p, schedule_next(p), &st));
  if (st->fold) return schedule_fail(p, "a fold cannot be computed where it is read");
  if (st == &p->s->stage[p->s->output]) return schedule_fail(p, "it is the group's output");
  st->where = WICK_INLINE;
  return NULL;
}

static bool schedule_number(schedule_word w, size_t *at, int64_t *out)
{
  size_t from = *at;
  for (*out = 0; *at < w.n && isdigit((unsigned char)w.at[*at]) && *out < 1 << 24; ++*at)
    *out = *out * 10 + (w.at[*at] - '0');
  return *at > from;
}

static wick_status schedule_halo(schedule_step *p)
{
  size_t at = 0;
  int64_t k;
  schedule_word w = schedule_next(p);
  if (!schedule_number(w, &at, &k) || at != w.n || k >= p->s->group->nparam)
    return schedule_fail(p, "`%.*s` is not the number of a parameter", (int)w.n, w.at);
  wick_halo *h = &p->s->halo[k];
  for (uint32_t d = 0; d < wick_info_of(p->s->group, (wick_value){(uint32_t)k + 1})->rank; d++) {
    w = schedule_next(p);
    at = 0;
    bool lo = schedule_number(w, &at, &h->lo[d]), comma = lo && at < w.n && w.at[at++] == ',';
    if (!comma || !schedule_number(w, &at, &h->hi[d]) || at != w.n)
      return schedule_fail(p, "LO,HI is expected for each dimension");
  }
  w = schedule_next(p);
  bool minus = w.n > 1 && w.at[1] == '-';
  at = minus ? 2 : 1;
  if (w.n && (*w.at != '=' || !schedule_number(w, &at, &h->fill) || at != w.n))
    return schedule_fail(p, "=NUMBER is expected after the dimensions");
  if (minus) h->fill = -h->fill;
  return NULL;
}

static wick_status schedule_prefetch(schedule_step *p)
{
  wick_stage *st;
  wick_sloop *l;
  WICK_TRY(schedule_loop_word(p, schedule_next(p), &st, &l));
  if (l->kind != WICK_SERIAL && l->kind != WICK_PARALLEL)
    return schedule_fail(p, "`%s` is unrolled or a vector", l->name);
  l->prefetch = true;
  return NULL;
}

static wick_status schedule_turn(schedule_step *p)
{
  wick_stage *st;
  wick_sloop *l;
  WICK_TRY(schedule_loop_word(p, schedule_next(p), &st, &l));
  if (l->kind != WICK_SERIAL) return schedule_fail(p, "`%s` is no longer serial", l->name);
  if (l->factor != 1 || st->fold)
    return schedule_fail(p, "`%s` is not the innermost part of a map's axis", l->name);
  l->kind = WICK_UNROLL, l->turn = true;
  return NULL;
}

static wick_status schedule_cut(schedule_step *p)
{
  wick_stage *st;
  wick_sloop *l;
  wick_list(int64_t) cut = {0};
  WICK_TRY(schedule_loop_word(p, schedule_next(p), &st, &l));
  wick_dim extent = st->axis[l->axis].extent;
  if (l->kind != WICK_SERIAL || l->size || st->axis[l->axis].reduce ||
      st != &p->s->stage[p->s->output])
    return schedule_fail(p, "`%s` is not the outermost part, and serial, of an axis of the output",
                         l->name);
  for (schedule_word w = schedule_next(p); w.n; w = schedule_next(p)) {
    size_t at = 0;
    int64_t place, last = cut.n ? cut.at[cut.n - 1] : 0;
    if (!schedule_number(w, &at, &place) || at != w.n || place <= last ||
        !wick_dim_is_const(extent) || place >= extent.v)
      return schedule_fail(p, "ascending numbers inside a constant extent are expected");
    wick_push(p->s->mem, &cut, place);
  }
  l->cut = cut.at, l->ncut = cut.n;
  return NULL;
}

static wick_status schedule_lanes(schedule_step *p)
{
  wick_stage *st;
  size_t at = 0;
  WICK_TRY(schedule_stage_word(p, schedule_next(p), &st));
  schedule_word number = schedule_next(p);
  if (!schedule_number(number, &at, &st->lanes) || at != number.n || st->lanes < 1 ||
      st->lanes > 1024)
    return schedule_fail(p, "STAGE:N is expected, N from 1 to 1024");
  return st->loop_nest ? NULL : schedule_fail(p, "`%s` is no loop nest", st->name);
}

static wick_status schedule_tail(schedule_step *p)
{
  wick_stage *st;
  wick_sloop *l;
  WICK_TRY(schedule_loop_word(p, schedule_next(p), &st, &l));
  schedule_word w = schedule_next(p);
  schedule_word unit = schedule_next(p);
  size_t at = 0;
  if (unit.n && (!schedule_number(unit, &at, &l->unit) || at != unit.n || !l->unit ||
                 l->factor % l->unit || !schedule_is(w, "peel")))
    return schedule_fail(p, "`%.*s`: `peel` takes a number that divides %lld", (int)unit.n, unit.at,
                         (long long)l->factor);
  if (schedule_is(w, "peel"))
    l->tail = WICK_PEEL;
  else if (schedule_is(w, "mask"))
    l->tail = WICK_MASK;
  else if (schedule_is(w, "overlap"))
    l->tail = WICK_OVERLAP;
  else
    return schedule_fail(p, "peel, mask or overlap is expected");
  if (l->tail == WICK_OVERLAP && st->axis[l->axis].reduce)
    return schedule_fail(p, "a reduced axis cannot take elements twice");
  return NULL;
}

static wick_status schedule_template(schedule_step *p)
{
  return schedule_next(p).n ? NULL : schedule_fail(p, "it has no name");
}

const wick_schedule_step wick_schedule_steps[] = {
    {"template", "NAME", WICK_SERIAL, schedule_template,
     "States which template (see below) wrote the steps. Changes nothing.", "Always."},
    {"split", "STAGE.LOOP NEW:FACTOR", WICK_SERIAL, schedule_split,
     "LOOP advances by FACTOR, and a new loop NEW of FACTOR iterations goes directly inside it.",
     "LOOP is serial. If LOOP is a reduced loop that was split before, FACTOR divides its "
     "iterations. Keeps the order of every sum."},
    {"order", "STAGE: LOOP LOOP ...", WICK_SERIAL, schedule_order,
     "Puts the loops of the stage into this order, outermost first.",
     "All loops are named, each once. Of two loops that are parts of the same axis, the one with "
     "the larger stride stays outside. The order of reduced loops is the order of the sum: the "
     "contract names it."},
    {"parallel", "STAGE.LOOP ...", WICK_PARALLEL, NULL,
     "The iterations of these loops are the tasks that threads share.",
     "The loops are the outermost ones of the group's output and are not reduced."},
    {"vector", "STAGE.LOOP", WICK_VECTOR, NULL, "The iterations are the lanes of one vector.",
     "LOOP is the innermost part of its axis; a stage has one vector loop. If LOOP is reduced, "
     "each lane has a partial sum: the contract names the new order."},
    {"unroll", "STAGE.LOOP ...", WICK_UNROLL, NULL, "The iterations become straight-line code.",
     "LOOP is serial. Keeps the order of every sum."},
    {"rfactor", "STAGE.LOOP", WICK_RFACTOR, NULL,
     "Unrolls a reduced loop into partial states, which are merged as a binary tree at the end.",
     "LOOP is reduced. The fold does not begin with an element that it reads. Changes the order "
     "of the sum: the contract names it."},
    {"spans", "STAGE.LOOP", WICK_SPANS, NULL,
     "Each iteration of a reduced loop has a state of its own, which is merged at its end with "
     "those before, so that a long sum rounds less.",
     "LOOP is reduced, the loops outside of it are serial, and the states of an iteration are in "
     "registers, or in those of a tile inside of serial loops. Changes the order of the sum: the "
     "contract names it."},
    {"dot", "STAGE.LOOP", WICK_DOT, NULL,
     "Computes a reduced loop as one dot product instruction (`src/loop/product.h`).",
     "LOOP is a whole reduced axis and the innermost loop; the body is a product that the "
     "instruction takes."},
    {"inline", "STAGE", WICK_SERIAL, schedule_inline, "Computes the stage where it is read.",
     "STAGE is not a fold and not the group's output."},
    {"at", "STAGE CONSUMER.LOOP [reg|stack|scratch]", WICK_SERIAL, schedule_at,
     "Computes the stage inside a loop of a later stage, for the box that is read there, and "
     "stores the box in registers, on the stack, or in scratch memory (the default).",
     "LOOP is serial or parallel, and the box has a constant bound. For `reg`, all loops that "
     "index the box are unrolled or the vector."},
    {"tail", "STAGE.LOOP peel[:UNIT]|mask|overlap", WICK_SERIAL, schedule_tail,
     "Says what happens where a factor does not divide the extent. `peel` (the default): code of "
     "its own; for a symbolic extent, smaller and smaller steps, all multiples of UNIT. `mask`: "
     "masked lanes, or a condition for each iteration. `overlap`: the last tile moves back and "
     "computes some elements again.",
     "UNIT divides the factor. `overlap` is for loops that are not reduced, and not if an operand "
     "shares the memory of the result."},
    {"prefetch", "STAGE.LOOP", WICK_SERIAL, schedule_prefetch,
     "Fetches what is read of parameters inside LOOP for the next iteration, too.",
     "LOOP is serial or parallel."},
    {"turn", "STAGE.LOOP", WICK_SERIAL, schedule_turn,
     "Unrolls LOOP. Parameters whose elements are contiguous along LOOP, not along the vector, are "
     "read in vectors along LOOP and transposed in registers.",
     "LOOP is serial, the innermost part of its axis, and the stage is a map."},
    {"cut", "STAGE.LOOP PLACE ...", WICK_SERIAL, schedule_cut,
     "A new loop begins at each PLACE of the axis. Conditions, minima and remainders that are "
     "decided in the whole of one of these loops cost nothing there.",
     "LOOP is serial, and the outermost part of an axis of the group's output with a constant "
     "extent; the positions are ascending numbers inside it."},
    {"lanes", "STAGE:N", WICK_SERIAL, schedule_lanes,
     "Loops of a loop nest that only move elements take N elements of the last dimension at once.",
     "STAGE is a loop nest; N is from 1 to 1024."},
    {"halo", "PARAMETER LO,HI ... [=FILL]", WICK_SERIAL, schedule_halo,
     "The buffer of this parameter, by number, has LO elements before and HI after its contents "
     "along each dimension, and they hold FILL (0 if it is not given), so that reads there need no "
     "condition.",
     "There is a pair for each dimension."},
    {NULL, NULL, WICK_SERIAL, NULL, NULL, NULL},
};

static wick_status schedule_step_apply(schedule_step *p)
{
  schedule_word w = schedule_next(p);
  if (!w.n) return NULL;
  for (const wick_schedule_step *step = wick_schedule_steps; step->name; step++)
    if (schedule_is(w, step->name))
      return step->apply ? step->apply(p) : schedule_kind(p, step->kind);
  return schedule_fail(p, "there is no such step");
}

wick_status wick_schedule_apply(wick_schedule *s, const char *steps)
{
  while (*steps) {
    while (isspace((unsigned char)*steps)) steps++;
    size_t n = strcspn(steps, ";");
    schedule_step p = {.s = s, .text = steps, .at = steps, .end = steps + n};
    WICK_TRY(schedule_step_apply(&p));
    if (schedule_next(&p).n) return schedule_fail(&p, "there is more than the step takes");
    steps += n + (steps[n] == ';');
  }
  return NULL;
}

const char *wick_schedule_template(const char *steps, wick_arena *mem)
{
  static const char step[] = "template ";
  const char *at = strstr(steps, step);
  return at ? wick_str_dupn(mem, at + strlen(step), strcspn(at + strlen(step), "; ")) : NULL;
}

/* ---- the whole schedule ---- */

bool wick_stage_starts(const wick_schedule *s, const wick_stage *st)
{
  const wick_node *n = &s->group->node[st->node];
  for (uint32_t i = n->region[0].begin; st->fold && i < n->region[0].end; i++)
    if (s->group->node[i].op == WICK_OP_read) return true;
  return false;
}

uint32_t wick_stage_tile(const wick_stage *st)
{
  uint32_t tile = st->loops.n;
  for (uint32_t i = 0; i < st->loops.n; i++) {
    bool reduce = st->axis[st->loops.at[i].axis].reduce;
    if (tile == st->loops.n && reduce) tile = i;
    if (tile <= i && !reduce && st->loops.at[i].kind == WICK_SERIAL) tile = i + 1;
  }
  return tile;
}

/* Returns true if the states of an iteration are in registers, and all are merged after it: those of
 * the tile, or, if the loop is the last reduced one before the tile, those of the tile for each
 * iteration of the serial loops between. */
static bool schedule_spans_fit(const wick_stage *st, uint32_t loop)
{
  uint32_t tile = wick_stage_tile(st);
  bool inner = false;
  for (uint32_t i = 0, reduced = 0; i < st->loops.n; i++) {
    const wick_sloop *l = &st->loops.at[i];
    bool reduce = st->axis[l->axis].reduce;
    reduced += reduce, inner = inner || (i >= tile && reduce);
    if (reduced && i < loop && l->kind != WICK_SERIAL && l->kind != WICK_SPANS) return false;
    if (i > loop && i < tile && reduce) return false;
  }
  return loop >= tile || inner;
}

static wick_status schedule_check_stage(wick_schedule *s, wick_stage *st)
{
  schedule_step p = {.s = s, .text = "", .at = "", .end = ""};
  bool serial = false, starts = wick_stage_starts(s, st);
  for (uint32_t i = 0; i < st->loops.n; i++) {
    const wick_sloop *l = &st->loops.at[i];
    bool reduce = st->axis[l->axis].reduce;
    if (l->kind == WICK_PARALLEL && (serial || st != &s->stage[s->output]))
      return schedule_fail(&p,
                           "`%s.%s`: parallel loops are the outermost ones of the group's output",
                           st->name, l->name);
    serial = serial || l->kind != WICK_PARALLEL;
    if (l->kind == WICK_DOT && i + 1 < st->loops.n)
      return schedule_fail(&p, "`%s.%s`: a dot product is the innermost loop", st->name, l->name);
    if (reduce && starts &&
        (l->kind == WICK_RFACTOR || l->kind == WICK_SPANS || l->kind == WICK_VECTOR))
      return schedule_fail(&p, "`%s.%s`: parts of a sum that begins with an element", st->name,
                           l->name);
    if (l->kind == WICK_SPANS && !schedule_spans_fit(st, i))
      return schedule_fail(&p, "`%s.%s`: loops outside of spans are serial, the tile in registers",
                           st->name, l->name);
    if (st->where == WICK_AT && st->store == WICK_STORE_REG && !reduce && l->kind != WICK_UNROLL &&
        l->kind != WICK_VECTOR)
      return schedule_fail(
          &p, "`%s.%s`: loops that index a tile in registers are unrolled or the vector", st->name,
          l->name);
  }
  if (st->where != WICK_AT) return NULL;
  const wick_stage *consumer = &s->stage[st->consumer];
  st->consumer_loop =
      schedule_loop_of(consumer, st->consumer_loop_name, strlen(st->consumer_loop_name));
  if (st->consumer_loop == UINT32_MAX)
    return schedule_fail(&p, "`%s` has no loop `%s` any more", consumer->name,
                         st->consumer_loop_name);
  if (consumer->where == WICK_INLINE)
    return schedule_fail(&p, "`%s` is inlined: it has no loops", consumer->name);
  return NULL;
}

wick_status wick_schedule_check(wick_schedule *s)
{
  if (!s->nstage)
    return wick_fail(s->mem, WICK_EINTERNAL, s->group->name, "a group without stages");
  for (uint32_t i = 0; i < s->nstage; i++) WICK_TRY(schedule_check_stage(s, &s->stage[i]));
  const wick_stage *out = &s->stage[s->output];
  for (uint32_t i = 0; i < out->loops.n; i++)
    for (uint32_t k = 0; out->loops.at[i].kind == WICK_PARALLEL && k < s->output; k++)
      if (s->stage[k].where == WICK_ROOT)
        return wick_fail(s->mem, WICK_EINVAL, s->group->name,
                         "`%s` is computed at the root, before the parallel loops: every task "
                         "would need all of it",
                         s->stage[k].name);
  return NULL;
}
