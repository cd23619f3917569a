/* The parser's state. parse_type.c reads dimensions, types and numbers, parse_attr.c attributes,
 * parse_node.c nodes and bodies, parse.c the module.
 *
 * A function here returns false after it has reported an error; its caller skips to a position from
 * which it can find more errors. Values of nodes that could not be built are known but not real:
 * nodes that use them are read, and not reported again. */
#ifndef WICK_IR_PARSE_H
#define WICK_IR_PARSE_H

#include "ir/build.h"
#include "ir/lex.h"

enum { WICK_PARSE_ERRORS = 20 };

/* The meaning of a name, in the function of number `func`. */
typedef struct wick_parse_name {
  uint32_t func;
  uint32_t value; /* of a value: its id, WICK_PARSE_UNREAL */
  wick_dim dim;   /* of a symbol */
} wick_parse_name;
#define WICK_PARSE_UNREAL UINT32_MAX

/* A type with the user's tensor after `as`. */
typedef struct wick_parse_typed {
  wick_type type;
  uint32_t name; /* in the module's names; 0: none */
  wick_relation relation;
} wick_parse_typed;

typedef struct wick_parse_param {
  wick_token token;
  wick_qualifier qual;
  wick_token initial; /* the constant of a state; not a global: there is none */
  wick_parse_typed is;
} wick_parse_param;

/* A node whose regions are being read. */
typedef struct wick_parse_open {
  wick_token op_token;
  const wick_op *op;
  uint32_t node;   /* in the builder */
  uint32_t result; /* first of its names in `results` */
  uint32_t nregion;
  uint32_t scope; /* names that were defined before this region */
} wick_parse_open;

typedef struct wick_parser {
  wick_module *m;
  wick_arena *tmp;
  const char *file;
  wick_lexer lex;
  wick_errors errors;
  bool stop;     /* enough problems were reported */
  uint32_t func; /* number of the current function, from 1 */
  wick_names symbols, values;
  wick_list(wick_parse_name) symbol; /* by number in `symbols` */
  wick_list(wick_parse_name) value;  /* by number in `values` */
  wick_list(wick_token) forward;     /* data types that were named before their definition */
  wick_list(uint32_t) scope;         /* names in `values`, in order of definition */

  wick_builder b;
  bool building; /* false: regions do not match, the rest is only read */
  bool ended;    /* the terminator of the current region was read */
  wick_list(wick_parse_open) open;
  wick_list(wick_token) results; /* names before `=`, for all open nodes */
  wick_list(wick_type) wanted;   /* results of the function */
  wick_list(wick_parse_param) params;

  /* for the node that is being read */
  wick_list(wick_value) operands;
  wick_list(wick_parse_typed) typed;
  wick_list(wick_type) types;
  wick_loc loc;
  wick_attr attr[WICK_MAX_ATTR];
  uint32_t attr_at[WICK_MAX_ATTR]; /* where a list begins in ints, floats, dims, axes */
  const char *imm[WICK_MAX_ATTR];  /* the text of a number whose type follows; NULL: none */
  wick_list(int64_t) ints;
  wick_list(double) floats;
  wick_list(wick_dim) dims;
  wick_list(wick_axis) axes;
  wick_list(wick_dim) parts; /* operands of the dimension that is being read */
} wick_parser;

static inline const wick_token *wick_parse_token(const wick_parser *p) { return &p->lex.token; }
static inline void wick_parse_next(wick_parser *p) { wick_lex_next(&p->lex); }
static inline bool wick_parse_is(const wick_parser *p, int punct)
{
  return wick_token_is(&p->lex.token, punct);
}

/* Reports at a token; returns false. */
bool wick_parse_fail(wick_parser *p, const wick_token *at, wick_code code, const char *fmt, ...)
    WICK_PRINTF(4, 5);
bool wick_parse_unexpected(wick_parser *p, const char *wanted); /* at the current token */
bool wick_parse_punct(wick_parser *p, int punct, const char *wanted);
/* skips it and returns true if it is the current token */
bool wick_parse_take(wick_parser *p, int punct);
bool wick_parse_string(wick_parser *p, const char **out);                         /* interned */
bool wick_parse_name_text(wick_parser *p, const wick_token *t, const char **out); /* in tmp */
bool wick_parse_int(wick_parser *p, int64_t *out);
/* wick_parse_text returns the number of a string; wick_parse_number the text of a number, "-0.5",
 * in tmp. */
wick_scalar wick_parse_text(wick_parser *p, const char *text); /* the string's number */
bool wick_parse_number(wick_parser *p, const char **out);
bool wick_parse_is_number(const wick_parser *p);

/* parse_type.c */
bool wick_parse_dim(wick_parser *p, wick_dim *out);
bool wick_parse_symbol_name(wick_parser *p, const char **out);
void wick_parse_bind(wick_parser *p, const char *name, wick_dim symbol);
bool wick_parse_type(wick_parser *p, wick_type *out);
bool wick_parse_data(wick_parser *p);         /* from `data` to its `}` */
void wick_parse_data_defined(wick_parser *p); /* reports a data type without a definition */
bool wick_parse_typed_one(wick_parser *p, wick_parse_typed *out); /* type [as] */

/* parse_attr.c: into p->attr and the lists; `op`'s specs. */
void wick_parse_attrs_begin(wick_parser *p, const wick_op *op);
bool wick_parse_positional(wick_parser *p, const wick_op *op);
bool wick_parse_attrs(wick_parser *p, const wick_op *op);
/* Resolves lists and immediates; `type` is the first result's, 0 where unknown. */
bool wick_parse_attrs_end(wick_parser *p, const wick_op *op, const wick_token *at, wick_type type);

/* parse_node.c: `constraint a = b` at the head of a body. */
void wick_parse_constraints(wick_parser *p);
/* Reads from after the function's `{` to its `}`. */
void wick_parse_body(wick_parser *p);
bool wick_parse_param_list(wick_parser *p, bool qualifiers); /* into p->params, with ( and ) */
void wick_parse_define(wick_parser *p, const wick_token *name, uint32_t value);

#endif
