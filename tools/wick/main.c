/* The command `wick`. */
#include "command.h"

int main(int argc, char **argv) { return wick_command_main(argc, argv); }
