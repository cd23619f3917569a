/* The tables of all passes and of pipelines, which give the order of passes. Begin here.
 *
 * A pipeline is a table of steps, each the name of a pass or of another pipeline, with a condition;
 * a step without a condition always runs. Passes do not remove dead nodes: the builder does it at
 * the end of each pass. docs/passes.md is printed from these tables. */
#include "driver/passes.h"

#include <string.h>

#include "graph/absorb_transpose.h"
#include "graph/constant_fold.h"
#include "graph/conv1d_to_conv2d.h"
#include "graph/conv3d_to_conv2d.h"
#include "graph/count_objects.h"
#include "graph/cse.h"
#include "graph/decompose.h"
#include "graph/decompose_conv_transpose.h"
#include "graph/decompose_resize.h"
#include "graph/defer_dequantize.h"
#include "graph/defunctionalize.h"
#include "graph/delay_scalars.h"
#include "graph/demote.h"
#include "graph/drop_identity.h"
#include "graph/emulate_subbyte.h"
#include "graph/expand_transformations.h"
#include "graph/fold_control_flow.h"
#include "graph/fold_requantize.h"
#include "graph/fold_scale.h"
#include "graph/fold_scatter.h"
#include "graph/fuse_attention.h"
#include "graph/fuse_channel_shuffle.h"
#include "graph/fuse_qdq.h"
#include "graph/global_dce.h"
#include "graph/grad/grad.h"
#include "graph/group/form_kernels.h"
#include "graph/group_heads.h"
#include "graph/inline.h"
#include "graph/intern_strings.h"
#include "graph/layout/assign_layouts.h"
#include "graph/licm.h"
#include "graph/merge_branches.h"
#include "graph/merge_loops.h"
#include "graph/outline_loops.h"
#include "graph/partial_eval.h"
#include "graph/promote_refs.h"
#include "graph/promote_to_f64.h"
#include "graph/raise_activation.h"
#include "graph/raise_softmax.h"
#include "graph/region_dce.h"
#include "graph/separate_pools.h"
#include "graph/shift_weights.h"
#include "graph/simplify.h"
#include "graph/sink_constructs.h"
#include "graph/sink_data_movement.h"
#include "graph/tabulate.h"
#include "graph/turn_slices.h"
#include "loop/drop_checks.h"
#include "loop/expand_math.h"
#include "loop/legalize.h"
#include "loop/merge_stores.h"
#include "loop/nontemporal.h"
#include "loop/serialize_faults.h"
#include "loop/tail_calls.h"
#include "loop/unroll_recursion.h"
#include "low/copy_elim.h"
#include "low/dead_store.h"
#include "low/in_place.h"
#include "low/insert_frees.h"
#include "low/plan_memory.h"
#include "low/reorder_for_memory.h"
#include "lower/lower.h"

const wick_pass wick_passes[] = {
    {"expand_transformations", WICK_GRAPH, wick_pass_expand_transformations, WICK_EXACT,
     "replaces transformations of functions (value_and_grad, jvp, ...) by ordinary nodes"},
    {"inline", WICK_GRAPH, wick_pass_inline, WICK_EXACT,
     "inlines calls of functions that are not recursive, and drops functions that are no longer "
     "called"},
    {"fold_control_flow", WICK_GRAPH, wick_pass_fold_control_flow, WICK_EXACT,
     "keeps one arm of a branch whose condition is known, and writes out short loops whose count "
     "is known"},
    {"promote_refs", WICK_GRAPH, wick_pass_promote_refs, WICK_EXACT,
     "makes the contents of references that do not leave their function plain values"},
    {"partial_eval", WICK_GRAPH, wick_pass_partial_eval, WICK_EXACT,
     "writes out calls, branches and switches that are decided by known data, functions and "
     "integers"},
    {"defunctionalize", WICK_GRAPH, wick_pass_defunctionalize, WICK_EXACT,
     "replaces function values by data, and their calls by functions that choose"},
    {"licm", WICK_GRAPH | WICK_LOOP, wick_pass_licm, WICK_EXACT,
     "moves what does not change between iterations out of loops"},
    {"cse", WICK_GRAPH | WICK_GROUP, wick_pass_cse, WICK_EXACT, "computes equal nodes once"},
    {"drop_identity", WICK_GRAPH, wick_pass_drop_identity, WICK_EXACT, "replaces x*1 and x/1 by x"},
    {"decompose", WICK_GRAPH, wick_pass_decompose, WICK_EXACT,
     "replaces operators that have no stages by operators that have some"},
    {"constant_fold", WICK_GRAPH, wick_pass_constant_fold, WICK_EXACT,
     "computes what depends on constants alone"},
    {"fold_scale", WICK_GRAPH, wick_pass_fold_scale, WICK_ROUNDING,
     "multiplies factors per channel into the weights of the product before or after them"},
    {"merge_branches", WICK_GRAPH, wick_pass_merge_branches, WICK_ROUNDING,
     "makes one product of branches that multiply the same tensor by constants and are added"},
    {"fold_scatter", WICK_GRAPH, wick_pass_fold_scatter, WICK_ROUNDING,
     "adds the updates of scatters to the tensor that their sum is added to"},
    {"grad", WICK_GRAPH, wick_pass_grad, WICK_EXACT,
     "adds the derivatives of the first result with respect to the parameters"},
    {"fuse_qdq", WICK_GRAPH, wick_pass_fuse_qdq, WICK_ROUNDING,
     "computes products of dequantized numbers as products of integers"},
    {"defer_dequantize", WICK_GRAPH, wick_pass_defer_dequantize, WICK_EXACT,
     "keeps the narrow numbers of weights until they are packed"},
    {"fold_requantize", WICK_GRAPH, wick_pass_fold_requantize, WICK_ROUNDING,
     "merges the factors after an integer sum into one, and adds the bias as an integer"},
    {"shift_weights", WICK_GRAPH, wick_pass_shift_weights, WICK_EXACT,
     "takes a number off weights of 9 bits, so that they fit in bytes"},
    {"absorb_transpose", WICK_GRAPH, wick_pass_absorb_transpose, WICK_ROUNDING,
     "permutes the rows of a constant factor instead of the columns of the other one"},
    {"fuse_channel_shuffle", WICK_GRAPH, wick_pass_fuse_channel_shuffle, WICK_EXACT,
     "replaces reshape, transpose, reshape by one node"},
    {"simplify", WICK_GRAPH, wick_pass_simplify, WICK_EXACT,
     "replaces nodes by cheaper equal ones"},
    {"sink_data_movement", WICK_GRAPH, wick_pass_sink_data_movement, WICK_EXACT,
     "moves data movement (transpose, slice, ...) after element-wise nodes"},
    {"emulate_subbyte", WICK_GRAPH, wick_pass_emulate_subbyte, WICK_EXACT,
     "computes elements of less than a byte in whole bytes"},
    {"intern_strings", WICK_GRAPH, wick_pass_intern_strings, WICK_EXACT,
     "replaces strings by their numbers in a table"},
    {"merge_loops", WICK_GRAPH, wick_pass_merge_loops, WICK_EXACT,
     "merges two loops, or branches, of which one computes all that the other does"},
    {"region_dce", WICK_GRAPH, wick_pass_region_dce, WICK_EXACT,
     "drops results of branches and loops that nobody uses"},
    {"promote_to_f64", WICK_GRAPH, wick_pass_promote_to_f64, WICK_ROUNDING,
     "computes all floats in f64"},
    {"raise_activation", WICK_GRAPH, wick_pass_raise_activation, WICK_ROUNDING,
     "replaces activations that are written out by their operators"},
    {"raise_softmax", WICK_GRAPH, wick_pass_raise_softmax, WICK_ROUNDING,
     "replaces softmax that is written out by its operator"},
    {"fuse_attention", WICK_GRAPH, wick_pass_fuse_attention, WICK_ROUNDING,
     "replaces queries, keys, softmax and values by one node"},
    {"group_heads", WICK_GRAPH, wick_pass_group_heads, WICK_EXACT,
     "multiplies rows by matrices that were copied for them without the copies"},
    {"tabulate", WICK_GRAPH, wick_pass_tabulate, WICK_ROUNDING,
     "replaces element-wise functions of one byte by tables"},
    {"demote_to_bf16", WICK_GRAPH, wick_pass_demote_to_bf16, WICK_ROUNDING,
     "rounds factors, and what kernels leave in memory, to bf16"},
    {"demote_to_f16", WICK_GRAPH, wick_pass_demote_to_f16, WICK_ROUNDING,
     "rounds factors, and what kernels leave in memory, to f16"},
    {"conv1d_to_conv2d", WICK_GRAPH, wick_pass_conv1d_to_conv2d, WICK_EXACT,
     "replaces convolutions over one dimension by convolutions over images of height 1"},
    {"conv3d_to_conv2d", WICK_GRAPH, wick_pass_conv3d_to_conv2d, WICK_ROUNDING,
     "replaces convolutions over three dimensions by convolutions over images"},
    {"decompose_conv_transpose", WICK_GRAPH, wick_pass_decompose_conv_transpose, WICK_ROUNDING,
     "replaces transposed convolutions by convolutions, one for each phase of the stride"},
    {"separate_pools", WICK_GRAPH, wick_pass_separate_pools, WICK_ROUNDING,
     "replaces pools over large windows by pools along one axis after the other"},
    {"assign_layouts", WICK_GRAPH, wick_pass_assign_layouts, WICK_ROUNDING,
     "gives images and weights layouts in blocks of channels"},
    {"decompose_resize", WICK_GRAPH, wick_pass_decompose_resize, WICK_ROUNDING,
     "resizes one axis after the other, with positions and weights as constants"},
    {"turn_slices", WICK_GRAPH, wick_pass_turn_slices, WICK_ROUNDING,
     "transposes operands whose slices are short or alternate, and results back"},
    {"delay_casts", WICK_GRAPH, wick_pass_delay_casts, WICK_EXACT,
     "moves casts to wider elements, and element-wise nodes after them, after data movement"},
    {"delay_scalars", WICK_GRAPH, wick_pass_delay_scalars, WICK_EXACT,
     "moves element-wise nodes after data movement where no kernel before takes them"},
    {"global_dce", WICK_GRAPH, wick_pass_global_dce, WICK_EXACT,
     "removes functions that the entry does not reach"},
    {"outline_loops", WICK_GRAPH, wick_pass_outline_loops, WICK_EXACT,
     "makes functions of loops on numbers and small tensors, which launch nothing"},
    {"sink_constructs", WICK_GRAPH, wick_pass_sink_constructs, WICK_EXACT,
     "builds objects in the arms of branches that use them"},
    {"count_objects", WICK_GRAPH, wick_pass_count_objects, WICK_EXACT,
     "references to objects are counted: moved by last uses, retained before others; the memory of "
     "objects that die is used again"},
    {"form_kernels", WICK_GRAPH, wick_pass_form_kernels, WICK_EXACT,
     "forms kernels with schedules from nodes, buffers from tensors, and procedures from functions "
     "that are called"},
    {"copy_elim", WICK_LOW, wick_pass_copy_elim, WICK_EXACT,
     "writes the source of a copy directly to its destination"},
    {"in_place", WICK_LOW, wick_pass_in_place, WICK_EXACT,
     "writes results over operands that are not read later"},
    {"dead_store", WICK_LOW, wick_pass_dead_store, WICK_EXACT,
     "drops kernels whose results nobody reads"},
    {"reorder_for_memory", WICK_LOW, wick_pass_reorder_for_memory, WICK_EXACT,
     "reorders kernels for the least peak memory found"},
    {"insert_frees", WICK_LOW, wick_pass_insert_frees, WICK_EXACT,
     "frees buffers after their last use"},
    {"plan_memory", WICK_LOW, wick_pass_plan_memory, WICK_EXACT,
     "gives the buffers of the arena their offsets"},
    {"plan_memory_most", WICK_LOW, wick_pass_plan_memory_most, WICK_EXACT,
     "gives the buffers of the arena offsets that hold for the largest sizes"},
    {"tail_calls", WICK_LOOP, wick_pass_tail_calls, WICK_EXACT,
     "replaces calls of a procedure by itself at its end by a loop"},
    {"unroll_recursion", WICK_LOOP, wick_pass_unroll_recursion, WICK_EXACT,
     "replaces calls of a small procedure by itself by its body"},
    {"drop_checks", WICK_LOOP, wick_pass_drop_checks, WICK_EXACT,
     "drops checks of indices that cannot fail, because loops and conditions imply it"},
    {"merge_stores", WICK_LOOP, wick_pass_merge_stores, WICK_EXACT,
     "merges stores of quarters of a register into one"},
    {"nontemporal", WICK_LOOP, wick_pass_nontemporal, WICK_EXACT,
     "stores large results past the caches"},
    {"expand_math", WICK_LOOP, wick_pass_expand_math, WICK_EXACT,
     "replaces elementary functions by polynomials of operations that machines have"},
    {"legalize", WICK_LOOP, wick_pass_legalize, WICK_EXACT,
     "replaces types and operators that the target lacks"},
    {"lower", WICK_LOW, wick_pass_lower, WICK_EXACT,
     "builds a loop function for each kernel, and an entry that launches them"},
    {"serialize_faults", WICK_LOOP, wick_pass_serialize_faults, WICK_EXACT,
     "runs a kernel that may fail in one task"},
    {NULL, 0, NULL, WICK_EXACT, NULL},
};

const wick_pass *wick_pass_find(const char *name)
{
  for (const wick_pass *p = wick_passes; p->name; p++)
    if (strcmp(p->name, name) == 0) return p;
  return NULL;
}

/* ---- conditions ---- */

static bool passes_precision(const wick_pass_context *c, const char *name)
{
  return c->precision && strcmp(c->precision, name) == 0;
}

static bool passes_f64(const wick_pass_context *c) { return passes_precision(c, "f64"); }
static bool passes_bf16(const wick_pass_context *c) { return passes_precision(c, "bf16"); }
static bool passes_f16(const wick_pass_context *c) { return passes_precision(c, "f16"); }
static bool passes_narrow(const wick_pass_context *c) { return passes_bf16(c) || passes_f16(c); }
static bool passes_planned(const wick_pass_context *c) { return c->planned; }
static bool passes_unplanned(const wick_pass_context *c) { return !c->planned; }

static const wick_condition when_f64 = {"--precision f64", passes_f64};
static const wick_condition when_bf16 = {"--precision bf16", passes_bf16};
static const wick_condition when_f16 = {"--precision f16", passes_f16};
static const wick_condition when_narrow = {"--precision bf16 or f16", passes_narrow};
static const wick_condition when_planned = {"bundles", passes_planned};
static const wick_condition when_placed = {"all but bundles", passes_unplanned};

/* ---- pipelines ---- */

/* From an imported model to a graph whose nodes can become stages and whose tensors have
 * layouts. */
static const wick_step passes_graph[] = {
    {"promote_refs", NULL},
    {"partial_eval", NULL},
    {"promote_refs", NULL},    /* those that calls took, which are written out */
    {"defunctionalize", NULL}, /* functions that are differentiated have no function values */
    {"expand_transformations", NULL},
    {"defunctionalize", NULL}, /* function values that transformations gave */
    {"global_dce", NULL},
    {"inline", NULL},
    {"promote_refs", NULL},
    {"intern_strings", NULL},
    {"promote_to_f64", &when_f64},
    {"fuse_qdq", NULL},
    {"defer_dequantize", NULL},
    {"constant_fold", NULL},
    {"fold_control_flow", NULL},
    {"merge_loops", NULL},
    {"region_dce", NULL},
    {"decompose", NULL},
    {"constant_fold", NULL},
    {"emulate_subbyte", NULL},
    {"drop_identity", NULL},
    {"simplify", NULL},
    {"licm", NULL},
    {"cse", NULL},
    {"raise_activation", NULL},
    {"fold_requantize", NULL},
    {"fold_scale", NULL},
    {"merge_branches", NULL},
    {"fold_scale", NULL}, /* what follows the merged products */
    {"fold_scatter", NULL},
    {"absorb_transpose", NULL},
    {"fuse_channel_shuffle", NULL},
    {"raise_softmax", NULL},
    {"fuse_attention", NULL},
    {"group_heads", NULL},
    {"tabulate", NULL},
    /* After nodes that compute with weights, which become narrow there; before transposed
     * convolutions are decomposed, so that they keep their exact factors. */
    {"sink_data_movement", &when_narrow},
    {"simplify", &when_narrow},
    {"demote_to_bf16", &when_bf16},
    {"demote_to_f16", &when_f16},
    {"decompose_conv_transpose", NULL},
    {"conv1d_to_conv2d", NULL},
    {"conv3d_to_conv2d", NULL},
    {"separate_pools", NULL},
    {"constant_fold", NULL},
    {"sink_data_movement", NULL},
    {"delay_casts", NULL},
    {"simplify", NULL},
    {"shift_weights", NULL},
    {"assign_layouts", NULL},
    {"decompose_resize", NULL},
    {"turn_slices", NULL},
    {"simplify", NULL}, /* transpositions that meet */
    {"delay_scalars", NULL},
    {"constant_fold", NULL},
    {"licm", NULL}, /* the packing of weights that do not change in a loop */
    {"cse", NULL},  /* packed weights of nodes that share them */
    {NULL, NULL},
};

/* From there to kernels with schedules, on buffers of a planned arena. */
static const wick_step passes_low[] = {
    {"global_dce", NULL},
    {"outline_loops", NULL},
    {"sink_constructs", NULL},
    {"count_objects", NULL},
    {"form_kernels", NULL},
    {"copy_elim", NULL},
    {"in_place", NULL},
    {"dead_store", NULL},
    {"reorder_for_memory", NULL},
    {"insert_frees", NULL},
    {"plan_memory", &when_placed},
    {"plan_memory_most", &when_planned},
    {NULL, NULL},
};

/* Passes over the loop functions of kernels. */
static const wick_step passes_nested[] = {
    {"tail_calls", NULL},   {"unroll_recursion", NULL}, {"drop_checks", NULL},
    {"merge_stores", NULL}, {"expand_math", NULL},      {"legalize", NULL},
    {"licm", NULL},         {"nontemporal", NULL},      {"serialize_faults", NULL},
    {NULL, NULL},
};

/* From there to loop functions for the code generator. */
static const wick_step passes_loop[] = {{"lower", NULL}, {"nested", NULL}, {NULL, NULL}};

static const wick_step passes_kernels[] = {{"graph", NULL}, {"low", NULL}, {NULL, NULL}};

static const wick_step passes_default[] = {{"kernels", NULL}, {"loop", NULL}, {NULL, NULL}};

/* For a specialization, whose sizes are known: removes what has become dead. */
static const wick_step passes_specialize[] = {{"dead_store", NULL},
                                              {"insert_frees", NULL},
                                              {"plan_memory", NULL},
                                              {"loop", NULL},
                                              {NULL, NULL}};

const wick_named_pipeline wick_pipelines[] = {
    {"default", passes_default, "From an imported model to loop functions."},
    {"graph", passes_graph,
     "Passes on tensors: from an imported model to a graph whose nodes have stages and whose "
     "tensors have their layouts."},
    {"kernels", passes_kernels, "From an imported model to kernels and a memory plan."},
    {"low", passes_low, "From a graph to kernels on buffers of a planned arena."},
    {"loop", passes_loop, "From kernels to loop functions that the code generator takes."},
    {"nested", passes_nested, "Passes on loop functions."},
    {"specialize", passes_specialize,
     "A low function for all sizes whose sizes are known now: drops what has become dead, plans "
     "memory, and builds loop functions."},
    {NULL, NULL, NULL},
};

const wick_named_pipeline *wick_pipeline_find(const char *name)
{
  for (const wick_named_pipeline *p = wick_pipelines; p->name; p++)
    if (strcmp(p->name, name) == 0) return p;
  return NULL;
}
