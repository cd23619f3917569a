/* Source files of the language, places in them, and problems as users see them:
 *
 *   tree.wick:7:15: error: expected `,` or `)`, found `{`
 *     7 | fn encode(w, x {
 *       |                ^
 *
 * A step that finds a problem goes on where it can, so that all mistakes of a program are reported
 * at once, in the order of the text. */
#ifndef WICK_LANG_SOURCE_H
#define WICK_LANG_SOURCE_H

#include "base/status.h"
#include "base/str.h"

/* A part of a source: bytes begin .. end-1; `source` counts from 1. */
typedef struct wick_lang_at {
  uint32_t source, begin, end;
} wick_lang_at;

typedef struct wick_lang_source {
  const char *path; /* as messages name it */
  const char *text; /* ends in '\0' */
  uint32_t nbytes;
  const uint32_t *line; /* the first byte of each line */
  uint32_t nline;
} wick_lang_source;

/* The notes of a problem show other places that explain it; one without a place is a help. */
typedef struct wick_lang_problem {
  wick_lang_at at;
  const char *text;
  struct wick_lang_problem *note, *next; /* the first note; the next note */
} wick_lang_problem;

/* A name that an item with a mistake would have declared. */
typedef struct wick_lang_lost {
  uint32_t source;
  const char *name;
} wick_lang_lost;

enum { WICK_LANG_MOST_PROBLEMS = 100 };

typedef struct wick_lang_sources {
  wick_arena *mem;
  wick_list(wick_lang_source) list; /* at[0] is unused */
  wick_list(wick_lang_problem *) problems;
  wick_list(wick_lang_lost) lost;
} wick_lang_sources;

wick_lang_sources wick_lang_sources_begin(wick_arena *mem);

/* Adds a text, which must live as long as the sources. Returns its number. */
uint32_t wick_lang_source_add(wick_lang_sources *s, const char *path, const char *text,
                              uint32_t nbytes);

/* Adds a problem. */
void wick_lang_report(wick_lang_sources *s, wick_lang_at at, const char *fmt, ...)
    WICK_PRINTF(3, 4);

/* Adds a note to the problem that was reported last. */
void wick_lang_note(wick_lang_sources *s, wick_lang_at at, const char *fmt, ...) WICK_PRINTF(3, 4);
/* Adds to the problem that was reported last how to write what may be meant. */
void wick_lang_help(wick_lang_sources *s, const char *fmt, ...) WICK_PRINTF(2, 3);
/* Returns the line and the column of a place, from 1; columns are characters. */
void wick_lang_position(const wick_lang_sources *s, wick_lang_at at, uint32_t *out_line,
                        uint32_t *out_column);

/* Returns NULL if there are no problems, else a status with all of them, in the order of the text,
 * at most WICK_LANG_MOST_PROBLEMS, and the number of those left out. */
WICK_CHECKED wick_status wick_lang_problems(wick_lang_sources *s);

#endif
