/* A network of Caffe: layers that read blobs (bottoms) and write blobs (tops) by name. Source of the
 * schema: src/caffe/proto/caffe.proto of BVLC's Caffe; the forks' own layers have the fields of
 * their forks. */
#ifndef WICK_IMPORT_CAFFE_NET_H
#define WICK_IMPORT_CAFFE_NET_H

#include "import/kit/import.h"
#include "import/wire_text.h"

typedef struct caffe_shape {
  uint64_t has;
  wick_wire_i64s dim;
} caffe_shape;

/* Weights. Old files have four sizes instead of a shape. */
typedef struct caffe_blob {
  uint64_t has;
  int64_t num, channels, height, width;
  caffe_shape *shape;
  wick_wire_spans data, double_data; /* f32 and f64, packed */
  int64_t raw_data_type;             /* caffe_raw */
  wick_span raw_data;
} caffe_blob;
typedef enum caffe_raw { CAFFE_RAW_F64, CAFFE_RAW_F32, CAFFE_RAW_F16 } caffe_raw;

typedef WICK_WIRE_LIST(caffe_blob) caffe_blobs;

/* When a layer is part of the network. */
typedef struct caffe_rule {
  uint64_t has;
  int64_t phase, min_level, max_level;
  wick_wire_spans stage, not_stage;
} caffe_rule;
typedef WICK_WIRE_LIST(caffe_rule) caffe_rules;

/* A layer of any version, as a LayerParameter of today. */
typedef struct caffe_layer {
  const char *name, *type;
  uint32_t nbottom, ntop;
  const char *const *bottom, *const *top;
  caffe_blobs blobs; /* of the file with the weights, if there is one */
  caffe_rules include, exclude;
  const wick_wire_message *message; /* of its parameters; NULL: it has none */
  wick_span param, transform;       /* the messages */
} caffe_layer;

typedef struct caffe_net {
  wick_wire_spans input;
  wick_wire_i64s input_dim;
  WICK_WIRE_LIST(caffe_shape) input_shape;
  int64_t level;
  wick_wire_spans stage;
  uint32_t nlayer;
  caffe_layer *layer;
} caffe_net;

typedef struct caffe_model {
  caffe_net net;
  const char *weights; /* the file's name; NULL: there is none */
  const char *tie[2];  /* two companions that fit equally well; NULL: there are none */
} caffe_model;

/* ---- schema.c ---- */

/* A layer's type, and where the message of its parameters is in a LayerParameter. */
typedef struct caffe_type {
  const char *name;
  const char *param; /* the field's name; NULL: it has no parameters */
  uint32_t old;      /* V1LayerParameter.LayerType; 0: it is newer */
  const char *v0;    /* V0LayerParameter.type; NULL: it is newer */
} caffe_type;
extern const caffe_type wick_caffe_types[]; /* a row without a name ends it */

/* The messages in text form, and the names of enumerators. */
extern const wick_wire_message wick_caffe_text;
extern const wick_wire_word wick_caffe_words[];
bool wick_caffe_skips(const wick_wire_message *message, wick_span field);
/* The messages that are read as structs. */
extern const wick_wire_message wick_caffe_layer_text, wick_caffe_layer_v1_text,
    wick_caffe_layer_v0_text, wick_caffe_blob_message, wick_caffe_rule_message,
    wick_caffe_shape_message;

/* ---- read.c ---- */

/* Reads the file and its companion into c->model. */
wick_status wick_caffe_open(wick_import *c, wick_span bytes);

/* ---- attr.c ---- */

/* Finds a field of a layer's parameters; "shape.dim" is a field of a message in them. */
wick_import_attr wick_caffe_attr(const wick_import_node *n, const char *name, char kind);
/* Finds a field of a message. */
wick_import_attr wick_caffe_field(wick_arena *mem, const wick_wire_message *message,
                                  wick_span bytes, const char *name, char kind);
/* Returns all occurrences of a field of that number that has a length. */
wick_wire_spans wick_caffe_parts(wick_arena *mem, wick_span bytes, uint32_t number);

/* ---- net.c ---- */

extern const wick_import_format wick_caffe_format;
extern const wick_import_op wick_caffe_ops[]; /* sorted by name (table.c) */

#endif
