/* ML programs (MIL), the kind of model that is stored as a graph of functions.
 *
 * model.c owns the rest of a model: it reads the container, declares the inputs and outputs of the
 * description, and dispatches on the kind. A kind imports its part of the model:
 *  - the model's inputs are bound in c->scope, by the names of the description, with the types that
 *    wick_coreml_feature gives (images are already [1, channels, height, width] in f32, in the order
 *    of colours that the model declares);
 *  - it binds each output of the description in c->scope (wick_import_bind). model.c casts it to the
 *    declared element type;
 *  - weights that the program names are files of the package: wick_coreml_file.
 * While a program is imported, c->format is wick_coreml_program_format: its table of operators is
 * apart from that of the layers, because both have names such as "add". */
#ifndef WICK_IMPORT_COREML_PROGRAM_H
#define WICK_IMPORT_COREML_PROGRAM_H

#include "import/coreml/model.h"

extern const wick_import_format wick_coreml_program_format;

/* Imports the message MILSpec.Program, whose bytes are checked by nobody yet. m->interface is the
 * description of the function that is asked for, m->function its name ("main" if the model does not
 * say). Problems are added to c. */
void wick_coreml_program(wick_import *c, const wick_coreml_model *m, wick_span program);

#endif
