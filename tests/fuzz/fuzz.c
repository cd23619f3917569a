/* The fuzz driver: seeds, mutations, and a parent process that survives crashes. */
#include "fuzz.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FUZZ_MOST_SEEDS = 4096, FUZZ_HANG_SECONDS = 20 };

typedef struct fuzz_input {
  uint8_t *at;
  size_t n;
} fuzz_input;

typedef struct fuzz_seeds {
  fuzz_input input[FUZZ_MOST_SEEDS];
  size_t n;
} fuzz_seeds;

/* ---- random numbers: splitmix64, Steele et al. 2014 ---- */

typedef struct fuzz_random {
  uint64_t state;
} fuzz_random;

static uint64_t fuzz_next(fuzz_random *r)
{
  uint64_t z = r->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static size_t fuzz_below(fuzz_random *r, size_t n) { return n ? (size_t)(fuzz_next(r) % n) : 0; }

/* ---- seeds ---- */

static void fuzz_load(fuzz_seeds *s, const char *path, size_t most)
{
  FILE *file = fopen(path, "rb");
  if (!file || s->n == FUZZ_MOST_SEEDS) {
    fprintf(stderr, "%s: %s\n", path, file ? "too many seeds" : strerror(errno));
    exit(2);
  }
  uint8_t *at = malloc(most + 1);
  size_t n = at ? fread(at, 1, most + 1, file) : 0;
  fclose(file);
  if (at && n <= most)
    s->input[s->n++] = (fuzz_input){at, n};
  else
    free(at);
}

static void fuzz_load_patterns(fuzz_seeds *s, const wick_fuzz *f)
{
  for (const char *const *p = f->pattern; *p; p++) {
    glob_t g;
    if (glob(*p, 0, NULL, &g) == 0)
      for (size_t i = 0; i < g.gl_pathc; i++) fuzz_load(s, g.gl_pathv[i], f->most);
    globfree(&g);
  }
}

/* ---- mutations ---- */

static void fuzz_resize(fuzz_input *in, size_t at, size_t cut, const uint8_t *add, size_t nadd)
{
  uint8_t *to = malloc(in->n - cut + nadd + 1);
  if (!to) exit(2);
  memcpy(to, in->at, at);
  if (nadd) memcpy(to + at, add, nadd);
  memcpy(to + at + nadd, in->at + at + cut, in->n - at - cut);
  free(in->at);
  *in = (fuzz_input){to, in->n - cut + nadd};
}

/* Half of the positions are in the first kilobytes, where a small part has much structure. */
static size_t fuzz_position(fuzz_random *r, size_t n)
{
  size_t near = n < 4096 ? n : 4096;
  return fuzz_next(r) & 1 ? fuzz_below(r, n) : fuzz_below(r, near);
}

static void fuzz_mutate(fuzz_random *r, fuzz_input *in, const fuzz_seeds *s)
{
  static const uint8_t bytes[] = {0,  1,  2,  8,  10,  16,  18,  26,  34,  42,
                                  58, 63, 64, 65, 126, 127, 128, 129, 254, 255};
  static const char *const chunks[] = {"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                                       "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                                       "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
                                       "\xff\xff\xff\xff\x07",
                                       "\x80\x80\x80\x80\x08",
                                       "-1",
                                       "9223372036854775807",
                                       "nan",
                                       "((((((((",
                                       "[[[[",
                                       "{{{{"};
  size_t at = fuzz_position(r, in->n), left = in->n - at;
  size_t len = 1 + fuzz_below(r, fuzz_next(r) & 3 ? 8 : 256);
  if (len > left) len = left;
  const fuzz_input *other = &s->input[fuzz_below(r, s->n)];
  size_t from = fuzz_position(r, other->n), take = other->n - from < len ? other->n - from : len;
  switch (fuzz_below(r, 12)) {
  case 0:
  case 1:
    if (left) in->at[at] ^= (uint8_t)(1u << fuzz_below(r, 8));
    break;
  case 2:
  case 3:
    if (left) in->at[at] = bytes[fuzz_below(r, sizeof bytes)];
    break;
  case 4:
    if (left) in->at[at] = (uint8_t)(in->at[at] + (fuzz_next(r) & 1 ? 1 : -1));
    break;
  case 5: fuzz_resize(in, at, len, NULL, 0); break;
  case 6: {
    uint8_t copy[256];
    memcpy(copy, in->at + at, len);
    fuzz_resize(in, fuzz_position(r, in->n), 0, copy, len);
    break;
  }
  case 7: fuzz_resize(in, at, 0, other->at + from, take); break;
  case 8: fuzz_resize(in, at, take, other->at + from, take < left ? take : left); break;
  case 9: {
    const char *chunk = chunks[fuzz_below(r, sizeof chunks / sizeof *chunks)];
    size_t n = strlen(chunk);
    fuzz_resize(in, at, fuzz_next(r) & 1 ? 0 : (left < n ? left : n), (const uint8_t *)chunk, n);
    break;
  }
  case 10:
    for (size_t i = 0; i < len; i++) in->at[at + i] = (uint8_t)fuzz_next(r);
    break;
  default:
    if (fuzz_below(r, 8) == 0) fuzz_resize(in, at, left, NULL, 0); /* truncate */
  }
}

static fuzz_input fuzz_make(uint64_t seed, uint64_t iteration, const fuzz_seeds *s)
{
  fuzz_random r = {seed ^ (iteration * 0x9e3779b97f4a7c15u)};
  fuzz_next(&r);
  const fuzz_input *from = &s->input[fuzz_below(&r, s->n)];
  fuzz_input in = {malloc(from->n + 1), from->n};
  if (!in.at) exit(2);
  memcpy(in.at, from->at, from->n);
  for (size_t k = 1 + fuzz_below(&r, 8); k--;) fuzz_mutate(&r, &in, s);
  return in;
}

/* Runs on memory of exactly the input's size, so that the sanitizer detects reads beyond it. */
static void fuzz_run(const wick_fuzz *f, fuzz_input *in)
{
  uint8_t *exact = malloc(in->n ? in->n : 1);
  if (!exact) exit(2);
  memcpy(exact, in->at, in->n);
  free(in->at);
  *in = (fuzz_input){exact, in->n};
  f->run(exact, in->n);
}

/* ---- processes ---- */

typedef struct fuzz_shared {
  volatile uint64_t iteration; /* the current one */
} fuzz_shared;

static double fuzz_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fuzz_child(const wick_fuzz *f, const fuzz_seeds *s, uint64_t seed, double seconds,
                       fuzz_shared *shared)
{
  double end = fuzz_seconds() + seconds;
  for (uint64_t i = 0; fuzz_seconds() < end; i++) {
    shared->iteration = i;
    fuzz_input in = fuzz_make(seed, i, s);
    fuzz_run(f, &in);
    free(in.at);
  }
  exit(0);
}

static int fuzz_report(const fuzz_seeds *s, uint64_t seed, uint64_t iteration, const char *what)
{
  char path[96];
  snprintf(path, sizeof path, "finding-%" PRIu64 "-%" PRIu64, seed, iteration);
  fuzz_input in = fuzz_make(seed, iteration, s);
  FILE *file = fopen(path, "wb");
  if (file) {
    fwrite(in.at, 1, in.n, file);
    fclose(file);
  }
  printf("%s in iteration %" PRIu64 " of seed %" PRIu64 ": its %zu bytes are in %s\n", what,
         iteration, seed, in.n, path);
  free(in.at);
  return 1;
}

static int fuzz_parent(const fuzz_seeds *s, uint64_t seed, pid_t child, const fuzz_shared *shared)
{
  uint64_t last = UINT64_MAX;
  double since = 0;
  for (;;) {
    int status;
    pid_t done = waitpid(child, &status, WNOHANG);
    if (done == child && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      printf("%" PRIu64 " inputs, no finding\n", shared->iteration + 1);
      return 0;
    }
    if (done == child) return fuzz_report(s, seed, shared->iteration, "the process died");
    if (shared->iteration != last) {
      last = shared->iteration;
      since = fuzz_seconds();
    } else if (fuzz_seconds() - since > FUZZ_HANG_SECONDS) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return fuzz_report(s, seed, last, "no end");
    }
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  }
}

int wick_fuzz_main(const wick_fuzz *f, int argc, char **argv)
{
  static fuzz_seeds seeds;
  int once = argc > 2 && strcmp(argv[1], "--at") == 0;
  int files = once ? 4 : 3;
  double seconds = argc > 1 && !once ? strtod(argv[1], NULL) : 10;
  uint64_t seed = argc > files - 1 ? strtoull(argv[files - 1], NULL, 0) : (uint64_t)time(NULL);
  for (int i = files; i < argc; i++) fuzz_load(&seeds, argv[i], f->most);
  if (argc <= files) fuzz_load_patterns(&seeds, f);
  if (!seeds.n) {
    printf("%s: skipped, there are no seed files\n", f->name);
    return 77;
  }
  if (once) {
    uint64_t iteration = strtoull(argv[2], NULL, 0);
    fuzz_report(&seeds, seed, iteration, "run again");
    fuzz_input in = fuzz_make(seed, iteration, &seeds);
    fuzz_run(f, &in);
    free(in.at);
    return 0;
  }
  printf("%s: %zu seed files, %g s, seed %" PRIu64 "\n", f->name, seeds.n, seconds, seed);
  fflush(stdout);
  fuzz_shared *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  pid_t child = fork();
  if (child == 0) fuzz_child(f, &seeds, seed, seconds, shared);
  return child < 0 ? 2 : fuzz_parent(&seeds, seed, child, shared);
}
