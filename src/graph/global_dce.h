/* Removes the graphs that the entry, main, does not name, directly or through others: passes leave
 * functions that call only themselves, or that a closure named which became dead. In a module
 * without an entry all stay. Time: linear in the nodes of the module, for each graph. */
#ifndef WICK_GRAPH_GLOBAL_DCE_H
#define WICK_GRAPH_GLOBAL_DCE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_global_dce(const wick_pass_context *pass, const wick_func *f,
                                              wick_func **out);

#endif
