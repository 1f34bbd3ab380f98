#include <weft/dev/base/parallel.h>

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <weft/settings.h>

#include "../support/errors.h"
#include "../support/threads.h"

namespace weft {
namespace {

using namespace std::chrono_literals;

// How often each index ran.
std::vector<int> runs_of(std::int64_t count) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
  parallel(count, [&](std::int64_t index) { ++runs[static_cast<std::size_t>(index)]; });
  return {runs.begin(), runs.end()};
}

std::vector<int> once(std::int64_t count) {
  return std::vector<int>(static_cast<std::size_t>(count), 1);
}

// Whether so many threads are inside at the same time, before long.
bool meet(int threads) {
  const auto end = std::chrono::steady_clock::now() + 30s;
  std::atomic<int> here{0};
  std::atomic<bool> is_late{false};
  parallel(threads, [&](std::int64_t) {
    ++here;
    while (here < threads && !is_late) {
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() > end) is_late = true;
    }
  });
  return !is_late;
}

TEST(Parallel, RunsEveryIndexOnce) {
  for (int threads : {1, 2, 3, 8}) {
    const Context context{{"WEFT_THREADS", threads}};
    EXPECT_EQ(thread_count(), threads);
    for (std::int64_t count : {0, 1, 2, 7, 1000})
      EXPECT_EQ(runs_of(count), once(count)) << threads << " threads";
  }
}

TEST(Parallel, WritesAreSeenByTheCaller) {
  const Context context{{"WEFT_THREADS", 4}};
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::int64_t> squares(9);
    parallel(9, [&](std::int64_t i) { squares[static_cast<std::size_t>(i)] = i * i + round; });
    ASSERT_EQ(std::accumulate(squares.begin(), squares.end(), std::int64_t{0}), 204 + 9 * round);
  }
}

TEST(Parallel, UsesSeveralThreads) {
  const Context context{{"WEFT_THREADS", 3}};
  EXPECT_TRUE(meet(3));
  std::this_thread::sleep_for(5ms);  // they sleep
  EXPECT_TRUE(meet(3));
}

// Of many that take no time: what is written side by side would go from core to core.
TEST(Parallel, NeighboursRunOneAfterTheOther) {
  const Context context{{"WEFT_THREADS", 2}};
  std::vector<std::thread::id> by(8192);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<std::size_t> here{0};
  const auto end = std::chrono::steady_clock::now() + 30s;
  parallel(std::ssize(by), [&](std::int64_t index) {
    if (here < 2) {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
      here = threads.size();
    }
    while (here < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    by[static_cast<std::size_t>(index)] = std::this_thread::get_id();
  });
  EXPECT_EQ(here, 2U);
  std::size_t changes = 0;
  for (std::size_t i = 1; i < by.size(); ++i) changes += by[i] != by[i - 1];
  EXPECT_LT(changes, 128U) << "each takes an eighth of what is left";
}

TEST(Parallel, OneThreadRunsInOrder) {
  const Context context{{"WEFT_THREADS", 1}};
  std::vector<std::int64_t> order;
  parallel(5, [&](std::int64_t index) { order.push_back(index); });
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(Parallel, CallsFromInsideRunByThemselves) {
  const Context context{{"WEFT_THREADS", 3}};
  std::atomic<int> outside{0}, sum{0};
  parallel(6, [&](std::int64_t) {
    const auto self = std::this_thread::get_id();
    parallel(10, [&](std::int64_t index) {
      if (std::this_thread::get_id() != self) ++outside;
      parallel(2, [&](std::int64_t inner) { sum += static_cast<int>(index + inner); });
    });
  });
  EXPECT_EQ(outside, 0);
  EXPECT_EQ(sum, 6 * (2 * 45 + 10));
  meet(3);  // the caller is outside again
}

TEST(Parallel, ManyThreadsMayCall) {
  in_threads(24, [](int thread) {  // more than there may be jobs
    const Context context{{"WEFT_THREADS", 1 + thread % 5}};
    for (int round = 0; round < 300; ++round) {
      const std::int64_t count = (round + thread) % 6;
      ASSERT_EQ(runs_of(count), once(count));
    }
  });
}

// Callers count among the threads that work.
TEST(Parallel, NoMoreThreadsThanChosen) {
  const Context four{{"WEFT_THREADS", 4}};
  meet(4);  // there are workers enough for more
  std::atomic<int> inside{0}, most{0}, settled{0};
  in_threads(2, [&](int) {
    const Context context{{"WEFT_THREADS", 3}};
    parallel(200, [&](std::int64_t index) {
      const int now = ++inside;
      if (index >= 20) ++settled;  // of both, soon
      if (settled > 40)
        for (int known = most; known < now && !most.compare_exchange_weak(known, now);) {
        }
      std::this_thread::sleep_for(200us);
      --inside;
    });
  });
  EXPECT_EQ(most, 3);
}

TEST(Parallel, WhoWasRefusedHelpsLater) {
  const Context context{{"WEFT_THREADS", 2}};
  meet(2);
  std::atomic<bool> begun{false};
  std::thread other([&] {
    const Context two{{"WEFT_THREADS", 2}};
    parallel(2, [&](std::int64_t index) {
      if (index == 0) begun = true;
      std::this_thread::sleep_for(20ms);
    });
  });
  while (!begun) std::this_thread::yield();
  std::set<std::thread::id> threads;
  std::mutex mutex;
  parallel(100, [&](std::int64_t) {  // much longer than the other
    {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(2ms);
  });
  other.join();
  EXPECT_EQ(threads.size(), 2U);
}

TEST(Parallel, WhoMadeRoomComesBack) {
  const Context context{{"WEFT_THREADS", 2}};
  meet(2);
  std::atomic<bool> is_gone{false};
  std::thread other([&] {
    std::this_thread::sleep_for(10ms);
    const Context two{{"WEFT_THREADS", 2}};
    parallel(2, [](std::int64_t) { std::this_thread::sleep_for(20ms); });
    is_gone = true;
  });
  const auto caller = std::this_thread::get_id();
  std::atomic<int> helped_later{0};
  parallel(100, [&](std::int64_t) {
    std::this_thread::sleep_for(2ms);
    if (is_gone && std::this_thread::get_id() != caller) ++helped_later;
  });
  other.join();
  EXPECT_GT(helped_later, 2);
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

TEST(Parallel, IdleThreadsUseNoTime) {
  const Context context{{"WEFT_THREADS", 4}};
  meet(4);
  std::this_thread::sleep_for(20ms);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(cpu_seconds() - before, 0.02);
}

// Nor does a caller whose last index takes long.
TEST(Parallel, WaitingCallersUseNoTime) {
  const Context context{{"WEFT_THREADS", 2}};
  meet(2);
  const auto caller = std::this_thread::get_id();
  const double before = cpu_seconds();
  std::atomic<int> here{0};
  parallel(2, [&](std::int64_t) {
    ++here;
    while (here < 2) std::this_thread::yield();
    if (std::this_thread::get_id() != caller) std::this_thread::sleep_for(300ms);
  });
  EXPECT_LT(cpu_seconds() - before, 0.1);
}

TEST(Parallel, ThreadsHaveTheCoresAndTheRoundingOfTheProcess) {
  const Context context{{"WEFT_THREADS", 7}};  // some of them are new
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  std::thread([&] {
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
      if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    std::fesetround(FE_UPWARD);
    const Context seven{{"WEFT_THREADS", 7}};
    const auto caller = std::this_thread::get_id();
    std::atomic<int> here{0}, others{0};
    parallel(7, [&](std::int64_t) {
      ++here;
      while (here < 7) std::this_thread::yield();
      if (std::this_thread::get_id() == caller) return;
      cpu_set_t mine;
      sched_getaffinity(0, sizeof mine, &mine);
      if (CPU_EQUAL(&mine, &all) && std::fegetround() == FE_TONEAREST) ++others;
    });
    EXPECT_EQ(others, 6);
  }).join();
}

TEST(Parallel, CoresAreCountedByDefault) {
  cpu_set_t cores;
  ASSERT_EQ(sched_getaffinity(getpid(), sizeof cores, &cores), 0);
  const Context none{{"WEFT_THREADS", ""}};
  EXPECT_EQ(thread_count(), CPU_COUNT(&cores));
  for (const char* wrong : {"0", "-1", "1025"}) {
    const Context context{{"WEFT_THREADS", wrong}};
    EXPECT_EQ(error_of(thread_count),
              std::string("WEFT_THREADS=") + wrong + ": expected 1 to 1024");
  }
}

// A child has none of its parent's threads, and gets its own.
TEST(Parallel, WorksInAChild) {
  const Context context{{"WEFT_THREADS", 3}};
  meet(3);
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    alarm(20);
    meet(3);
    std::_Exit(runs_of(100) == once(100) ? 7 : 1);
  }
  meet(3);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

// The end of a program waits for nobody.
TEST(Parallel, LetsAProgramEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [] {
    alarm(20);
    const Context context{{"WEFT_THREADS", 3}};
    meet(3);
    std::exit(7);
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace weft
