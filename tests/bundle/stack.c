/* For tests: fills the stack with a pattern, calls a bundle, and compares the used stack with the
 * header's bound. The exit status is 0 if the bound is large enough, and not far too large. */
#include <stdio.h>

#include HEADER

enum { PAINTED = STACK + 4096, SLACK = 2048 };

#if defined(__x86_64__)
#define STACK_POINTER(p) __asm__ volatile("mov %%rsp, %0" : "=r"(p))
#elif defined(__riscv)
#define STACK_POINTER(p) __asm__ volatile("mv %0, sp" : "=r"(p))
#else
#define STACK_POINTER(p) __asm__ volatile("mov %0, sp" : "=r"(p))
#endif

static _Alignas(64) unsigned char data[MUTABLE], arena[ARENA];

__attribute__((noinline)) static void paint(void)
{
  volatile unsigned char memory[PAINTED + 512];
  for (unsigned i = 0; i < sizeof memory; i++) memory[i] = 0xa5;
}

int main(void)
{
  unsigned char *sp;
  paint();
  STACK_POINTER(sp);
  int code = FUNCTION(EMBEDDED, data, arena);
  unsigned char *at = sp - PAINTED;
  while (at < sp && *(volatile unsigned char *)at == 0xa5) at++;
  unsigned taken = (unsigned)(sp - at);
  printf("%d: %u of %u\n", code, taken, (unsigned)STACK);
  return code || taken > STACK || taken + SLACK < STACK;
}
