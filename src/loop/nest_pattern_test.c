/* Reads whose lanes follow a pattern or are transposed: the loops give the same elements as the group without a
 * schedule, and no lane has a load of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "loop/interpret.h"
#include "loop/nest.h"

enum { MOST = 256 };

static const struct {
  const char *x, *y; /* dimensions of x [A, B, C] and of the result [Y, X] */
  const char *read;  /* the index of x, with its attributes */
  const char *steps; /* of the schedule; the result is `out` */
  uint32_t nx, ny;   /* elements */
  bool gathers;      /* lanes are loaded one by one, because the pattern varies */
} rows[] = {
    {"1,4,24", "4,48", "index=[0, y, x floordiv 2]", "split out.x lane:16; vector out.lane; ", 96,
     192, false},
    {"2,2,24", "2,48", "index=[x mod 2, y, x floordiv 2]", "split out.x lane:16; vector out.lane; ",
     96, 96, false},
    {"4,2,13", "2,50", "index=[x mod 4, y, x floordiv 4]", "split out.x lane:16; vector out.lane; ",
     104, 100, false},
    {"3,2,32", "2,96", "index=[x mod 3, y, x floordiv 3]",
     "split out.x lane:16; split out.x vb:3; vector out.lane; unroll out.vb; ", 192, 192, false},
    {"3,2,17", "2,51", "index=[x mod 3, y, x floordiv 3]",
     "split out.x lane:16; split out.x vb:3; vector out.lane; unroll out.vb; ", 102, 102, false},
    {"3,2,32", "2,96", "index=[x mod 3, y, x floordiv 3]", "split out.x lane:16; vector out.lane; ",
     192, 192, true},
    /* rows and lanes that are outside: 3 of 4 phases exist along x, 1 of 2 along y */
    {"3,2,16", "4,64", "index=[x mod 4, y floordiv 2 + 2 * (y mod 2), x floordiv 4], guard=true",
     "split out.x lane:16; vector out.lane; ", 96, 256, false},
    {"1,4,6", "4,12", "index=[0, y, (x + 1) floordiv 2], guard=true",
     "split out.x lane:8; vector out.lane; ", 24, 48, false},
    /* a transposition of 13 rows in blocks of 8: rows of the last block are outside */
    {"1,13,16", "32,8", "index=[0, x + 8 * (y floordiv 16), y mod 16], guard=true",
     "split out.y turned:8; order out: y turned x; vector out.x; turn out.turned; ", 208, 256,
     false},
    /* backwards and forwards in one vector */
    {"1,2,40", "2,32", "index=[0, y, max(x, 31 - x)]", "split out.x lane:8; vector out.lane; ", 80,
     64, true},
};

static void pattern_ok(wick_status s)
{
  if (s) fail_msg("%s", s->message);
}

static void pattern_run(const wick_func *g, const char *steps, bool *gathers, float *y, uint32_t ny,
                        float *x, uint32_t nx, wick_arena *mem, wick_arena *tmp)
{
  wick_kernel_info k;
  wick_schedule *s = wick_schedule_begin(g, mem);
  pattern_ok(wick_schedule_apply(s, steps));
  pattern_ok(wick_nest(g, s, NULL, mem, tmp, &k));
  pattern_ok(wick_verify_func(k.loop, tmp));
  *gathers = false;
  for (uint32_t i = 0; i < k.loop->nnode; i++)
    *gathers = *gathers || k.loop->node[i].op == WICK_OP_load_lanes;
  wick_interpret_arg arg[4] = {{y, ny, 0}, {x, nx, 0}, {NULL, 0, 0}, {NULL, 0, k.tasks.v}};
  pattern_ok(wick_interpret(k.loop, 4, arg, mem, tmp));
}

static void pattern_row(uint32_t i, wick_arena *mem, wick_arena *tmp, wick_module *m)
{
  float x[MOST], y[MOST], want[MOST];
  bool gathers;
  const char *text = wick_str_printf(
      tmp,
      "group @g(%%x: f32[%s]) -> f32[%s] {\n"
      "  %%0 = map {name=\"out\", axes=[y:%.*s, x:%s]} () {\n"
      "    %%1 = const 7 : f32 %%2 = read %%x%s {%s} : f32 yield %%2 } : f32[%s]\n"
      "  return %%0 }",
      rows[i].x, rows[i].y, (int)strcspn(rows[i].y, ","), rows[i].y, strchr(rows[i].y, ',') + 1,
      strstr(rows[i].read, "guard") ? ", %1" : "", rows[i].read, rows[i].y);
  pattern_ok(wick_parse_module(m, "t", text, strlen(text), tmp));
  for (uint32_t k = 0; k < rows[i].nx; k++) x[k] = (float)k + 100;
  memset(y, 0, sizeof y), memset(want, 0, sizeof want);
  pattern_run(m->funcs.at[0], "", &gathers, want, rows[i].ny, x, rows[i].nx, mem, tmp);
  pattern_run(m->funcs.at[0], rows[i].steps, &gathers, y, rows[i].ny, x, rows[i].nx, mem, tmp);
  if (memcmp(y, want, sizeof y) != 0) fail_msg("`%s` gives something else", rows[i].read);
  if (gathers != rows[i].gathers) fail_msg("`%s`: lanes are loaded one by one", rows[i].read);
}

static void patterns_are_read_in_short_vectors(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    assert_int_equal(setjmp(guard.where), 0);
    wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
    wick_module *m = wick_module_create(&guard, "");
    pattern_row(i, &mem, &tmp, m);
    wick_module_free(m);
    wick_arena_free(&tmp);
    wick_arena_free(&mem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(patterns_are_read_in_short_vectors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
