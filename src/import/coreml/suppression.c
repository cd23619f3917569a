/* The model that suppresses boxes: the layer of that name, on one image. */
#include <string.h>

#include "import/coreml/classic.h"
#include "import/coreml/layers.h"

enum { SUPPRESSION_BYTES = 32 };

static unsigned char *suppression_float(unsigned char *at, unsigned number, double v)
{
  float f = (float)v;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  *at++ = (unsigned char)(number << 3 | 5);
  for (uint32_t k = 0; k < 4; k++) *at++ = (unsigned char)(bits >> 8 * k);
  return at;
}

static unsigned char *suppression_int(unsigned char *at, unsigned number, uint64_t v)
{
  *at++ = (unsigned char)(number << 3);
  for (; v > 127; v >>= 7) *at++ = (unsigned char)(v | 128);
  *at++ = (unsigned char)v;
  return at;
}

/* Finds a feature by the name in that field; a threshold that is given replaces the parameter. */
static wick_value suppression_input(wick_import *c, const wick_coreml_message *part,
                                    const char *field)
{
  const char *name = wick_wire_text(c->tmp, wick_coreml_bytes(part, field));
  const wick_value *v = wick_import_find(c, name);
  return v ? *v : (wick_value){0};
}

static void suppression_result(wick_import *c, const wick_coreml_message *part, const char *field,
                               wick_value v, wick_value count)
{
  const char *name = wick_wire_text(c->tmp, wick_coreml_bytes(part, field));
  v = wick_emit_squeeze(&c->b, v, 0);
  if (c->b.status || !*name) return;
  wick_import_rebind(c, name, wick_import_bounded(c, v, 0, count));
}

/* Confidences [n, classes] and boxes [n, 4]: those that are left, in descending order. */
void wick_coreml_suppression(wick_import *c, const wick_coreml_model *m,
                             const wick_coreml_message *part)
{
  wick_builder *b = &c->b;
  unsigned char bytes[SUPPRESSION_BYTES], *at = bytes;
  wick_value in[4] = {suppression_input(c, part, "coordinatesInputFeatureName"),
                      suppression_input(c, part, "confidenceInputFeatureName"),
                      suppression_input(c, part, "iouThresholdInputFeatureName"),
                      suppression_input(c, part, "confidenceThresholdInputFeatureName")},
             out[4];
  wick_coreml_message top = wick_coreml_part(part, "pickTop"), layers;
  (void)m;
  for (uint32_t k = 0; k < 2; k++) {
    if (!in[k].id || wick_built_info(b, in[k])->rank != 2) {
      wick_import_error(c, WICK_ETYPE, c->file, "the %s are no matrix",
                        k ? "confidences" : "coordinates");
      return;
    }
    in[k] = wick_emit_unsqueeze(b, in[k], 0);
  }
  wick_dim boxes = wick_built_info(b, in[0])->dim[1];
  if (!wick_dim_is_const(boxes)) {
    wick_import_error(c, WICK_EUNSUPPORTED, c->file, "the number of boxes must be known");
    return;
  }
  at = suppression_float(at, 1, wick_coreml_real(part, "iouThreshold", 0));
  at = suppression_float(at, 2, wick_coreml_real(part, "confidenceThreshold", 0));
  at = suppression_int(at, 3, (uint64_t)boxes.v);
  at = suppression_int(at, 4, wick_coreml_int(&top, "perClass", 0) != 0);
  wick_coreml_message model = {.type = wick_coreml_types(c->tmp)};
  const wick_coreml_field *network = wick_coreml_field_of(&model, "neuralNetwork");
  layers = (wick_coreml_message){.type = network->type};
  wick_coreml_message layer = {.type = wick_coreml_field_of(&layers, "layers")->type};
  const wick_coreml_field *f = wick_coreml_field_of(&layer, "NonMaximumSuppression");
  wick_coreml_layer l = {.name = "suppression",
                         .kind = "NonMaximumSuppression",
                         .params = {{bytes, (size_t)(at - bytes)}, f->type}};
  wick_import_run(c, l.kind, 1, l.name, &l, in[3].id ? 4 : in[2].id ? 3 : 2, in, false, 4, out);
  if (!out[0].id || b->status) return;
  wick_value count = wick_build_reshape(b, out[3], 0, NULL);
  suppression_result(c, part, "coordinatesOutputFeatureName", out[0], count);
  suppression_result(c, part, "confidenceOutputFeatureName", out[1], count);
}
