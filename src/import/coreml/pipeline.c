/* Pipelines: models one after the other, which read what those before them wrote. */
#include "import/coreml/classic.h"

enum { PIPELINE_DEPTH = 16 };

static void pipeline_model(wick_import *c, const wick_coreml_model *m,
                           const wick_coreml_message *spec)
{
  wick_coreml_model sub = *m;
  void *outer = c->model;
  sub.spec = *spec;
  sub.interface = wick_coreml_part(spec, "description");
  sub.version = wick_coreml_int(spec, "specificationVersion", 1);
  sub.depth = m->depth + 1;
  sub.network = false;
  c->model = &sub;
  wick_import_scope *back = wick_import_enter(c, true);
  wick_coreml_import(c, &sub);
  wick_coreml_leave(c, back, wick_coreml_parts(&sub.interface, "output", c->tmp));
  c->model = outer;
}

/* A pipeline, or the message with one of a classifier or regressor. */
void wick_coreml_pipeline(wick_import *c, const wick_coreml_model *m,
                          const wick_coreml_message *part)
{
  wick_coreml_message inner = *part;
  if (wick_coreml_field_of(part, "pipeline")) inner = wick_coreml_part(part, "pipeline");
  wick_coreml_messages models = wick_coreml_parts(&inner, "models", c->tmp);
  if (m->depth >= PIPELINE_DEPTH) {
    wick_import_error(c, WICK_ELIMIT, c->file, "pipelines are nested more than %d deep",
                      PIPELINE_DEPTH);
    return;
  }
  for (uint32_t i = 0; i < models.n && !c->over; i++) pipeline_model(c, m, &models.at[i]);
}
