/* Tuning records: for a group on a target, the schedule that a search found fastest, as text.
 *
 *   wick records 1
 *   group x86-64-v4 (%0: f32[...]) -> ...     the target, and the group without name and schedule
 *   steps split out.x lane:16; ...            the schedule
 *   time 5504083 was 13811200                 nanoseconds on one thread, and with the first choice
 *   tried 6010000 split out.x lane:8; ...     any number: what else was measured
 *
 * The last three belong to the group above them; a line that begins with # is a comment.
 *
 * What is chosen before there are groups stands there in the same form, under a key of its own:
 *
 *   group x86-64-v4 (filtering 3x3: 1x56x56, 4 by 4 blocks of 16)
 *   steps tiles of 4 */
#ifndef WICK_LOOP_RECORDS_H
#define WICK_LOOP_RECORDS_H

#include "ir/ir.h"
#include "target/target.h"

typedef struct wick_trial {
  const char *steps;
  uint64_t ns;
} wick_trial;

typedef struct wick_record {
  const char *steps; /* NULL: nothing was found yet */
  uint64_t ns, was;
  wick_list(wick_trial) trials;
} wick_record;

/* One of several ways to compute the same. */
typedef struct wick_option {
  const char *steps; /* what a record says of it */
  const char *graph; /* text of a function that does it alone: of data, then what is constant */
} wick_option;

typedef struct wick_choice {
  const char *key;
  uint32_t noption, first; /* the model's choice */
  const wick_option *option;
} wick_choice;

typedef struct wick_records {
  wick_arena *mem;
  const char *path; /* for messages, and the contract */
  wick_names keys;  /* of record i the name i + 1 */
  wick_list(wick_record) list;
  wick_list(const char *) used;   /* names of the groups, and keys of choices, that took theirs */
  bool tuning;                    /* groups keep the templates' schedules; choices are noted: */
  wick_list(wick_choice) choices; /* each once */
} wick_records;

wick_records wick_records_begin(const char *path, wick_arena *mem);

/* The group's key: the target's name and the canonical text, without what a schedule adds. */
const char *wick_records_key(const wick_func *g, const wick_target *t, wick_arena *mem);
wick_record *wick_records_add(wick_records *r, const char *key); /* or the one there is */
const wick_record *wick_records_find(const wick_records *r, const char *key); /* NULL: none */
void wick_record_try(wick_records *r, wick_record *x, const char *steps, uint64_t ns);

/* The option that the records have, else the first one; also of no records (NULL).
 * Fails with WICK_EINVAL where theirs is none of the options. */
WICK_CHECKED wick_status wick_records_choose(wick_records *r, const wick_choice *c, wick_arena *mem,
                                             uint32_t *out);

/* Adds what the text says: of two records for a key the faster one stays, and the trials of both.
 * Fails with WICK_EPARSE: "FILE:LINE: ..." */
WICK_CHECKED wick_status wick_records_read(wick_records *r, const char *path, const char *text,
                                           size_t n);
void wick_records_print(const wick_records *r, wick_text *out);

#endif
