/* The artifact: compiled code, its constants, and what is to be known of them, as one run of bytes.
 * The same format serves the cache, a saved model and code that was compiled a moment ago.
 *
 *   header     64 bytes: magic, version, machine, what a processor must have, size, hash, count
 *   table      64 bytes a section: name, place, size, alignment, flags
 *   sections   in the order of the table, each at the next multiple of its alignment; zeros between
 *
 * Numbers are little-endian. The hash covers all but the bytes of bulk sections. Sections are found
 * by name; those that a reader does not know do not disturb it. The linker makes
 *
 *   code      machine code, position-independent
 *   rodata    what the code reads at fixed distances
 *   imports   names of functions outside, each ended by a zero byte: the code calls them through
 * the table of addresses that lies after rodata in memory symbols   functions in `code`: each a
 * u64 offset, a u32 length of its name, the name target    the name of the target (target/target.h)
 *
 * and the driver adds its own, `constants` (bulk) and `check` (runtime/digest.h) among them.
 *
 * Trust: the bytes are checked so that a damaged or malicious structure is refused, and nothing
 * outside of them is read. The code is not checked: who loads an artifact trusts its author as if
 * it were a program. */
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
  WICK_SECTION_BULK = 1,  /* large, and not part of the hash */
  WICK_SECTION_PIECES = 2 /* for writing, beside BULK: `bytes.at` is an array of wick_bytes, which
                             together have bytes.nbytes */
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
  uint64_t features; /* that a processor must have: WICK_CPU_ bits */
  uint32_t nsection;
  const wick_section *section; /* in order */
  uint32_t nsymbol;
  const wick_symbol *symbol; /* sorted by name */
  uint32_t nimport;
  const char *const *import;
} wick_artifact;

/* The bytes of an artifact, as parts that follow each other (wick_file_write takes them); sections
 * are not copied. */
typedef struct wick_artifact_parts {
  wick_bytes *part;
  size_t npart;
  uint64_t nbytes; /* of all */
} wick_artifact_parts;
WICK_CHECKED wick_status wick_artifact_make(wick_machine machine, uint64_t features,
                                            uint32_t nsection, const wick_section *section,
                                            wick_arena *mem, wick_artifact_parts *out_parts);

/* Where the first of so many sections lies, whose alignment is the usual one. */
uint64_t wick_artifact_first(uint32_t nsection);

/* The parts in one piece. */
wick_span wick_artifact_join(const wick_artifact_parts *parts, wick_arena *mem);

/* The body of the section `symbols`. */
wick_span wick_symbols_make(uint32_t nsymbol, const wick_symbol *symbol, wick_arena *mem);

/* Checks the whole structure. What is in *out points into `file`, or lives in `mem`. `place` names
 * the file in messages. WICK_EPARSE for anything that is not what this page says. */
WICK_CHECKED wick_status wick_artifact_read(wick_span file, const char *location, wick_arena *mem,
                                            wick_artifact *out);

/* at NULL where there is none of that name. */
wick_span wick_artifact_section(const wick_artifact *a, const char *name);

/* ---- in memory ---- */

/* Where the parts of the code lie, from the image's start, which is a multiple of 64 KiB: so every
 * part has pages of its own on all machines. */
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
