/* Hints about pages. The first access to memory costs a fault for each page: about 2 us for 4 KiB,
 * or one fault for 2 MiB if the system has large pages. On a system without these hints the
 * functions do nothing. */
#ifndef WICK_BASE_PAGES_H
#define WICK_BASE_PAGES_H

#include "base/base.h"

enum { WICK_PAGES_LARGE = 2 << 20 };

/* Announces that [at, at + nbytes) will be used: whole large pages that have not been accessed. */
void wick_pages_hint(void *at, size_t nbytes);
/* Makes the system map the pages as an access would; the contents stay. Other threads may use the
 * memory meanwhile. */
void wick_pages_touch(void *at, size_t nbytes);
/* Returns the whole large pages of the range to the system; their contents are lost. */
void wick_pages_release(void *at, size_t nbytes);

#endif
