/* Walks over the words of all watched inputs. */
#include "runtime/guards.h"

#include <string.h>

uint32_t wick_held_nbody(const wick_program *p, uint32_t i)
{
  return (uint32_t)((p->io[p->watch[i]].nbytes + 7) / 8);
}

uint32_t wick_held_nword(const wick_program *p)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nwatch; i++) n += 1 + wick_held_nbody(p, i);
  return n;
}

bool wick_held_good(const wick_program *p, const int64_t *held)
{
  for (uint32_t i = 0; i < p->nwatch; i++) {
    uint32_t n = wick_held_nbody(p, i);
    size_t nbytes = (size_t)p->io[p->watch[i]].nbytes;
    const char *at = (const char *)(held + 1);
    if (held[0] != 0 && held[0] != 1) return false;
    for (size_t k = held[0] ? nbytes : 0; k < 8 * (size_t)n; k++)
      if (at[k]) return false;
    held += 1 + n;
  }
  return true;
}

bool wick_held_fits(const wick_program *p, const int64_t *held, const void *const *inputs)
{
  for (uint32_t i = 0; i < p->nwatch; i++) {
    const wick_io *io = &p->io[p->watch[i]];
    if (held[0] && memcmp(held + 1, inputs[p->watch[i]], (size_t)io->nbytes) != 0) return false;
    held += 1 + wick_held_nbody(p, i);
  }
  return true;
}
