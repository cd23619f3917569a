/* The same programs under libFuzzer, which keeps inputs that reach new code. It replaces fuzz.c if
 * the build has WICK_FUZZ. Arguments are libFuzzer's: flags, and a folder for its inputs. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*run)(const uint8_t *bytes, size_t nbytes));

static const wick_fuzz *guided; /* libFuzzer has no argument for the callback */

static int guided_run(const uint8_t *bytes, size_t nbytes)
{
  guided->run(bytes, nbytes);
  return 0;
}

/* Makes "-seed_inputs=A,B,..." from the files of the patterns that are small enough. */
static void guided_seeds(const wick_fuzz *f, char *out, size_t capacity)
{
  size_t n = (size_t)snprintf(out, capacity, "-seed_inputs=");
  for (const char *const *p = f->pattern; *p; p++) {
    glob_t g;
    if (glob(*p, 0, NULL, &g) == 0)
      for (size_t i = 0; i < g.gl_pathc; i++) {
        struct stat st;
        const char *path = g.gl_pathv[i];
        if (stat(path, &st) || (size_t)st.st_size > f->most || n + strlen(path) + 2 > capacity)
          continue;
        n += (size_t)snprintf(out + n, capacity - n, "%s%s", out[n - 1] == '=' ? "" : ",", path);
      }
    globfree(&g);
  }
}

int wick_fuzz_main(const wick_fuzz *f, int argc, char **argv)
{
  static char seeds[1 << 16], most[48];
  char **args = calloc((size_t)argc + 3, sizeof *args);
  if (!args) return 2;
  guided = f;
  memcpy(args, argv, (size_t)argc * sizeof *args);
  snprintf(most, sizeof most, "-max_len=%zu", f->most);
  args[argc++] = most;
  guided_seeds(f, seeds, sizeof seeds);
  if (seeds[strlen(seeds) - 1] != '=') args[argc++] = seeds;
  return LLVMFuzzerRunDriver(&argc, &args, guided_run);
}
