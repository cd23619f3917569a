/* Buffers: storage and views (low), kernels and their launch, loads and stores of scalars and
 * vectors (loop). */
#include "ir/op.h"
#include "runtime/kernel.h"

static wick_status memory_buffer(const wick_infer *c, uint32_t i, const wick_type_info **out)
{
  *out = c->in[i] ? wick_type_get(c->module, c->in[i]->type) : NULL;
  if (*out && (*out)->kind == WICK_BUFFER) return NULL;
  return wick_infer_fail(c, WICK_ETYPE, "operand %u is not a buffer", i);
}

static wick_status memory_want_buffer(wick_infer *c)
{
  if (wick_type_get(c->module, c->want[0])->kind == WICK_BUFFER) return NULL;
  return wick_infer_fail(c, WICK_ETYPE, "the result is not a buffer");
}

static wick_status alloc_infer(wick_infer *c)
{
  for (uint32_t i = 0; i < c->nin; i++) {
    const wick_type_info *t = c->in[i] ? wick_type_get(c->module, c->in[i]->type) : NULL;
    if (!t || t->kind != WICK_SCALAR || t->elem != WICK_I64 || t->lanes != 1)
      return wick_infer_fail(c, WICK_ETYPE, "operand %u is not one i64", i);
  }
  return c->nin == 1 ? wick_infer_fail(c, WICK_ETYPE, "it has an offset, but no size")
                     : memory_want_buffer(c);
}

const wick_op wick_op_alloc = {
    .name = "alloc",
    .doc = "A buffer. `offset` is its position in its memory space, in bytes; it is -1 until "
           "memory is planned. For dynamic sizes a loop function computes two operands: the "
           "position, in units of 64 bytes after `offset`, and the number of elements",
    .nin = {0, 2},
    .nout = {1, 1},
    .attr = {{"offset", WICK_ATTR_INT, -1, false, NULL, 0, 0}},
    .level = WICK_LOW | WICK_LOOP,
    .typed = true,
    .infer = alloc_infer,
};

static wick_status free_infer(wick_infer *c)
{
  const wick_type_info *t;
  return memory_buffer(c, 0, &t);
}

const wick_op wick_op_free = {
    .name = "free",
    .doc = "Ends the life of a buffer",
    .nin = {1, 1},
    .level = WICK_LOW,
    .effect = WICK_EFFECT,
    .infer = free_infer,
};

static wick_status view_infer(wick_infer *c)
{
  const wick_type_info *t;
  WICK_TRY(memory_buffer(c, 0, &t));
  WICK_TRY(memory_want_buffer(c));
  const wick_type_info *w = wick_type_get(c->module, c->want[0]);
  if (w->space != t->space)
    return wick_infer_fail(c, WICK_ETYPE, "a view stays in the space of its buffer");
  if (c->nin < 2) return NULL;
  const wick_type_info *i = c->in[1] ? wick_type_get(c->module, c->in[1]->type) : NULL;
  bool one = i && i->elem == WICK_I64 &&
             (i->kind == WICK_BUFFER ? i->rank == 0 : i->kind == WICK_SCALAR && i->lanes == 1);
  return one && c->attr[WICK_ATTR_view_step].i >= 0 && c->attr[WICK_ATTR_view_count].i >= 1
             ? NULL
             : wick_infer_fail(c, WICK_ETYPE, "the index is not one i64, or chooses among nothing");
}

const wick_op wick_op_view = {
    .name = "view",
    .doc = "The same memory with another shape. `offset` counts elements of the result. With an "
           "index the view is one of `count` positions, `step` elements apart (0: as many as the "
           "result has). The index is clamped to the valid range and, with `reverse`, counted "
           "from the last position",
    .nin = {1, 2},
    .nout = {1, 1},
    .attr = {{"offset", WICK_ATTR_INT, 0, false, NULL, 0, 0},
             {"step", WICK_ATTR_INT, 0, false, NULL, 0, 0},
             {"count", WICK_ATTR_INT, 1, false, NULL, 0, 0},
             {"reverse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_LOW | WICK_LOOP,
    .typed = true,
    .infer = view_infer,
};

static wick_status copy_infer(wick_infer *c)
{
  const wick_type_info *a, *b;
  WICK_TRY(memory_buffer(c, 0, &a));
  WICK_TRY(memory_buffer(c, 1, &b));
  bool same = a->elem == b->elem && a->rank == b->rank;
  for (uint32_t i = 0; same && i < a->rank; i++) same = wick_dim_eq(a->dim[i], b->dim[i]);
  return same ? NULL : wick_infer_fail(c, WICK_ETYPE, "the buffers have different shapes");
}

const wick_op wick_op_copy = {
    .name = "copy",
    .doc = "Copies the elements of the second buffer into the first. The buffers may differ in "
           "strides and memory space",
    .nin = {2, 2},
    .level = WICK_LOW,
    .effect = WICK_EFFECT,
    .launched = true,
    .infer = copy_infer,
};

static wick_status kernel_infer(wick_infer *c)
{
  const wick_type_info *t;
  for (uint32_t i = 0; i < c->nin; i++)
    if (!c->in[i]) return wick_infer_fail(c, WICK_ETYPE, "operand %u is missing", i);
  for (uint32_t i = 0; i < c->nin; i++)
    if (wick_type_get(c->module, c->in[i]->type)->kind != WICK_SCALAR)
      WICK_TRY(memory_buffer(c, i, &t));
  return NULL;
}

const wick_op wick_op_kernel = {
    .name = "kernel",
    .doc = "Runs a group on buffers. The operands are the buffers that it writes, those that it "
           "reads, then sizes",
    .nin = {0, WICK_ANY},
    .attr = {{"callee", WICK_ATTR_FUNC, 0, true, NULL, 0, 0}},
    .level = WICK_LOW,
    .effect = WICK_EFFECT,
    .launched = true,
    .infer = kernel_infer,
};

static wick_status wait_infer(wick_infer *c)
{
  c->nout = 0;
  return NULL;
}

static wick_status launch_infer(wick_infer *c)
{
  WICK_TRY(kernel_infer(c));
  if (c->attr[WICK_ATTR_launch_tasks].i >= 0) return NULL;
  const wick_type_info *t = c->nin ? wick_type_get(c->module, c->in[c->nin - 1]->type) : NULL;
  bool counted = t && t->kind == WICK_SCALAR && t->elem == WICK_I64 && t->lanes == 1;
  return counted && c->attr[WICK_ATTR_launch_tasks].i == -1
             ? NULL
             : wick_infer_fail(c, WICK_ETYPE, "the number of tasks is no i64");
}

const wick_op wick_op_launch = {
    .name = "launch",
    .doc =
        "Runs a loop function over the tasks 0 .. tasks-1, in any order and in parallel. With "
        "`concurrent` the launch may run at the same time as the launches before it, back to the "
        "last one without `concurrent`. If `tasks` is -1, the last operand gives their number",
    .nin = {0, WICK_ANY},
    .attr = {{"callee", WICK_ATTR_FUNC, 0, true, NULL, 0, 0},
             {"tasks", WICK_ATTR_INT, 1, false, NULL, 0, 0},
             {"concurrent", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .infer = launch_infer,
};

const wick_op wick_op_wait = {
    .name = "wait",
    .doc = "Waits until all launched functions are done. After it their memory may be read and "
           "written",
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .infer = wait_infer,
};

/* ---- loads and stores ---- */

static wick_status memory_index(const wick_infer *c, uint32_t i)
{
  return wick_type_eq(c->in[i]->type, wick_type_scalar(c->module, WICK_I64, 1))
             ? NULL
             : wick_infer_fail(c, WICK_ETYPE, "the index is not an i64");
}

static wick_status memory_mask(const wick_infer *c, uint32_t i, uint32_t lanes)
{
  if (c->nin <= i) return NULL;
  return wick_type_eq(c->in[i]->type, wick_type_scalar(c->module, WICK_BOOL, lanes))
             ? NULL
             : wick_infer_fail(c, WICK_ETYPE, "the mask is not a bool of %u lanes", lanes);
}

static wick_status load_infer(wick_infer *c)
{
  const wick_type_info *t, *w = wick_type_get(c->module, c->want[0]);
  WICK_TRY(memory_buffer(c, 0, &t));
  WICK_TRY(memory_index(c, 1));
  if (w->kind != WICK_SCALAR || w->elem != t->elem)
    return wick_infer_fail(c, WICK_ETYPE, "the result is not of the buffer's elements");
  return memory_mask(c, 2, w->lanes);
}

const wick_op wick_op_load = {
    .name = "load",
    .doc = "Loads as many consecutive elements as the result has lanes, from index + offset on. "
           "Where the mask is false, the lane is 0 and memory is not touched",
    .nin = {2, 3},
    .nout = {1, 1},
    .attr = {{"offset", WICK_ATTR_INT, 0, false, NULL, 0, 0}},
    .level = WICK_LOOP,
    .typed = true,
    .infer = load_infer,
};

static wick_status load_lanes_infer(wick_infer *c)
{
  const wick_type_info *t, *w = wick_type_get(c->module, c->want[0]);
  WICK_TRY(memory_buffer(c, 0, &t));
  WICK_TRY(memory_index(c, 1));
  if (w->kind != WICK_SCALAR || w->elem != t->elem)
    return wick_infer_fail(c, WICK_ETYPE, "the result is not of the buffer's elements");
  if (!wick_type_eq(c->in[2]->type, wick_type_scalar(c->module, WICK_I64, w->lanes)))
    return wick_infer_fail(c, WICK_ETYPE, "the places are not i64 of %u lanes", w->lanes);
  return memory_mask(c, 3, w->lanes);
}

const wick_op wick_op_load_lanes = {
    .name = "load_lanes",
    .doc = "Loads one element for each lane, from index + offset + the lane of the third operand. "
           "Where the mask is false, the lane is 0 and memory is not touched",
    .nin = {3, 4},
    .nout = {1, 1},
    .attr = {{"offset", WICK_ATTR_INT, 0, false, NULL, 0, 0}},
    .level = WICK_LOOP,
    .typed = true,
    .infer = load_lanes_infer,
};

static wick_status store_infer(wick_infer *c)
{
  const wick_type_info *t, *v;
  WICK_TRY(memory_buffer(c, 0, &t));
  WICK_TRY(memory_index(c, 1));
  v = wick_type_get(c->module, c->in[2]->type);
  if (v->kind != WICK_SCALAR || v->elem != t->elem)
    return wick_infer_fail(c, WICK_ETYPE, "the value is not of the buffer's elements");
  return memory_mask(c, 3, v->lanes);
}

const wick_op wick_op_store = {
    .name = "store",
    .doc = "Stores the lanes of the value to consecutive elements from index + offset on. Where "
           "the mask is false, memory is not touched. With `nontemporal` the lanes, which are "
           "whole lines or "
           "lie in one, and are aligned, go past the caches: nobody reads them soon",
    .nin = {3, 4},
    .attr = {{"offset", WICK_ATTR_INT, 0, false, NULL, 0, 0},
             {"nontemporal", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .infer = store_infer,
};

static wick_status peel_infer(wick_infer *c)
{
  const wick_type_info *t;
  WICK_TRY(memory_buffer(c, 0, &t));
  WICK_TRY(memory_index(c, 1));
  return wick_type_eq(c->want[0], wick_type_scalar(c->module, WICK_I64, 1))
             ? NULL
             : wick_infer_fail(c, WICK_ETYPE, "the result is not an i64");
}

const wick_op wick_op_peel = {
    .name = "peel",
    .doc = "The number of elements from index + offset on before the first that begins a cache "
           "line, of "
           "64 bytes",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"offset", WICK_ATTR_INT, 0, false, NULL, 0, 0}},
    .level = WICK_LOOP,
    .typed = true,
    .infer = peel_infer,
};

static wick_status prefetch_infer(wick_infer *c)
{
  const wick_type_info *t;
  WICK_TRY(memory_buffer(c, 0, &t));
  return memory_index(c, 1);
}

const wick_op wick_op_prefetch = {
    .name = "prefetch",
    .doc = "Prefetches the cache line of element index + offset into the second-level cache. The "
           "element may lie outside the buffer. Changes no value",
    .nin = {2, 2},
    .attr = {{"offset", WICK_ATTR_INT, 0, false, NULL, 0, 0}},
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .infer = prefetch_infer,
};

/* ---- vectors ---- */

static wick_status memory_vector(wick_infer *c, const wick_type_info **x, const wick_type_info **w)
{
  *x = c->nin ? wick_type_get(c->module, c->in[0]->type) : NULL;
  *w = wick_type_get(c->module, c->want[0]);
  if ((*w)->kind != WICK_SCALAR || (*x && ((*x)->kind != WICK_SCALAR || (*x)->elem != (*w)->elem)))
    return wick_infer_fail(c, WICK_ETYPE, "operand and result are vectors of one element type");
  return NULL;
}

static wick_status broadcast_infer(wick_infer *c)
{
  const wick_type_info *x, *w;
  WICK_TRY(memory_vector(c, &x, &w));
  if (w->lanes % x->lanes == 0) return NULL;
  return wick_infer_fail(c, WICK_ETYPE, "%u lanes are no part of %u", x->lanes, w->lanes);
}

const wick_op wick_op_broadcast = {
    .name = "broadcast",
    .doc = "A vector that repeats the lanes of the operand",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_LOOP,
    .typed = true,
    .infer = broadcast_infer,
};

static wick_status iota_infer(wick_infer *c)
{
  const wick_type_info *x, *w;
  WICK_TRY(memory_vector(c, &x, &w));
  return wick_elem_is_int(w->elem)
             ? NULL
             : wick_infer_fail(c, WICK_ETYPE, "the result is not of integers");
}

const wick_op wick_op_iota = {
    .name = "iota",
    .doc = "The vector 0, 1, 2, ...",
    .nout = {1, 1},
    .level = WICK_LOOP,
    .typed = true,
    .infer = iota_infer,
};

static wick_status extract_infer(wick_infer *c)
{
  const wick_type_info *x = wick_type_get(c->module, c->in[0]->type);
  if (x->kind != WICK_SCALAR || c->attr[WICK_ATTR_extract_lane].i < 0 ||
      c->attr[WICK_ATTR_extract_lane].i >= x->lanes)
    return wick_infer_fail(c, WICK_ETYPE, "lane %lld of %u",
                           (long long)c->attr[WICK_ATTR_extract_lane].i, x->lanes);
  c->out[0].type = wick_type_scalar(c->module, x->elem, 1);
  return NULL;
}

const wick_op wick_op_extract = {
    .name = "extract",
    .doc = "One lane of a vector",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"lane", WICK_ATTR_INT, 0, true, NULL, 0, 0}},
    .level = WICK_LOOP,
    .infer = extract_infer,
};

static wick_status any_infer(wick_infer *c)
{
  const wick_type_info *x = wick_type_get(c->module, c->in[0]->type);
  if (x->kind != WICK_SCALAR || x->elem != WICK_BOOL)
    return wick_infer_fail(c, WICK_ETYPE, "the operand is not a vector of bools");
  c->out[0].type = wick_type_scalar(c->module, WICK_BOOL, 1);
  return NULL;
}

const wick_op wick_op_any = {
    .name = "any",
    .doc = "Whether a lane is true",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_LOOP,
    .infer = any_infer,
};

static wick_status shuffle_infer(wick_infer *c)
{
  const wick_type_info *x = wick_type_get(c->module, c->in[0]->type);
  if (x->kind != WICK_SCALAR || !wick_type_eq(c->in[0]->type, c->in[1]->type))
    return wick_infer_fail(c, WICK_ETYPE, "the operands are not vectors of one type");
  if (c->attr[WICK_ATTR_shuffle_lanes].n < 1 || c->attr[WICK_ATTR_shuffle_lanes].n > 1024)
    return wick_infer_fail(c, WICK_ETYPE, "lanes: 1 to 1024 are expected");
  for (uint32_t i = 0; i < c->attr[WICK_ATTR_shuffle_lanes].n; i++)
    if (c->attr[WICK_ATTR_shuffle_lanes].ints[i] < 0 ||
        c->attr[WICK_ATTR_shuffle_lanes].ints[i] >= 2 * x->lanes)
      return wick_infer_fail(c, WICK_ETYPE, "lane %lld of two vectors of %u",
                             (long long)c->attr[WICK_ATTR_shuffle_lanes].ints[i], x->lanes);
  c->out[0].type = wick_type_scalar(c->module, x->elem, c->attr[WICK_ATTR_shuffle_lanes].n);
  return NULL;
}

const wick_op wick_op_shuffle = {
    .name = "shuffle",
    .doc = "Lanes chosen from two vectors: number i is lane i of the first vector; lanes of the "
           "second vector follow, counted on from the number of lanes of the first",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"lanes", WICK_ATTR_INTS, 0, true, NULL, 0, 0}},
    .level = WICK_LOOP,
    .infer = shuffle_infer,
};

static wick_status fail_infer(wick_infer *c)
{
  if (!wick_type_eq(c->in[0]->type, wick_type_scalar(c->module, WICK_BOOL, 1)))
    return wick_infer_fail(c, WICK_ETYPE, "the condition is not a bool");
  return memory_index(c, 1);
}

const wick_op wick_op_fail = {
    .name = "fail",
    .doc = "If the condition is true, the run fails with `code` and the second operand. If "
           "several fail, that of the lowest task is reported. The operand is an index or an "
           "element among `of`; 0: it is not known how many",
    .nin = {2, 2},
    .attr = {{"code", WICK_ATTR_INT, 0, true, NULL, 0, 0},
             {"of", WICK_ATTR_INT, 0, false, NULL, 0, 0}},
    .level = WICK_GROUP | WICK_LOOP,
    .effect = WICK_EFFECT,
    .infer = fail_infer,
};

static wick_status say_infer(wick_infer *c)
{
  bool fails = c->attr[WICK_ATTR_say_fails].i;
  if (fails &&
      (!c->nin || !wick_type_eq(c->in[0]->type, wick_type_scalar(c->module, WICK_BOOL, 1))))
    return wick_infer_fail(c, WICK_ETYPE, "the condition is not a bool");
  for (uint32_t k = 0; k < c->nin; k++) {
    const wick_type_info *t = wick_type_get(c->module, c->in[k]->type);
    int64_t dim[WICK_MAX_RANK];
    bool number = t->kind == WICK_SCALAR && t->lanes == 1,
         tensor = t->kind == WICK_BUFFER && !t->stride && wick_type_const_dims(t, dim);
    if (!number && !tensor)
      return wick_infer_fail(
          c, WICK_ETYPE, "operand %u is neither a number nor a dense buffer of a constant size", k);
  }
  return NULL;
}

const wick_op wick_op_say = {
    .name = "say",
    .doc = "Prints the text, in which each {} stands for one of the operands; they come after it, "
           "with spaces between, if it has no {}. With `fails`, the run fails with the text if the "
           "first operand, which is not in it, is true. Operands in "
           "`strings` are numbers of strings. `to` is that of print",
    .nin = {0, WICK_ANY},
    .attr = {{"text", WICK_ATTR_STRING, 0, false, NULL, 0, 0},
             {"fails", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"strings", WICK_ATTR_INTS, 0, false, NULL, 0, WICK_SAID_MOST},
             {"to", WICK_ATTR_ENUM, 0, false, WICK_SAY_WORDS, 0, 0}},
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .infer = say_infer,
};

static wick_status host_call_infer(wick_infer *c)
{
  for (uint32_t k = 0; k < c->nin; k++)
    if (wick_type_get(c->module, c->in[k]->type)->kind != WICK_BUFFER)
      return wick_infer_fail(c, WICK_ETYPE, "operand %u is no buffer", k);
  return NULL;
}

const wick_op wick_op_host_call = {
    .name = "host_call",
    .doc = "Calls an operator that the runtime executes, that of a kernel of the program, with "
           "buffers of its results and operands",
    .nin = {0, WICK_ANY},
    .attr = {{"kernel", WICK_ATTR_INT, 0, true, NULL, 0, 1 << 30}},
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .infer = host_call_infer,
};

static wick_status vector_infer(wick_infer *c)
{
  const wick_type_info *w = wick_type_get(c->module, c->want[0]);
  if (w->kind != WICK_SCALAR || w->lanes != c->nin)
    return wick_infer_fail(c, WICK_ETYPE, "%u lanes are given", c->nin);
  wick_type one = wick_type_scalar(c->module, w->elem, 1);
  for (uint32_t i = 0; i < c->nin; i++)
    if (!wick_type_eq(c->in[i]->type, one))
      return wick_infer_fail(c, WICK_ETYPE, "lane %u is not one element", i);
  return NULL;
}

const wick_op wick_op_vector = {
    .name = "vector",
    .doc = "A vector whose lanes are the operands",
    .nin = {1, WICK_ANY},
    .nout = {1, 1},
    .level = WICK_LOOP,
    .typed = true,
    .infer = vector_infer,
};
