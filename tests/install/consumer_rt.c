/* A user's program that only loads and runs artifacts. */
#include <stdio.h>

#include <wick/wick.h>

int main(void)
{
  printf("rt %d\n", wick_error_code(NULL));
  return 0;
}
