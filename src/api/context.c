/* context.c: Hydra_Init, Hydra_Finalize, and the list of live contexts that MPI_Finalize empties. */
#include "api/context.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/range.h"
#include "comm/keep.h"

static pthread_mutex_t live_lock = PTHREAD_MUTEX_INITIALIZER;
static Hydra_Context live;
static int finalize_key = MPI_KEYVAL_INVALID;

static int openmp_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

static bool is_live(Hydra_Context context)
{
    Hydra_Context at;

    pthread_mutex_lock(&live_lock);
    for (at = live; at != NULL && at != context; at = at->next)
        continue;
    pthread_mutex_unlock(&live_lock);
    return context != NULL && at == context;
}

/* Release everything of a context that is no longer in the list. */
static int release(Hydra_Context context)
{
    bool whole = true;
    int status = HYDRA_SUCCESS;

    if (context == NULL)
        return HYDRA_SUCCESS;
    /* Nobody may free communicators while another rank still uses them, or has failed. */
    if (context->pool != NULL && !context->pool->broken) {
        if (context->under_way > 0)
            status = hydra_error(HYDRA_ERR_STATE, "Hydra_Finalize: %" PRId64 " operations have not been waited for",
                                 context->under_way);
        status = hydra_agree(hydra_comm_of(context->pool), status, "Hydra_Finalize");
        context->pool->broken |= status != HYDRA_SUCCESS;
    }
    if (context->pool != NULL)
        whole = !context->pool->broken;
    hydra_net_destroy(&context->ring);
    hydra_net_destroy(&context->alltoall);
    hydra_pool_free(&context->pool);
    if (whole)
        hydra_free(context);
    else
        hydra_release(context, NULL); /* or another context at its address would pass for it (hydra_context_pool) */
    return status;
}

/* Attribute callback: MPI_Finalize frees MPI_COMM_SELF first, while messages still travel. Newest
 * first, as everywhere. */
static int finalize_forgotten(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)value, (void)state;
    for (;;) {
        Hydra_Context newest;

        pthread_mutex_lock(&live_lock);
        newest = live;
        if (newest != NULL)
            live = newest->next;
        pthread_mutex_unlock(&live_lock);
        if (newest == NULL)
            break;
        hydra_log(HYDRA_LEVEL_WARN, "api", "MPI_Finalize finds a context that Hydra_Finalize has not released");
        release(newest);
    }
    return MPI_SUCCESS;
}

/* Hang the callback on MPI_COMM_SELF, once. A program of sessions alone has no MPI_Finalize. */
static int watch_finalize(void)
{
    int initialized = 0;
    int status = HYDRA_SUCCESS;

    pthread_mutex_lock(&live_lock);
    HYDRA_TRY_MPI(MPI_Initialized(&initialized));
    if (initialized && finalize_key == MPI_KEYVAL_INVALID) {
        HYDRA_TRY_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_forgotten, &finalize_key, NULL));
        HYDRA_TRY_MPI(MPI_Comm_set_attr(MPI_COMM_SELF, finalize_key, NULL));
    }

fail:
    pthread_mutex_unlock(&live_lock);
    return status;
}

/* What a rank can check before it talks to anybody. */
static int check_threads(void)
{
    int initialized = 0, provided = MPI_THREAD_SINGLE, main_thread = 1;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY_MPI(MPI_Initialized(&initialized));
    if (!initialized)
        return HYDRA_SUCCESS; /* a session's thread level cannot be asked for */
    HYDRA_TRY_MPI(MPI_Query_thread(&provided));
    HYDRA_TRY_MPI(MPI_Is_thread_main(&main_thread));
    HYDRA_REQUIRE(provided > MPI_THREAD_SINGLE || openmp_threads() == 1, HYDRA_ERR_UNSUPPORTED,
                  "MPI was initialised with MPI_THREAD_SINGLE, but attention would use %d OpenMP threads: ask "
                  "MPI_Init_thread for MPI_THREAD_FUNNELED, or set OMP_NUM_THREADS=1",
                  openmp_threads());
    HYDRA_REQUIRE(provided >= MPI_THREAD_SERIALIZED || main_thread, HYDRA_ERR_UNSUPPORTED,
                  "Hydra_Init runs outside the main thread, but MPI's thread level is below MPI_THREAD_SERIALIZED");

fail:
    return status;
}

/* Whether `pool` can be spoken over at all: nothing can be agreed where it cannot. */
static int check_pool(MPI_Comm pool)
{
    int finalized = 0, initialized = 0, inter = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(pool != MPI_COMM_NULL, HYDRA_ERR_ARG, "Hydra_Init: pool is MPI_COMM_NULL");
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    HYDRA_REQUIRE(!finalized && (initialized || (MPI_VERSION >= 4 && pool != MPI_COMM_WORLD && pool != MPI_COMM_SELF)),
                  HYDRA_ERR_STATE, "Hydra_Init: MPI is %s", finalized ? "finalised" : "not initialised");
    HYDRA_TRY_MPI(MPI_Comm_test_inter(pool, &inter));
    HYDRA_REQUIRE(!inter, HYDRA_ERR_ARG, "Hydra_Init: pool is an inter-communicator");

fail:
    return status;
}

/* A misspelt variable would have no effect in silence. One rank says so. */
static void warn_of_unknown_variables(const struct hydra_pool *pool)
{
    for (int i = 0; pool->rank == 0 && hydra_config_unknown(i) != NULL; i++)
        hydra_log(HYDRA_LEVEL_WARN, "api",
                  "%s: the library has no such variable ('hydra-dcp info --config' lists them)",
                  hydra_config_unknown(i));
}

int Hydra_Init(MPI_Comm pool, const Hydra_Config *config, Hydra_Context *context)
{
    struct hydra_settings settings;
    struct hydra_pool_settings pool_settings;
    Hydra_Context made = NULL;
    int status = HYDRA_SUCCESS, failed;

    hydra_error_clear();
    HYDRA_TRY(check_pool(pool));
    /* From here on every rank comes, whatever it found, so that the others hear of it. */
    failed = hydra_settings_read(config, &settings);
    if (failed == HYDRA_SUCCESS && context == NULL)
        failed = hydra_error(HYDRA_ERR_ARG, "Hydra_Init: context is NULL");
    if (failed == HYDRA_SUCCESS)
        failed = check_threads();
    made = hydra_calloc(1, sizeof *made);
    if (failed == HYDRA_SUCCESS && made == NULL)
        failed = hydra_error(HYDRA_ERR_NOMEM, "a context");
    if (failed == HYDRA_SUCCESS)
        failed = watch_finalize();
    pool_settings = (struct hydra_pool_settings){
        .timeout = settings.timeout, .topology = settings.topology, .peers = settings.peers};
    if (made == NULL) {
        struct hydra_pool *none = NULL;

        return hydra_pool_create(pool, &pool_settings, failed, &none);
    }
    HYDRA_TRY(hydra_pool_create(pool, &pool_settings, failed, &made->pool));
    HYDRA_TRY(hydra_agree_same(hydra_comm_of(made->pool), HYDRA_SUCCESS, hydra_settings_hash(&settings),
                               "Hydra_Config or HYDRA_DCP_* variables"));
    HYDRA_TRY(hydra_settings_kernel(made->pool, settings.kernel, &made->kernel));
    HYDRA_TRY(hydra_net_create(made->pool, settings.alltoall, HYDRA_NET_ALLTOALL, &made->alltoall));
    HYDRA_TRY(hydra_net_create(made->pool, settings.ring, HYDRA_NET_RING, &made->ring));
    made->threads = openmp_threads();
    warn_of_unknown_variables(made->pool);
    pthread_mutex_lock(&live_lock);
    made->next = live;
    live = made;
    pthread_mutex_unlock(&live_lock);
    *context = made;
    return HYDRA_SUCCESS;

fail:
    if (made != NULL) {
        char detail[1024];

        /* Every rank fails alike from the pool on, so this is collective; its own sentence must not
         * replace the first. */
        Hydra_Error_detail(detail, sizeof detail);
        release(made);
        hydra_error(status, "%s", detail);
    }
    return status;
}

int Hydra_Finalize(Hydra_Context *context)
{
    int status = HYDRA_SUCCESS;

    hydra_error_clear();
    HYDRA_REQUIRE(context != NULL, HYDRA_ERR_ARG, "Hydra_Finalize: context is NULL");
    if (*context == HYDRA_CONTEXT_NULL)
        return HYDRA_SUCCESS;
    HYDRA_REQUIRE(is_live(*context), HYDRA_ERR_ARG, "Hydra_Finalize: the context is finalised already");
    pthread_mutex_lock(&live_lock);
    for (Hydra_Context *at = &live; *at != NULL; at = &(*at)->next)
        if (*at == *context) {
            *at = (*at)->next;
            break;
        }
    pthread_mutex_unlock(&live_lock);
    status = release(*context);
    *context = HYDRA_CONTEXT_NULL;

fail:
    return status;
}

int hydra_context_enter(Hydra_Context context)
{
    hydra_error_clear();
    if (!is_live(context))
        return hydra_error(HYDRA_ERR_ARG, context == NULL ? "the context is HYDRA_CONTEXT_NULL"
                                                          : "the context is finalised, or never was one");
    return hydra_pool_check(context->pool);
}

const struct hydra_pool *hydra_context_pool(Hydra_Context context)
{
    return is_live(context) ? context->pool : NULL;
}

int hydra_context_agree_hash(Hydra_Context context, int status, uint64_t hash, const char *what)
{
    HYDRA_IN_RANGE(AGREE);
    struct hydra_comm pool = hydra_comm_of(context->pool);
    struct hydra_comm peers = {.mpi = context->pool->peers, .pool = context->pool, .timeout = context->pool->timeout};

    if (status != HYDRA_SUCCESS &&
        context->pool->broken) /* nothing can be agreed over it any more, but its peers must not wait */
        return peers.mpi == MPI_COMM_NULL ? status : hydra_agree_same(peers, status, hash, what);
    status = hydra_agree_same(pool, status, hash, what);
    if (peers.mpi == MPI_COMM_NULL)
        return status;
    /* Peers of a pool that failed must hear of it, and so must the pools of those peers. */
    return hydra_agree_same(pool, hydra_agree_same(peers, status, hash, what), hash, what);
}

int Hydra_Context_query(Hydra_Context context, int *size, int *rank, int *slot)
{
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_context_enter(context));
    if (size != NULL)
        *size = context->pool->size;
    if (rank != NULL)
        *rank = context->pool->rank;
    if (slot != NULL)
        *slot = context->pool->slot;

fail:
    return status;
}
