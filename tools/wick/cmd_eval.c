/* wick eval: evaluates an expression of the language, slowly, without compiling it. The evaluator
 * runs in a thread with a large stack, so that programs may recurse deeply. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/shown.h"
#include "import/relay/relay.h"
#include "lang/eval.h"

#include "args.h"
#include "command.h"

enum { EVAL_STACK = 1 << 29, EVAL_MARGIN = 1 << 22 };

typedef struct eval_job {
  const char *file, *text;
  int status;
} eval_job;

static void eval_print(void *arg, const char *text)
{
  (void)arg;
  fputs(text, stdout);
}

static wick_status eval_text(const eval_job *j, wick_lang_program *p, wick_types *t,
                             wick_arena *mem)
{
  const wick_eval_options options = {.stack_bytes = EVAL_STACK - EVAL_MARGIN, .print = eval_print};
  wick_lang_module *m = NULL;
  const wick_datum *d;
  if (j->file) WICK_TRY(wick_lang_program_load(p, j->file, &m));
  wick_lang_entity *it = wick_lang_program_expression(p, m, j->text, (uint32_t)strlen(j->text));
  WICK_TRY(wick_lang_problems(&p->sources));
  wick_lang_resolve(p);
  wick_lang_infer(p, t);
  WICK_TRY(wick_lang_problems(&p->sources));
  WICK_TRY(wick_lang_eval(p, t, it, &options, &d));
  wick_text out = wick_text_begin(mem);
  const wick_ty *type = wick_ty_of(it->scheme->type);
  wick_datum_print(t, d, &out);
  wick_text_printf(&out, " : %s\n", wick_ty_text(t, type->arg[type->n - 1]));
  fputs(wick_str_shown_lines(mem, out.at), stdout);
  return NULL;
}

static void *eval_thread(void *arg)
{
  eval_job *j = arg;
  wick_guard guard = {.allocator = wick_allocator_malloc(), .limit_bytes = (uint64_t)16 << 30};
  wick_arena mem = wick_arena_make(&guard);
  j->status = WICK_EXIT_FAILURE;
  if (setjmp(guard.where)) {
    wick_command_say("eval", "out of memory");
  } else {
    wick_lang_program p;
    wick_types t;
    wick_lang_program_begin(&p, &mem);
    p.reader = &wick_relay_reader;
    wick_types_begin(&t, &mem);
    wick_status s = eval_text(j, &p, &t, &mem);
    if (s) wick_command_message(s->message);
    if (!s) j->status = WICK_EXIT_OK;
    wick_types_end(&t);
  }
  wick_arena_free(&mem);
  return NULL;
}

static int eval_run(int argc, char **argv, wick_arena *mem)
{
  eval_job j = {0};
  const wick_flag flag[] = {
      {"file", 0, WICK_FLAG_FILE, &j.file, "FILE.wick", "the program whose names may be used"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_args_parse(&args, mem, argc, argv);
  if (stop >= 0) return stop;
  j.text = args.word.at[0];
  pthread_attr_t attr;
  pthread_t thread;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, EVAL_STACK);
  int bad = pthread_create(&thread, &attr, eval_thread, &j);
  pthread_attr_destroy(&attr);
  if (bad) {
    wick_command_say("eval", "no thread: %s", strerror(bad));
    return WICK_EXIT_FAILURE;
  }
  pthread_join(thread, NULL);
  return j.status;
}

int wick_cmd_eval(int argc, char **argv)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  int status = WICK_EXIT_FAILURE;
  if (setjmp(guard.where))
    wick_command_say("eval", "out of memory");
  else
    status = eval_run(argc, argv, &mem);
  wick_arena_free(&mem);
  return status;
}
