/* For tests: calls a bundle twice on the bytes of the file `in`, which are the mutable data, and
 * writes them to the file `out`. The previous contents of the arena must not matter. The second
 * call is made with another rounding mode, must give the same bits, and must keep that mode. The
 * command line defines HEADER, FUNCTION, the sizes, and EMBEDDED or the file WEIGHTS. */
#include <stdio.h>
#include <string.h>

#include HEADER

/* The rounding mode. newlib has no fenv.h for Cortex-M. */
#if defined(__arm__) && !defined(__ARM_FP) /* software floats always round to nearest */
enum { NEAREST, UPWARD = NEAREST };
static void set_mode(int mode) { (void)mode; }
static int get_mode(void) { return NEAREST; }
#elif defined(__arm__)
enum { NEAREST = 0, UPWARD = 1 << 22 | 1 << 24 }; /* upward, with denormals flushed */
static int get_fpscr(void)
{
  int all;
  __asm__ volatile("vmrs %0, fpscr" : "=r"(all));
  return all;
}
static int get_mode(void) { return get_fpscr() & (3 << 22 | 1 << 24); }
static void set_mode(int mode) /* keeps the other bits, which loops of the M55 need */
{
  int all = (get_fpscr() & ~(3 << 22 | 1 << 24)) | mode;
  __asm__ volatile("vmsr fpscr, %0" : : "r"(all));
}
#else
#include <fenv.h>
enum { NEAREST = FE_TONEAREST, UPWARD = FE_UPWARD };
static void set_mode(int mode) { fesetround(mode); }
static int get_mode(void) { return fegetround(); }
#endif

#ifndef EMBEDDED
static _Alignas(64) unsigned char weights[CONSTANTS];
#endif
static _Alignas(64) unsigned char data[MUTABLE], first[MUTABLE];
static _Alignas(64) unsigned char arena[ARENA + 64];

static int fill(const char *path, void *at, size_t n)
{
  FILE *f = fopen(path, "rb");
  int ok = f && fread(at, 1, n, f) == n && fgetc(f) == EOF;
  if (f) fclose(f);
  return ok;
}

static int beyond_is_kept(void)
{
  for (size_t i = ARENA; i < sizeof arena; i++)
    if (arena[i] != 0xa5) return 0;
  return 1;
}

int main(void)
{
#ifdef EMBEDDED
  const void *weights = EMBEDDED;
#else
  if (!fill(WEIGHTS, weights, sizeof weights)) return 10;
#endif
  for (int run = 0; run < 2; run++) {
    if (!fill("in", data, sizeof data)) return 11;
    memset(arena, run ? 0xff : 0, ARENA);
    memset(arena + ARENA, 0xa5, 64);
    set_mode(run ? UPWARD : NEAREST);
    int code = FUNCTION(weights, data, arena), mode = get_mode();
    set_mode(NEAREST);
    if (code) return code;
    if (mode != (run ? UPWARD : NEAREST)) return 15;
    if (!beyond_is_kept()) return 12;
    if (run == 0) memcpy(first, data, sizeof data);
  }
  if (memcmp(first, data, sizeof data) != 0) return 13;
  FILE *f = fopen("out", "wb");
  if (!f || fwrite(data, sizeof data, 1, f) != 1 || fclose(f)) return 14;
  return 0;
}
