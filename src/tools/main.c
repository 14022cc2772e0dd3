/* main.c: the command hydra-dcp: finds the subcommand. */
#include <stdio.h>
#include <string.h>

#include "hydra_plan.h"
#include "tools/commands.h"

static const struct tool_command commands[] = {
#define COMMAND(name, function, summary) {name, summary, function},
#include "tools/commands.def"
#undef COMMAND
    {NULL, NULL, NULL},
};

static void print_commands(FILE *to)
{
    fprintf(to, "usage: hydra-dcp COMMAND [options]   (hydra-dcp COMMAND --help)\n\nCommands:\n");
    for (const struct tool_command *c = commands; c->name != NULL; c++)
        fprintf(to, "  %-14s %s\n", c->name, c->summary);
    fprintf(to, "  %-14s %s\n", "--version", "print the version");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_commands(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_commands(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        int major, minor, patch;

        Hydra_Get_version(&major, &minor, &patch);
        printf("hydra-dcp %d.%d.%d\n", major, minor, patch);
        return 0;
    }
    for (const struct tool_command *c = commands; c->name != NULL; c++) {
        if (strcmp(argv[1], c->name) == 0)
            return c->run(argc - 1, argv + 1);
    }
    fprintf(stderr, "hydra-dcp: '%s' is not a command\n\n", argv[1]);
    print_commands(stderr);
    return 2;
}
