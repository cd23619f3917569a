/* The language's own modules, whose text is part of the compiler: library/NAME.wick at its build.
 * `use list` reads the file list.wick beside the program if there is one, else this. */
#ifndef WICK_LANG_LIBRARY_H
#define WICK_LANG_LIBRARY_H

#include <stdint.h>

typedef struct wick_lang_library {
  const char *name;
  const char *path; /* as messages name it: <list> */
  const char *text; /* ends in '\0' */
  uint32_t nbytes;
} wick_lang_library;

/* All modules, in the order of their names; the last one's name is NULL. The build generates it
 * (cmake/library.cmake). */
extern const wick_lang_library wick_lang_libraries[];

/* Returns the module of that name; NULL if there is none. */
const wick_lang_library *wick_lang_library_find(const char *name);

#endif
