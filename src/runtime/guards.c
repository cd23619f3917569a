/* Checks and compares the words of guard inputs, one input after another. */
#include "runtime/guards.h"

#include <string.h>

uint32_t wick_guards_nbody(const wick_program *p, uint32_t i)
{
  return (uint32_t)((p->io[p->guard_input[i]].nbytes + 7) / 8);
}

uint32_t wick_guards_nword(const wick_program *p)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nguard_input; i++) n += 1 + wick_guards_nbody(p, i);
  return n;
}

bool wick_guards_valid(const wick_program *p, const int64_t *guards)
{
  for (uint32_t i = 0; i < p->nguard_input; i++) {
    uint32_t n = wick_guards_nbody(p, i);
    size_t nbytes = (size_t)p->io[p->guard_input[i]].nbytes;
    const char *at = (const char *)(guards + 1);
    if (guards[0] != 0 && guards[0] != 1) return false;
    for (size_t k = guards[0] ? nbytes : 0; k < 8 * (size_t)n; k++)
      if (at[k]) return false;
    guards += 1 + n;
  }
  return true;
}

bool wick_guards_match(const wick_program *p, const int64_t *guards, const void *const *inputs)
{
  for (uint32_t i = 0; i < p->nguard_input; i++) {
    const wick_io *io = &p->io[p->guard_input[i]];
    if (guards[0] && memcmp(guards + 1, inputs[p->guard_input[i]], (size_t)io->nbytes) != 0)
      return false;
    guards += 1 + wick_guards_nbody(p, i);
  }
  return true;
}
