/* commands.h: declares the function of every subcommand of commands.def. */
#ifndef HYDRA_TOOLS_COMMANDS_H
#define HYDRA_TOOLS_COMMANDS_H

#include "tools/options.h"

#define COMMAND(name, function, summary) int function(int argc, char **argv);
#include "tools/commands.def"
#undef COMMAND

#endif
