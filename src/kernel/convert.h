/* convert.h: bf16 and fp16 storage to fp32 and back, one element at a time, round to nearest even. Header only. */
#ifndef HYDRA_KERNEL_CONVERT_H
#define HYDRA_KERNEL_CONVERT_H

#include <stdint.h>
#include <string.h>

static inline uint32_t hydra_float_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float hydra_float_of_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float hydra_float_of_bf16(uint16_t h)
{
    return hydra_float_of_bits((uint32_t)h << 16);
}

static inline uint16_t hydra_bf16_of_float(float x)
{
    uint32_t bits = hydra_float_bits(x);

    if (x != x)
        return (uint16_t)(bits >> 16 | 0x40); /* stay NaN whatever the payload */
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static inline float hydra_float_of_f16(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t magnitude = h & 0x7FFF;

    if (magnitude >= 0x7C00) /* infinity, NaN */
        return hydra_float_of_bits(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
    /* 2^112 moves the exponent from bias 15 to bias 127 and makes subnormals normal, exactly. */
    return hydra_float_of_bits(sign | hydra_float_bits(hydra_float_of_bits(magnitude << 13) * 0x1p112f));
}

static inline uint16_t hydra_f16_of_float(float x)
{
    uint32_t bits = hydra_float_bits(x);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t magnitude = bits & 0x7FFFFFFF;

    if (magnitude > 0x7F800000)
        return (uint16_t)(sign | 0x7E00);
    if (magnitude >= 0x477FF000) /* rounds to 65536 or more */
        return (uint16_t)(sign | 0x7C00);
    if (magnitude < 0x38800000) /* below 2^-14: a sum with 1/2 rounds to a multiple of 2^-24, in the low bits */
        return (uint16_t)(sign | (hydra_float_bits(hydra_float_of_bits(magnitude) + 0.5f) - 0x3F000000));
    return (uint16_t)(sign | ((magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1)) >> 13));
}

#endif
