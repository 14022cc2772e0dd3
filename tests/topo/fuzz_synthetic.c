/* fuzz_synthetic.c: libFuzzer target of HYDRA_DCP_TOPOLOGY: a synthetic machine is refused by a sentence, or every rank
 * has a place on it and every slot a rank. */
#include "tests/fuzz.h"
#include "topo/place.h"

enum { RANKS = 50 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = calloc(size + 1, 1);
    struct hydra_place places[RANKS];
    int64_t rank_of_slot[RANKS];
    bool seen[RANKS] = {false};
    int status;

    if (size > 0)
        memcpy(text, data, size);
    status = hydra_place_synthetic(text, RANKS, places);
    fuzz_judge(status);
    free(text);
    if (status != HYDRA_SUCCESS)
        return 0;
    FUZZ_REQUIRE(hydra_place_number_nodes(RANKS, places) == HYDRA_SUCCESS);
    FUZZ_REQUIRE(hydra_place_order(RANKS, places, rank_of_slot) == HYDRA_SUCCESS);
    for (int i = 0; i < RANKS; i++) {
        FUZZ_REQUIRE(places[i].core >= 0 && places[i].node >= 0 && places[i].node < RANKS);
        FUZZ_REQUIRE(rank_of_slot[i] >= 0 && rank_of_slot[i] < RANKS && !seen[rank_of_slot[i]]);
        seen[rank_of_slot[i]] = true;
    }
    return 0;
}
