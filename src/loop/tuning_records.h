/* Tuning records: for each group and target, the fastest schedule that a search found, as text.
 *
 *   wick records 1
 *   group x86-64-v4 (%0: f32[...]) -> ...     the target, and the group without name and schedule
 *   steps split out.x lane:16; ...            the schedule
 *   time 5504083 was 13811200                 nanoseconds on one thread, and with the first choice
 *   tried 6010000 split out.x lane:8; ...     any number of these: other measurements
 *
 * The last three belong to the group above them. A line that begins with # is a comment.
 *
 * Choices that are made before groups exist have the same form, with a key of their own:
 *
 *   group x86-64-v4 (Winograd 3x3: 1x56x56, 4 by 4 blocks of 16)
 *   steps tiles of 4 */
#ifndef WICK_LOOP_TUNING_RECORDS_H
#define WICK_LOOP_TUNING_RECORDS_H

#include "ir/ir.h"
#include "target/target.h"

typedef struct wick_trial {
  const char *steps;
  uint64_t ns;
} wick_trial;

typedef struct wick_tuning_record {
  const char *steps; /* NULL: nothing has been found yet */
  uint64_t ns, was;
  wick_list(wick_trial) trials;
} wick_tuning_record;

/* One of several ways to compute the same result. */
typedef struct wick_option {
  const char *steps; /* the text that a record has for it */
  const char *graph; /* a function that does only this; its parameters: the data, then constants */
} wick_option;

typedef struct wick_choice {
  const char *key;
  uint32_t noption, first; /* first: the choice of the cost model */
  const wick_option *option;
} wick_choice;

typedef struct wick_tuning_records {
  wick_arena *mem;
  const char *path; /* for messages and for the contract */
  wick_names keys;  /* the name of record i has the number i + 1 */
  wick_list(wick_tuning_record) list;
  wick_list(const char *) used;   /* names of groups, and keys of choices, that used their record */
  bool tuning;                    /* groups keep the templates' schedules; choices are collected */
  wick_list(wick_choice) choices; /* those collected, each once */
} wick_tuning_records;

wick_tuning_records wick_tuning_records_begin(const char *path, wick_arena *mem);

/* The group's key: the target's name and the canonical text, without what a schedule adds. */
const char *wick_tuning_records_key(const wick_func *g, const wick_target *t, wick_arena *mem);
wick_tuning_record *wick_tuning_records_add(wick_tuning_records *r,
                                            const char *key); /* or returns the existing one */
const wick_tuning_record *wick_tuning_records_find(const wick_tuning_records *r,
                                                   const char *key); /* NULL: none */
void wick_tuning_record_try(wick_tuning_records *r, wick_tuning_record *x, const char *steps,
                            uint64_t ns);

/* Returns the option that the records have, else `first`; r may be NULL.
 * Fails: WICK_EINVAL if the records have something that is not one of the options. */
WICK_CHECKED wick_status wick_tuning_records_choose(wick_tuning_records *r, const wick_choice *c,
                                                    wick_arena *mem, uint32_t *out);

/* Adds the records of a text. If there are two records for a key, the faster one is kept, with the
 * trials of both. Fails: WICK_EPARSE, "FILE:LINE: ..." */
WICK_CHECKED wick_status wick_tuning_records_read(wick_tuning_records *r, const char *path,
                                                  const char *text, size_t n);
void wick_tuning_records_print(const wick_tuning_records *r, wick_text *out);

#endif
