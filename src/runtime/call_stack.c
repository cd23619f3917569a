/* Maps the stack, and switches to it with POSIX contexts. */
#include "runtime/call_stack.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { CALL_STACK_KEPT = 1 << 20 }; /* bytes whose pages are kept between runs */

/* A million calls whose frames have a kilobyte; less if the system refuses so much. */
static const size_t call_stack_most = sizeof(void *) > 4 ? (size_t)1 << 30 : (size_t)1 << 26;

typedef struct call_stack_job {
  wick_kernel kernel;
  void **args;
  int64_t begin, end;
} call_stack_job;

bool wick_call_stack_map(wick_call_stack *s)
{
  if (s->map) return true;
  size_t page = (size_t)sysconf(_SC_PAGESIZE), n = call_stack_most;
  void *map = MAP_FAILED;
  for (; map == MAP_FAILED && n >= 4 * WICK_STACK_RESERVE; n /= 2)
    map = mmap(NULL, n + page, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (map == MAP_FAILED) return false;
  s->map = map, s->nmap = 2 * n + page;
  mprotect(map, page, PROT_NONE);
  s->stack.limit = (char *)map + page + WICK_STACK_RESERVE;
  return true;
}

/* makecontext passes integers: the two halves of the job's address. */
static void call_stack_main(unsigned high, unsigned low)
{
  const call_stack_job *j = (const call_stack_job *)(uintptr_t)((uint64_t)high << 32 | low);
  j->kernel(j->args, j->begin, j->end);
}

bool wick_call_stack_run(wick_call_stack *s, wick_kernel kernel, void **args, int64_t begin,
                         int64_t end)
{
  call_stack_job job = {kernel, args, begin, end};
  ucontext_t here, there;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (getcontext(&there)) return false;
  there.uc_stack.ss_sp = (char *)s->map + page;
  there.uc_stack.ss_size = s->nmap - page;
  there.uc_link = &here;
  uint64_t at = (uintptr_t)&job;
  makecontext(&there, (void (*)(void))call_stack_main, 2, (unsigned)(at >> 32), (unsigned)at);
  if (swapcontext(&here, &there)) return false;
  if (s->nmap > CALL_STACK_KEPT + page)
    madvise((char *)s->map + page, s->nmap - page - CALL_STACK_KEPT, MADV_DONTNEED);
  return true;
}

void wick_call_stack_free(wick_call_stack *s)
{
  if (s->map) munmap(s->map, s->nmap);
  *s = (wick_call_stack){0};
}
