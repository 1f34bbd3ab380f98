// Threads that realise at the same time, several kernels each: parts of one graph, equal graphs and
// graphs of their own.

#include <chrono>
#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include <weft/dev/device/host_memory.h>
#include <weft/dev/ir/text.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "../support/threads.h"

namespace weft {
namespace {

constexpr int threads = 4, rounds = 12;
constexpr std::int64_t size = 96;

// Rows of 1, 2 ... less the number of the round, by the identity.
Tensor product(std::int64_t round) {
  const Tensor rows = Tensor::arange(size).reshape({size, 1}).cast(dtypes::f32) + 1.0;
  const Tensor a = (rows.expand({size, size}) - static_cast<double>(round)).contiguous();
  return a.matmul(Tensor::eye(size).cast(dtypes::f32).contiguous());
}

// The sum of a row of what is computed from the product: in kernels of its own.
Tensor row_sums(const Tensor& product, int factor) {
  return ((product * static_cast<double>(factor)).contiguous() + 1.0).sum(1);
}

void expect_row_sums(const std::vector<float>& sums, std::int64_t round, int factor) {
  ASSERT_EQ(std::ssize(sums), size);
  for (std::int64_t row = 0; row < size; ++row)
    ASSERT_EQ(sums[static_cast<std::size_t>(row)],
              static_cast<float>(size * ((row + 1 - round) * factor + 1)))
        << "row " << row << ", round " << round << ", factor " << factor;
}

// Kernels share the pool as well.
class ConcurrentRealizes : public testing::Test {
 protected:
  template <class F>
  static void in_all(F f) {
    in_threads(threads, [&](int thread) {
      const Context context{{"WEFT_THREADS", 3}};
      f(thread);
    });
  }
};

TEST_F(ConcurrentRealizes, OfOneGraph) {
  for (std::int64_t round = 0; round < rounds; ++round) {
    const Tensor shared = product(round);
    in_all([&](int thread) {
      const Tensor own = shared;  // another handle of the same node
      if (thread % 2 == 1) own.realize();
      expect_row_sums(row_sums(own, thread).to_vector<float>(), round, thread);
      expect_row_sums(row_sums(own, 5).to_vector<float>(), round, 5);
    });
    expect_row_sums(row_sums(shared, 7).to_vector<float>(), round, 7);
  }
}

TEST_F(ConcurrentRealizes, OfEqualGraphs) {
  in_all([](int) {
    for (std::int64_t round = 0; round < rounds; ++round)
      expect_row_sums(row_sums(product(round), 3).to_vector<float>(), round, 3);
  });
}

TEST_F(ConcurrentRealizes, OfGraphsOfTheirOwn) {
  in_all([](int thread) {
    for (std::int64_t round = 0; round < rounds; ++round) {
      const int factor = 10 * thread + static_cast<int>(round);
      Tensor a = row_sums(product(round), factor), b = row_sums(product(round + 1), factor);
      Tensor::realize({a, b});
      expect_row_sums(a.to_vector<float>(), round, factor);
      expect_row_sums(b.to_vector<float>(), round + 1, factor);
    }
  });
}

// Runs nothing: whoever calls a program waits there for a second caller.
class Meeting final : public Device {
 public:
  explicit Meeting(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return memory_; }
  std::string render(const Node* kernel) override {
    return print_graph("kernel", NodeList(&kernel, 1));
  }
  std::string compile(std::string_view source) override { return std::string(source); }
  std::string compiler_key() const override { return name_; }
  std::unique_ptr<Program> load(std::string_view) override {
    class Met final : public Program {
     public:
      explicit Met(Meeting& place) : place_(place) {}
      void run(std::span<const Argument>, std::span<const std::int64_t>) override {
        place_.arrive();
      }

     private:
      Meeting& place_;
    };
    return std::make_unique<Met>(*this);
  }

  void arrive() {
    std::unique_lock lock(mutex_);
    ++inside_;
    has_met = has_met || inside_ == 2;
    changed_.notify_all();
    changed_.wait_for(lock, patience, [&] { return has_met; });
    --inside_;
  }
  std::chrono::milliseconds patience{20'000};
  bool has_met = false;

 private:
  std::string name_;
  HostMemory memory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
};

// A new one each time.
Meeting& new_meeting() {
  static int count = 0;
  const std::string name = "MEETING" + std::to_string(count++);
  add_device(name, "where the threads of a test meet",
             [name](int) { return std::make_unique<Meeting>(name); });
  return dynamic_cast<Meeting&>(find_device(name));
}

TEST(ConcurrentKernels, OneProgramServesTwoThreadsAtOnce) {
  Meeting& place = new_meeting();
  in_threads(
      2, [&](int) { (Tensor::empty({4}, {.device = std::string(place.name())}) + 1).realize(); });
  EXPECT_TRUE(place.has_met);
}

TEST(ConcurrentKernels, OneJitServesTwoThreadsAtOnce) {
  Meeting& place = new_meeting();
  auto add_one = jit([](const Tensor& x) { return x + 1; });
  const auto call = [&] { add_one(Tensor::empty({4}, {.device = std::string(place.name())})); };
  place.patience = std::chrono::milliseconds(100);
  call();
  call();
  // The second of two waits once for the first, if it comes meanwhile.
  for (int tries = 0; tries < 100 && !place.has_met; ++tries) in_threads(2, [&](int) { call(); });
  EXPECT_TRUE(place.has_met);
}

// Each call has what it computes on the way, and its results, for itself.
TEST(ConcurrentJit, CallsThatMeetGiveWhatTheyWouldAlone) {
  auto sums = jit([](const Tensor& x) { return row_sums(x.matmul(x).contiguous(), 2); });
  const auto given = [](int thread) { return Tensor::full({size, size}, thread + 1.0f).realize(); };
  in_threads(threads, [&](int thread) {
    const Context context{{"WEFT_THREADS", 2}};
    const Tensor x = given(thread);
    for (std::int64_t round = 0; round < 5 * rounds; ++round) {
      const float product = static_cast<float>(size) * (thread + 1.0f) * (thread + 1.0f);
      for (const float sum : sums(x).to_vector<float>())
        ASSERT_EQ(sum, static_cast<float>(size) * (2 * product + 1)) << "thread " << thread;
    }
  });
}

// Places that a function computes are noted with what is read there, so that they are in no block.
TEST(ConcurrentJit, WhatIsComputedOnTheWayIsNotShared) {
  const Tensor table = Tensor::arange(64).cast(dtypes::f32).contiguous().realize();
  auto largest = jit([&](const Tensor& x) {
    const Tensor at = x.argmax(-1).realize(), found = table[at].realize();
    return found * 2;
  });
  in_threads(threads, [&](int thread) {
    const Context context{{"WEFT_THREADS", 1}};
    const Tensor row = Tensor::arange(64) == 7 * thread;
    const Tensor x = row.cast(dtypes::f32).expand({100, 64}).contiguous().realize();
    for (std::int64_t round = 0; round < 20 * rounds; ++round)
      for (const float found : largest(x).to_vector<float>()) ASSERT_EQ(found, 14.0f * thread);
  });
}

// What is assigned to between calls is computed once, whoever comes first.
TEST(ConcurrentJit, CallsThatMeetSeeWhatWasAssigned) {
  Tensor weight = Tensor::zeros({64}).contiguous().realize();
  auto add = jit([&](const Tensor& x) { return (x + weight).contiguous() * 2; });
  const Tensor zero = Tensor::zeros({64}).contiguous().realize();
  for (int i = 0; i < 3; ++i) add(zero);
  for (std::int64_t round = 1; round <= 3 * rounds; ++round) {
    weight += 1;
    in_threads(threads, [&](int) {
      for (int call = 0; call < 3; ++call)
        for (const float found : add(zero).to_vector<float>())
          ASSERT_EQ(found, static_cast<float>(2 * round));
    });
  }
}

// What they assign to is the same for all, so that they wait for each other.
TEST(ConcurrentJit, CallsThatAssignAreCounted) {
  Tensor count = Tensor::zeros({64}).contiguous().realize();
  auto add = jit([&](const Tensor& x) { count.assign(count + x); });
  const Tensor one = Tensor::ones({64}).contiguous().realize();
  in_threads(threads, [&](int) {
    for (std::int64_t round = 0; round < rounds; ++round) add(one);
  });
  for (const float found : count.to_vector<float>()) ASSERT_EQ(found, threads * rounds);
}

}  // namespace
}  // namespace weft
