/* Writes the steps of loops around tiles. */
#include <string.h>

#include "graph/group/template_state.h"

void template_order_begin(template_state *t, const wick_stage *st)
{
  wick_text_printf(&t->steps, "order %s:", st->name);
}

bool template_splits_lanes(const wick_stage *st, uint32_t vaxis, int64_t lanes)
{
  /* an output of one vector has no other loop in which a fold could be computed */
  bool alone = !st->fold && st->naxis == 1;
  return lanes > 1 && (alone || !template_is(st, vaxis, lanes));
}

void template_fold_loops(template_state *t, const wick_stage *fold, const template_fold *f)
{
  uint32_t last = UINT32_MAX, vaxis = f->v;
  int64_t lanes = f->lanes, unroll = f->unroll;
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (fold->axis[k].reduce && k != f->dot) last = k;
  int64_t extent = last == UINT32_MAX ? 1 : template_extent(t, fold, last);
  bool varies = last != UINT32_MAX && template_varies(fold, last),
       split = last != UINT32_MAX && (varies || extent > unroll) && unroll > 1 && !f->whole;
  if (split)
    wick_text_printf(&t->steps, "split %s.%s u:%lld; ", fold->name, template_loop(t, fold, last),
                     (long long)unroll);
  bool split_v = vaxis != UINT32_MAX && template_splits_lanes(fold, vaxis, lanes);
  if (split_v)
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", fold->name,
                     template_loop(t, fold, vaxis), (long long)lanes);
  template_order_begin(t, fold);
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (fold->axis[k].reduce && k != f->dot)
      wick_text_printf(&t->steps, " %s", template_loop(t, fold, k));
  if (split) wick_text_add(&t->steps, " u");
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (!fold->axis[k].reduce && k != vaxis && k != f->o)
      wick_text_printf(&t->steps, " %s", template_loop(t, fold, k));
  if (f->o != UINT32_MAX) wick_text_printf(&t->steps, " %s", template_loop(t, fold, f->o));
  if (split_v) wick_text_printf(&t->steps, " %s", template_loop(t, fold, vaxis));
  if (vaxis != UINT32_MAX)
    wick_text_printf(&t->steps, " %s", split_v ? "lane" : template_loop(t, fold, vaxis));
  if (f->dot != UINT32_MAX) wick_text_printf(&t->steps, " %s", template_loop(t, fold, f->dot));
  wick_text_add(&t->steps, "; ");
  if (f->dot != UINT32_MAX)
    wick_text_printf(&t->steps, "dot %s.%s; ", fold->name, template_loop(t, fold, f->dot));
  if (vaxis != UINT32_MAX && lanes > 1)
    wick_text_printf(&t->steps, "vector %s.%s; ", fold->name,
                     split_v ? "lane" : template_loop(t, fold, vaxis));
  const char *step = "unroll"; /* before the first loop that is unrolled */
  for (uint32_t k = 0; k < fold->naxis; k++) {
    if (fold->axis[k].reduce || (k == vaxis && !split_v && lanes > 1)) continue;
    wick_text_printf(&t->steps, "%s %s.%s", step, fold->name, template_loop(t, fold, k));
    step = "";
  }
  if (split && !f->parts) wick_text_printf(&t->steps, "%s %s.u", step, fold->name), step = "";
  for (uint32_t k = 0; k < fold->naxis; k++) {
    if (!fold->axis[k].reduce || k == f->dot) continue;
    if (!f->whole && (k != last || split || extent > unroll || extent <= 0 || varies)) continue;
    wick_text_printf(&t->steps, "%s %s.%s", step, fold->name, template_loop(t, fold, k));
    step = "";
  }
  if (!*step) wick_text_add(&t->steps, "; ");
  if (split && f->parts) wick_text_printf(&t->steps, "rfactor %s.u; ", fold->name);
}

bool template_has_groups(const template_state *t, const template_roles *r)
{
  return r->o != UINT32_MAX && r->no != template_extent(t, t->out, r->o);
}

const char *template_channels_loop(template_state *t, const template_roles *r)
{
  return template_has_groups(t, r) ? "of" : template_loop(t, t->out, r->o);
}

bool template_has_runs(const template_state *t, const template_roles *r, const template_tile *tile)
{
  return r->x != UINT32_MAX && r->nx > 1 && tile->tw > 1 && r->nx % tile->tw &&
         r->nx != template_extent(t, t->out, r->x);
}

/* Returns the loop over the positions along an axis, inside of the one over groups. */
static const char *template_positions_loop(const template_state *t, const template_roles *r,
                                           const template_tile *tile, uint32_t axis)
{
  return axis == r->x && template_has_runs(t, r, tile) ? "run" : template_loop(t, t->out, axis);
}

/* Returns true if the loop over blocks of rows has another loop inside. It has none if a block is a
 * tile. */
static bool template_splits_rows(const template_roles *r, const template_tile *tile,
                                 const template_order *o, uint32_t axis)
{
  return axis == o->axis && o->rows > (axis == r->y ? tile->th : axis == r->x ? tile->tw : 1);
}

/* Returns true if the loop over blocks of columns has another loop inside. */
static bool template_splits_columns(const template_state *t, const template_order *o, int64_t lanes)
{
  uint32_t v = t->out->naxis - 1;
  return o->columns && o->columns < wick_ceildiv_i64(template_extent(t, t->out, v), lanes);
}

const char *template_columns_loop(template_state *t, const template_order *order, int64_t lanes)
{
  return template_splits_columns(t, order, lanes) ? "columns"
                                                  : template_loop(t, t->out, t->out->naxis - 1);
}

/* Splits the blocks and the tile off the output's axes. Returns the names of the tile's loops,
 * outermost first. */
static wick_text template_out_split(template_state *t, const template_roles *r,
                                    const template_tile *tile, const template_order *order,
                                    int64_t lanes)
{
  const wick_stage *out = t->out;
  bool split_v = template_splits_lanes(out, r->v, lanes);
  const struct {
    uint32_t axis;
    int64_t size;
    const char *name;
  } part[] = {{r->o, tile->ob, "ob"},
              {split_v ? r->v : UINT32_MAX, tile->vb, "vb"},
              {r->y, tile->th, "yi"},
              {r->x, tile->tw, "xi"}};
  wick_text names = wick_text_begin(t->tmp);
  if (split_v)
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", out->name, template_loop(t, out, r->v),
                     (long long)lanes);
  if (template_has_groups(t, r))
    wick_text_printf(&t->steps, "split %s.%s of:%lld; ", out->name, template_loop(t, out, r->o),
                     (long long)r->no);
  if (template_has_runs(t, r, tile))
    wick_text_printf(&t->steps, "split %s.%s run:%lld; ", out->name, template_loop(t, out, r->x),
                     (long long)r->nx);
  for (uint32_t k = 0; k < out->naxis; k++)
    if (template_splits_rows(r, tile, order, k))
      wick_text_printf(&t->steps, "split %s.%s rows:%lld; ", out->name,
                       template_positions_loop(t, r, tile, k), (long long)order->rows);
  if (split_v && template_splits_columns(t, order, lanes))
    wick_text_printf(&t->steps, "split %s.%s columns:%lld; ", out->name,
                     template_loop(t, out, r->v), (long long)order->columns);
  if (order->lines)
    wick_text_printf(&t->steps, "split %s.%s lines:%lld; ", out->name, template_loop(t, out, r->o),
                     (long long)order->lines);
  for (uint32_t i = 0; i < WICK_COUNT(part); i++) {
    if (part[i].axis == UINT32_MAX || part[i].size < 2) continue;
    const char *loop = part[i].axis == r->o ? template_channels_loop(t, r)
                       : template_splits_rows(r, tile, order, part[i].axis) ? "rows"
                       : part[i].axis == r->v ? template_columns_loop(t, order, lanes)
                                              : template_positions_loop(t, r, tile, part[i].axis);
    wick_text_printf(&t->steps, "split %s.%s %s:%lld; ", out->name, loop, part[i].name,
                     (long long)part[i].size);
    /* a tile with few positions costs as much as a full one */
    if (part[i].axis == r->x && template_varies(out, r->x))
      wick_text_printf(&t->steps, "tail %s.%s overlap; ", out->name, loop);
    wick_text_printf(&names, " %s", part[i].name);
  }
  return names;
}

bool template_is_position(const template_state *t, const template_roles *r, uint32_t axis)
{
  return axis < t->out->naxis && axis != r->v && axis != r->o && !(r->batch >> axis & 1);
}

const char *template_rows_loop(template_state *t, const template_roles *r,
                               const template_tile *tile, const template_order *order)
{
  return template_splits_rows(r, tile, order, r->y) ? "rows" : template_loop(t, t->out, r->y);
}

/* Writes the order of the output's loops: batches and groups, blocks of positions, channels,
 * then the positions of a block. The channels are last if they are not outside. Within each
 * kind, the order is that of the axes. A loop after one over the rows of a block is not
 * parallel, because the last block may have fewer rows. Returns the innermost loop. */
static const char *template_out_order(template_state *t, const template_roles *r,
                                      const template_tile *tile, const template_order *order,
                                      wick_text *parallel, int64_t lanes)
{
  const wick_stage *out = t->out;
  const char *at = NULL, *task = NULL; /* the loop before this one, if it is parallel */
  bool serial = false;
  template_order_begin(t, out);
  for (uint32_t pass = 0; pass < 5; pass++)
    for (uint32_t k = 0; k < out->naxis; k++) {
      bool position = template_is_position(t, r, k), channel = k == r->v || k == r->o,
           block = position && order->axis != UINT32_MAX && k <= order->axis,
           rows = pass == 3 && template_splits_rows(r, tile, order, k),
           group = pass == 0 && ((k == r->o && template_has_groups(t, r)) ||
                                 (k == r->x && template_has_runs(t, r, tile)));
      bool columns = k == r->v && template_splits_columns(t, order, lanes);
      bool lines = order->lines && k == r->o && pass == 4;
      uint32_t when = channel ? (order->channels_outside ? 2 : 4) : !position ? 0 : block ? 1 : 3;
      if (order->columns && k != r->v) when = k == r->x ? 3 : 1;
      if (when != pass && !rows && !group && !(columns && pass == 2) && !lines) continue;
      if (k == r->v && !template_splits_lanes(out, k, lanes)) continue;
      columns = columns && pass == when;
      at = rows                  ? "rows"
           : columns             ? "columns"
           : lines               ? "lines"
           : k == r->o && !group ? template_channels_loop(t, r)
           : group               ? template_loop(t, out, k)
                                 : template_positions_loop(t, r, tile, k);
      serial =
          serial || rows || columns || lines || (t->cut && k == r->v) || (t->panel && pass == 3);
      wick_text_printf(&t->steps, " %s", at);
      if (task) wick_text_printf(parallel, " %s.%s", out->name, task);
      task = serial ? NULL : at;
    }
  if (task && !order->serial) wick_text_printf(parallel, " %s.%s", out->name, task);
  return at;
}

bool template_has_tasks(int64_t tasks)
{
  enum { TASKS = 64 };
  return tasks >= TASKS;
}

const char *template_out_loops(template_state *t, const template_roles *r,
                               const template_tile *tile, const template_order *order,
                               int64_t lanes)
{
  const wick_stage *out = t->out;
  const char *o = out->name, *name = NULL;
  bool split_v = template_splits_lanes(out, r->v, lanes);
  wick_text tiles = template_out_split(t, r, tile, order, lanes),
            parallel = wick_text_begin(t->tmp);
  const char *at = template_out_order(t, r, tile, order, &parallel, lanes);
  const char *last = r->v == UINT32_MAX ? "" : split_v ? "lane" : template_loop(t, out, r->v);
  wick_text_printf(&t->steps, "%s %s; ", tiles.n ? tiles.at : "", last);
  if (parallel.n) wick_text_printf(&t->steps, "parallel%s; ", parallel.at);
  if (lanes > 1) wick_text_printf(&t->steps, "vector %s.%s; ", o, last);
  if (tiles.n) wick_text_add(&t->steps, "unroll");
  for (const char *p = tiles.n ? tiles.at : ""; *p; p += strcspn(p, " ")) {
    name = p += strspn(p, " ");
    wick_text_printf(&t->steps, " %s.%.*s", o, (int)strcspn(name, " "), name);
  }
  if (tiles.n) wick_text_add(&t->steps, "; ");
  /* without a vector, the last axis is a loop around the fold */
  return lanes > 1 || r->v == UINT32_MAX ? at : last;
}
