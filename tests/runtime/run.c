/* run ARTIFACT INPUT... OUTPUT: converts raw bytes of the inputs to raw bytes of the first output,
 * 100 times on 2 threads. Links only libwick_rt. */
#include <stdio.h>
#include <stdlib.h>

#include <wick/wick.h>

static void *read_all(const char *path, size_t nbytes)
{
  void *p = malloc(nbytes ? nbytes : 1);
  FILE *f = fopen(path, "rb");
  if (!p || !f || fread(p, 1, nbytes, f) != nbytes || fgetc(f) != EOF) {
    fprintf(stderr, "%s does not have %zu bytes\n", path, nbytes);
    exit(2);
  }
  fclose(f);
  return p;
}

static wick_error *run(char **argv, int argc, wick_context *context, wick_compiled **compiled,
                       wick_session **session)
{
  wick_session_options o = {.size = sizeof o, .threads = 2};
  const void *in[8] = {0};
  void *out[8] = {0};
  wick_error *e = wick_compiled_load(context, argv[1], compiled);
  if (!e) e = wick_session_create(*compiled, &o, session);
  if (e) return e;
  uint32_t nin = wick_compiled_ninput(*compiled), nout = wick_compiled_noutput(*compiled);
  if (nin + 3 != (uint32_t)argc || nin > 8 || nout > 8) exit(2);
  for (uint32_t i = 0; i < nin; i++)
    in[i] = read_all(argv[2 + i], wick_compiled_input(*compiled, i)->nbytes);
  for (uint32_t i = 0; i < nout; i++) out[i] = malloc(wick_compiled_output(*compiled, i)->nbytes);
  for (int i = 0; i < 100 && !e; i++) e = wick_run(*session, in, out);
  FILE *f = fopen(argv[argc - 1], "wb");
  if (!f) exit(2);
  fwrite(out[0], 1, wick_compiled_output(*compiled, 0)->nbytes, f);
  fclose(f);
  for (uint32_t i = 0; i < nin; i++) free((void *)in[i]);
  for (uint32_t i = 0; i < nout; i++) free(out[i]);
  return e;
}

int main(int argc, char **argv)
{
  wick_context *context = NULL;
  wick_compiled *compiled = NULL;
  wick_session *session = NULL;
  if (argc < 3) return 2;
  wick_error *e = wick_context_create(NULL, &context);
  if (!e) e = run(argv, argc, context, &compiled, &session);
  if (e) fprintf(stderr, "%s\n", wick_error_message(e));
  int status = e != NULL;
  wick_error_free(e);
  wick_session_free(session);
  wick_compiled_free(compiled);
  wick_context_free(context);
  return status;
}
