/* A model of Core ML: the message Model, in a file or in a package, and its interface.
 * Source: the documentation of mlmodel/format in coremltools 9. */
#ifndef WICK_IMPORT_COREML_MODEL_H
#define WICK_IMPORT_COREML_MODEL_H

#include "import/coreml/message.h"
#include "import/kit/import.h"
#include "import/wire.h"

typedef struct wick_coreml_model {
  wick_coreml_message spec;      /* Model */
  wick_coreml_message interface; /* ModelDescription, or FunctionDescription: both have the fields
                                    input, output, state, and those of the prediction */
  const char *function;          /* of a program */
  const char *folder;            /* that has the file of the model; "" for bytes in memory */
  int64_t version;               /* specificationVersion */
  bool network;                  /* a neural network: its arrays of doubles are f32 */
  bool classic;                  /* one whose arrays are mapped to five dimensions */
  uint32_t depth;                /* of pipelines around it */
  const struct wick_coreml_layer *loop; /* of networks: whose body is imported; NULL: none */
} wick_coreml_model;

/* A feature as Wick has it: the element type and shape of its tensor. */
typedef struct wick_coreml_feature {
  const char *name;
  wick_coreml_message type; /* FeatureType */
  const char *kind;         /* "multiArrayType"; "" if the type is absent */
  wick_elem elem;
  bool open;     /* no shape is declared */
  bool optional; /* the model has a default for it */
  uint32_t rank;
  int64_t lo[WICK_MAX_RANK], hi[WICK_MAX_RANK]; /* the sizes, both included */
} wick_coreml_feature;

/* Reads a FeatureDescription. Returns false after it added a problem at `location`. */
bool wick_coreml_feature_of(wick_import *c, const wick_coreml_message *description,
                            const char *location, wick_coreml_feature *out);

/* Maps a file of the package by its name in a program, "@model_path/weights/weight.bin". Returns
 * false after it added a problem at `location`. */
bool wick_coreml_file(wick_import *c, const wick_coreml_model *m, const char *name,
                      const char *location, wick_span *out);

/* A picture [1, 3, height, width] with the colours in the opposite order. */
wick_value wick_coreml_turned(wick_import *c, wick_value x);

/* Imports a model, whose inputs are bound in c->scope by their names: binds its outputs there. */
void wick_coreml_import(wick_import *c, const wick_coreml_model *m);
/* Leaves the scope of a model or network for the scope `to`, where its outputs are bound, too. */
void wick_coreml_leave(wick_import *c, wick_import_scope *to, wick_coreml_messages outputs);

extern const wick_import_format wick_coreml_format;

#endif
