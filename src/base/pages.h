/* Pages: memory that is touched for the first time costs a fault for each page, about 2 us for
 * 4 KiB, and one for 2 MiB where the system has such pages. All of this is hints: where the system
 * does not know them memory is the same. */
#ifndef WICK_BASE_PAGES_H
#define WICK_BASE_PAGES_H

#include "base/base.h"

enum { WICK_PAGES_LARGE = 2 << 20 };

/* [at, at + nbytes), whole large pages that nothing has touched yet, will be used. */
void wick_pages_hint(void *at, size_t nbytes);
/* Has the system give it pages, as if it were touched; what it holds stays. Others may use it. */
void wick_pages_touch(void *at, size_t nbytes);
/* Whole large pages in it go back: what they hold is lost. */
void wick_pages_release(void *at, size_t nbytes);

#endif
