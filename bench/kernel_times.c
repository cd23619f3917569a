/* kernel_times [--winograd] [--out FILE] MODEL RUNS [FILE...]: runs a model on one thread, and
 * prints a line for each kernel: the least and the median time in nanoseconds, its name, a tab and
 * its schedule. Inputs are the bytes of FILEs, by default numbers around 0. The first output is
 * written to the file after --out. The model is compiled with `strict`, unless --winograd allows
 * Winograd's algorithm. The compiled model stays in the cache. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wick/wick.h>

typedef struct times {
  uint64_t *ns; /* per kernel, RUNS of them */
  uint32_t nrun, run;
} times;

static void times_profile(void *arg, uint32_t kernel, uint64_t nanoseconds)
{
  times *t = arg;
  t->ns[(size_t)kernel * t->nrun + t->run] += nanoseconds;
}

static int times_compare(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void times_check(wick_error *e)
{
  if (!e) return;
  fprintf(stderr, "%s\n", wick_error_message(e));
  exit(1);
}

static void *times_alloc(size_t nbytes)
{
  void *p = calloc(1, nbytes ? nbytes : 1);
  if (!p) exit(1);
  return p;
}

static void times_file(const char *path, const char *mode, void *p, size_t nbytes)
{
  FILE *f = fopen(path, mode);
  size_t n = !f ? 0 : *mode == 'r' ? fread(p, 1, nbytes, f) : fwrite(p, 1, nbytes, f);
  if (f) fclose(f);
  if (n == nbytes) return;
  fprintf(stderr, "%s: not %zu bytes\n", path, nbytes);
  exit(1);
}

static const void **times_inputs(const wick_compiled *k, char **file)
{
  uint32_t n = wick_compiled_ninput(k), state = 2463534242u;
  const void **in = times_alloc(n * sizeof *in);
  for (uint32_t i = 0; i < n; i++) {
    const wick_io *io = wick_compiled_input(k, i);
    float *x = times_alloc(io->nbytes);
    if (*file)
      times_file(*file++, "rb", x, io->nbytes);
    else
      for (uint64_t j = 0; io->elem == WICK_F32 && j < io->nbytes / 4; j++) {
        state = state * 1664525u + 1013904223u;
        x[j] = (float)(state >> 8) * 0x1p-23f - 1;
      }
    in[i] = x;
  }
  return in;
}

int main(int argc, char **argv)
{
  wick_context *context;
  wick_model *model;
  wick_compiled *k;
  wick_session *session;
  bool winograd = false;
  const char *output = NULL;
  for (; argc > 1 && argv[1][0] == '-'; argc--, argv++)
    if (strcmp(argv[1], "--winograd") == 0)
      winograd = true;
    else if (strcmp(argv[1], "--out") == 0 && argc > 2)
      output = argv[2], argc--, argv++;
  if (argc < 3 || atoi(argv[2]) < 1)
    return fprintf(stderr, "kernel_times [--winograd] [--out FILE] MODEL RUNS [FILE...]\n"), 2;
  times t = {.nrun = (uint32_t)atoi(argv[2])};
  times_check(wick_context_create(NULL, &context));
  times_check(wick_load(context, argv[1], &model));
  wick_compile_options o = {.size = sizeof o, .strict = !winograd};
  times_check(wick_compile(model, &o, &k));
  const void **in = times_inputs(k, argv + 3);
  void **out = times_alloc(wick_compiled_noutput(k) * sizeof *out);
  for (uint32_t i = 0; i < wick_compiled_noutput(k); i++)
    out[i] = times_alloc(wick_compiled_output(k, i)->nbytes);
  t.ns = times_alloc(sizeof *t.ns * t.nrun * (wick_compiled_nkernel(k) + 1));
  wick_session_options s = {.size = sizeof s, .threads = 1, .profile = times_profile, .arg = &t};
  times_check(wick_session_create(k, &s, &session));
  for (; t.run < t.nrun; t.run++) times_check(wick_run(session, in, out));
  for (uint32_t i = 0; i < wick_compiled_nkernel(k); i++) {
    uint64_t *ns = &t.ns[(size_t)i * t.nrun];
    qsort(ns, t.nrun, sizeof *ns, times_compare);
    wick_kernel_facts f = wick_compiled_kernel(k, i);
    printf("%" PRIu64 " %" PRIu64 " %s\t%s\n", ns[0], ns[t.nrun / 2], f.name, f.schedule);
  }
  if (output) times_file(output, "wb", out[0], wick_compiled_output(k, 0)->nbytes);
  wick_session_free(session);
  wick_compiled_free(k);
  wick_model_free(model);
  wick_context_free(context);
  return 0;
}
