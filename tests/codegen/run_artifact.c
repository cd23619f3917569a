/* For tests of other machines' code under an emulator: calls every kernel of an artifact.
 *
 *   run_artifact ARTIFACT INPUT OUTPUT
 *
 * INPUT has for each function, in the order of their names, the number of tasks (8 bytes) and three
 * buffers; the first slot of a kernel is a buffer that is written, the others are these three.
 * OUTPUT gets the written buffers. */
#include <stdio.h>
#include <string.h>

#include "runtime/load.h"

enum { NBYTES = 8200 };

static int run(const char *const *path)
{
  static wick_guard guard;
  static wick_arena mem;
  guard = (wick_guard){.allocator = wick_allocator_malloc()};
  mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) return 2;
  char *bytes;
  size_t n;
  wick_artifact a;
  wick_image image = {0};
  wick_status s = wick_file_read(&mem, path[0], 0, &bytes, &n);
  if (!s) s = wick_artifact_read((wick_span){(unsigned char *)bytes, n}, path[0], &mem, &a);
  if (!s) s = wick_image_map(&a, &mem, &image);
  if (s) return fprintf(stderr, "%s\n", s->message), 1;
  FILE *in = fopen(path[1], "rb"), *out = fopen(path[2], "wb");
  if (!in || !out) return perror("run_artifact"), 1;
  static _Alignas(64) unsigned char x[3][NBYTES], y[NBYTES];
  for (uint32_t i = 0; i < a.nsymbol; i++) {
    int64_t ntask;
    if (fread(&ntask, sizeof ntask, 1, in) != 1 || fread(x, sizeof x, 1, in) != 1) return 3;
    memset(y, 0, sizeof y);
    wick_image_kernel(&image, a.symbol[i].name)((void *[]){y, x[0], x[1], x[2]}, 0, ntask);
    if (fwrite(y, sizeof y, 1, out) != 1) return 3;
  }
  wick_image_unmap(&image);
  return fclose(out) ? 3 : 0;
}

int main(int argc, char **argv)
{
  if (argc != 4) return fprintf(stderr, "usage: run_artifact ARTIFACT INPUT OUTPUT\n"), 2;
  return run((const char *const *)argv + 1);
}
