/* Recursion on numbers. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static int64_t tak(int64_t x, int64_t y, int64_t z)
{
  return y >= x ? z : tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y));
}
int64_t tak_if(int64_t n) { return tak(n, n - 6, n - 12); }

static int64_t fib(int64_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int64_t fib_if(int64_t n) { return fib(n); }

static int64_t ackermann(int64_t m, int64_t n)
{
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
int64_t ackermann_if(int64_t n) { return ackermann(n, 7); }

static int64_t place(int64_t free, int64_t left, int64_t right, int64_t all)
{
  if (!free) return 0;
  int64_t bit = free & -free, l = (left | bit) * 2, r = (right | bit) / 2, a = all - bit;
  int64_t here = a == 0 ? 1 : place(a & ~(l | r), l, r, a);
  return here + place(free - bit, left, right, all);
}
int64_t queens_bits(int64_t n)
{
  int64_t all = ((int64_t)1 << n) - 1;
  return place(all, 0, 0, all);
}

static bool is_safe(const int64_t *column, int64_t row, int64_t c)
{
  for (int64_t i = 0; i < row; i++) {
    int64_t d = column[i] - c;
    if (d == 0 || d == row - i || d == i - row) return false;
  }
  return true;
}
static int64_t solve(int64_t *column, int64_t row, int64_t n)
{
  if (row == n) return 1;
  int64_t found = 0;
  for (int64_t c = 0; c < n; c++)
    if (is_safe(column, row, c)) {
      column[row] = c;
      found += solve(column, row + 1, n);
    }
  return found;
}
int64_t queens_array(int64_t n)
{
  int64_t column[16] = {0};
  return solve(column, 0, n);
}

/* Not static: gcc would turn it into a loop. */
__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static int64_t depth(int64_t k)
{
  return k == 0 ? 0 : 1 + depth(k - 1);
}
int64_t deep(int64_t n) { return depth(n); }
