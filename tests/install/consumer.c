/* A user's program, built only with wick.h and libwick. */
#include <stdio.h>

#include <wick/wick.h>

int main(void)
{
  wick_error_free(NULL);
  printf("wick %d.%d %d\n", WICK_VERSION_MAJOR, WICK_VERSION_MINOR, wick_error_code(NULL));
  return 0;
}
