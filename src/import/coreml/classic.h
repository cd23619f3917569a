/* Models other than networks and programs: trees, linear models, vector machines, and the steps that
 * prepare features. Each reads its inputs in c->scope and binds its outputs there. A feature is a
 * vector: one example. */
#ifndef WICK_IMPORT_COREML_CLASSIC_H
#define WICK_IMPORT_COREML_CLASSIC_H

#include "import/coreml/model.h"

typedef void wick_coreml_kind(wick_import *c, const wick_coreml_model *m,
                              const wick_coreml_message *part);

wick_coreml_kind wick_coreml_tree_regressor, wick_coreml_tree_classifier;
wick_coreml_kind wick_coreml_glm_regressor, wick_coreml_glm_classifier;
wick_coreml_kind wick_coreml_svm_regressor, wick_coreml_svm_classifier;
wick_coreml_kind wick_coreml_scaler, wick_coreml_normalizer, wick_coreml_imputer,
    wick_coreml_one_hot_encoder, wick_coreml_extractor, wick_coreml_vectorizer,
    wick_coreml_category, wick_coreml_identity, wick_coreml_dict_vectorizer;
wick_coreml_kind wick_coreml_pipeline, wick_coreml_suppression;

/* feature.c: input i as it is bound; a vector [n] of all inputs' numbers, in f64. Returns 0 after a
 * failure, which was added. */
wick_value wick_coreml_given(wick_import *c, const wick_coreml_model *m, uint32_t i);
wick_value wick_coreml_vector(wick_import *c, const wick_coreml_model *m);
/* Binds output i. */
void wick_coreml_result(wick_import *c, const wick_coreml_model *m, uint32_t i, wick_value v);
/* Numbers as a constant vector in f64. */
wick_value wick_coreml_numbers(wick_import *c, wick_coreml_reals v);

#endif
