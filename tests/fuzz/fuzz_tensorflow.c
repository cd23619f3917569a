/* Fuzzes the readers of TensorFlow's files: a graph in binary or text form is imported; the same
 * bytes are read as the index of a checkpoint. */
#include "import/tensorflow/checkpoint.h"
#include "import/tensorflow/tensorflow.h"
#include "importer.h"

static void fuzz_index(const uint8_t *bytes, size_t nbytes)
{
  wick_guard guard = {.allocator = wick_allocator_malloc(),
                      .limit_bytes = (uint64_t)65536 * nbytes + (1024u << 20)};
  wick_arena mem = wick_arena_make(&guard);
  wick_tf_checkpoint c = {.location = "fuzz.index"};
  if (setjmp(guard.where)) abort();
  wick_span data = {bytes, nbytes};
  wick_status s = wick_tf_checkpoint_read(&c, data, &mem);
  c.nshard = 1, c.shard = &data;
  for (uint32_t i = 0; !s && i < c.rows.n; i++) {
    const wick_tf_bundle_entry *e;
    wick_span found, text[4];
    if (wick_tf_checkpoint_find(&c, c.rows.at[i].key, &mem, &e, &found) || !e) continue;
    s = wick_tf_checkpoint_strings(&c, found, 4, &mem, text);
    s = NULL;
  }
  wick_arena_free(&mem);
}

static void fuzz_tensorflow(const uint8_t *bytes, size_t nbytes)
{
  wick_fuzz_import(wick_import_graphdef, "fuzz.pb", bytes, nbytes, NULL);
  fuzz_index(bytes, nbytes);
}

int main(int argc, char **argv)
{
  static const char *const pattern[] = {
      "tests/import/tensorflow/*/model.pb", "tests/import/tensorflow/*/model.pbtxt",
      "tests/import/tensorflow/*/saved/variables/variables.index", NULL};
  const wick_fuzz f = {
      .name = "tensorflow", .pattern = pattern, .most = 1 << 20, .run = fuzz_tensorflow};
  return wick_fuzz_main(&f, argc, argv);
}
