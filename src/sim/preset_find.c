/* preset_find.c: where a preset's file is: a path as given, else a folder beside the program or the installed one. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/error.h"
#include "sim/preset.h"

#ifndef HYDRA_PKGDATADIR
#define HYDRA_PKGDATADIR "/usr/local/share/hydra-dcp"
#endif

static bool is_path(const char *name)
{
    size_t length = strlen(name);

    return strchr(name, '/') != NULL || (length > 4 && strcmp(name + length - 4, ".cfg") == 0);
}

/* Folder of the running program, "" when the system does not tell. */
static void program_folder(char *folder, size_t len)
{
    ssize_t got = readlink("/proc/self/exe", folder, len - 1);
    char *slash;

    folder[got > 0 ? got : 0] = '\0';
    slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
}

int hydra_preset_find(const char *folder, const char *name, char *path, int64_t len)
{
    /* An installed tree that was moved; a build tree, where libtool puts the program into .libs or not. */
    static const char *const beside[] = {"/../share/hydra-dcp", "/presets", "/../presets"};
    const char *asked = hydra_config_get(HYDRA_CONFIG_SHARE);
    char program[1024];

    if (is_path(name)) {
        snprintf(path, (size_t)len, "%s", name);
        if (access(path, R_OK) == 0)
            return HYDRA_SUCCESS;
        return hydra_error(HYDRA_ERR_IO, "%s: cannot be read", name);
    }
    if (asked[0] != '\0') {
        snprintf(path, (size_t)len, "%s/%s/%s.cfg", asked, folder, name);
        if (access(path, R_OK) == 0)
            return HYDRA_SUCCESS;
        return hydra_error(HYDRA_ERR_ARG, "no preset '%s' in %s/%s (HYDRA_DCP_SHARE)", name, asked, folder);
    }
    program_folder(program, sizeof program);
    for (size_t i = 0; program[0] != '\0' && i < sizeof beside / sizeof beside[0]; i++) {
        snprintf(path, (size_t)len, "%s%s/%s/%s.cfg", program, beside[i], folder, name);
        if (access(path, R_OK) == 0)
            return HYDRA_SUCCESS;
    }
    snprintf(path, (size_t)len, "%s/%s/%s.cfg", HYDRA_PKGDATADIR, folder, name);
    if (access(path, R_OK) == 0)
        return HYDRA_SUCCESS;
    return hydra_error(HYDRA_ERR_ARG,
                       "no preset '%s' beside the program or in %s/%s: 'hydra-dcp sim --help' lists those that come "
                       "along; give a file (a "
                       "name with '/' or ending in .cfg) or set HYDRA_DCP_SHARE",
                       name, HYDRA_PKGDATADIR, folder);
}
