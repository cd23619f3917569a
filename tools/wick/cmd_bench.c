/* wick bench: measures how fast a model runs, kernel by kernel, and compares it with the machine's
 * limits; or serves a program that compares runtimes (--pipe). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "driver/report/ceiling.h"
#include "graph/group/cost.h"

#include "bench_threads.h"
#include "command.h"
#include "invocation.h"

typedef struct bench {
  wick_invocation invocation;
  wick_words inputs;
  double seconds;
  bool pipe, roofline, json;
  json_t *report;  /* the object of --json, else NULL */
  int64_t kernels; /* lines of the table */
  wick_model_inputs model_inputs;
  void **buffers;
  const wick_io **output;
  /* per kernel: of the current run; the minimum of the profiled runs */
  uint64_t *run, *nanoseconds;
  uint32_t nprofiled;
} bench;

enum { BENCH_MOST = 1 << 20 };

/* ---- inputs ---- */

static uint32_t bench_random(uint32_t *state)
{ /* xorshift32, Marsaglia 2003 */
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

/* Makes inputs without files: numbers around 0 for floats, zeros for others. */
static void bench_make_inputs(bench *b)
{
  wick_invocation *j = &b->invocation;
  uint32_t n, state = 2463534242u;
  const wick_io **io = wick_invocation_inputs(j, &n);
  wick_array *array = wick_new(&j->mem, wick_array, n);
  b->model_inputs =
      (wick_model_inputs){.n = n, .array = array, .data = wick_new(&j->mem, const void *, n)};
  for (uint32_t i = 0; i < n; i++) {
    void *data = wick_arena_alloc(&j->mem, io[i]->nbytes, 64);
    if (io[i]->elem == WICK_F32)
      for (uint64_t k = 0; k < io[i]->nbytes / 4; k++)
        ((float *)data)[k] = (float)(bench_random(&state) >> 8) * 0x1p-23f - 1;
    array[i] = wick_model_inputs_array(io[i], data);
    b->model_inputs.data[i] = data;
  }
}

static wick_status bench_read(bench *b, const wick_words *files)
{
  const wick_invocation_image as_the_model_says = {0};
  return wick_invocation_feed(&b->invocation, files, &as_the_model_says, &b->model_inputs);
}

/* Lets donated inputs be where their outputs are, as in a training loop. */
static void bench_donate(bench *b)
{
  const wick_compiled *k = b->invocation.compiled;
  for (uint32_t i = 0; i < wick_compiled_noutput(k); i++) {
    uint32_t from = wick_compiled_donor(k, i);
    if (from == UINT32_MAX) continue;
    if (b->output[i]->nbytes)
      memcpy(b->buffers[i], b->model_inputs.data[from], (size_t)b->output[i]->nbytes);
    b->model_inputs.data[from] = b->buffers[i];
  }
}

static wick_status bench_begin(bench *b)
{
  wick_invocation *j = &b->invocation;
  j->inputs = &b->inputs;
  WICK_TRY(wick_invocation_load(j));
  if (b->inputs.n) {
    WICK_TRY(bench_read(b, &b->inputs));
    WICK_TRY(wick_invocation_compile(j, &b->model_inputs));
    WICK_TRY(wick_invocation_session(j, &b->model_inputs, NULL, NULL));
  } else {
    uint32_t n;
    const wick_io **io = wick_invocation_inputs(j, &n);
    for (uint32_t i = 0; i < n; i++)
      if (io[i]->data)
        return wick_fail(&j->mem, WICK_EUNSUPPORTED, j->path,
                         "\"%s\" is a %s; only functions of tensors are measured", io[i]->name,
                         io[i]->data->name);
    WICK_TRY(wick_invocation_compile(j, NULL));
    WICK_TRY(wick_invocation_session(j, NULL, NULL, NULL));
    bench_make_inputs(b);
  }
  b->output = wick_invocation_outputs(j);
  b->buffers = wick_model_inputs_buffers(b->output, wick_compiled_noutput(j->compiled), &j->mem);
  bench_donate(b);
  return NULL;
}

static wick_status bench_run(bench *b)
{
  return wick_invocation_take(&b->invocation,
                              wick_run(b->invocation.session, b->model_inputs.data, b->buffers));
}

/* ---- the pipe ---- */

static wick_status bench_feed(bench *b, char *list)
{
  wick_words path = {0};
  for (char *at = strtok(list, ","); at; at = strtok(NULL, ","))
    wick_push(&b->invocation.mem, &path, wick_str_dup(&b->invocation.mem, at));
  return bench_read(b, &path);
}

static wick_status bench_output(bench *b, const char *folder)
{
  WICK_TRY(bench_run(b));
  uint32_t n = wick_compiled_noutput(b->invocation.compiled);
  wick_array *array = wick_new(&b->invocation.tmp, wick_array, n);
  for (uint32_t k = 0; k < n; k++) array[k] = wick_model_inputs_array(b->output[k], b->buffers[k]);
  n = wick_model_inputs_trim(array, n, &b->invocation.tmp);
  const char **name = wick_new(&b->invocation.tmp, const char *, n);
  for (uint32_t k = 0; k < n; k++) name[k] = array[k].name;
  wick_ports ports = wick_invocation_ports(&b->invocation, "output", n, name);
  return wick_model_outputs_write(&ports, array, folder, &b->invocation.tmp);
}

static wick_status bench_answer(bench *b, char *line)
{
  char *rest = strchr(line, ' ');
  if (rest) *rest++ = 0;
  if (!rest) rest = line + strlen(line);
  if (strcmp(line, "run") == 0) {
    for (long n = strtol(rest, NULL, 10); n > 0; n--) WICK_TRY(bench_run(b));
    return NULL;
  }
  if (strcmp(line, "feed") == 0) return bench_feed(b, rest);
  if (strcmp(line, "output") == 0) return bench_output(b, rest);
  return wick_fail(&b->invocation.mem, WICK_EINVAL, "--pipe", "\"%s\" is none of run, feed, output",
                   line);
}

static wick_status bench_pipe(bench *b)
{
  double begun = wick_now();
  WICK_TRY(bench_begin(b));
  WICK_TRY(bench_run(b));
  printf("ready %.3f\n", wick_now() - begun);
  fflush(stdout);
  static char line[1 << 16];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\r\n")] = 0;
    WICK_TRY(bench_answer(b, line));
    puts("ok");
    fflush(stdout);
  }
  return NULL;
}

/* ---- the table ---- */

static void bench_profile(void *arg, uint32_t kernel, uint64_t nanoseconds)
{
  bench *b = arg;
  b->run[kernel] += nanoseconds;
}

static int bench_compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static wick_status bench_latency(bench *b, double *out_median)
{
  double *took = wick_new(&b->invocation.mem, double, BENCH_MOST);
  uint32_t n = 0;
  WICK_TRY(bench_run(b));
  for (double end = wick_now() + b->seconds; n < BENCH_MOST && (n < 3 || wick_now() < end); n++) {
    double begin = wick_now();
    WICK_TRY(bench_run(b));
    took[n] = wick_now() - begin;
  }
  qsort(took, n, sizeof *took, bench_compare);
  *out_median = took[n / 2];
  if (b->report) {
    json_object_set_new(b->report, "latency",
                        json_pack("{s:i, s:f, s:f, s:f, s:f}", "runs", (int)n, "minimum_seconds",
                                  took[0], "p50_seconds", took[n / 2], "p90_seconds",
                                  took[(uint64_t)n * 9 / 10], "p99_seconds",
                                  took[(uint64_t)n * 99 / 100]));
    json_object_set_new(b->report, "threads",
                        json_integer(wick_session_threads(b->invocation.session)));
    return NULL;
  }
  printf("%u runs on %u thread%s: p50 %.3f ms, p90 %.3f ms, p99 %.3f ms\n", n,
         wick_session_threads(b->invocation.session),
         wick_session_threads(b->invocation.session) == 1 ? "" : "s", 1e3 * took[n / 2],
         1e3 * took[(uint64_t)n * 9 / 10], 1e3 * took[(uint64_t)n * 99 / 100]);
  return NULL;
}

static wick_status bench_profile_runs(bench *b, double median)
{
  wick_invocation *j = &b->invocation;
  uint32_t n = wick_compiled_nkernel(j->compiled);
  b->run = wick_new(&j->mem, uint64_t, n), b->nanoseconds = wick_new(&j->mem, uint64_t, n);
  wick_session_free(j->session);
  j->session = NULL;
  WICK_TRY(wick_invocation_session(j, &b->model_inputs, bench_profile, b));
  b->nprofiled = 1;
  if (median > 0 && b->seconds / 2 / median > 1) b->nprofiled = (uint32_t)(b->seconds / 2 / median);
  WICK_TRY(bench_run(b));
  for (uint32_t i = 0; i < b->nprofiled; i++) {
    memset(b->run, 0, sizeof *b->run * n);
    WICK_TRY(bench_run(b));
    for (uint32_t k = 0; k < n; k++)
      if (!i || b->run[k] < b->nanoseconds[k]) b->nanoseconds[k] = b->run[k];
  }
  return NULL;
}

static uint32_t *bench_order(bench *b, uint32_t n)
{
  uint32_t *order = wick_new(&b->invocation.tmp, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t k = i;
    for (; k > 0 && b->nanoseconds[order[k - 1]] < b->nanoseconds[i]; k--) order[k] = order[k - 1];
    order[k] = i;
  }
  return order;
}

static void bench_table(bench *b, double ceiling)
{
  const wick_compiled *k = b->invocation.compiled;
  uint32_t n = wick_compiled_nkernel(k), *order = bench_order(b, n);
  double total = 0, flops = 0;
  for (uint32_t i = 0; i < n; i++) {
    total += (double)b->nanoseconds[i];
    flops += (double)wick_compiled_kernel(k, i).flops;
  }
  printf("multiply-add ceiling %.1f GFLOP/s; the model: %.3f GFLOP, %.1f GFLOP/s, %.1f %% of it\n",
         1e-9 * ceiling, 1e-9 * flops, flops / total, 100e9 * flops / total / ceiling);
  printf("%10s %6s %10s %9s %7s %8s  %s\n", "us", "share", "MFLOP", "GFLOP/s", "ceiling", "GB/s",
         "kernel");
  for (uint32_t i = 0; i < n && i < (uint64_t)b->kernels; i++) {
    wick_kernel_facts f = wick_compiled_kernel(k, order[i]);
    double ns = (double)b->nanoseconds[order[i]];
    if (ns <= 0) ns = 1;
    printf("%10.2f %5.1f%% %10.3f %9.2f %6.1f%% %8.2f  %s  %s\n", 1e-3 * ns, 100 * ns / total,
           1e-6 * (double)f.flops, (double)f.flops / ns, 100e9 * (double)f.flops / ns / ceiling,
           (double)f.nbytes / ns, f.name, wick_str_shown(&b->invocation.tmp, f.location));
  }
}

static json_t *bench_json_kernel(const bench *b, uint32_t kernel)
{
  wick_kernel_facts f = wick_compiled_kernel(b->invocation.compiled, kernel);
  return json_pack("{s:o, s:o, s:f, s:I, s:I}", "name", wick_json_text(f.name), "location",
                   wick_json_text(f.location), "seconds", 1e-9 * (double)b->nanoseconds[kernel],
                   "flops", (json_int_t)f.flops, "memory_bytes", (json_int_t)f.nbytes);
}

/* Prints all kernels, the slowest first; with --roofline also their bounds and predictions. */
static void bench_json_kernels(bench *b, double ceiling, const wick_cost_machine *m)
{
  uint32_t n = wick_compiled_nkernel(b->invocation.compiled), *order = bench_order(b, n);
  json_t *list = json_array();
  for (uint32_t i = 0; i < n; i++) {
    json_t *one = bench_json_kernel(b, order[i]);
    if (m) {
      wick_kernel_facts f = wick_compiled_kernel(b->invocation.compiled, order[i]);
      wick_cost_facts c = {f.flops, f.nbytes, f.cycles, f.tasks, f.nweights, f.limit};
      double took = 1e-9 * (double)b->nanoseconds[order[i]];
      json_object_set_new(one, "floor_seconds", wick_json_real(wick_cost_floor(m, &c)));
      json_object_set_new(one, "predicted_seconds", wick_json_real(wick_cost_seconds(m, &c)));
      json_object_set_new(one, "reason",
                          wick_json_text(wick_cost_reason(m, &c, took > 0 ? took : 1e-9)));
    }
    json_array_append_new(list, one);
  }
  json_object_set_new(b->report, "ceiling_flops_per_second", wick_json_real(ceiling));
  if (m) json_object_set_new(b->report, "memory_bytes_per_second", wick_json_real(m->bytes));
  json_object_set_new(b->report, "kernels", list);
}

/* Prints each kernel with the machine's bound and the model's prediction. */
static void bench_roofline(bench *b, const wick_cost_machine *m)
{
  const wick_compiled *k = b->invocation.compiled;
  uint32_t n = wick_compiled_nkernel(k), *order = bench_order(b, n);
  double total = 0, least = 0, foreseen = 0;
  printf("multiply-adds %.1f GFLOP/s, memory %.1f GB/s; least of %u runs\n", 1e-9 * m->flops,
         1e-9 * m->bytes, b->nprofiled);
  printf("%10s %10s %7s %10s %10s  %s\n", "us", "predicted", "share", "MFLOP", "KiB", "kernel");
  for (uint32_t i = 0; i < n; i++) {
    wick_kernel_facts f = wick_compiled_kernel(k, order[i]);
    wick_cost_facts c = {f.flops, f.nbytes, f.cycles, f.tasks, f.nweights, f.limit};
    double took = 1e-9 * (double)b->nanoseconds[order[i]], lowest = wick_cost_floor(m, &c),
           predicted = wick_cost_seconds(m, &c);
    total += took, least += lowest, foreseen += predicted;
    if (i >= (uint64_t)b->kernels) continue;
    if (took <= 0) took = 1e-9;
    const char *why = wick_cost_reason(m, &c, took);
    printf("%10.2f %10.2f %6.1f%% %10.3f %10.1f  %s  %s%s%s\n", 1e6 * took, 1e6 * predicted,
           100 * lowest / took, 1e-6 * (double)f.flops, (double)f.nbytes / 1024, f.name,
           wick_str_shown(&b->invocation.tmp, f.location), *why ? ": " : "", why);
  }
  printf("%10.2f %10.2f %6.1f%%  all kernels\n", 1e6 * total, 1e6 * foreseen,
         total > 0 ? 100 * least / total : 0);
}

static void bench_ready(bench *b, double seconds)
{
  wick_invocation *j = &b->invocation;
  wick_memory m = wick_compiled_memory(j->compiled);
  bool cached = wick_compiled_cached(j->compiled);
  if (b->json)
    b->report = json_pack("{s:o, s:b, s:f, s:I, s:I, s:I}", "model", wick_json_text(j->path),
                          "from_cache", (int)cached, "ready_seconds", seconds, "constants_bytes",
                          (json_int_t)m.constants, "arena_bytes", (json_int_t)m.arena,
                          "scratch_bytes_per_thread", (json_int_t)m.scratch);
  else
    printf("%s: %s in %.3f s; constants %.2f MiB, arena %.2f MiB, scratch %.2f MiB a thread\n",
           wick_str_shown(&j->mem, j->path), cached ? "from the cache" : "ready", seconds,
           (double)m.constants / 1048576, (double)m.arena / 1048576, (double)m.scratch / 1048576);
}

/* Prints the loss with several threads in a separate table. */
static wick_status bench_scaling(bench *b, const wick_cost_machine *m)
{
  wick_invocation *j = &b->invocation;
  if (m->threads == 1) return NULL;
  wick_session_free(j->session);
  j->session = NULL;
  wick_bench_threads threads = {.invocation = j,
                                .inputs = b->model_inputs.data,
                                .outputs = b->buffers,
                                .seconds = b->seconds,
                                .kernels = (uint32_t)b->kernels,
                                .memory = m->bytes,
                                .cache_bytes = m->cache_bytes,
                                .report = b->report};
  return wick_bench_threads_run(&threads);
}

static wick_status bench_report(bench *b)
{
  wick_invocation *j = &b->invocation;
  double begun = wick_now(), median, ceiling;
  WICK_TRY(bench_begin(b));
  bench_ready(b, wick_now() - begun);
  WICK_TRY(bench_latency(b, &median));
  WICK_TRY(bench_profile_runs(b, median));
  wick_target t = wick_target_host();
  WICK_TRY(wick_ceiling(&t, wick_session_threads(j->session), &j->guard, &j->mem, &ceiling));
  wick_cost_machine machine = {.flops = ceiling,
                               .threads = wick_session_threads(j->session),
                               .second_bytes = wick_target_cache(&t, 2),
                               .cache_bytes = wick_target_processor(&t)->cache_bytes[2],
                               .constants = wick_compiled_memory(j->compiled).constants,
                               .lanes = t.vector_bytes >= 8 ? t.vector_bytes / 4 : 1,
                               .products = wick_target_products(&t)};
  memcpy(machine.line, wick_target_processor(&t)->line, sizeof machine.line);
  if (b->roofline) WICK_TRY(wick_ceiling_bytes(machine.threads, &j->mem, &machine.bytes));
  if (b->report)
    bench_json_kernels(b, ceiling, b->roofline ? &machine : NULL);
  else if (b->roofline)
    bench_roofline(b, &machine);
  else
    bench_table(b, ceiling);
  if (b->roofline) WICK_TRY(bench_scaling(b, &machine));
  return b->report ? wick_invocation_json(j, b->report) : NULL;
}

static int bench_main(wick_invocation *j, void *arg, int argc, char **argv)
{
  bench *b = arg;
  const wick_flag flag[] = {
      {"inputs", 'i', WICK_FLAG_FILES, &b->inputs, "FILE...",
       "runs on these tensors instead of random numbers"},
      {"input", 0, WICK_FLAG_FILES, &b->inputs, NULL, NULL},
      {"seconds", 's', WICK_FLAG_SECONDS, &b->seconds, "S",
       "times runs for S seconds; 3 by default"},
      {"kernels", 'k', WICK_FLAG_COUNT, &b->kernels, "N",
       "shows the N slowest kernels; 20 by default"},
      {"roofline", 0, WICK_FLAG_BOOL, &b->roofline, NULL,
       "compares each kernel with the machine's limits and the cost model, and says why it is "
       "slower; with several threads, also how it scales"},
      {"json", 0, WICK_FLAG_BOOL, &b->json, NULL, "prints one object of JSON (docs/json.md)"},
      {"pipe", 0, WICK_FLAG_BOOL, &b->pipe, NULL,
       "answers `run N`, `feed A.npy,B.npy`, `output DIR` on the standard input"},
      WICK_INVOCATION_FLAGS(j),
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_invocation_args(j, &args, argc, argv);
  if (stop >= 0) return stop;
  if (b->pipe && b->json) return wick_invocation_usage(j, "--pipe answers in lines, not in --json");
  return wick_invocation_end(j, b->pipe ? bench_pipe(b) : bench_report(b));
}

int wick_cmd_bench(int argc, char **argv)
{
  bench b = {.seconds = 3, .kernels = 20};
  return wick_invocation_main(&b.invocation, bench_main, &b, argc, argv);
}
