/* options.c: command-line options from one table. */
#include "tools/options.h"
#include "tools/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/parse.h"

static void print_help(const char *usage, const struct tool_option *options)
{
    printf("%s\n\nOptions:\n", usage);
    for (const struct tool_option *o = options; o->name != NULL; o++) {
        char left[64];

        snprintf(left, sizeof left, "--%s%s%s", o->name, o->argument == NULL ? "" : " ",
                 o->argument == NULL ? "" : o->argument);
        printf("  %-28s %s", left, o->help);
        /* A target outside its range has no default: the option is required. */
        if (o->kind == TOOL_INT && (double)*(const int64_t *)o->target >= o->low)
            printf(" (default %" PRId64 ")", *(const int64_t *)o->target);
        else if (o->kind == TOOL_DOUBLE && *(const double *)o->target >= o->low)
            printf(" (default %g)", *(const double *)o->target);
        else if (o->kind == TOOL_STRING && *(const char *const *)o->target != NULL)
            printf(" (default %s)", *(const char *const *)o->target);
        printf("\n");
    }
    printf("  %-28s %s\n", "--help", "show this text");
}

/* Option named by `text` up to '=' or its end, or NULL. */
static const struct tool_option *find(const struct tool_option *options, const char *text)
{
    size_t length = strcspn(text, "=");

    for (const struct tool_option *o = options; o->name != NULL; o++)
        if (strlen(o->name) == length && strncmp(o->name, text, length) == 0)
            return o;
    return NULL;
}

static int store(const struct tool_option *option, const char *value)
{
    char place[64];

    snprintf(place, sizeof place, "--%s", option->name);
    switch (option->kind) {
    case TOOL_INT:
        return hydra_parse_int(place, value, (int64_t)option->low,
                               option->high >= 0x1p62 ? INT64_MAX : (int64_t)option->high, option->target);
    case TOOL_DOUBLE:
        return hydra_parse_double(place, value, option->low, option->high, option->target);
    default:
        *(const char **)option->target = value;
        return HYDRA_SUCCESS;
    }
}

int tool_options_read(int argc, char **argv, const char *usage, const struct tool_option *options, bool *done)
{
    int status = HYDRA_SUCCESS;

    *done = false;
    for (int i = 1; i < argc; i++) {
        const struct tool_option *option;
        const char *value;

        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(usage, options);
            *done = true;
            return HYDRA_SUCCESS;
        }
        HYDRA_REQUIRE(strncmp(argv[i], "--", 2) == 0, HYDRA_ERR_ARG, "'%s' is not an option of %s (see --help)",
                      argv[i], argv[0]);
        option = find(options, argv[i] + 2);
        HYDRA_REQUIRE(option != NULL, HYDRA_ERR_ARG, "%s has no option '%s' (see --help)", argv[0], argv[i]);
        value = strchr(argv[i], '=');
        if (option->kind == TOOL_FLAG) {
            HYDRA_REQUIRE(value == NULL, HYDRA_ERR_ARG, "--%s takes no value", option->name);
            *(bool *)option->target = true;
            continue;
        }
        value = value != NULL ? value + 1 : i + 1 < argc ? argv[++i] : NULL;
        HYDRA_REQUIRE(value != NULL, HYDRA_ERR_ARG, "--%s needs a value: %s", option->name, option->argument);
        HYDRA_TRY(store(option, value));
    }
    return HYDRA_SUCCESS;

fail:
    return status;
}

void tool_command_line(int argc, char **argv, char text[TOOL_COMMAND_LINE])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,./+:%@";
    size_t used = (size_t)snprintf(text, TOOL_COMMAND_LINE, "hydra-dcp");

    for (int i = 0; i < argc && used < TOOL_COMMAND_LINE; i++) {
        const char *quote = argv[i][0] != '\0' && argv[i][strspn(argv[i], plain)] == '\0' ? "" : "'";

        used += (size_t)snprintf(text + used, TOOL_COMMAND_LINE - used, " %s%s%s", quote, argv[i], quote);
    }
}

int tool_fail(int status)
{
    tool_progress_end();
    fprintf(stderr, "hydra-dcp: %s\n",
            hydra_error_detail()[0] != '\0' ? hydra_error_detail() : Hydra_Error_string(status));
    return status == HYDRA_ERR_ARG || status == HYDRA_ERR_FORMAT ? 2 : 1;
}
