/* Forms kernels: a graph function becomes groups, and a low function that runs them on buffers.
 *
 * A group is one node with a definition in stages, with the element-wise nodes after it that are
 * the only users of its result; graph/group/assign.h has the rules. Reshapes become views. Each
 * group gets its first schedule from the templates (graph/group/template.h).
 *   f    a verified graph function, after decompose: all of its operators have stages
 *   out  the low function of the same name; the groups are added to the module
 * Fails: WICK_EUNSUPPORTED for nodes without stages; all of them are reported at once. */
#ifndef WICK_GRAPH_GROUP_FORM_KERNELS_H
#define WICK_GRAPH_GROUP_FORM_KERNELS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_form_kernels(const wick_pass_context *pass, const wick_func *f,
                                                wick_func **out);

#endif
