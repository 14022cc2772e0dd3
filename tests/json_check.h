/* json_check.h: a strict reader of JSON (RFC 8259) that says only whether a text is JSON, and where it is not. */
#ifndef HYDRA_TESTS_JSON_CHECK_H
#define HYDRA_TESTS_JSON_CHECK_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct json_reader {
    const char *at, *end;
    int depth;
};

static bool json_value(struct json_reader *r);

static void json_space(struct json_reader *r)
{
    while (r->at < r->end && strchr(" \t\n\r", *r->at) != NULL && *r->at != '\0')
        r->at++;
}

static bool json_take(struct json_reader *r, char c)
{
    if (r->at >= r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool json_digits(struct json_reader *r)
{
    const char *first = r->at;

    while (r->at < r->end && isdigit((unsigned char)*r->at))
        r->at++;
    return r->at > first;
}

static bool json_number(struct json_reader *r)
{
    json_take(r, '-');
    if (!json_take(r, '0') && !json_digits(r))
        return false;
    if (json_take(r, '.') && !json_digits(r))
        return false;
    if (json_take(r, 'e') || json_take(r, 'E')) {
        if (!json_take(r, '+'))
            json_take(r, '-');
        return json_digits(r);
    }
    return true;
}

/* One character of a string that is not a quote: an escape, or valid UTF-8 without controls. */
static bool json_character(struct json_reader *r)
{
    unsigned char first = (unsigned char)*r->at++;
    int more = first < 0x80                     ? 0
               : first >= 0xc2 && first <= 0xdf ? 1
               : first >> 4 == 14               ? 2
               : first >= 0xf0 && first <= 0xf4 ? 3
                                                : -1;

    if (first < 0x20 || more < 0)
        return false;
    if (first == '\\') {
        if (r->at >= r->end)
            return false;
        if (*r->at == 'u') {
            for (int i = 1; i <= 4; i++)
                if (r->at + i >= r->end || !isxdigit((unsigned char)r->at[i]))
                    return false;
            r->at += 5;
            return true;
        }
        return *r->at != '\0' && strchr("\"\\/bfnrt", *r->at++) != NULL;
    }
    for (; more > 0; more--)
        if (r->at >= r->end || ((unsigned char)*r->at++ >> 6) != 2)
            return false;
    return true;
}

static bool json_string(struct json_reader *r)
{
    if (!json_take(r, '"'))
        return false;
    while (r->at < r->end && *r->at != '"')
        if (!json_character(r))
            return false;
    return json_take(r, '"');
}

/* Members of an array or, with names, of an object, up to `close`. */
static bool json_members(struct json_reader *r, char close, bool names)
{
    json_space(r);
    if (json_take(r, close))
        return true;
    do {
        json_space(r);
        if (names) {
            if (!json_string(r))
                return false;
            json_space(r);
            if (!json_take(r, ':'))
                return false;
        }
        if (!json_value(r))
            return false;
        json_space(r);
    } while (json_take(r, ','));
    return json_take(r, close);
}

static bool json_word(struct json_reader *r, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool json_value(struct json_reader *r)
{
    bool good;

    json_space(r);
    if (r->at >= r->end || ++r->depth > 200)
        return false;
    if (json_take(r, '{'))
        good = json_members(r, '}', true);
    else if (json_take(r, '['))
        good = json_members(r, ']', false);
    else if (*r->at == '"')
        good = json_string(r);
    else if (*r->at == '-' || isdigit((unsigned char)*r->at))
        good = json_number(r);
    else
        good = json_word(r, "true") || json_word(r, "false") || json_word(r, "null");
    r->depth--;
    return good;
}

/* Offset of the first byte that is not JSON, or -1 when the whole text is one JSON value. */
__attribute__((unused)) static long json_check(const char *text, size_t len)
{
    struct json_reader r = {text, text + len, 0};

    if (!json_value(&r))
        return (long)(r.at - text);
    json_space(&r);
    return r.at == r.end ? -1 : (long)(r.at - text);
}

#endif
