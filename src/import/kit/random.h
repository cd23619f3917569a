/* Random numbers of TensorFlow and LiteRT: words of Philox 4x32-10, and what they become.
 *
 * Words are numbers of 32 bits in u64. */
#ifndef WICK_IMPORT_KIT_RANDOM_H
#define WICK_IMPORT_KIT_RANDOM_H

#include "import/kit/import.h"

enum { WICK_RANDOM_LARGEST = 1 << 28 }; /* words of a run */

typedef struct wick_random_words { /* of counters */
  wick_value at[4];
} wick_random_words;

wick_value wick_random_low(wick_builder *b, wick_value x); /* words of a u64 */
wick_value wick_random_high(wick_builder *b, wick_value x);
/* The ten rounds of Philox for a key of two words. */
wick_random_words wick_random_philox(wick_builder *b, wick_random_words c, wick_value k0,
                                     wick_value k1);
/* The words of each counter after one another. */
wick_value wick_random_row(wick_import_node *n, uint32_t count, const wick_value *word);

/* How many counters `count` words take, four each. */
wick_dim wick_random_blocks(wick_import_node *n, wick_dim count);
/* The `count` words of a key (u64) from a counter on, whose halves are `counter` and `upper` (u64; all of one
 * element). */
wick_value wick_random_draw(wick_import_node *n, wick_dim count, wick_value key, wick_value counter,
                            wick_value upper);
/* The words of counters whose lower halves are `at`, u64 of rank 1, four each. */
wick_value wick_random_draw_at(wick_import_node *n, wick_value at, wick_value key,
                               wick_value upper);
/* Multiples of 2^-23 in [0, 1), in f32; and of 2^-52 from two words each, in f64. */
wick_value wick_random_unit(wick_builder *b, wick_value words);
wick_value wick_random_wide(wick_builder *b, wick_value words);
/* Pairs of numbers in [0, 1) become pairs of normal ones (Box and Muller). */
wick_value wick_random_normal(wick_import_node *n, wick_value unit);

/* Of operand 0, logits [batch, classes], `each` (operand 1) samples for each row, which need 2 * batch * each
 * words: the class of a sample is how many sums of probabilities are not above a random part of all.
 * Returns false after a failure; i32[batch, each]. */
bool wick_random_samples(wick_import_node *n, int64_t *batch, int64_t *each);
wick_value wick_random_classes(wick_import_node *n, wick_value words, int64_t batch, int64_t each);

#endif
