/* Sends requests to wick-codegen and reads its answers. */
#include "codegen/client.h"

#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/protocol.h"
#include "ir/call.h"
#include "ir/text.h"

static const uint64_t client_memory = (uint64_t)8 << 30;
static const double client_seconds = 300;

/* ---- finding the program ---- */

static const char *client_find_near(const char *folder, wick_arena *mem)
{
  static const char *const places[] = {
      "wick-codegen",                   /* beside */
      "../wick-codegen",                /* in a build folder: from lib/ or tests/ */
      "../libexec/wick/wick-codegen",   /* installed: from lib/ or bin/ */
      "../../libexec/wick/wick-codegen" /* from lib/x86_64-linux-gnu/ */
  };
  for (uint32_t i = 0; i < WICK_COUNT(places); i++) {
    const char *path = wick_path_join(mem, folder, places[i]);
    if (access(path, X_OK) == 0) return path;
  }
  return NULL;
}

const char *wick_codegen_find(wick_arena *mem)
{
  /* an address in the library, or in the program that it is linked into */
  static const char anchor;
  const char *named = getenv("WICK_CODEGEN"), *found = NULL;
  if (named && *named) return named;
  Dl_info info;
  char *buffer = wick_new(mem, char, PATH_MAX);
  if (dladdr(&anchor, &info) && info.dli_fname && strchr(info.dli_fname, '/'))
    found = client_find_near(wick_path_folder(mem, info.dli_fname), mem);
  if (!found && readlink("/proc/self/exe", buffer, PATH_MAX - 1) > 0)
    found = client_find_near(wick_path_folder(mem, buffer), mem);
  return found;
}

/* ---- jobs ---- */

static wick_status client_crash(const wick_process *p, const wick_codegen_limits *limits,
                                wick_arena *mem)
{
  const char *said = *p->errors ? ": " : "";
  double seconds = limits->seconds > 0 ? limits->seconds : client_seconds;
  if (p->timed_out)
    return wick_fail(mem, WICK_ELIMIT, "wick-codegen", "it took more than %g seconds", seconds);
  if (strstr(p->errors, "out of memory") || strstr(p->errors, "bad_alloc"))
    return wick_fail(mem, WICK_ELIMIT, "wick-codegen", "it needs more memory than it may take");
  if (p->ended_by)
    return wick_fail(mem, WICK_EINTERNAL, "wick-codegen", "it was ended by signal %d (%s)%s%s",
                     p->ended_by, strsignal(p->ended_by), said, p->errors);
  return wick_fail(mem, WICK_EINTERNAL, "wick-codegen",
                   "it ended with code %d without an answer%s%s", p->exit_code, said, p->errors);
}

static wick_status client_answer(const wick_process *p, const wick_codegen_limits *limits,
                                 wick_arena *mem, wick_codegen_job *job)
{
  wick_status s;
  job->seconds = p->took;
  bool ended_well = p->exit_code == 0 || p->exit_code == 1 || !p->ended_by;
  if (p->timed_out || !ended_well || !wick_answer_read(p->output, mem, &job->object, &s))
    return client_crash(p, limits, mem);
  if (s && s->code == WICK_ENOMEM)
    return wick_fail(mem, WICK_ELIMIT, "wick-codegen", "it needs more memory than it may take");
  return s;
}

wick_status wick_codegen(const wick_target *t, uint32_t njob, wick_codegen_job *job,
                         const wick_codegen_limits *limits, wick_arena *mem)
{
  static const char *const argv[] = {"wick-codegen", NULL};
  static const wick_codegen_limits none;
  if (!limits) limits = &none;
  const char *program = limits->program ? limits->program : wick_codegen_find(mem);
  if (!program)
    return wick_fail(mem, WICK_EIO, NULL,
                     "the program wick-codegen is not found: set WICK_CODEGEN to its path");
  wick_process *p = wick_new(mem, wick_process, njob);
  for (uint32_t i = 0; i < njob; i++) {
    wick_request r = {.target = *t, .options = job[i].options};
    r.memory_bytes = limits->memory_bytes ? limits->memory_bytes : client_memory;
    wick_text head = wick_text_begin(mem);
    WICK_TRY(wick_request_write(&r, mem, &head));
    wick_span constants = job[i].options.constants;
    wick_bytes input[3] = {
        {head.at, head.n}, {job[i].text, job[i].ntext}, {constants.at, constants.nbytes}};
    p[i] = (wick_process){.program = program,
                          .argv = argv,
                          .ninput = constants.at ? 3 : 2,
                          .input = wick_dup(mem, wick_bytes, input, 3),
                          .seconds = limits->seconds > 0 ? limits->seconds : client_seconds};
  }
  WICK_TRY(wick_process_run(njob, p, &limits->control, mem));
  wick_errors errors = wick_errors_begin(mem, 10);
  for (uint32_t i = 0; i < njob; i++)
    wick_errors_add(&errors, client_answer(&p[i], limits, mem, &job[i]));
  return wick_errors_end(&errors);
}

/* ---- a module in parts ---- */

enum {
  CLIENT_NODES = 4000, /* a process with fewer of them takes longer to start than to work */
  CLIENT_MOST_PARTS = 16,
  /* Strength reduction changes the time of kernels with such bodies by less than can be measured, and takes a
   * quarter of the time of their compilation. Copies of few rows take up to 1.5 times their time without it. */
  CLIENT_LONG_BODY = 128
};

typedef struct client_part {
  wick_module m; /* only printed: some functions, and the constants that they name */
  bool *has;     /* per constant */
  uint64_t nnode;
} client_part;

/* How many parts there are. The last `nplain` of them are compiled with plain loops, and get only functions with a long
 * body. */
typedef struct client_plan {
  uint32_t n, nplain;
} client_plan;

static uint32_t client_lightest(const client_part *part, uint32_t n)
{
  uint32_t best = 0;
  for (uint32_t i = 1; i < n; i++)
    if (part[i].nnode < part[best].nnode) best = i;
  return best;
}

static bool client_takes(const wick_codegen_options *o, const wick_func *f)
{
  for (uint32_t i = 0; i < o->nonly; i++)
    if (strcmp(o->only[i], f->name) == 0) return true;
  return f->level == WICK_LOOP && !o->nonly;
}

/* Returns whether f must be in the same object as the functions that it calls, or that call it. */
static bool client_calls(const wick_func *f)
{
  bool calls = wick_func_is_procedure(f);
  for (uint32_t i = 0; i < f->nnode; i++) calls = calls || f->node[i].op == WICK_OP_call;
  return calls;
}

/* Returns whether f has so many nodes in a row that the body of its loop is long. */
static bool client_is_long(const wick_func *f)
{
  uint32_t row = 0;
  for (uint32_t i = 0; i < f->nnode && row < CLIENT_LONG_BODY; i++)
    row = f->node[i].nregion || f->node[i].op == WICK_OP_yield ? 0 : row + 1;
  return row == CLIENT_LONG_BODY && !client_calls(f);
}

static client_plan client_divide(const wick_module *m, const wick_codegen_options *o)
{
  client_plan p = {1, 0};
  uint64_t all = 0, plain = 0;
  for (uint32_t i = 0; i < m->funcs.n; i++) {
    const wick_func *f = m->funcs.at[i];
    if (!client_takes(o, f)) continue;
    all += f->nnode;
    if (client_is_long(f)) plain += f->nnode;
  }
  if (o->direct || o->whole || o->output != WICK_OUTPUT_OBJECT) return p;
  p.n = all / CLIENT_NODES < CLIENT_MOST_PARTS ? (uint32_t)(all / CLIENT_NODES) + 1
                                               : CLIENT_MOST_PARTS;
  p.nplain = all ? (uint32_t)((plain * p.n + all / 2) / all) : 0;
  if (p.nplain == p.n && plain < all) p.nplain--;
  return p;
}

static void client_add(client_part *p, const wick_module *m, const wick_func *f, wick_arena *mem)
{
  wick_push(mem, &p->m.funcs, f);
  p->nnode += f->nnode;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    uint32_t k = n->op == WICK_OP_const ? wick_const_imm(n)->constant : 0;
    if (!k || p->has[k]) continue;
    p->has[k] = true;
    wick_push(mem, &p->m.constants, *wick_constant_get(m, k));
  }
}

wick_status wick_codegen_module(const wick_module *m, const wick_target *t,
                                const wick_codegen_options *options,
                                const wick_codegen_limits *limits, wick_arena *mem,
                                wick_span **out_object, uint32_t *out_n)
{
  client_plan plan = client_divide(m, options);
  uint32_t n = plan.n, njob = 0;
  client_part *part = wick_new(mem, client_part, n);
  for (uint32_t i = 0; i < n; i++) {
    part[i].has = wick_new(mem, bool, m->constants.n + 1);
    wick_push(mem, &part[i].m.constants, (wick_constant){0});
  }
  for (int is_long = 0; is_long < 2; is_long++)
    for (uint32_t i = 0; i < m->funcs.n; i++) {
      const wick_func *f = m->funcs.at[i];
      if (!client_takes(options, f) || client_is_long(f) != is_long) continue;
      uint32_t k = client_calls(f) ? 0 : client_lightest(part, is_long ? n : n - plan.nplain);
      client_add(&part[k], m, f, mem);
    }
  wick_codegen_job *job = wick_new(mem, wick_codegen_job, n);
  for (uint32_t i = 0; i < n; i++) {
    if (!part[i].m.funcs.n) continue;
    part[i].m.types = m->types, part[i].m.dims = m->dims;
    wick_text text = wick_text_begin(mem);
    wick_print_module(&part[i].m, WICK_PRINT_DATA | WICK_PRINT_LOCS, &text);
    job[njob] = (wick_codegen_job){.text = text.at, .ntext = text.n, .options = *options};
    if (i >= n - plan.nplain) job[njob].options.plain_loops = true;
    job[njob++].options.nonly = 0;
  }
  WICK_TRY(wick_codegen(t, njob, job, limits, mem));
  *out_object = wick_new(mem, wick_span, njob);
  *out_n = njob;
  for (uint32_t i = 0; i < njob; i++) (*out_object)[i] = job[i].object;
  return NULL;
}
