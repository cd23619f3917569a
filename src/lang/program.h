/* A program: the files that `use` reaches from the first one, and what their names mean.
 *
 * wick_lang_program_load reads and parses the files, and enters their items into tables.
 * wick_lang_resolve (names.c) then gives every name of the syntax tree its entity. */
#ifndef WICK_LANG_PROGRAM_H
#define WICK_LANG_PROGRAM_H

#include "ir/op.h"
#include "lang/parse.h"

typedef enum wick_entity_kind {
  WICK_ENTITY_LOCAL,    /* a parameter, or a name that a pattern binds */
  WICK_ENTITY_VARIABLE, /* a name in the types of an item: a size, an element type, a type, a shape */
  WICK_ENTITY_FN,
  WICK_ENTITY_INDEX_OP, /* an `op` in index notation */
  WICK_ENTITY_TYPE,
  WICK_ENTITY_STRUCT,
  WICK_ENTITY_CTOR, /* of a data type, or of a struct, which has its name */
  WICK_ENTITY_OPERATOR,
  WICK_ENTITY_FAMILY, /* functions by the types of the operands (family.h) */
  WICK_ENTITY_FORM,   /* a function that is known to the language: grad, print, ... */
  WICK_ENTITY_ELEM,   /* an element type, as a function that converts */
  WICK_ENTITY_MODULE
} wick_entity_kind;

/* The functions that the language itself knows. */
typedef enum wick_form {
  WICK_FORM_NONE,
  WICK_FORM_SQUARE,
  WICK_FORM_REF,
  WICK_FORM_READ,
  WICK_FORM_WRITE,
  WICK_FORM_PRINT,
  WICK_FORM_ASSERT,
  WICK_FORM_LEN,
  WICK_FORM_GRAD,
  WICK_FORM_VALUE_AND_GRAD,
  WICK_FORM_VJP,
  WICK_FORM_JVP,
  WICK_FORM_VMAP,
  WICK_FORM_CHECKPOINT,
  WICK_FORM_STOP_GRADIENT,
  WICK_FORM_WITH_VJP,
  WICK_FORM_SPECIALIZE,
  WICK_FORM_MAP_TENSORS,
  WICK_FORM_ZIP_TENSORS
} wick_form;

struct wick_scheme;
struct wick_typed;
struct wick_lang_family;

typedef struct wick_lang_entity wick_lang_entity;
struct wick_lang_entity {
  wick_entity_kind kind;
  wick_form form;
  const char *name;
  wick_ast *decl; /* the item, the constructor, the parameter or the pattern; NULL: none */
  wick_lang_at at;
  wick_lang_entity *parent; /* of a constructor: its type; of a variable: the item */
  uint32_t index;           /* of a constructor or a parameter; of a MODULE: its number */
  uint32_t nnode;           /* of an item: the nodes of its tree are numbered below this */
  wick_opcode op;
  wick_elem elem;
  const struct wick_lang_family *family;
  bool fixed;             /* a static parameter */
  wick_ast *value;        /* of a local that a `let` names: its expression; else NULL */
  bool inner;             /* a variable that no signature of an item declares */
  bool running;           /* the body of a function is being inferred */
  bool spread;            /* a variable for several sizes, ...s */
  bool assigned;          /* scratch of later steps */
  uint32_t number, level; /* of a local, in its item: for tables; of a fn: scratch */
  uint32_t nctor;         /* of a data type or a struct */
  wick_lang_entity **ctor;
  uint32_t nvariable; /* of an item: those that it declares, in order */
  wick_lang_entity **variable;
  struct wick_scheme *scheme; /* of functions and constructors (infer.h) */
  struct wick_typed *typed;   /* of an item */
  int state;                  /* of a variable: its wick_ty_sort, if it is assigned */
};

/* A map from interned names to entities. */
typedef struct wick_lang_map {
  const char **key;
  wick_lang_entity **value;
  uint32_t n, nslot;
} wick_lang_map;
wick_lang_entity *wick_lang_map_get(const wick_lang_map *m, const char *name);
/* Sets the entity of a name (NULL removes it) and returns the one before. */
wick_lang_entity *wick_lang_map_set(wick_lang_map *m, const char *name, wick_lang_entity *e,
                                    wick_arena *mem);

typedef struct wick_lang_module {
  const char *name, *path;
  const struct wick_lang_library *library; /* whose text it has; NULL: a file's */
  uint32_t source;
  wick_ast *file;
  wick_lang_map values, types; /* its items, imports and modules */
  wick_lang_map own_values, own_types;
  int state; /* 1: its `use` items are being followed */
} wick_lang_module;

typedef struct wick_lang_program wick_lang_program;

/* Reads files in another notation. */
typedef struct wick_lang_reader {
  bool (*reads)(const char *path, const char *text, uint32_t nbytes); /* whether a file is its */
  /* Returns the FILE of a source. Mistakes are reported. */
  wick_ast *(*parse)(wick_lang_program *p, uint32_t source);
} wick_lang_reader;

struct wick_lang_program {
  wick_arena *mem;
  wick_lang_sources sources;
  wick_names names;
  uint32_t nknown; /* texts of files that are not read again, NULL at the start */
  const wick_lang_source *known;
  wick_list(wick_lang_module *) modules; /* those that are used come before their users */
  wick_list(wick_lang_module *) loading;
  wick_lang_map elements, operators, forms; /* `op.` reads all operators; forms: the prelude, too */
  wick_list(wick_lang_entity *) fns;        /* FN and INDEX_OP, in the order of the files */
  wick_list(wick_lang_entity *) datas;      /* TYPE and STRUCT */
  const wick_lang_reader *reader;           /* of files that are not the language's; NULL: none */
  wick_lang_map members;                    /* of families, by their text (family.h) */
};

void wick_lang_program_begin(wick_lang_program *p, wick_arena *mem);
/* Reads a file and those that it uses; returns its module. Problems of the program are reported to
 * its sources. Fails if the first file cannot be read. */
WICK_CHECKED wick_status wick_lang_program_load(wick_lang_program *p, const char *path,
                                                wick_lang_module **out);
/* Adds the function `it` whose body is `text`; names are those of `module`, NULL: of the prelude. */
wick_lang_entity *wick_lang_program_expression(wick_lang_program *p, wick_lang_module *module,
                                               const char *text, uint32_t nbytes);
/* Adds a module whose text is given, `path` is its name in messages. */
wick_lang_module *wick_lang_program_text(wick_lang_program *p, const char *path, const char *text,
                                         uint32_t nbytes);
/* Gives names their entities, in all modules; in one. */
void wick_lang_resolve(wick_lang_program *p);
void wick_lang_resolve_module(wick_lang_program *p, wick_lang_module *m);

/* Returns the operator's entity for a name of the module `op`. */
wick_lang_entity *wick_lang_operator(wick_lang_program *p, const char *name);
/* Returns the name of the maps that is most like `name`; NULL if none is. */
const char *wick_lang_nearest(const char *name, uint32_t n, const wick_lang_map *const *map);

#endif
