/* Calls: the functions that are called, effects, recursion, and inlining. */
#ifndef WICK_IR_CALL_H
#define WICK_IR_CALL_H

#include "ir/build.h"

/* Returns the graph that n calls; NULL if n is no call, or if the graph does not exist. */
const wick_func *wick_callee(const wick_module *m, const wick_node *n);

/* Returns the name of function k, from 0, of those that n names (a call, a closure, ...), as it is
 * interned in the module; NULL: there are fewer. Launches of kernels do not count. */
const char *wick_named_func(const wick_node *n, uint32_t k);
/* The same for the functions that n runs: the one that it calls, or those that it transforms. */
const char *wick_func_run(const wick_node *n, uint32_t k);
bool wick_node_names(const wick_node *n, const wick_func *f);
/* Fills `acts` and `callee` of a function that is built. */
void wick_func_note_callees(wick_func *f, wick_arena *mem);

/* Which functions of a module have effects: those that reach an operator of WICK_EFFECT, or a call
 * of a function that is not defined (yet). Stale once a function is replaced by one that has more
 * effects, which no pass does. Time: linear in the functions of the module and their callees. */
typedef struct wick_effects {
  const wick_module *module;
  const bool *acts; /* by index in the module's functions */
} wick_effects;
wick_effects wick_effects_of(const wick_module *m, wick_arena *mem);
/* Returns whether n has an effect, by itself or by the function that it calls, but for its regions:
 * it must not be dropped, repeated, moved into or out of regions, or change places with other nodes
 * that have effects. */
bool wick_node_acts(const wick_effects *e, const wick_node *n);
/* The same for any of the nodes begin .. end-1, with those in regions. */
bool wick_nodes_act(const wick_effects *e, const wick_func *f, uint32_t begin, uint32_t end);

/* Returns whether nothing runs after node i of f but the ends of regions around it, which pass its
 * results on. */
bool wick_is_last(const wick_func *f, uint32_t i);

/* Returns whether f names itself (a call, or a closure), directly or through others. */
bool wick_func_recurs(const wick_func *f, wick_arena *tmp);
/* The name of the function of a module that a program runs. */
extern const char wick_entry_name[];
bool wick_func_is_entry(const wick_func *f); /* false for NULL */
/* Returns whether a function of f's module, perhaps f itself, names f. */
bool wick_func_is_called(const wick_func *f);
/* Returns whether f or a function that it calls, directly or through others, has a property,
 * contains `fail`, calls itself, or needs the heap of objects. Functions that do not exist are left
 * out. */
bool wick_func_reaches(const wick_func *f, bool (*has)(const wick_func *), wick_arena *tmp);
bool wick_func_reaches_fail(const wick_func *f, wick_arena *tmp);
/* Returns whether a function below the graph level prints or asserts. */
bool wick_module_says(const wick_module *m);
/* Returns whether a kernel or call of a low function prints or asserts; whether it does that or may
 * fail. */
bool wick_kernel_says(const wick_func *f, const wick_node *n, wick_arena *tmp);
bool wick_kernel_fails(const wick_func *f, const wick_node *n, wick_arena *tmp);
bool wick_func_reaches_recursion(const wick_func *f, wick_arena *tmp);
bool wick_func_reaches_heap(const wick_func *f, wick_arena *tmp);

/* A loop function that other loop functions call, and that no entry launches. It takes scalars and
 * buffers, and returns scalars; buffers that it writes are parameters. */
static inline bool wick_func_is_procedure(const wick_func *f)
{
  return f->level == WICK_LOOP && f->procedure;
}

/* Returns whether calls of g by f, on the way from f to f, can be inlined in f: without f, g does
 * not call itself. */
bool wick_func_recurs_through(const wick_func *f, const wick_func *g, wick_arena *tmp);

/* Replaces f by `now` in the module, and removes the functions that f named, directly or through
 * others, and that nobody names any more. The entry, main, stays. */
void wick_func_drop(const wick_func *f, const wick_func *now, wick_arena *tmp);

/* Removes the graphs that the entry does not name, directly or through others; without a function of
 * that name, none. */
void wick_module_keep_reached(wick_module *m, const char *entry, wick_arena *tmp);

/* Returns whether f, a graph, is called more than once and too large to be inlined: its calls would
 * become at least 200 nodes more. Such a function has 100 nodes or more, with those that it calls,
 * on numbers and objects alone. */
bool wick_func_is_large(const wick_func *f, wick_arena *tmp);

/* Returns whether inlining leaves calls of f, a graph: f is recursive or large, or computes a loop
 * of scalars, which is faster as code of its own. */
bool wick_func_stays(const wick_func *f, wick_arena *tmp);

/* Builds the nodes of the graph f, which n calls, on the operands `in`, and stores its results in
 * `out`. Calls inside it stay calls. Its shape constraints become b's. */
void wick_build_body(wick_builder *b, const wick_func *f, const wick_node *n, const wick_value *in,
                     wick_value *out);
/* The same for the callee of n. Fails if it calls itself, directly or through others. */
void wick_build_inlined_call(wick_builder *b, const wick_node *n, const wick_value *in,
                             wick_value *out);

#endif
