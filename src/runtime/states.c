#include "runtime/states.h"

#include <string.h>

#include "base/str.h"

enum { STATES_ALIGN = 64 };

bool wick_states_make(const wick_program *p, wick_allocator a, wick_states **out)
{
  *out = NULL;
  if (!p->nstate) return true;
  size_t nargs = ((size_t)p->ninput + p->noutput) * sizeof(void *),
         head = sizeof(wick_states) + nargs + p->nstate * sizeof(uint64_t), all = 0;
  uint32_t ncopy = wick_program_may_fail(p) ? 2 : 1;
  bool over = false;
  for (uint32_t i = 0; i < p->nstate; i++) {
    uint64_t nbytes = wick_states_io(p, i)->nbytes;
    over = over || nbytes > SIZE_MAX / 8 ||
           wick_add_overflows(all, wick_align_up((size_t)nbytes, STATES_ALIGN), &all);
  }
  size_t nblock = head + STATES_ALIGN + ncopy * all;
  if (over || all > SIZE_MAX / 8) return false;
  char *block = a.alloc(a.self, nblock);
  if (!block) return false;
  wick_states *s = (wick_states *)(void *)block;
  *s = (wick_states){.program = p, .allocator = a, .block = block, .nblock = nblock};
  s->input = (const void **)(void *)(block + sizeof *s);
  s->output = (void **)(void *)(block + sizeof *s) + p->ninput;
  s->offset = (uint64_t *)(void *)(block + sizeof *s + nargs);
  s->at[0] = block + head + (-(uintptr_t)(block + head) & (STATES_ALIGN - 1));
  s->at[1] = s->at[0] + (ncopy - 1) * all;
  s->offset[0] = 0;
  for (uint32_t i = 0; i + 1 < p->nstate; i++)
    s->offset[i + 1] = s->offset[i] + wick_align_up(wick_states_io(p, i)->nbytes, STATES_ALIGN);
  wick_states_reset(s);
  *out = s;
  return true;
}

void wick_states_free(wick_states *s)
{
  if (s) s->allocator.free(s->allocator.self, s->block, s->nblock);
}

void wick_states_reset(wick_states *s)
{
  for (uint32_t i = 0; i < s->program->nstate; i++) {
    size_t nbytes = (size_t)wick_states_io(s->program, i)->nbytes;
    const void *initial = s->program->initial[i];
    if (initial)
      memcpy(wick_states_at(s, i), initial, nbytes);
    else
      memset(wick_states_at(s, i), 0, nbytes);
  }
}

uint32_t wick_states_find(const wick_program *p, const char *name)
{
  for (uint32_t i = 0; i < p->nstate; i++)
    if (strcmp(wick_states_io(p, i)->name, name) == 0) return i;
  return UINT32_MAX;
}

void *wick_states_at(const wick_states *s, uint32_t i) { return s->at[s->now] + s->offset[i]; }

void wick_states_begin(wick_states *s, const void *const *inputs, void *const *outputs)
{
  const wick_program *p = s->program;
  uint32_t nin = wick_program_ninput(p), nout = wick_program_noutput(p);
  if (nin) memcpy(s->input, inputs, nin * sizeof *inputs);
  if (nout) memcpy(s->output, outputs, nout * sizeof *outputs);
  for (uint32_t i = 0; i < p->nstate; i++) {
    s->input[nin + i] = wick_states_at(s, i);
    s->output[nout + i] = s->at[1 - s->now] + s->offset[i];
  }
}

void wick_states_end(wick_states *s, bool good)
{
  if (good) s->now = 1 - s->now;
}
