/* The syntax tree. All nodes have one form, so that walks over the tree are short: what the
 * children of a kind are is said at the kind. `?` marks a child that may be NULL. Every node keeps
 * its place in the source. */
#ifndef WICK_LANG_AST_H
#define WICK_LANG_AST_H

#include "ir/op.h"
#include "lang/source.h"

/* The depth of a tree is limited, so that functions may recurse with it. */
enum { WICK_LANG_DEPTH = 250 };

typedef enum wick_ast_kind {
  WICK_AST_ERROR,
  /* items */
  WICK_AST_FILE,       /* items */
  WICK_AST_USE,        /* name: the module; alias; children: IMPORT */
  WICK_AST_IMPORT,     /* name, alias */
  WICK_AST_TYPE,       /* name; LIST of parameters (NAME, SPREAD), LIST of CTOR */
  WICK_AST_CTOR,       /* name; types of the fields */
  WICK_AST_STRUCT,     /* name; LIST of parameters, LIST of FIELD_TYPE */
  WICK_AST_FIELD_TYPE, /* name; type */
  /* name (NULL: a literal), module and alias: the domain and the name of ONNX's operator that it is,
   * or NULL; LIST of PARAM, result type ?, BLOCK; LIST of both STRINGs and NAMED for such a one */
  WICK_AST_FN,
  WICK_AST_PARAM,      /* name, flag: static; type ? */
  WICK_AST_OP,         /* the same; LIST of PARAM, result type ?, LIST of DEFINE */
  WICK_AST_DEFINE,     /* name: the result; LIST of INDEX_NAME, expression */
  WICK_AST_INDEX_NAME, /* name; size ? */
  WICK_AST_LIST,
  /* types; sizes are expressions */
  WICK_AST_TYPE_NAME,  /* name, flag: has brackets; types, sizes, ANY_SIZE, SPREAD */
  WICK_AST_TYPE_TUPLE, /* types */
  WICK_AST_TYPE_FN,    /* LIST of types, type */
  WICK_AST_ANY_SIZE,   /* ? */
  WICK_AST_SPREAD,     /* ...name */
  /* patterns; INT, FLOAT, STRING and BOOL are patterns, too */
  WICK_AST_ANY,           /* _ */
  WICK_AST_BIND,          /* name */
  WICK_AST_PATTERN_TUPLE, /* patterns */
  WICK_AST_PATTERN_CTOR,  /* name; patterns or NAMED */
  /* expressions */
  WICK_AST_INT,     /* i; elem + 1 of its suffix, or 0 */
  WICK_AST_FLOAT,   /* f; the same */
  WICK_AST_STRING,  /* name: the contents */
  WICK_AST_BOOL,    /* i */
  WICK_AST_TENSOR,  /* tensor: a constant that no text of the language has */
  WICK_AST_NAME,    /* name, module; also constructors */
  WICK_AST_TUPLE,   /* items; () has none */
  WICK_AST_ARRAY,   /* items of a tensor */
  WICK_AST_CALL,    /* function, then arguments or NAMED */
  WICK_AST_NAMED,   /* name; expression or pattern */
  WICK_AST_BINARY,  /* op: a token; left, right */
  WICK_AST_UNARY,   /* op: - or !; operand */
  WICK_AST_INDEX,   /* tensor, then indices or SLICE */
  WICK_AST_SLICE,   /* begin ?, end ?, step ? */
  WICK_AST_FIELD,   /* name, or i: the number of a tuple's item; object */
  WICK_AST_WITH,    /* object, INDEX or FIELD whose object is NULL, value */
  WICK_AST_IF,      /* condition, BLOCK, else ? */
  WICK_AST_MATCH,   /* value, ARM...; flag: arms may be out of reach */
  WICK_AST_ARM,     /* pattern, expression */
  WICK_AST_BLOCK,   /* LET and expressions; the last expression is the value */
  WICK_AST_LET,     /* pattern, type ?, value */
  WICK_AST_FOR,     /* pattern, first, end, carried pattern ?, its first value ?, BLOCK */
  WICK_AST_WHILE,   /* condition, carried pattern ?, its first value ?, BLOCK */
  WICK_AST_ASCRIBE, /* expression, type */
  WICK_AST_REDUCE,  /* name: sum, prod, max, min; LIST of INDEX_NAME, expression; in OP only */
} wick_ast_kind;

struct wick_lang_entity;
typedef struct wick_ast wick_ast;
struct wick_ast {
  wick_ast_kind kind;
  uint16_t op, depth;
  bool flag;
  uint8_t elem;
  uint32_t nkid;
  wick_ast **kid;
  wick_lang_at at, name_at;          /* name_at: of the name, the operator or the literal alone */
  const char *name, *module, *alias; /* interned: equal names are equal pointers */
  int64_t i;
  double f;
  const wick_tensor *tensor;
  uint32_t id;                  /* counts the nodes of an item from 0; set by names.c, as `ref` */
  struct wick_lang_entity *ref; /* what the node names or declares (program.h); NULL: nothing */
};

#endif
