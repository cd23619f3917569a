/* A network of Caffe2: a NetDef whose operators read blobs by name, and the network that fills its
 * weights. Source of the schema: caffe2/proto/caffe2.proto of PyTorch 1.0. */
#ifndef WICK_IMPORT_CAFFE2_NET_H
#define WICK_IMPORT_CAFFE2_NET_H

#include "import/kit/import.h"
#include "import/wire.h"

typedef struct caffe2_arg {
  uint64_t has;
  wick_span name, s;
  float f;
  int64_t i;
  wick_wire_f32s floats;
  wick_wire_i64s ints;
  wick_wire_spans strings;
} caffe2_arg;

typedef struct caffe2_op {
  uint64_t has;
  wick_wire_spans input, output;
  wick_span name, type;
  struct {
    caffe2_arg *at;
    size_t n;
  } arg;
} caffe2_op;

typedef struct caffe2_net {
  uint64_t has;
  wick_span name;
  struct {
    caffe2_op *at;
    size_t n;
  } op;
  wick_wire_spans external_input, external_output;
} caffe2_net;

/* The network that predicts, and the one with its weights; NULL: there is none. */
typedef struct caffe2_model {
  const caffe2_net *predict, *init;
} caffe2_model;

/* The operators, sorted by name (table.c). */
extern const wick_import_op wick_caffe2_ops[];
extern const wick_import_format wick_caffe2_format;

/* Finds an argument of an operator. Numbers are integers or floats as they are asked for. */
wick_import_attr wick_caffe2_attr(const wick_import_node *n, const char *name, char kind);

#endif
