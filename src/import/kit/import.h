/* The kit that importers share (all but ONNX's, which is older and uses parts of it).
 *
 * An importer fills in a wick_import_format: its name, the table of its operators, a function that
 * reads the file and one that builds the graph. wick_import_with does the rest: it tries again with
 * contents of inputs that turn out to be needed, falls back to the interface alone if sizes must be
 * given first, and reports all problems at once, each with the user's place:
 *     net.tflite: node "conv" (CONV_2D): the input's rank is 3, expected 4
 *
 * What a new importer does:
 *   1. src/import/NAME/NAME.c: `open` reads the file (through bounded readers alone) into a struct of
 *      its own, c->model; `graph` declares inputs and outputs, then imports nodes in order.
 *   2. Each operator is a wick_import_op of a table that is sorted by name; its function gets a
 *      wick_import_node and sets n->out[]. Misfits are wick_import_fail, or the builder's first
 *      failure; both end the node, and the import goes on.
 *   3. A row of import/format.c gets the importer's wick_import_read. */
#ifndef WICK_IMPORT_KIT_IMPORT_H
#define WICK_IMPORT_KIT_IMPORT_H

#include "import/kit/emit.h"
#include "import/kit/known.h"
#include "import/kit/options.h"
#include "import/kit/symbols.h"

typedef struct wick_import wick_import;
typedef struct wick_import_node wick_import_node;

/* ---- the tables ---- */

/* An operator of a format, from version `since` on, until the next row of the same operator. */
typedef struct wick_import_op {
  const char *name;
  int since;      /* 1 for formats without versions */
  uint8_t nin[2]; /* least, most; WICK_ANY: no limit */
  uint8_t nout;   /* most; WICK_ANY: no limit */
  const char
      *attrs; /* "axis:i pads:I! mode:s": names, the kinds' letters (i f s b, lists I F S), and
                        ! if the attribute is required; NULL: the function reads them itself */
  void (*import)(wick_import_node *n); /* sets n->out; NULL: it is refused, and `why` says so */
  wick_opcode op;                      /* for functions that several operators share */
  int arg;           /* for such functions, too; the function defines its meaning */
  const char *types; /* element types, for docs/formats.md */
  const char *why;   /* of an operator that is refused: the reason and the advice */
} wick_import_op;

/* An attribute as a format's reader finds it. */
typedef struct wick_import_attr {
  char kind; /* i f s b I F S; o: something else; 0: absent */
  int64_t i; /* of i and b */
  double f;
  wick_span s;
  uint32_t n; /* of I, F, S */
  const int64_t *ints;
  const double *floats;
  const wick_span *texts;
} wick_import_attr;

typedef struct wick_import_format {
  const char *name;         /* "TensorFlow Lite" */
  const char *version_word; /* what a version of an operator is called: "version" */
  size_t nfamily; /* tables of operators, each sorted by name and version; a row without a name
                     ends it */
  const wick_import_op *const *families;
  /* Reads the file into c->model. Problems are returned (all at once if there are several). */
  wick_status (*open)(wick_import *c, wick_span bytes);
  /* Declares inputs and outputs (wick_import_input, wick_import_declare). Then, unless c->interface,
   * imports the nodes, and gives each output its value (wick_import_output). */
  void (*graph)(wick_import *c);
  /* Finds an attribute. `kind` is the kind that is asked for, for formats whose attributes are all
   * text. NULL for formats without named attributes. */
  wick_import_attr (*attr)(const wick_import_node *n, const char *name, char kind);
} wick_import_format;

/* Imports a model of that format; the other arguments are those of wick_import_read. */
WICK_CHECKED wick_status wick_import_with(const wick_import_format *format, wick_module *m,
                                          wick_span bytes, const char *path,
                                          const wick_import_options *options, wick_arena *mem,
                                          wick_arena *tmp, const wick_func **out);

/* Finds the row of an operator at that version: the last one that is not younger, or the first one
 * if all are. NULL: no table has such an operator. */
const wick_import_op *wick_import_op_find(const wick_import_format *format, const char *name,
                                          int version);

/* ---- the import ---- */

/* Names that are bound to values: of a graph, or of a function's body. */
typedef struct wick_import_scope wick_import_scope;
struct wick_import_scope {
  wick_names names;
  wick_list(wick_value) bound; /* by name; 0: its node failed, which was reported */
  wick_import_scope *around;   /* whose names are visible, too; NULL: none */
};

typedef struct wick_import_out { /* an output of the model */
  const char *name;
  wick_type type; /* as declared; id 0: not declared */
  wick_value v;
} wick_import_out;

/* A result whose size depends on data. Its type has the upper bound along `axis`; the first `count`
 * elements along it are valid. Operators that follow keep that form (bounded.c). After such an output of
 * the model NAME.size.AXIS, the count, is one more output. */
typedef struct wick_import_sized {
  wick_value v;
  uint32_t axis;
  wick_value count; /* i64[] */
} wick_import_sized;

typedef struct wick_import_stateful { /* a state of sessions (state.c) */
  wick_value first;                   /* what it is when a run begins: a parameter */
  wick_value last, initial;           /* when the run ends, and before the first run; 0: zeros */
  const char *name;
} wick_import_stateful;

typedef struct wick_import_found { /* a state that an earlier try has found */
  const char *name;
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];
} wick_import_found;
typedef wick_list(wick_import_found) wick_import_founds;

typedef struct wick_import_given { /* an input whose contents are given and needed */
  wick_value input;
  const wick_import_content *content;
  wick_type type;
  const char *location;
} wick_import_given;

typedef struct wick_import_twin { /* a value, and the equal one with the channels second (nhwc.c) */
  wick_value of, twin;            /* twin is 0 if there is none */
} wick_import_twin;

struct wick_import {
  const wick_import_format *format;
  wick_module *module;
  wick_builder b;
  wick_arena *mem, *tmp; /* tmp lives through the import; mem as long as the function */
  const wick_import_options *options; /* never NULL */
  const char *path, *file;            /* file: the path's base name, which begins locations */
  void *model;                        /* what `open` read */
  bool interface;                     /* only inputs and declared outputs are wanted */
  wick_errors errors;
  wick_import_remarks remarks;
  wick_symbols symbols;
  wick_import_scope *scope;
  wick_list(wick_import_out) outs;
  wick_list(wick_import_sized) bounded;
  wick_list(wick_import_given) contents;
  wick_list(wick_import_stateful) states;
  wick_import_founds *found; /* lives through all tries */
  wick_list(wick_import_twin) twin;
  uint64_t nodes_left;
  bool over;            /* a limit was reached, which was reported */
  uint32_t misfits;     /* errors that may depend on sizes */
  uint32_t unknown;     /* errors that contents of inputs would avoid */
  uint32_t sizes;       /* errors that a number for a symbol would avoid */
  bool *wanted;         /* by parameter: its contents must be known */
  uint32_t depth;       /* of functions and bodies */
  const char *outer;    /* the location of the call whose body is imported; NULL: none */
  const char *unlisted; /* the location of the first input whose shape must be given; NULL: none */
};

/* Adds a problem at that location: "net.tflite: input \"x\"". */
void wick_import_error(wick_import *c, wick_code code, const char *location, const char *fmt, ...)
    WICK_PRINTF(4, 5);
/* Adds a failure that has a location already, of that node or of none (NULL). */
void wick_import_add(wick_import *c, const wick_import_node *n, wick_status s,
                     const char *location);
/* Adds a remark about the model that does not prevent its import; equal remarks are added once. */
void wick_import_remark(wick_import *c, const char *location, const char *fmt, ...)
    WICK_PRINTF(3, 4);
/* Returns a name for messages: printable, and not too long. */
const char *wick_import_shown(const wick_import *c, const char *name);
/* Adds a text about the model that `wick run`, `check` and Python show. Both are copied. */
void wick_import_metadata(wick_import *c, const char *key, const char *value);

/* Returns the path of the file in the folder of the model's file that fits best, or NULL. `fit` gives a
 * name a number, 0 if it does not fit; it must not allocate. Of names that fit equally the last one in
 * order is taken, and *tie, which may be NULL, is the one before it, or NULL. */
const char *wick_import_beside(wick_import *c, int (*fit)(const void *arg, const char *name),
                               const void *arg, const char **tie);

/* Builds a parameter of the function. `dim` may hold symbols (wick_import_size). Returns 0 after an
 * error. All inputs are declared before the first node or constant. */
wick_value wick_import_input(wick_import *c, const char *name, wick_elem elem, uint32_t rank,
                             const wick_dim *dim);
/* The same for an input whose shape the model does not declare: it has the shape that the caller gave,
 * where -1 is a symbol. Without one c->unlisted is set, and no node must be imported. */
wick_value wick_import_input_open(wick_import *c, const char *name, wick_elem elem);
/* The type of tensors of unknown rank, for wick_import_declare. */
wick_type wick_import_open_type(wick_import *c, wick_elem elem);
/* Returns what uses of an input read, after all inputs are declared: the parameter, or a constant if
 * the import turned out to need its contents and the caller gave them. */
wick_value wick_import_input_value(wick_import *c, wick_value input);
/* Returns the symbol for a size that the model leaves open: by its name in the model, or "" for a
 * new symbol INPUT.AXIS. */
wick_dim wick_import_size(wick_import *c, const char *name, const char *input, uint32_t axis);
/* Declares the next output, before any node; `type.id` is 0 if the model declares no type. */
void wick_import_declare(wick_import *c, const char *name, wick_type type);
/* Gives the declared output of that index its value. 0: its node failed, which was reported. */
void wick_import_output(wick_import *c, uint32_t index, wick_value v);
/* Records that only the first `count` elements of v along the axis are valid. Returns v, or exactly
 * those elements if the count is known. */
wick_value wick_import_bounded(wick_import *c, wick_value v, uint32_t axis, wick_value count);
const wick_import_sized *wick_import_bounded_find(const wick_import *c, wick_value v);

/* Declares a state: a variable that sessions keep from run to run. Returns what it is when a run
 * begins, or 0 after an error. Like inputs, states are declared before the first node or constant.
 * Reads and assignments in between are the importer's: it knows which value a variable has at which
 * place, and says at the end which one it has then. A state that is never set stays as it is. If two
 * states have one name, the second becomes NAME.2. */
wick_value wick_import_state(wick_import *c, const char *name, wick_elem elem, uint32_t rank,
                             const int64_t *dim);
/* Sets what the state is before the first run, and after a reset: a value that follows from
 * constants alone. Without it that is zeros. */
void wick_import_state_initial(wick_import *c, wick_value state, wick_value initial);
/* Sets what the state is when the run ends. The value has the state's type. */
void wick_import_state_set(wick_import *c, wick_value state, wick_value v);
/* For importers that find out only from the nodes which variables a run assigns: adds the variable to
 * c->found, with the type of the value that is assigned, and lets the import begin anew. Then the
 * importer declares what is in c->found. The name identifies the variable. */
void wick_import_state_find(wick_import *c, const char *name, wick_value like);
/* The kit's: adds the states to the function's n results in `out`. Returns how many there are then. */
uint32_t wick_import_states_return(wick_import *c, uint32_t n, wick_value *out);

/* Builds a constant whose elements are in the file (not copied where the alignment allows it). Adds
 * an error and returns 0 if the number of bytes does not fit. `location` is for that error. */
wick_value wick_import_weight(wick_import *c, const char *name, wick_elem elem, uint32_t rank,
                              const int64_t *dim, wick_span data, const char *location);
/* Builds a constant of data that are copied. */
wick_value wick_import_copied(wick_import *c, const char *name, wick_elem elem, uint32_t rank,
                              const int64_t *dim, const void *data, uint64_t nbytes);

/* Scopes. Enter: makes a new scope current, whose outer names are visible if `open`; returns
 * the one before, which c->scope is set back to. Bind: false if the name is taken. Find: NULL if it is
 * not bound. */
wick_import_scope *wick_import_enter(wick_import *c, bool open);
bool wick_import_bind(wick_import *c, const char *name, wick_value v);
/* Binds a name in the current scope, for formats in which a later node may write a name again. */
void wick_import_rebind(wick_import *c, const char *name, wick_value v);
const wick_value *wick_import_find(const wick_import *c, const char *name);

/* ---- the node that is being imported ---- */

struct wick_import_node {
  wick_import *c;
  wick_builder *b;
  const wick_import_op *row;
  const void *data;     /* the format's own node */
  const char *name;     /* "conv" */
  const char *location; /* net.tflite: node "conv" (CONV_2D) */
  int version;
  uint32_t nin, nout;
  const wick_value *in; /* 0: an optional operand is missing; may be read up to the row's most */
  wick_value *out;      /* nout of them; set by row->import */
  bool failed;
};

/* Imports one node: finds its row, checks counts and attributes, and runs the row's function. Sets
 * out[nout], which are 0 after an error (reported) or if an operand is 0 because of one; `broken`
 * says the latter. Returns false after an error; else a result that is 0 is one that Wick does not
 * compute. Results are named by the caller (wick_import_name). */
bool wick_import_run(wick_import *c, const char *op, int version, const char *name,
                     const void *data, uint32_t nin, const wick_value *in, bool broken,
                     uint32_t nout, wick_value *out);
/* Gives a value, which a node built, its name in the model. */
void wick_import_name(wick_import *c, wick_value v, const char *name);
/* net.tflite: node "conv" (CONV_2D) */
const char *wick_import_place(const wick_import *c, const char *name, const char *op);

/* Adds an error of this node. */
void wick_import_fail(wick_import_node *n, wick_code code, const char *fmt, ...) WICK_PRINTF(3, 4);

/* Attributes, by the format's reader. Their kinds were checked against the row. */
wick_import_attr wick_import_attr_of(const wick_import_node *n, const char *name, char kind);
bool wick_import_attr_has(const wick_import_node *n, const char *name);
int64_t wick_import_int(const wick_import_node *n, const char *name, int64_t otherwise);
double wick_import_real(const wick_import_node *n, const char *name, double otherwise);
const char *wick_import_text(const wick_import_node *n, const char *name, const char *otherwise);
/* .n is 0 if it is absent */
wick_import_attr wick_import_ints(const wick_import_node *n, const char *name);
/* Returns the index of a text attribute in `words` ("SAME VALID"), 0 if it is absent; adds a failure
 * and returns 0 if it is none of them. */
int wick_import_word(wick_import_node *n, const char *name, const char *words);

/* Operands. */
const wick_type_info *wick_import_info(const wick_import_node *n, uint32_t i); /* must be present */
bool wick_import_has(const wick_import_node *n, uint32_t i);
/* Requires a rank; false after a failure. */
bool wick_import_rank(wick_import_node *n, uint32_t i, uint32_t least, uint32_t most);
/* Makes an axis non-negative: 0 to rank - 1. Returns false after it added a failure. */
bool wick_import_axis(wick_import_node *n, int64_t axis, int64_t rank, uint32_t *out);
/* Returns the elements of an integer operand, in order, as far as inference knows them: as
 * dimension expressions, or as numbers. Returns false after it added "must be known"; `what` names
 * the operand in it. */
bool wick_import_dims(wick_import_node *n, uint32_t i, const char *what, uint32_t *out_n,
                      const wick_dim **out);
bool wick_import_numbers(wick_import_node *n, uint32_t i, const char *what, uint32_t *out_n,
                         const int64_t **out);
/* Reads an integer operand that has one element; `otherwise` if the operand is absent. */
bool wick_import_one(wick_import_node *n, uint32_t i, const char *what, int64_t otherwise,
                     int64_t *out);
/* Reads a known operand of floats or integers, of any rank, in order. */
bool wick_import_reals(wick_import_node *n, uint32_t i, const char *what, uint32_t *out_n,
                       const double **out);
/* Adds "`what` must be known when the model is compiled", and marks the inputs on whose contents it
 * depends. Returns false. */
bool wick_import_unknown(wick_import_node *n, wick_value v, const char *what);
bool wick_import_must_be_known(wick_import_node *n, const char *what, wick_dim d);
/* A known integer or bool of one element. Adds nothing if it is not known. */
bool wick_import_known_int(wick_import *c, wick_value v, int64_t *out);
/* Requires that two sizes are equal: adds a shape constraint if that is not certain, and returns
 * false if it is impossible. */
bool wick_import_equal(wick_import_node *n, wick_dim a, wick_dim b);

/* ---- control flow (flow.c) ---- */

/* Imports a body in place, or in a region: gets the values of its inputs, sets those of its outputs.
 * Returns false after an error. */
typedef bool wick_import_body(wick_import_node *n, void *arg, uint32_t nin, const wick_value *in,
                              uint32_t nout, wick_value *out);

/* If: imports one branch in place of the node where the condition is known, else both as regions,
 * whose results must have equal types. Sets n->out. */
void wick_import_if(wick_import_node *n, wick_value cond, wick_import_body *yes, void *yes_arg,
                    wick_import_body *no, void *no_arg, uint32_t nin, const wick_value *in);
/* Which of several branches is executed: branch[index], the last one for an index outside. */
void wick_import_case(wick_import_node *n, wick_value index, uint32_t nbranch,
                      wick_import_body *branch, void *const *arg, uint32_t nin,
                      const wick_value *in);
/* While: `test` gives one bool from the carried values, `body` gives their next values. Loops whose
 * condition is known at each step are unrolled if they are short, or if the types of the carried
 * values change. Sets n->out to the last values. */
void wick_import_while(wick_import_node *n, wick_import_body *test, void *test_arg,
                       wick_import_body *body, void *body_arg, uint32_t ncarried,
                       const wick_value *carried);

#endif
