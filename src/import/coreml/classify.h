/* Labels of classifiers. */
#ifndef WICK_IMPORT_COREML_CLASSIFY_H
#define WICK_IMPORT_COREML_CLASSIFY_H

#include "import/coreml/model.h"

/* Builds the labels of a model's part, fields stringClassLabels or int64ClassLabels, as a constant
 * [n]. Returns 0 if it has none. */
wick_value wick_coreml_labels(wick_import *c, const wick_coreml_message *part, uint32_t *out_n);
/* Describes input number `at`, a dictionary that a DictVectorizer reads, as a map with these keys.
 * Returns their number. */
uint32_t wick_coreml_dictionary(wick_import *c, const wick_coreml_message *vectorizer, uint32_t at,
                                const char *name);
/* Binds the outputs of a classifier: the label of the largest score, [1], and the dictionary of the
 * probabilities, a tensor [n] whose keys are metadata (as in import/onnx/ports.c). `scores` has n
 * elements. */
void wick_coreml_classified(wick_import *c, const wick_coreml_model *m,
                            const wick_coreml_message *part, wick_value scores);
/* Describes an output of the model that is a map with these keys: integers, or numbers of strings. */
void wick_coreml_keys(wick_import *c, const char *name, uint32_t n, bool texts, const int64_t *key);

#endif
