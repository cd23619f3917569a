/* ML programs. */
#include "import/coreml/program.h"

static const wick_import_op program_ops[] = {{0}};
static const wick_import_op *const program_families[] = {program_ops};

const wick_import_format wick_coreml_program_format = {.name = "Core ML programs",
                                                       .version_word = "opset",
                                                       .nfamily = WICK_COUNT(program_families),
                                                       .families = program_families};

void wick_coreml_program(wick_import *c, const wick_coreml_model *m, wick_span program)
{
  (void)m, (void)program;
  wick_import_error(c, WICK_EUNSUPPORTED, c->file, "ML programs are not supported");
}
