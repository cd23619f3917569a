/* The processor that a compilation's schedules are for: an entry of the table, a file of measured
 * numbers, or this machine's. */
#ifndef WICK_DRIVER_PROCESSOR_H
#define WICK_DRIVER_PROCESSOR_H

#include "target/target.h"

/* Sets the processor of t to `tune`: a name of the table, a path, or "host". NULL: the typical one,
 * or that of the host with `is_host`, for which a measured processor in the cache's folder counts
 * first (`folder`: NULL for the default one, also without a cache of artifacts). Fails with WICK_EINVAL for an unknown name, for another
 * machine's processor, and with the line of a file that cannot be read. */
WICK_CHECKED wick_status wick_target_tune(wick_target *t, const char *tune, bool is_host,
                                          const char *folder, wick_arena *mem);

/* Returns the file of the measured processor of this machine in a folder of the cache. Its name
 * holds what the processor says of itself, so that machines may share the folder. */
const char *wick_processor_path(const char *folder, wick_arena *mem);

#endif
