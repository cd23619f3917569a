/* Where function values flow, by unification: places between which a function value can move are
 * one class. Used by defunctionalize. */
#ifndef WICK_GRAPH_FUNCTION_FLOW_H
#define WICK_GRAPH_FUNCTION_FLOW_H

#include "ir/ir.h"

/* A place holds values of a type that is, or contains, a function: a value of a function, a field
 * of a constructor, a part of another place. Part k is item k of the type: of a function value its
 * parameters, then its results. */
typedef struct wick_flow_place {
  uint32_t parent; /* towards the representative of its class; itself for that one */
  wick_type type;
  uint32_t
      first; /* its parts are places first, first + 1, ..., as many as its type has items; those
                     that need no place are 0 in `part` */
  uint32_t member; /* of representatives: the first closure that flows here; 0: none */
  uint32_t data;   /* for the user: number of the class's data type */
  bool later;      /* of representatives: a transformation that is not expanded yet gives some */
} wick_flow_place;

typedef struct wick_flow_member {
  const wick_func *f, *callee; /* of the closure; the function */
  const wick_node *closure;
  uint32_t next;
} wick_flow_member;

typedef struct wick_function_flow {
  wick_module *m;
  wick_arena *mem;
  wick_list(wick_flow_place) places;   /* at[0] is unused */
  wick_list(uint32_t) parts;           /* places of parts */
  wick_list(wick_flow_member) members; /* at[0] is unused */
  uint32_t **value;   /* per function of the module, per value: its place; 0: none */
  uint32_t ***field;  /* per data type, constructor, field */
  wick_status failed; /* the first function value that cannot be followed */
} wick_function_flow;

/* Analyses all graphs of the module. Returns NULL if they contain no function values. */
wick_function_flow *wick_functions_follow(wick_module *m, wick_arena *mem);
/* Returns the representative of the place's class. */
uint32_t wick_flow_class(wick_function_flow *s, uint32_t place);
/* Returns part k of a place. */
static inline uint32_t wick_flow_part(const wick_function_flow *s, uint32_t place, uint32_t k)
{
  return place ? s->parts.at[s->places.at[place].first + k] : 0;
}

#endif
