/* options.h: command-line options from one table, so that --help is what the command reads. */
#ifndef HYDRA_TOOLS_OPTIONS_H
#define HYDRA_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum tool_option_kind { TOOL_FLAG, TOOL_INT, TOOL_DOUBLE, TOOL_STRING };

struct tool_option {
    const char *name; /* without the dashes; NULL ends the table */
    enum tool_option_kind kind;
    void *target;         /* bool, int64_t, double or const char *: holds the default before, the value after */
    const char *argument; /* "G", "FILE"; NULL for a flag */
    const char *help;     /* one sentence; the default is added for numbers */
    double low, high;     /* numbers: allowed range */
};

struct tool_command {
    const char *name;                  /* "plan" */
    const char *summary;               /* one line for the list of commands */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit status */
};

/* Read argv into the table's targets. Handles --help (prints `usage` and the table, returns 1 in *done).
 * Returns HYDRA_SUCCESS or an error whose detail names the option. No positional arguments are taken. */
int tool_options_read(int argc, char **argv, const char *usage, const struct tool_option *options, bool *done);

/* The command line as it was typed, quoted where a shell would need it; cut when longer. */
enum { TOOL_COMMAND_LINE = 1024 };
void tool_command_line(int argc, char **argv, char text[TOOL_COMMAND_LINE]);

/* Print "hydra-dcp: <detail>" to stderr and return an exit status of 2 for bad input, 1 for everything else. */
int tool_fail(int status);

#endif
