/* cmd_bench.c: hydra-dcp bench: finds the benchmark. The benchmarks are in bench.def. */
#include <stdio.h>
#include <string.h>

#include "tools/commands.h"

#define BENCH(name, function, summary) int function(int argc, char **argv);
#include "tools/bench.def"
#undef BENCH

static const struct tool_command benches[] = {
#define BENCH(name, function, summary) {name, summary, function},
#include "tools/bench.def"
#undef BENCH
    {NULL, NULL, NULL},
};

static void print_benches(FILE *to)
{
    fprintf(to, "usage: hydra-dcp bench NAME [options]   (hydra-dcp bench NAME --help)\n\nBenchmarks:\n");
    for (const struct tool_command *b = benches; b->name != NULL; b++)
        fprintf(to, "  %-14s %s\n", b->name, b->summary);
}

int hydra_cmd_bench(int argc, char **argv)
{
    if (argc < 2) {
        print_benches(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_benches(stdout);
        return 0;
    }
    for (const struct tool_command *b = benches; b->name != NULL; b++)
        if (strcmp(argv[1], b->name) == 0)
            return b->run(argc - 1, argv + 1);
    fprintf(stderr, "hydra-dcp: bench has no '%s'\n\n", argv[1]);
    print_benches(stderr);
    return 2;
}
