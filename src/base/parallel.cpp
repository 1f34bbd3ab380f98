// The pool of threads.
//
// A job is a slot that its caller fills: indices are taken from its counter by whoever is free, several
// that follow one another while there are many, and the caller waits until as many have run as there
// are. Who has taken an index and not reported it keeps the caller waiting, so that a slot never changes
// under a thread that works on it.
//
// Threads without work look for some for a while, then sleep; so do callers for what others still run.
// Whoever goes to sleep says so before looking for the last time, and whoever changes something looks
// for sleepers afterwards: all in the one order of sequential consistency, so that nobody sleeps through
// a change.

#include <weft/dev/base/parallel.h>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <weft/error.h>
#include <weft/settings.h>

namespace weft {
namespace {

constexpr int most_threads = 1024;
constexpr std::size_t most_jobs = 16;  // at once; the calls beyond run by themselves

// Each thread takes this part of the indices that are left, or one: those who run few wait little for each other at the
// end, and short ones are not all waited for in turn, nor do neighbours in memory go to and fro.
constexpr int takes_of_all = 4;

// About what it costs to wake a thread up, several times over.
constexpr std::chrono::microseconds patience{100};

// Whether this thread runs an index already.
thread_local bool is_inside = false;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether it came true within our patience.
template <class Condition>
bool soon(Condition condition) {
  constexpr int looks = 64;  // between two at the clock
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int look = 0; look < looks; ++look) {
      if (condition()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() - start < patience);
  return condition();
}

// Where threads sleep until a condition that others make true.
class Bed {
 public:
  template <class Condition>
  void sleep_until(Condition condition) {
    std::unique_lock lock(mutex_);
    ++sleepers_;
    changed_.wait(lock, condition);
    --sleepers_;
  }
  // After a change to what conditions look at.
  void wake(int count) {
    const int sleepers = sleepers_;
    if (sleepers == 0) return;
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < std::min(count, sleepers); ++i) changed_.notify_one();
  }
  void wake_all() {
    if (sleepers_ == 0) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> sleepers_{0};
};

// Atomic is what others look at while the job changes; the rest is read by who has taken an index.
struct alignas(64) Job {
  std::atomic<bool> is_taken{false};
  std::atomic<int> threads{0};           // that may work, all jobs together
  std::atomic<std::int64_t> untaken{0};  // indices
  std::atomic<std::int64_t> finished{0};
  std::int64_t count = 0;
  ParallelFunction function{};
};

class Pool {
 public:
  explicit Pool(const cpu_set_t& cores) : cores_(cores) {}

  void run(std::int64_t count, ParallelFunction function, int threads) {
    Job* const job = free_job();
    if (job == nullptr) {
      for (std::int64_t index = 0; index < count; ++index) function.call(function.function, index);
      return;
    }
    start_workers(threads - 1);
    job->count = count;
    job->function = function;
    job->finished.store(0, std::memory_order_relaxed);
    job->threads.store(threads, std::memory_order_relaxed);
    ++working_;
    job->untaken.store(count, std::memory_order_release);
    call_workers(static_cast<int>(std::min<std::int64_t>(threads, count)) - 1);
    work_on(*job, [] { return true; });
    const auto is_done = [&] { return job->finished == count; };
    if (!soon(is_done)) callers_.sleep_until(is_done);
    job->is_taken.store(false, std::memory_order_release);
    leave();
  }

 private:
  Job* free_job() {
    const auto job = std::ranges::find_if(jobs_, [](Job& job) {
      return !job.is_taken.load(std::memory_order_relaxed) &&
             !job.is_taken.exchange(true, std::memory_order_acquire);
    });
    return job == jobs_.end() ? nullptr : &*job;
  }

  // Fewer where the system gives no more.
  void start_workers(int wanted) {
    if (started_.load(std::memory_order_relaxed) >= wanted) return;
    const std::lock_guard lock(starting_);
    try {
      for (; started_.load(std::memory_order_relaxed) < wanted; ++started_)
        std::thread(&Pool::serve, this).detach();
    } catch (const std::system_error&) {
      started_ = most_threads;
    }
  }

  // A thread of the pool. Cores and rounding are not those that its maker chose.
  [[noreturn]] void serve() {
    pthread_setaffinity_np(pthread_self(), sizeof cores_, &cores_);
    std::fesetenv(FE_DFL_ENV);
    for (std::uint64_t seen = 0;;) {
      const auto is_called = [&] { return calls_ != seen; };
      if (!soon(is_called)) workers_.sleep_until(is_called);
      seen = calls_;
      for (Job& job : jobs_) help(job);
    }
  }

  void call_workers(int count) {
    ++calls_;
    workers_.wake(count);
  }

  void help(Job& job) {
    const int threads = job.threads;
    if (job.untaken == 0 || !enter(threads)) return;
    work_on(job, [&] {
      const bool is_room = working_ <= threads;
      if (!is_room) some_refused_ = true;
      return is_room;
    });
    leave();
  }

  // Threads that callers brought count too. A caller always works, so a worker may have to go again.
  bool enter(int threads) {
    for (int working = working_;;) {
      if (working < threads) {
        if (working_.compare_exchange_weak(working, working + 1)) return true;
        continue;
      }
      some_refused_ = true;
      working = working_;
      if (working >= threads) return false;
    }
  }

  // The place is for who was refused one, where there is still work.
  void leave() {
    --working_;
    if (!some_refused_ || !some_refused_.exchange(false)) return;
    if (std::ranges::any_of(jobs_, [](const Job& job) { return job.untaken > 0; })) call_workers(1);
  }

  template <class MayGoOn>
  void work_on(Job& job, MayGoOn may_go_on) {
    is_inside = true;
    std::int64_t done = 0, count = 0;
    std::int64_t untaken = job.untaken.load(std::memory_order_relaxed);
    while (untaken > 0 && may_go_on()) {
      const std::int64_t parts = std::int64_t{takes_of_all} * job.threads;
      const std::int64_t taken = std::max<std::int64_t>(untaken / parts, 1);
      if (!job.untaken.compare_exchange_weak(untaken, untaken - taken, std::memory_order_acquire,
                                             std::memory_order_relaxed))
        continue;
      count = job.count;
      const std::int64_t first = count - untaken;
      for (std::int64_t index = first; index < first + taken; ++index)
        job.function.call(job.function.function, index);
      done += taken;
      untaken = job.untaken.load(std::memory_order_relaxed);
    }
    is_inside = false;
    if (done > 0 && job.finished.fetch_add(done) + done == count) callers_.wake_all();
  }

  const cpu_set_t cores_;
  std::array<Job, most_jobs> jobs_;
  alignas(64) std::atomic<std::uint64_t> calls_{0};
  alignas(64) std::atomic<int> working_{0};  // callers and workers
  std::atomic<bool> some_refused_{false};
  std::atomic<int> started_{0};
  std::mutex starting_;
  Bed workers_, callers_;
};

// Of the process, whichever of them this thread may use.
cpu_set_t cores_of_process() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(getpid(), sizeof cores, &cores) != 0) CPU_SET(0, &cores);
  return cores;
}

const cpu_set_t& cores() {
  static const cpu_set_t cores = cores_of_process();
  return cores;
}

// Leaked on purpose: its threads sleep until the process ends.
std::atomic<Pool*> current_pool = nullptr;

Pool& pool() {
  static const bool made = [] {
    const auto make = [] { current_pool = new Pool(cores()); };
    make();
    return pthread_atfork(nullptr, nullptr, make) == 0;  // a child has one thread and no job
  }();
  static_cast<void>(made);
  return *current_pool;
}

int chosen_threads() {
  if (setting("WEFT_THREADS").empty()) return std::min(CPU_COUNT(&cores()), most_threads);
  const std::int64_t threads = setting_int("WEFT_THREADS");
  if (threads < 1 || threads > most_threads)
    user_error(fmt::format("WEFT_THREADS={}: expected 1 to {}", threads, most_threads));
  return static_cast<int>(threads);
}

}  // namespace

int thread_count() {
  thread_local KnownSetting<int> known;
  return known.value(chosen_threads);
}

void parallel(std::int64_t count, ParallelFunction function) {
  const int threads = is_inside || count < 2 ? 1 : thread_count();
  if (threads > 1) return pool().run(count, function, threads);
  for (std::int64_t index = 0; index < count; ++index) function.call(function.function, index);
}

void parallel_tasks(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  const SettingValues values = context_values();
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(count));
  parallel(count, [&](std::int64_t index) {
    try {
      const Context context(values);
      task(index);
    } catch (...) {
      thrown[static_cast<std::size_t>(index)] = std::current_exception();
    }
  });
  for (const std::exception_ptr& each : thrown)
    if (each) std::rethrow_exception(each);
}

}  // namespace weft
