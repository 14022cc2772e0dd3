/* fuzz_presets.c: libFuzzer target of the readers of models and clusters: the first byte says which; what they accept
 * holds finite numbers. Run it with ASAN_OPTIONS=detect_leaks=0: libconfig 1.5 loses a text that a syntax error cuts.
 */
#include <math.h>

#include "sim/preset.h"
#include "tests/fuzz.h"

static void reads_model(const char *path)
{
    struct hydra_model m = {.nfits = 0};
    int status = hydra_model_read(path, &m);

    fuzz_judge(status);
    if (status == HYDRA_SUCCESS)
        FUZZ_REQUIRE(m.layers >= 1 && m.attention_layers >= 1 && m.heads % m.kv_heads == 0 && m.budget >= 1 &&
                     isfinite(m.parameters) && isfinite(m.backward_compute) && m.nfits <= HYDRA_PRESET_FITS);
}

static void reads_cluster(const char *path)
{
    struct hydra_cluster c = {.gpus = 0};
    int status = hydra_cluster_read(path, &c);

    fuzz_judge(status);
    if (status == HYDRA_SUCCESS)
        FUZZ_REQUIRE(c.gpus >= 1 && isfinite(c.peak_flops) && c.ring_overlap >= 0 && c.ring_overlap <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path;

    if (size == 0)
        return 0;
    path = fuzz_file(data + 1, size - 1);
    if (data[0] & 1)
        reads_model(path);
    else
        reads_cluster(path);
    return 0;
}
