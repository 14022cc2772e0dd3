/* log.h: log lines of this process, filtered by level and module, to the caller's function or stderr. */
#ifndef HYDRA_BASE_LOG_H
#define HYDRA_BASE_LOG_H

typedef void (*hydra_log_function)(int level, const char *module, const char *text, void *user);

enum { HYDRA_LEVEL_ERROR = 0, HYDRA_LEVEL_WARN = 1, HYDRA_LEVEL_INFO = 2, HYDRA_LEVEL_DEBUG = 3 };

/* Set the sink (NULL: stderr) and the greatest level that passes. */
void hydra_log_set(hydra_log_function function, void *user, int level);

/* Read HYDRA_DCP_LOG; HYDRA_ERR_FORMAT names it. Does not override hydra_log_set. */
int hydra_log_configure(void);

/* module: the folder, one of the list in log.c. One line, no newline. */
void hydra_log(int level, const char *module, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
