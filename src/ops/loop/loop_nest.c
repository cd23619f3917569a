/* The stage that processes 1-D slices with loops and branches of its own: scans, sorting,
 * compaction, and stores at indices that are data. */
#include "ops/loop/loop_nest.h"

static wick_status loop_nest_infer(wick_infer *c)
{
  const wick_axis *axis = c->attr[WICK_ATTR_loop_nest_axes].axes;
  for (uint32_t i = 0; i < c->attr[WICK_ATTR_loop_nest_axes].n; i++)
    if (axis[i].reduce) return wick_infer_fail(c, WICK_ETYPE, "a walk has no axis that is reduced");
  if (c->nregionparam[0] != c->nwant)
    return wick_infer_fail(c, WICK_ETYPE, "the region takes %u values, the walk has %u results",
                           c->nregionparam[0], c->nwant);
  for (uint32_t k = 0; k < c->nwant; k++) {
    if (wick_type_get(c->module, c->want[k])->kind != WICK_TENSOR)
      return wick_infer_fail(c, WICK_ETYPE, "a stage's result is a tensor");
    if (!wick_type_eq(c->param[0][k], c->want[k]))
      return wick_infer_fail(c, WICK_ETYPE, "value %u of the region has not its result's type", k);
  }
  return c->nyield[0] ? wick_infer_fail(c, WICK_ETYPE, "a walk's region yields nothing") : NULL;
}

const wick_op wick_op_loop_nest = {
    .name = "loop_nest",
    .doc = "A stage whose region runs once for each point of its axes. The region takes the "
           "results as values and writes their elements with `element_store`. Together, the "
           "points write every element that is read elsewhere; no point reads or writes an "
           "element that another point writes. A result that only the region uses is scratch "
           "memory, with undefined contents when a point starts",
    .nout = {1, WICK_ANY},
    .nregion = {1, 1},
    .attr = {{"name", WICK_ATTR_STRING, 0, false, NULL, 0, 0},
             {"axes", WICK_ATTR_AXES, 0, true, NULL, 0, 0}},
    .level = WICK_GROUP,
    .stage = true,
    .typed = true,
    .infer = loop_nest_infer,
};

static wick_status loop_nest_place(wick_infer *c, uint32_t behind, wick_type *out_element)
{
  if (wick_type_get(c->module, c->in[0]->type)->kind != WICK_TENSOR)
    return wick_infer_fail(c, WICK_ETYPE, "operand 0 is not a tensor");
  return wick_infer_place(c, behind, out_element);
}

static wick_status get_infer(wick_infer *c) { return loop_nest_place(c, 0, &c->out[0].type); }

const wick_op wick_op_element_load = {
    .name = "element_load",
    .doc = "The current value of one element of a loop nest's result. The index is in bounds",
    .nin = {1, WICK_ANY},
    .nout = {1, 1},
    .attr = {{"index", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GROUP,
    .effect = WICK_EFFECT,
    .infer = get_infer,
};

static wick_status put_infer(wick_infer *c)
{
  wick_type element;
  WICK_TRY(loop_nest_place(c, 1, &element));
  c->nout = 0;
  return wick_type_eq(c->in[c->nin - 1]->type, element)
             ? NULL
             : wick_infer_fail(c, WICK_ETYPE,
                               "the value that is put is not one element of the tensor");
}

const wick_op wick_op_element_store = {
    .name = "element_store",
    .doc = "Sets one element of a loop nest's result to the last operand. The index is in bounds",
    .nin = {2, WICK_ANY},
    .attr = {{"index", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GROUP,
    .effect = WICK_EFFECT,
    .infer = put_infer,
};

/* ---- helpers for operators that build loop nests ---- */

wick_value wick_lines_begin(const wick_compute *c, const char *name, uint32_t axis,
                            uint32_t nscratch, const wick_type *scratch, wick_line *out)
{
  wick_builder *b = c->b;
  wick_axis all[WICK_MAX_RANK], other[WICK_MAX_RANK];
  uint32_t rank = wick_axes_of(b, c->out_type[0], all), n = 0;
  wick_type *type = wick_new(b->mem, wick_type, c->nout + nscratch);
  *out = (wick_line){.rank = rank, .at = axis};
  for (uint32_t k = 0; k < rank; k++) {
    out->index[k] = k == axis ? WICK_DIM_ANY : all[k].sym;
    if (k != axis) other[n++] = all[k];
  }
  for (uint32_t k = 0; k < c->nout; k++) type[k] = c->out_type[k];
  for (uint32_t k = 0; k < nscratch; k++) type[c->nout + k] = scratch[k];
  return wick_loop_nest_begin(b, name, n, other, c->nout + nscratch, type);
}

wick_value wick_line_read(wick_builder *b, const wick_line *line, wick_value tensor, wick_value i)
{
  return wick_read(b, tensor, line->index, line->at < line->rank, &i, (wick_value){0});
}

void wick_line_put(wick_builder *b, const wick_line *line, wick_value tensor, wick_value i,
                   wick_value v)
{
  wick_put(b, tensor, line->index, line->at < line->rank, &i, v);
}

wick_value wick_cell_get(wick_builder *b, wick_value cells, wick_value i)
{
  return wick_get(b, cells, &WICK_DIM_ANY, 1, &i);
}

void wick_cell_put(wick_builder *b, wick_value cells, wick_value i, wick_value v)
{
  wick_put(b, cells, &WICK_DIM_ANY, 1, &i, v);
}

wick_value wick_loop_nest_by(wick_builder *b, wick_opcode op, wick_value x, int64_t number)
{
  if (b->status) return x;
  return wick_build2(b, op, x, wick_build_like(b, x, (double)number));
}
