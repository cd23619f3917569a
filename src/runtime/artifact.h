/* The artifact: compiled code, its constants and its description, as one sequence of bytes. The
 * cache, saved models and code that was just compiled all use this format.
 *
 *   header     64 bytes: magic, version, machine, required CPU features, size, hash, section count
 *   table      64 bytes a section: name, offset, size, alignment, flags
 *   sections   in the order of the table, each at the next multiple of its alignment; zeros between
 *
 * Numbers are little-endian. The hash covers everything but the bytes of bulk sections. Sections
 * are found by name, and a reader ignores those that it does not know. The linker writes
 *
 *   code      machine code, position-independent
 *   rodata    read-only data that the code reads at fixed distances
 *   imports   names of external functions, each ended by a zero byte; the code calls them through
 *             a table of addresses that follows rodata in memory
 *   symbols   functions in `code`: each a u64 offset, a u32 length of its name, the name
 *   target    the name of the target (target/target.h)
 *
 * and the driver adds others, for example `constants` (bulk) and `check` (runtime/digest.h).
 *
 * Trust: a damaged or malicious structure is refused, and nothing outside of the bytes is read. The
 * machine code is not checked: load an artifact only if you would run a program by its author. */
#ifndef WICK_RUNTIME_ARTIFACT_H
#define WICK_RUNTIME_ARTIFACT_H

#include "base/cpu.h"
#include "base/file.h"
#include "base/reader.h"

enum {
  WICK_ARTIFACT_VERSION = 1,
  WICK_ARTIFACT_NAME = 32, /* bytes of a section's name, the last of them 0 */
  WICK_ARTIFACT_ALIGN = 64,
  WICK_ARTIFACT_MOST_SECTIONS = 4096
};

typedef enum wick_section_flag {
  WICK_SECTION_BULK = 1,  /* large, and not covered by the hash */
  WICK_SECTION_PIECES = 2 /* for writing, together with BULK: `bytes.at` is an array of wick_bytes,
                             with bytes.nbytes bytes in total */
} wick_section_flag;

typedef struct wick_section {
  const char *name;
  wick_span bytes;
  uint32_t align; /* a power of two up to 65536; 0: WICK_ARTIFACT_ALIGN */
  uint32_t flags;
} wick_section;

typedef struct wick_symbol {
  const char *name;
  uint64_t offset; /* in `code` */
} wick_symbol;

typedef struct wick_artifact {
  wick_machine machine;
  uint64_t features; /* CPU features that the code needs: WICK_CPU_ bits */
  uint32_t nsection;
  const wick_section *section; /* in order */
  uint32_t nsymbol;
  const wick_symbol *symbol; /* sorted by name */
  uint32_t nimport;
  const char *const *import;
} wick_artifact;

/* The bytes of an artifact, as consecutive parts for wick_file_write. Sections are not copied. */
typedef struct wick_artifact_parts {
  wick_bytes *part;
  size_t npart;
  uint64_t nbytes; /* of all */
} wick_artifact_parts;
WICK_CHECKED wick_status wick_artifact_make(wick_machine machine, uint64_t features,
                                            uint32_t nsection, const wick_section *section,
                                            wick_arena *mem, wick_artifact_parts *out_parts);

/* Returns the offset of the first of `nsection` sections, if its alignment is the default. */
uint64_t wick_artifact_first(uint32_t nsection);

/* Copies the parts into one contiguous piece. */
wick_span wick_artifact_join(const wick_artifact_parts *parts, wick_arena *mem);

/* Returns the bytes of the section `symbols`. */
wick_span wick_symbols_make(uint32_t nsymbol, const wick_symbol *symbol, wick_arena *mem);

/* Reads an artifact and checks its whole structure. *out points into `file` and `mem`. `location`
 * names the file in messages. Fails with WICK_EPARSE if the bytes do not have the format above. */
WICK_CHECKED wick_status wick_artifact_read(wick_span file, const char *location, wick_arena *mem,
                                            wick_artifact *out);

/* Returns the section of this name; `at` is NULL if there is none. */
wick_span wick_artifact_section(const wick_artifact *a, const char *name);

/* ---- in memory ---- */

/* Offsets of the parts of the code in memory. The image begins at a multiple of 64 KiB, and so does
 * each part, so that every part has its own pages on all machines. */
enum { WICK_IMAGE_PAGE = 65536 };
typedef struct wick_image_layout {
  uint64_t rodata, slots, nbytes;
} wick_image_layout;
static inline wick_image_layout wick_image_layout_of(uint64_t ncode, uint64_t nrodata,
                                                     uint32_t nimport)
{
  wick_image_layout l;
  l.rodata = wick_align_up(ncode, WICK_IMAGE_PAGE);
  l.slots = wick_align_up(l.rodata + nrodata, WICK_IMAGE_PAGE);
  l.nbytes = l.slots + (uint64_t)nimport * 8;
  return l;
}

#endif
