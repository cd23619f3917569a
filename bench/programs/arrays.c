/* Loops on numbers and arrays. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int64_t escapes(double re, double im, int64_t most)
{
  double x = 0, y = 0;
  int64_t n = 0;
  while (x * x + y * y <= 4.0 && n < most) {
    double t = x * x - y * y + re;
    y = 2.0 * x * y + im, x = t, n++;
  }
  return n;
}
int64_t mandelbrot(int64_t n)
{
  int64_t total = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      total += escapes((double)i * 3.0 / (double)n - 2.0, (double)j * 3.0 / (double)n - 1.5, 200);
  return total;
}

int64_t sieve(int64_t n)
{
  bool *p = malloc(1000000);
  memset(p, 1, 1000000);
  for (int64_t i = 2; i * i < n; i++)
    if (p[i])
      for (int64_t j = i * i; j < n; j += i) p[j] = false;
  int64_t c = 0;
  for (int64_t i = 2; i < n; i++) c += p[i];
  free(p);
  return c;
}

int64_t chain(int64_t n)
{
  static int64_t d[201], m[200][200];
  memset(m, 0, sizeof m);
  for (int64_t k = 0; k < n + 1; k++) d[k] = 1 + k * 7919 % 97;
  for (int64_t len = 1; len < n; len++)
    for (int64_t i = 0; i < n - len; i++) {
      int64_t j = i + len, best = 1000000000000;
      for (int64_t k = i; k < j; k++) {
        int64_t cost = m[i][k] + m[k + 1][j] + d[i] * d[k + 1] * d[j + 1];
        if (cost < best) best = cost;
      }
      m[i][j] = best;
    }
  return m[0][n - 1];
}

typedef struct bodies {
  double x[5], y[5], z[5], vx[5], vy[5], vz[5], mass[5];
} bodies;
static const bodies start = {
    {0.0, 4.84143144246472090, 8.34336671824457987, 12.8943695621391310, 15.3796971148509165},
    {0.0, -1.16032004402742839, 4.12479856412430479, -15.1111514016986312, -25.9193146099879641},
    {0.0, -0.103622044471123109, -0.403523417114321381, -0.223307578892655734,
     0.179258772950371181},
    {0.0, 0.606326392995832, -1.01077434617879236, 1.08279100644153536, 0.979090732243897976},
    {0.0, 2.81198684491626016, 1.82566237123041186, 0.868713018169608219, 0.594698998647676060},
    {0.0, -0.0252183616598876288, 0.00841576137658415351, -0.0108326374013636358,
     -0.0347559555650421152},
    {39.4784176043574320, 0.0376936749096657936, 0.0112863261319687668, 0.00172372405705971400,
     0.00203368686992463036}};
double nbody(int64_t n)
{
  bodies b = start;
  const double dt = 0.001;
  for (int64_t s = 0; s < n; s++) {
    for (int i = 0; i < 5; i++)
      for (int j = i + 1; j < 5; j++) {
        double dx = b.x[i] - b.x[j], dy = b.y[i] - b.y[j], dz = b.z[i] - b.z[j];
        double d2 = dx * dx + dy * dy + dz * dz, mag = dt / (d2 * sqrt(d2));
        double mi = b.mass[i] * mag, mj = b.mass[j] * mag;
        b.vx[i] -= dx * mj, b.vy[i] -= dy * mj, b.vz[i] -= dz * mj;
        b.vx[j] += dx * mi, b.vy[j] += dy * mi, b.vz[j] += dz * mi;
      }
    for (int i = 0; i < 5; i++)
      b.x[i] += dt * b.vx[i], b.y[i] += dt * b.vy[i], b.z[i] += dt * b.vz[i];
  }
  double e = 0;
  for (int i = 0; i < 5; i++) {
    e += 0.5 * b.mass[i] * (b.vx[i] * b.vx[i] + b.vy[i] * b.vy[i] + b.vz[i] * b.vz[i]);
    for (int j = i + 1; j < 5; j++) {
      double dx = b.x[i] - b.x[j], dy = b.y[i] - b.y[j], dz = b.z[i] - b.z[j];
      e -= b.mass[i] * b.mass[j] / sqrt(dx * dx + dy * dy + dz * dz);
    }
  }
  return e;
}

double nbody_two(int64_t n)
{
  double x = 1, y = 0, u = 0, v = 1;
  for (int64_t i = 0; i < n; i++) {
    double r2 = x * x + y * y, r3 = r2 * sqrt(r2);
    u -= 0.001 * x / r3, v -= 0.001 * y / r3;
    x += 0.001 * u, y += 0.001 * v;
  }
  return 0.5 * (u * u + v * v) - 1.0 / sqrt(x * x + y * y);
}

static int64_t x[4096];
static void numbers(int64_t n)
{
  int64_t s = 42;
  for (int64_t i = 0; i < n; i++) {
    s = (s * 1103515245 + 12345) % 2147483648;
    x[i] = s;
  }
}
static int64_t checksum(int64_t n)
{
  int64_t h = 0;
  for (int64_t i = 0; i < n; i++) h = (h * 31 + x[i]) % 1000000007;
  return h;
}
static void exchange(int64_t i, int64_t j)
{
  int64_t t = x[i];
  x[i] = x[j], x[j] = t;
}
int64_t sort_insertion(int64_t n)
{
  numbers(n);
  for (int64_t i = 1; i < n; i++)
    for (int64_t j = i; j > 0 && x[j - 1] > x[j]; j--) exchange(j, j - 1);
  return checksum(n);
}
static void sift(int64_t i, int64_t n)
{
  for (;;) {
    int64_t c = 2 * i + 1;
    if (c + 1 < n && x[c + 1] > x[c]) c++;
    if (c >= n || x[c] <= x[i]) return;
    exchange(i, c);
    i = c;
  }
}
int64_t sort_heap(int64_t n)
{
  numbers(n);
  for (int64_t k = n / 2; k-- > 0;) sift(k, n);
  for (int64_t e = n - 1; e > 0; e--) {
    exchange(0, e);
    sift(0, e);
  }
  return checksum(n);
}

int64_t counts(int64_t n)
{
  static int64_t keys[65536], values[65536];
  memset(keys, 0, sizeof keys);
  memset(values, 0, sizeof values);
  int64_t s = 1, h = 0;
  for (int64_t k = 0; k < n; k++) {
    s = (s * 1103515245 + 12345) % 2147483648;
    int64_t key = 1 + s / 65536 % 30000, i = key * 40503 % 65536;
    while (keys[i] != 0 && keys[i] != key) i = (i + 1) % 65536;
    h = (h + values[i] * key) % 1000000007;
    keys[i] = key, values[i]++;
  }
  return h;
}
