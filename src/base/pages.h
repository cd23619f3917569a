/* Large pages: memory that is touched for the first time costs a fault for each page, about 2 us
 * for 4 KiB, and one for 2 MiB where the system has such pages. */
#ifndef WICK_BASE_PAGES_H
#define WICK_BASE_PAGES_H

#include "base/base.h"

enum { WICK_PAGES_LARGE = 2 << 20 };

/* A hint that [at, at + nbytes), whole large pages that nothing has touched yet, will be used. */
void wick_pages_hint(void *at, size_t nbytes);

#endif
