/* For tests: a bundle as a WebAssembly module. runner_wasm.js fills and reads its memory. */
#include HEADER

typedef __SIZE_TYPE__ size;

#ifndef EMBEDDED
_Alignas(64) unsigned char weights[CONSTANTS];
#else
extern const unsigned char EMBEDDED[];
#define weights EMBEDDED
#endif
_Alignas(64) unsigned char data[MUTABLE];
_Alignas(64) unsigned char arena[ARENA];

void *memcpy(void *to, const void *from, size n)
{
  unsigned char *t = to;
  const unsigned char *f = from;
  while (n--) *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, size n)
{
  unsigned char *t = to;
  const unsigned char *f = from;
  if (t < f) return memcpy(to, from, n);
  while (n--) t[n] = f[n];
  return to;
}

void *memset(void *to, int byte, size n)
{
  unsigned char *t = to;
  while (n--) *t++ = (unsigned char)byte;
  return to;
}

const void *weights_at(void) { return weights; }
void *data_at(void) { return data; }
void *arena_at(void) { return arena; }
int run(void) { return FUNCTION(weights, data, arena); }
