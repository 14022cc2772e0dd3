/* ranges.c: what the library does and when, as a trace for https://ui.perfetto.dev or chrome://tracing: one file a
 * rank, PREFIX-RANK.json, where the environment variable RANGES_PREFIX is PREFIX, by default "ranges".
 *
 * Preloaded, for a program as it is:
 *     mpicc -O2 -shared -fPIC ranges.c -o ranges.so $(pkg-config --cflags hydra-dcp)
 *     mpiexec -n 4 env LD_PRELOAD=./ranges.so ./program
 * or linked: add ranges.c to the program's sources. Only so where the program holds the static library.
 *
 * All ranks in one picture: jq -s add ranges-*.json > all.json
 * With -DWITH_NVTX, where <nvtx3/nvToolsExt.h> is found, the ranges go to NVTX instead: nsys profile mpiexec ...
 */
#define _POSIX_C_SOURCE 200809L

#include <hydra.h>

#if defined(WITH_NVTX) && defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define FORWARD_TO_NVTX 1
#else
#pragma message("nvtx3/nvToolsExt.h is not found: ranges.c writes a trace")
#endif
#endif

#ifdef FORWARD_TO_NVTX

void Hydra_Range_push(const char *name)
{
    nvtxRangePushA(name);
}

void Hydra_Range_pop(void)
{
    nvtxRangePop();
}

#else

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static FILE *file; /* NULL: could not be opened, or is closed */
static long rank;  /* of MPI_COMM_WORLD */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int threads;
static _Thread_local int thread; /* counted from 1; 0: not yet */

/* Before MPI_Init the launcher's word, else something that no other process has. */
static long find_rank(void)
{
    const char *word = getenv("PMI_RANK") != NULL ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
    int initialized = 0, finalized = 0, known = 0;

    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized && !finalized) {
        MPI_Comm_rank(MPI_COMM_WORLD, &known);
        return known;
    }
    return word != NULL ? atol(word) : (long)getpid();
}

static void open_file(void)
{
    const char *prefix = getenv("RANGES_PREFIX") != NULL ? getenv("RANGES_PREFIX") : "ranges";
    char path[4096];

    rank = find_rank();
    snprintf(path, sizeof path, "%s-%ld.json", prefix, rank);
    file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        return;
    }
    setvbuf(file, NULL, _IOFBF, 1 << 20);
    fprintf(file, "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%ld,\"args\":{\"name\":\"rank %ld\"}}", rank,
            rank);
}

/* A program that aborts leaves no final bracket, which both viewers forgive. */
__attribute__((destructor)) static void close_file(void)
{
    if (file == NULL)
        return;
    fputs("\n]\n", file);
    fclose(file);
    file = NULL;
}

/* One line an event, written at once: threads may take turns. Time is in microseconds since midnight, UTC. */
static void event(char phase, const char *name)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    pthread_once(&once, open_file);
    if (thread == 0)
        thread = atomic_fetch_add(&threads, 1) + 1;
    if (file != NULL)
        fprintf(file, ",\n{\"name\":\"%s\",\"ph\":\"%c\",\"pid\":%ld,\"tid\":%d,\"ts\":%.3f}", name, phase, rank,
                thread, (double)(now.tv_sec % 86400) * 1e6 + (double)now.tv_nsec / 1e3);
}

void Hydra_Range_push(const char *name)
{
    event('B', name);
}

void Hydra_Range_pop(void)
{
    event('E', "");
}

#endif
