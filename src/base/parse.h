/* parse.h: numbers from text, strictly: the whole text, no sign tricks, no silent overflow. */
#ifndef HYDRA_BASE_PARSE_H
#define HYDRA_BASE_PARSE_H

#include <stdint.h>

/* `place` names where the text stands ("--pool", "HYDRA_DCP_TIMEOUT", "lengths.txt:7") and goes into the error.
 * Both return HYDRA_SUCCESS or HYDRA_ERR_FORMAT (not a number, or outside low..high). A suffix K, M, G means 2^10,
 * 2^20, 2^30. */
int hydra_parse_int(const char *place, const char *text, int64_t low, int64_t high, int64_t *value);
int hydra_parse_double(const char *place, const char *text, double low, double high, double *value);

#endif
