#include "ops/nn/conv_cost.h"

#include <math.h>

/* Returns the channels of a tile, which does not cross the end of a group. */
static double conv_cost_channels(const wick_target *t, int64_t channels, int64_t group)
{
  enum { REGISTERS = 32 };
  bool few = t->nvector < REGISTERS;
  int64_t most = few ? 6 : 12, alone = few ? 13 : 20, share = wick_max_i64(channels / group, 1),
          n = wick_min_i64(share, most);
  if (group == 1) return (double)n;
  if (share <= alone) return (double)share;
  while (share % n) n--;
  return (double)n;
}

/* A step of a tile loads the vector of a row, from `apart` vectors of memory that end in two lines,
 * and for each channel a weight, which the vectors of the tile share. Shuffles take the place of
 * multiply-adds. At the end the sums are stored in distant rows. Depthwise convolutions have other
 * loops, in which each product has two loads. */
double wick_conv_plain_cost(const wick_target *t, int64_t channels, int64_t group, int64_t sum,
                            int64_t apart)
{
  static const double crossing = 1.75, ends = 1.12, store = 6, alone = 1.5;
  enum { SHORT = 16 };
  if (channels == group) return alone + (apart > 1 ? 2 * (double)apart : 0);
  double share = conv_cost_channels(t, channels, group), n = (double)apart,
         sums = 0.75 * (t->nvector ? (double)t->nvector : 8),
         products = (share + (n - 1) * (double)wick_target_shuffles(t)) / wick_target_products(t),
         loads = (crossing * n + share * share / sums) / wick_target_loads(t);
  return ends * fmax(products, loads) * wick_target_products(t) / share +
         store / (double)wick_max_i64(sum, SHORT);
}
