/* schedule_io.c: a schedule in a file. */
#include "plan/schedule_io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

int Hydra_Schedule_save(Hydra_Schedule schedule, const char *path)
{
    char *text = NULL;
    int64_t length = 0;
    FILE *file = NULL;
    int status = HYDRA_SUCCESS;

    hydra_error_clear();
    HYDRA_REQUIRE(schedule != NULL && path != NULL, HYDRA_ERR_ARG, "Hydra_Schedule_save: schedule or path is NULL");
    HYDRA_TRY(hydra_schedule_pack(schedule, &text, &length));
    file = fopen(path, "wb");
    HYDRA_REQUIRE(file != NULL, HYDRA_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    HYDRA_REQUIRE(fwrite(text, 1, (size_t)length, file) == (size_t)length, HYDRA_ERR_IO, "%s: cannot be written: %s",
                  path, strerror(errno));

fail:
    if (file != NULL && fclose(file) != 0 && status == HYDRA_SUCCESS)
        status = hydra_error(HYDRA_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    hydra_free(text);
    return status;
}

/* The whole of a file, of any kind (a pipe has no length). text [out]: hydra_free. */
static int read_file(const char *path, char **text, int64_t *length)
{
    FILE *file = fopen(path, "rb");
    int64_t capacity = 1 << 16;
    int status = HYDRA_SUCCESS;

    *text = NULL;
    *length = 0;
    HYDRA_REQUIRE(file != NULL, HYDRA_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    for (;;) {
        char *grown = hydra_resize(*text, capacity, 1);

        HYDRA_REQUIRE(grown != NULL, HYDRA_ERR_NOMEM, "%s: %" PRId64 " bytes", path, capacity);
        *text = grown;
        *length += (int64_t)fread(*text + *length, 1, (size_t)(capacity - *length), file);
        if (*length < capacity)
            break;
        capacity *= 2;
    }
    HYDRA_REQUIRE(ferror(file) == 0, HYDRA_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));

fail:
    if (file != NULL)
        fclose(file);
    return status;
}

int Hydra_Schedule_load(const char *path, Hydra_Schedule *schedule)
{
    char *text = NULL;
    int64_t length = 0;
    int status = HYDRA_SUCCESS;

    hydra_error_clear();
    HYDRA_REQUIRE(path != NULL && schedule != NULL, HYDRA_ERR_ARG, "Hydra_Schedule_load: path or schedule is NULL");
    HYDRA_TRY(read_file(path, &text, &length));
    HYDRA_TRY(hydra_schedule_unpack(path, text, length, schedule));

fail:
    hydra_free(text);
    return status;
}
