/* Artifacts: written ones are read back, and every damage is detected. */
#include "runtime/artifact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena_testing.h"
#include "runtime/load.h"

static void artifact_ok(wick_status s)
{
  if (s) print_error("%s\n", s->message);
  assert_null(s);
}

#define BYTES(text)                                                                                \
  {                                                                                                \
    (const unsigned char *)(text), sizeof(text) - 1                                                \
  }

/* Two functions, a constant, an import, and an unknown section. */
static wick_span artifact_small(void)
{
  static const wick_symbol symbol[] = {{"add", 0}, {"sub", 16}};
  wick_section s[] = {
      {"code", BYTES("0123456789abcdef0123456789abcdef"), 0, 0},
      {"rodata", BYTES("constant"), 0, 0},
      {"imports", BYTES("memcpy\0memset\0"), 0, 0},
      {"symbols", wick_symbols_make(2, symbol, &mem), 0, 0},
      {"target", BYTES("x86-64-v1"), 0, 0},
      {"io", BYTES("x: f32[4]"), 8, 0},
      {"constants", BYTES("many bytes"), 4096, WICK_SECTION_BULK},
      {"empty", {NULL, 0}, 0, 0},
  };
  wick_artifact_parts parts;
  artifact_ok(wick_artifact_make(WICK_MACHINE_X86_64, 0, WICK_COUNT(s), s, &mem, &parts));
  wick_span file = wick_artifact_join(&parts, &mem);
  assert_int_equal(file.nbytes, parts.nbytes);
  return file;
}

static void what_is_written_is_read(void **state)
{
  (void)state;
  wick_span file = artifact_small(), again = artifact_small();
  assert_int_equal(file.nbytes, again.nbytes);
  assert_memory_equal(file.at, again.at, file.nbytes);
  wick_artifact a;
  artifact_ok(wick_artifact_read(file, "small", &mem, &a));
  assert_int_equal(a.machine, WICK_MACHINE_X86_64);
  assert_int_equal(a.nsection, 8);
  assert_int_equal(a.nsymbol, 2);
  assert_string_equal(a.symbol[1].name, "sub");
  assert_int_equal(a.symbol[1].offset, 16);
  assert_int_equal(a.nimport, 2);
  assert_string_equal(a.import[1], "memset");
  wick_span io = wick_artifact_section(&a, "io"),
            constants = wick_artifact_section(&a, "constants");
  assert_int_equal(io.nbytes, 9);
  assert_memory_equal(io.at, "x: f32[4]", 9);
  assert_int_equal((constants.at - file.at) % 4096, 0);
  assert_non_null(wick_artifact_section(&a, "empty").at);
  assert_null(wick_artifact_section(&a, "absent").at);
}

static void every_truncation_is_refused(void **state)
{
  (void)state;
  wick_span file = artifact_small();
  for (size_t n = 0; n < file.nbytes; n++) {
    wick_mark mark = wick_arena_mark(&mem);
    /* so that tools detect reads beyond the end */
    unsigned char *copy = wick_arena_copy(&mem, file.at, n, 64);
    wick_artifact a;
    wick_status s = wick_artifact_read((wick_span){copy, n}, "small", &mem, &a);
    if (!s) fail_msg("%zu of %zu bytes are taken", n, file.nbytes);
    assert_int_equal(s->code, WICK_EPARSE);
    wick_arena_rewind(&mem, mark);
  }
  unsigned char *longer = wick_arena_alloc(&mem, file.nbytes + 1, 64);
  memcpy(longer, file.at, file.nbytes);
  wick_artifact a;
  assert_non_null(wick_artifact_read((wick_span){longer, file.nbytes + 1}, "small", &mem, &a));
}

/* Changing any bit is detected, except in the bulk section. */
static void every_damage_is_refused(void **state)
{
  (void)state;
  wick_span file = artifact_small();
  unsigned char *copy = wick_arena_copy(&mem, file.at, file.nbytes, 64);
  wick_artifact a;
  artifact_ok(wick_artifact_read(file, "small", &mem, &a));
  wick_span bulk = wick_artifact_section(&a, "constants");
  size_t from = (size_t)(bulk.at - file.at), to = from + bulk.nbytes;
  for (size_t i = 0; i < file.nbytes; i++)
    for (int bit = 0; bit < 8; bit++) {
      wick_mark mark = wick_arena_mark(&mem);
      copy[i] ^= (unsigned char)(1 << bit);
      wick_status s = wick_artifact_read((wick_span){copy, file.nbytes}, "small", &mem, &a);
      copy[i] ^= (unsigned char)(1 << bit);
      if (!s != (i >= from && i < to)) fail_msg("byte %zu, bit %d", i, bit);
      wick_arena_rewind(&mem, mark);
    }
}

/* Wrong structures with a correct hash. */
static void bad_contents_are_refused(void **state)
{
  (void)state;
  static const wick_symbol far[] = {{"f", 32}}, disorder[] = {{"b", 0}, {"a", 0}},
                           twice[] = {{"a", 0}, {"a", 1}};
  struct {
    const char *name;
    wick_span bytes;
    const char *want;
  } rows[] = {
      {"symbols", wick_symbols_make(1, far, &mem), "a function is outside of the code"},
      {"symbols", wick_symbols_make(2, disorder, &mem), "the names are not in order"},
      {"symbols", wick_symbols_make(2, twice, &mem), "the names are not in order"},
      {"symbols", BYTES("\0\0\0\0\0\0\0\0\xff\xff\xff\xff"), "symbols"},
      {"symbols", BYTES("\0\0\0\0\0\0\0\0\0\0\0\0"), "an improper name"},
      {"symbols", BYTES("\0\0\0"), "symbols"},
      {"imports", BYTES("memcpy"), "an improper name"},
      {"imports", BYTES("\0"), "an improper name"},
  };
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_section s[] = {{"code", BYTES("0123456789abcdef0123456789abcdef"), 0, 0},
                        {rows[i].name, rows[i].bytes, 0, 0}};
    wick_artifact_parts parts;
    wick_artifact a;
    artifact_ok(wick_artifact_make(WICK_MACHINE_X86_64, 0, 2, s, &mem, &parts));
    wick_status status = wick_artifact_read(wick_artifact_join(&parts, &mem), "bad", &mem, &a);
    assert_non_null(status);
    assert_int_equal(status->code, WICK_EPARSE);
    if (strcmp(rows[i].want, rows[i].name) && !strstr(status->message, rows[i].want))
      fail_msg("\"%s\", expected \"%s\"", status->message, rows[i].want);
  }
}

static void code_of_other_processors_is_refused(void **state)
{
  (void)state;
  wick_section s[] = {{"code", BYTES("0123456789abcdef"), 0, 0},
                      {"target", BYTES("cortex-z80"), 0, 0}};
  wick_artifact_parts parts;
  wick_artifact a;
  wick_image image;
  artifact_ok(wick_artifact_make(WICK_MACHINE_THUMB, 0, 2, s, &mem, &parts));
  artifact_ok(wick_artifact_read(wick_artifact_join(&parts, &mem), "other", &mem, &a));
  wick_status status = wick_image_map(&a, &mem, &image);
  assert_non_null(status);
  assert_int_equal(status->code, WICK_EUNSUPPORTED);
  const char *said = "the code was compiled for cortex-z80; this processor is ";
  assert_int_equal(strncmp(status->message, said, strlen(said)), 0);
  assert_null(strstr(status->message, "instructions"));
  assert_null(image.at);
  wick_cpu cpu = wick_cpu_detect();
  artifact_ok(wick_artifact_make(cpu.machine, ~(uint64_t)0, 1, s, &mem, &parts));
  artifact_ok(wick_artifact_read(wick_artifact_join(&parts, &mem), "other", &mem, &a));
  status = wick_image_map(&a, &mem, &image);
  assert_non_null(status);
  said = " without some of its instructions";
  assert_string_equal(status->message + strlen(status->message) - strlen(said), said);
}

static void unknown_imports_are_refused(void **state)
{
  (void)state;
  wick_section s[] = {{"code", BYTES("0123456789abcdef"), 0, 0},
                      {"imports", BYTES("system\0"), 0, 0}};
  wick_artifact_parts parts;
  wick_artifact a;
  wick_image image;
  artifact_ok(wick_artifact_make(wick_cpu_detect().machine, 0, 2, s, &mem, &parts));
  artifact_ok(wick_artifact_read(wick_artifact_join(&parts, &mem), "odd", &mem, &a));
  wick_status status = wick_image_map(&a, &mem, &image);
  assert_non_null(status);
  assert_string_equal(status->message, "the code calls system, which is not known here");
  assert_null(image.at);
  assert_null(wick_image_symbol(&image, "add"));
}

/* Reads the kernel's list of mappings: no page is writable and executable. */
static void code_is_not_writable(void **state)
{
  (void)state;
  wick_section s[] = {{"code", BYTES("0123456789abcdef"), 0, 0},
                      {"rodata", BYTES("constant"), 0, 0},
                      {"imports", BYTES("memcpy\0"), 0, 0}};
  wick_artifact_parts parts;
  wick_artifact a;
  wick_image image;
  artifact_ok(wick_artifact_make(wick_cpu_detect().machine, 0, 3, s, &mem, &parts));
  artifact_ok(wick_artifact_read(wick_artifact_join(&parts, &mem), "w^x", &mem, &a));
  artifact_ok(wick_image_map(&a, &mem, &image));
  wick_image_layout l = wick_image_layout_of(16, 8, 1);
  assert_memory_equal(image.at, "0123456789abcdef", 16);
  assert_memory_equal(image.at + l.rodata, "constant", 8);
  FILE *maps = fopen("/proc/self/maps", "r");
  if (!maps) skip();
  char line[512];
  int found = 0;
  while (fgets(line, sizeof line, maps)) {
    unsigned long from, to;
    char prot[8];
    if (sscanf(line, "%lx-%lx %7s", &from, &to, prot) != 3) continue;
    uintptr_t at = (uintptr_t)image.at;
    if (at >= from && at < to) found++, assert_memory_equal(prot, "r-x", 3);
    if (at + l.rodata >= from && at + l.rodata < to) found++, assert_memory_equal(prot, "r--", 3);
    if (at + l.slots >= from && at + l.slots < to) found++, assert_memory_equal(prot, "r--", 3);
  }
  fclose(maps);
  assert_int_equal(found, 3);
  wick_image_unmap(&image);
  wick_image_unmap(&image);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_is_written_is_read, setup, teardown),
      cmocka_unit_test_setup_teardown(every_truncation_is_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(every_damage_is_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(bad_contents_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(code_of_other_processors_is_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(unknown_imports_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(code_is_not_writable, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
