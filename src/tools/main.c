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

static int find_and_run(int argc, char **argv)
{
    for (const struct tool_command *c = commands; c->name != NULL; c++)
        if (strcmp(argv[0], c->name) == 0)
            return c->run(argc, argv);
    fprintf(stderr, "hydra-dcp: '%s' is not a command\n\n", argv[0]);
    print_commands(stderr);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_commands(stderr);
        return 2;
    }
    if (strcmp(argv[1], "help") == 0 && argc == 3) {
        char help[] = "--help";
        char *asked[] = {argv[2], help, NULL};

        return find_and_run(2, asked);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_commands(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        int major, minor, patch;

        Hydra_Get_version(&major, &minor, &patch);
        printf("hydra-dcp %d.%d.%d\n", major, minor, patch);
        return 0;
    }
    return find_and_run(argc - 1, argv + 1);
}
