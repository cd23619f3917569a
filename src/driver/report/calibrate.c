/* Measures this machine's processor: a chain of integer operations gives the length of a cycle, the
 * programs of ceiling.h give the rest. */
#include "driver/report/calibrate.h"

#include <math.h>
#include <string.h>

#include "driver/report/ceiling.h"
#include "runtime/context.h"

/* Returns the seconds of a cycle, by operations each of which needs the one before: an addition and
 * an exclusive or take a cycle each on every processor. */
static double calibrate_cycle(void)
{
  enum { TRIES = 40, STEPS = 100000, OPERATIONS = 8 };
  static volatile uint64_t one = 1, other = 0x55; /* no compiler knows them */
  double best = 1;
  for (int try = 0; try < TRIES; try++) {
    uint64_t x = one, a = one, b = other;
    double begin = wick_now();
    for (int i = 0; i < STEPS; i++) {
      x = (x + a) ^ b, x = (x + b) ^ a;
      x = (x + a) ^ b, x = (x + b) ^ a;
    }
    best = fmin(best, wick_now() - begin);
    one = x | 1;
  }
  return best / ((double)STEPS * OPERATIONS);
}

/* Measures a line of each level: of twice the level before or half of its own size, whichever is
 * more. A last cache that is shared by many cores, or that is not known, ends where memory begins:
 * at `MEMORY` bytes. */
static void calibrate_lines(const uint64_t *cache, double cycle, wick_arena *mem, double *out)
{
  enum { MEMORY = 192 << 20, THIRD = 24 << 20 };
  static const double hidden = 0.5; /* by arithmetic, where lines are fetched ahead */
  uint64_t second = 2 * cache[0] > cache[1] / 2 ? 2 * cache[0] : cache[1] / 2,
           third = 2 * cache[1] > cache[2] / 2 ? 2 * cache[1] : cache[2] / 2;
  if (third > THIRD) third = THIRD > 2 * cache[1] ? THIRD : 2 * cache[1];
  out[0] = wick_ceiling_line(second, mem) / cycle;
  out[1] = fmax(hidden * wick_ceiling_line(third, mem) / cycle, out[0]);
  out[2] = fmax(hidden * wick_ceiling_line(MEMORY, mem) / cycle, out[1]);
}

/* Measures how many rows are read as fast as a few. */
static double calibrate_streams(const uint64_t *cache, wick_arena *mem)
{
  enum { FEW = 16, MOST = 512, BYTES = 8 << 20 };
  static const double slower = 1.5;
  uint64_t nbytes = 4 * cache[1] > BYTES ? 4 * cache[1] : BYTES;
  double few = wick_ceiling_rows(nbytes, FEW, mem);
  uint32_t rows = FEW;
  while (rows < MOST && wick_ceiling_rows(nbytes, 2 * rows, mem) < slower * few) rows *= 2;
  return rows;
}

wick_status wick_calibrate(const wick_target *t, wick_guard *guard, wick_arena *mem,
                           wick_processor *out)
{
  wick_ceiling_rates rates;
  WICK_TRY(wick_ceiling_pipes(t, guard, mem, &rates));
  wick_target host = *t;
  host.processor = *wick_processor_host(wick_target_processor(t), out);
  uint64_t cache[3] = {wick_target_cache(&host, 1), wick_target_cache(&host, 2),
                       wick_target_cache(&host, 3)};
  double cycle = calibrate_cycle();
  *out = (wick_processor){.name = "measured", .machine = t->machine};
  memcpy(out->cache_bytes, host.processor.cache_bytes, sizeof out->cache_bytes);
  out->ghz = 1e-9 / cycle;
  out->products_bytes = out->loads_bytes = t->vector_bytes ? t->vector_bytes : t->pointer_bits / 8;
  out->products = rates.products * cycle;
  out->latency = 1 / (rates.dependent * cycle);
  out->loads = rates.loads * cycle;
  calibrate_lines(cache, cycle, mem, out->line);
  out->streams = calibrate_streams(cache, mem);
  return NULL;
}
