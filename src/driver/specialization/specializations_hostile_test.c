/* Specializations in artifacts that are damaged, truncated, or of another program. */
#include <unistd.h>

#include "base/file.h"
#include "driver/specialization/specializations_testing.h"
#include "runtime/compiled.h"

static wick_code specializations_read(wick_span bytes, const wick_program *base)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  wick_specialization x = {0};
  wick_status bad = wick_specialization_read(bytes, "specialization", base, &mem, &x);
  wick_code code = bad ? bad->code : WICK_OK;
  wick_image_unmap(&x.image);
  wick_arena_free(&mem);
  return code;
}

static void test_hostile(void **state)
{
  (void)state;
  wick_context *c = specializations_context();
  wick_compiled *k = specializations_of(
      c, specializations_model,
      (wick_compile_options){.nspecialize_dim = 1, .specialize_dims = &specializations_six});
  wick_span copy = wick_artifact_section(&k->artifact, "specialization.0");
  assert_non_null(copy.at);
  assert_int_equal(specializations_read(copy, &k->program), WICK_OK);
  for (size_t n = 0; n < copy.nbytes; n += 1 + copy.nbytes / 97)
    assert_int_equal(specializations_read((wick_span){copy.at, n}, &k->program), WICK_EPARSE);
  wick_program other = k->program;
  wick_program_symbol symbol = k->program.sizes.symbol[0];
  other.sizes.symbol = &symbol;
  symbol.lo = 7;
  assert_int_equal(specializations_read(copy, &other), WICK_EPARSE);
  other = k->program, other.packed_bytes += 64;
  assert_int_equal(specializations_read(copy, &other), WICK_EPARSE);
  other = k->program, other.ninput = 1, other.noutput = 2;
  assert_int_equal(specializations_read(copy, &other), WICK_EPARSE);
  other = k->program, other.sizes.nsymbol = 2;
  assert_int_equal(specializations_read(copy, &other), WICK_EPARSE);
  wick_compiled_free(k);
  wick_context_free(c);
}

/* An artifact with such specializations gives an error, and nothing else. */
static void test_damaged(void **state)
{
  (void)state;
  char path[] = "/tmp/wick-specialized-XXXXXX";
  assert_true(close(mkstemp(path)) == 0);
  wick_context *c = specializations_context();
  wick_compile_options guards = {.nspecialize_dim = 1,
                                 .specialize_dims = &specializations_six,
                                 .nspecialize_input = 2,
                                 .specialize_inputs = specializations_both};
  wick_compiled *k = specializations_of(c, specializations_modes, guards), *again;
  size_t n = k->bytes.nbytes;
  unsigned char *bytes = malloc(n);
  memcpy(bytes, k->bytes.at, n);
  wick_span copy = wick_artifact_section(&k->artifact, "specialization.1");
  size_t at = (size_t)(copy.at - k->bytes.at);
  for (size_t i = 0; i < 40; i++) {
    size_t where = at + copy.nbytes * i / 40, whole = i % 4 == 3 ? where : n;
    unsigned char old = bytes[where];
    bytes[where] = (unsigned char)(old ^ 1u << i % 8);
    const wick_bytes part = {bytes, whole};
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    wick_arena mem = wick_arena_make(&guard);
    assert_null(wick_file_write(&mem, path, &part, 1));
    wick_error *e = wick_compiled_load(c, path, &again);
    assert_int_equal(wick_error_code(e), WICK_EPARSE);
    assert_non_null(strstr(wick_error_message(e), "wick-specialized-"));
    wick_error_free(e);
    wick_arena_free(&mem);
    bytes[where] = old;
  }
  free(bytes);
  wick_compiled_free(k);
  wick_context_free(c);
  unlink(path);
}

/* Reads a specialization with these words as guards. Returns the code. */
static wick_code specializations_read_held(const wick_compiled *k, const int64_t *words,
                                           uint32_t nword)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  wick_artifact a;
  wick_artifact_parts parts;
  wick_section section[16];
  assert_null(wick_artifact_read(wick_artifact_section(&k->artifact, "specialization.0"),
                                 "specialization", &mem, &a));
  assert_true(a.nsection < WICK_COUNT(section));
  for (uint32_t i = 0; i < a.nsection; i++) {
    section[i] = a.section[i];
    if (strcmp(section[i].name, "guards") == 0)
      section[i] = wick_specialization_words("guards", nword, words, &mem);
  }
  assert_null(wick_artifact_make(a.machine, a.features, a.nsection, section, &mem, &parts));
  wick_code code = specializations_read(wick_artifact_join(&parts, &mem), &k->program);
  wick_arena_free(&mem);
  return code;
}

static void test_hostile_guards(void **state)
{
  (void)state;
  wick_context *c = specializations_context();
  wick_compile_options guards = {.nspecialize_dim = 1,
                                 .specialize_dims = &specializations_six,
                                 .nspecialize_input = 1,
                                 .specialize_inputs = specializations_both};
  wick_compiled *k = specializations_of(c, specializations_modes, guards);
  assert_int_equal(specializations_read_held(k, (const int64_t[]){1, 1}, 2), WICK_OK);
  assert_int_equal(specializations_read_held(k, (const int64_t[]){0, 0}, 2), WICK_OK);
  assert_int_equal(specializations_read_held(k, (const int64_t[]){0, 1}, 2), WICK_EPARSE);
  assert_int_equal(specializations_read_held(k, (const int64_t[]){2, 1}, 2), WICK_EPARSE);
  assert_int_equal(specializations_read_held(k, (const int64_t[]){1}, 1), WICK_EPARSE);
  assert_int_equal(specializations_read_held(k, (const int64_t[]){1, 1, 0}, 3), WICK_EPARSE);
  wick_compiled_free(k);
  wick_context_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_hostile), cmocka_unit_test(test_damaged),
                                     cmocka_unit_test(test_hostile_guards)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
