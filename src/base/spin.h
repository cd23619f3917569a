/* The pause of a thread that waits in a loop, and the clock that limits the loop. */
#ifndef WICK_BASE_SPIN_H
#define WICK_BASE_SPIN_H

#include <stdint.h>
#include <time.h>

/* Tells the core that this is a waiting loop, so that its other hardware thread gets the
 * resources. */
static inline void wick_spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#elif defined(__riscv)
  __asm__ volatile(".4byte 0x0100000f"); /* the instruction `pause`, a hint that older cores execute
                                            as a fence */
#endif
}

static inline int64_t wick_clock_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
