/* Finds the subcommand, runs it, and makes sure that its output was written. Begin with
 * wick_command_main. */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/shown.h"
#include "wick/wick.h"

#include "args.h"

const wick_command wick_commands[] = {
#define COMMAND(name, arguments, doc) {#name, arguments, doc, wick_cmd_##name},
#include "commands.def"
#undef COMMAND
    {NULL, NULL, NULL, NULL},
};

/* ---- messages ---- */

/* Prints "PREFIX: MESSAGE" and a hint on one line. If there is no memory, it prints only that. */
static void command_print(const char *command, const char *message, bool hint)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  const char *volatile clean = "out of memory";
  if (!setjmp(guard.where)) clean = wick_str_shown_lines(&mem, message);
  bool named = command && *command; /* "": no command */
  if (command) fprintf(stderr, "wick%s%s: ", named ? " " : "", command);
  fputs(clean, stderr);
  if (hint) fprintf(stderr, "; see `wick help%s%s`", named ? " " : "", command);
  putc('\n', stderr);
  wick_arena_free(&mem);
}

static void command_vprint(const char *command, bool hint, const char *fmt, va_list args)
{
  char text[4096];
  int n = vsnprintf(text, sizeof text, fmt, args);
  if (n >= (int)sizeof text) memcpy(text + sizeof text - 4, "...", 4);
  command_print(command, text, hint);
}

void wick_command_say(const char *command, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  command_vprint(command, false, fmt, args);
  va_end(args);
}

int wick_command_usage(const char *command, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  command_vprint(command, true, fmt, args);
  va_end(args);
  return WICK_EXIT_USAGE;
}

void wick_command_message(const char *message) { command_print(NULL, message, false); }

/* ---- the table ---- */

const wick_command *wick_command_find(const char *name)
{
  for (const wick_command *c = wick_commands; c->name; c++)
    if (strcmp(c->name, name) == 0) return c;
  return NULL;
}

const wick_command *wick_command_need(const char *name)
{
  const wick_command *c = wick_command_find(name);
  if (c) return c;
  const char *nearest = wick_args_nearest(name, &wick_commands->name, sizeof *wick_commands);
  if (nearest)
    wick_command_usage("", "there is no command \"%s\"; did you mean \"%s\"?", name, nearest);
  else
    wick_command_usage("", "there is no command \"%s\"", name);
  return NULL;
}

/* ---- the process ---- */

static void command_ignore(int number) { (void)number; }

/* If a standard stream is closed, the next file that is opened would get its number, and output
 * would go there; /dev/null takes the number instead. Writing to a pipe without a reader is an
 * error, not a signal. Unlike SIG_IGN, a handler is not inherited by other programs. */
static void command_streams(void)
{
  /* opened so that reading 0 and writing 1 fails */
  static const int mode[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", mode[fd]) < 0) return;
  struct sigaction a = {.sa_handler = command_ignore};
  sigaction(SIGPIPE, &a, NULL);
}

/* Flushes and closes standard output. The command fails if not everything could be written. */
static int command_finish(const char *name, int status)
{
  bool bad = ferror(stdout) != 0;
  errno = 0;
  bad = fflush(stdout) != 0 || bad;
  int error = errno;
  /* a full network disk is reported here */
  if (close(STDOUT_FILENO) != 0 && !bad) bad = true, error = errno;
  if (!bad) return status;
  wick_command_say(name, "cannot write to standard output%s%s", error ? ": " : "",
                   error ? strerror(error) : "");
  return status ? status : WICK_EXIT_FAILURE;
}

int wick_command_main(int argc, char **argv)
{
  command_streams();
  static char help[] = "help", *const none[] = {help, NULL};
  if (argc < 2) return wick_command_usage("", "a command is missing");
  const char *name = argv[1];
  if (strcmp(name, "--version") == 0) {
    printf("wick %d.%d\n", WICK_VERSION_MAJOR, WICK_VERSION_MINOR);
    return command_finish("--version", WICK_EXIT_OK);
  }
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
    return command_finish(help, wick_cmd_help(1, (char **)(uintptr_t)none));
  const wick_command *c = wick_command_need(name);
  return c ? command_finish(c->name, c->run(argc - 1, argv + 1)) : WICK_EXIT_USAGE;
}
