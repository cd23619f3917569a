/* Runs child processes with posix_spawn. Only the child has the other end of a pipe, so that the
 * pipe shows when the child ends. */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"

extern char **environ;

enum { PROCESS_ERRORS = 4096, PROCESS_TICK_MS = 20, PROCESS_ALIVE_FD = 3 };

typedef struct process_child {
  pid_t pid; /* 0: none */
  int fd[3]; /* its standard streams; -1: closed */
  int alive; /* our end of the pipe */
  double start;
  int result; /* of waitpid; valid if `known` */
  bool known;
} process_child;

typedef struct process_state {
  uint32_t n;
  wick_process *process;
  process_child *child;
  struct pollfd *poll;
} process_state;

static double process_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t process_cpus(void)
{
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    int n = CPU_COUNT(&set);
    if (n > 0) return (uint32_t)n;
  }
#endif
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (uint32_t)n : 1;
}

static int process_memory_file(void)
{
#if defined(__linux__)
  return memfd_create("wick", MFD_CLOEXEC);
#else
  char path[] = "/tmp/wick-XXXXXX";
  int fd = mkstemp(path);
  if (fd < 0) return -1;
  unlink(path);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return fd;
#endif
}

static bool process_write(int fd, const void *data, size_t n)
{
  const char *p = data;
  while (n) {
    ssize_t k = write(fd, p, n);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    p += k;
    n -= (size_t)k;
  }
  return true;
}

static void process_close(process_child *c)
{
  for (int i = 0; i < 3; i++)
    if (c->fd[i] >= 0) close(c->fd[i]), c->fd[i] = -1;
  if (c->alive >= 0) close(c->alive), c->alive = -1;
}

/* ---- start ---- */

static bool process_files(const wick_process *p, process_child *c)
{
  for (int i = 0; i < 3; i++)
    if ((c->fd[i] = process_memory_file()) < 0) return false;
  for (uint32_t i = 0; i < p->ninput; i++)
    if (!process_write(c->fd[0], p->input[i].at, p->input[i].nbytes)) return false;
  return lseek(c->fd[0], 0, SEEK_SET) == 0;
}

/* Returns an errno number, or 0. */
static int process_spawn(const wick_process *p, process_child *c, int tell)
{
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attr;
  sigset_t none, all;
  int e = posix_spawn_file_actions_init(&files);
  if (e) return e;
  e = posix_spawnattr_init(&attr);
  if (e) {
    posix_spawn_file_actions_destroy(&files);
    return e;
  }
  sigemptyset(&none), sigfillset(&all);
  posix_spawnattr_setsigmask(&attr, &none);
  posix_spawnattr_setsigdefault(&attr, &all);
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  for (int i = 0; !e && i < 3; i++) e = posix_spawn_file_actions_adddup2(&files, c->fd[i], i);
  if (!e) e = posix_spawn_file_actions_adddup2(&files, tell, PROCESS_ALIVE_FD);
  if (!e) e = posix_spawn(&c->pid, p->program, &files, &attr, (char *const *)p->argv, environ);
  if (e) c->pid = 0;
  posix_spawnattr_destroy(&attr);
  posix_spawn_file_actions_destroy(&files);
  return e;
}

/* Moves a descriptor above those that the child gets, so that dup2 calls do not overwrite each
 * other. */
static bool process_high(int *fd)
{
  if (*fd > PROCESS_ALIVE_FD) return true;
  int high = fcntl(*fd, F_DUPFD_CLOEXEC, PROCESS_ALIVE_FD + 1);
  close(*fd);
  *fd = high;
  return high >= 0;
}

static int process_start(const wick_process *p, process_child *c)
{
  int tell[2];
  if (!process_files(p, c)) return errno ? errno : EIO;
  if (pipe2(tell, O_CLOEXEC)) return errno;
  c->alive = tell[0];
  bool ok = process_high(&tell[1]);
  for (int i = 0; ok && i < 3; i++) ok = process_high(&c->fd[i]);
  c->start = process_now();
  int e = ok ? process_spawn(p, c, tell[1]) : EMFILE;
  if (tell[1] >= 0) close(tell[1]);
  close(c->fd[0]);
  c->fd[0] = -1;
  return e;
}

/* ---- end ---- */

/* Other code in this process may have waited for the child already. Then its output decides whether
 * it succeeded. */
static bool process_ended(process_child *c, wick_process *p, int flags)
{
  pid_t r;
  do r = waitpid(c->pid, &c->result, flags);
  while (r < 0 && errno == EINTR);
  if (r == 0) return false;
  c->known = r == c->pid;
  c->pid = 0;
  p->took = process_now() - c->start;
  return true;
}

static void process_kill(process_child *c, wick_process *p)
{
  if (!c->pid) return;
  kill(c->pid, SIGKILL);
  (void)process_ended(c, p, 0);
}

static void process_end_all(process_state *s)
{
  for (uint32_t i = 0; i < s->n; i++) {
    process_kill(&s->child[i], &s->process[i]);
    process_close(&s->child[i]);
  }
}

/* Waits a moment for an end, and handles the processes that have ended. Returns how many still
 * run. */
static uint32_t process_wait(process_state *s, uint32_t nstarted)
{
  nfds_t npoll = 0;
  uint32_t left = 0;
  for (uint32_t i = 0; i < nstarted; i++)
    if (s->child[i].pid)
      s->poll[npoll++] = (struct pollfd){.fd = s->child[i].alive, .events = POLLIN};
  if (npoll) (void)poll(s->poll, npoll, PROCESS_TICK_MS);
  double now = process_now();
  for (uint32_t i = 0; i < nstarted; i++) {
    process_child *c = &s->child[i];
    wick_process *p = &s->process[i];
    if (!c->pid || process_ended(c, p, WNOHANG)) continue;
    if (p->seconds > 0 && now - c->start > p->seconds) {
      p->timed_out = true;
      process_kill(c, p);
    } else {
      left++;
    }
  }
  return left;
}

static wick_status process_run_all(process_state *s, const wick_process_control *control,
                                   wick_arena *mem)
{
  uint32_t started = 0, running = 0, most = control->parallel ? control->parallel : process_cpus();
  while (started < s->n || running) {
    for (; started < s->n && running < most; started++, running++) {
      int e = process_start(&s->process[started], &s->child[started]);
      if (e)
        return wick_fail(mem, WICK_EIO, s->process[started].program, "cannot be started: %s",
                         strerror(e));
    }
    running = process_wait(s, started);
    if (control->cancel && control->cancel(control->arg))
      return wick_fail(mem, WICK_ECANCELED, NULL, "canceled");
  }
  return NULL;
}

/* ---- results ---- */

static bool process_read(int fd, off_t from, char *to, size_t n)
{
  while (n) {
    ssize_t k = pread(fd, to, n, from);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    to += k, from += k, n -= (size_t)k;
  }
  return true;
}

static wick_status process_collect(const process_child *c, wick_process *p, wick_arena *mem)
{
  struct stat out, err;
  p->exit_code = c->known && WIFEXITED(c->result) ? WEXITSTATUS(c->result) : -1;
  p->ended_by = c->known && WIFSIGNALED(c->result) ? WTERMSIG(c->result) : 0;
  if (fstat(c->fd[1], &out) || fstat(c->fd[2], &err))
    return wick_fail(mem, WICK_EIO, p->program, "%s", strerror(errno));
  size_t n = (size_t)out.st_size, m = (size_t)err.st_size;
  if (m > PROCESS_ERRORS) m = PROCESS_ERRORS;
  char *output = wick_arena_alloc(mem, n, 64), *errors = wick_arena_alloc(mem, m + 1, 1);
  if (!process_read(c->fd[1], 0, output, n) ||
      !process_read(c->fd[2], err.st_size - (off_t)m, errors, m))
    return wick_fail(mem, WICK_EIO, p->program, "its output is gone");
  p->output = (wick_bytes){output, n};
  p->errors = errors;
  return NULL;
}

static wick_status process_run_and_collect(process_state *s, const wick_process_control *control,
                                           wick_arena *mem)
{
  WICK_TRY(process_run_all(s, control, mem));
  for (uint32_t i = 0; i < s->n; i++) WICK_TRY(process_collect(&s->child[i], &s->process[i], mem));
  return NULL;
}

wick_status wick_process_run(uint32_t n, wick_process *process, const wick_process_control *control,
                             wick_arena *mem)
{
  process_state *s = wick_new(mem, process_state, 1);
  *s =
      (process_state){n, process, wick_new(mem, process_child, n), wick_new(mem, struct pollfd, n)};
  for (uint32_t i = 0; i < n; i++) s->child[i] = (process_child){.fd = {-1, -1, -1}, .alive = -1};
  /* If memory runs out, the unwinding stops here first, to end the children. */
  jmp_buf *outer = wick_new(mem, jmp_buf, 1);
  memcpy(outer, &mem->guard->where, sizeof *outer);
  if (setjmp(mem->guard->where)) {
    process_end_all(s);
    memcpy(&mem->guard->where, outer, sizeof *outer);
    longjmp(mem->guard->where, 1);
  }
  wick_status status = process_run_and_collect(s, control, mem);
  process_end_all(s);
  memcpy(&mem->guard->where, outer, sizeof *outer);
  return status;
}

void wick_process_end_with_parent(void)
{
#if defined(__linux__)
  struct pollfd alive = {.fd = PROCESS_ALIVE_FD, .events = POLLOUT};
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  /* The parent may have ended already. Then nobody has the other end of the pipe. */
  if (poll(&alive, 1, 0) == 1 && (alive.revents & POLLERR)) raise(SIGKILL);
#endif
}
