#include "pool.h"

#include <csignal>
#include <cstdlib>

#include "lock.h"

namespace weft::capi {
namespace {

// A call has many kernels: a helper looks for the next for so long, some 20 microseconds, before it sleeps.
constexpr int looks = 2000;

// Kernels may have 1 MiB on the stack, and what some systems give to threads is less.
constexpr std::size_t stack_bytes = std::size_t{4} << 20;

void pause_here() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace

// The number of a job grows when its members are set, and it is over when no helper is in it.
struct Pool {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER, over = PTHREAD_COND_INITIALIZER;
  int helpers = 0;
  pthread_t* threads = nullptr;
  bool stops = false;
  std::uint64_t job = 0;
  int busy = 0;  // helpers that have not left the job

  void (*body)(void* arg, std::size_t i) = nullptr;
  void* arg = nullptr;
  std::size_t count = 0, next = 0;
};

namespace {

void work(Pool& pool) {
  for (;;) {
    const std::size_t i = __atomic_fetch_add(&pool.next, 1, __ATOMIC_RELAXED);
    if (i >= pool.count) return;
    pool.body(pool.arg, i);
  }
}

// False where the pool ends.
bool wait_for_job(Pool& pool, std::uint64_t done) {
  for (int i = 0; i < looks; ++i) {
    if (__atomic_load_n(&pool.job, __ATOMIC_ACQUIRE) != done) break;
    pause_here();
  }
  const Lock lock(pool.mutex);
  while (pool.job == done && !pool.stops) pthread_cond_wait(&pool.wake, &pool.mutex);
  return !pool.stops;
}

void* help(void* given) {
  Pool& pool = *static_cast<Pool*>(given);
  for (std::uint64_t done = 0; wait_for_job(pool, done); ++done) {
    work(pool);
    if (__atomic_sub_fetch(&pool.busy, 1, __ATOMIC_ACQ_REL) == 0) {
      const Lock lock(pool.mutex);
      pthread_cond_signal(&pool.over);
    }
  }
  return nullptr;
}

void wait_for_helpers(Pool& pool) {
  for (int i = 0; i < looks; ++i) {
    if (__atomic_load_n(&pool.busy, __ATOMIC_ACQUIRE) == 0) return;
    pause_here();
  }
  const Lock lock(pool.mutex);
  while (__atomic_load_n(&pool.busy, __ATOMIC_ACQUIRE) != 0)
    pthread_cond_wait(&pool.over, &pool.mutex);
}

// A helper's own, of which the program may want to hear.
constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// Handlers of the program's other signals run on its own threads, which helpers are not: a new thread has the mask of
// the one that starts it.
bool start_helpers(Pool& pool, int helpers) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : faults) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  bool starts = pthread_attr_setstacksize(&attributes, stack_bytes) == 0;
  while (starts && pool.helpers < helpers) {
    starts = pthread_create(&pool.threads[pool.helpers], &attributes, help, &pool) == 0;
    if (starts) ++pool.helpers;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return starts;
}

}  // namespace

Pool* new_pool(int helpers) {
  void* const memory = std::malloc(sizeof(Pool));
  if (memory == nullptr) return nullptr;
  Pool* const pool = static_cast<Pool*>(memory);
  *pool = Pool{};
  pool->threads =
      static_cast<pthread_t*>(std::calloc(static_cast<std::size_t>(helpers), sizeof(pthread_t)));
  if (pool->threads == nullptr) {
    std::free(pool);
    return nullptr;
  }
  if (start_helpers(*pool, helpers)) return pool;
  delete_pool(pool);
  return nullptr;
}

void delete_pool(Pool* pool) {
  if (pool == nullptr) return;
  {
    const Lock lock(pool->mutex);
    pool->stops = true;
    pthread_cond_broadcast(&pool->wake);
  }
  for (int i = 0; i < pool->helpers; ++i) pthread_join(pool->threads[i], nullptr);
  std::free(pool->threads);
  std::free(pool);
}

void parallel_for(void* context, std::size_t n, void (*body)(void* arg, std::size_t i), void* arg) {
  Pool& pool = *static_cast<Pool*>(context);
  {
    const Lock lock(pool.mutex);
    pool.body = body;
    pool.arg = arg;
    pool.count = n;
    pool.next = 0;
    pool.busy = pool.helpers;
    __atomic_add_fetch(&pool.job, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&pool.wake);
  }
  work(pool);
  wait_for_helpers(pool);
}

}  // namespace weft::capi
