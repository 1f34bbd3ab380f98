// The loops, compiled as kernels are, and a clock.

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include <weft/dev/base/parallel.h>

#include "calibrate.h"
#include "compiler.h"
#include "elf_object.h"
#include "speed_loops.h"

namespace weft::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_bytes = std::size_t{128} << 20;  // that are taken for this
constexpr std::chrono::milliseconds budget{200};
constexpr int most_runs = 9;

// Of what a stream of reads gets from behind the second cache, kernels get so much: they read in shorter
// runs, and write. With it the processor that the model is tuned on has the bandwidths assumed for it.
constexpr double of_a_stream = 0.5;

// A run is shorter than the time after which the system lets another program go on.
constexpr std::int64_t instructions_of_run = 500'000, bytes_of_run = 8 << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Zeros, in large pages where the system has them: what is measured are caches, not the way to pages.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, bytes, MADV_HUGEPAGE);
    memory_ = static_cast<std::byte*>(memory);
    std::memset(memory_, 0, bytes);
  }
  ~Memory() { munmap(memory_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* begin() const { return memory_; }

 private:
  std::size_t bytes_;
  std::byte* memory_;
};

class Measurement {
 public:
  Measurement(const DeviceModel& assumed, std::string_view object)
      : assumed_(assumed), object_(object), memory_(bytes_of_memory()) {}

  DeviceModel result() const {
    DeviceModel machine = assumed_;
    const double cycle = seconds_of(clock_chain());
    machine.hertz = 1 / cycle;
    machine.fma_latency = seconds_of(latency_chain()) / cycle;
    const double vector = seconds_of(port_chains(assumed_));
    machine.fma_ports = cycle / vector;
    machine.halves = vector / seconds_of(half_chains(assumed_));
    auto& levels = machine.memory;
    machine.load_ports = bandwidth(levels[0].bytes / 2) * cycle / assumed_.vector_bytes;
    for (std::size_t i = 0; i + 1 < levels.size(); ++i)
      levels[i].bandwidth =
          bandwidth(std::sqrt(levels[i].bytes * levels[i + 1].bytes)) * (i == 0 ? 1 : of_a_stream);
    if (static_cast<double>(bytes_of_memory()) > levels.back().bytes)
      levels.back().bandwidth = bandwidth_of_all() * of_a_stream;
    machine.launch() = seconds_until_all_work();
    return machine;
  }

 private:
  // The last cache holds no more than half of it, if there may be that much.
  std::size_t bytes_of_memory() const {
    const auto wanted = static_cast<std::size_t>(2 * assumed_.memory.back().bytes);
    return std::min(std::bit_ceil(wanted), most_bytes);
  }

  SpeedLoop find(std::string_view name) const {
    return reinterpret_cast<SpeedLoop>(object_.find(name));
  }

  // Of several runs: what disturbs one only makes it longer.
  template <class Run>
  double least_seconds(int runs, Run run) const {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < runs && (i < 3 || Clock::now() - start_ < budget); ++i) {
      const auto start = Clock::now();
      run();
      least = std::min(least, seconds_since(start));
    }
    return least;
  }

  // Of one instruction.
  double seconds_of(const Chains& chains) const {
    const SpeedLoop loop = find(chains.name);
    const std::int64_t iterations = instructions_of_run / chains.instructions();
    const double seconds = least_seconds(
        most_runs, [&]() WEFT_CALLS_COMPILED_CODE { loop(memory_.begin(), 0, iterations); });
    return seconds / static_cast<double>(iterations * chains.instructions());
  }

  // With which one worker reads so much again and again.
  double bandwidth(double bytes) const {
    const auto region = static_cast<std::int64_t>(std::bit_floor(static_cast<std::size_t>(bytes)));
    const std::int64_t iterations = std::max(region, bytes_of_run) / bytes_of_iteration(assumed_);
    const SpeedLoop loop = find("reads");
    const double seconds = least_seconds(most_runs, [&]() WEFT_CALLS_COMPILED_CODE {
      loop(memory_.begin(), region - 1, iterations);
    });
    return static_cast<double>(iterations * bytes_of_iteration(assumed_)) / seconds;
  }

  // With which all together read all of the memory, each a part.
  double bandwidth_of_all() const {
    const auto bytes = static_cast<std::int64_t>(bytes_of_memory());
    const std::int64_t iterations = bytes / assumed_.workers() / bytes_of_iteration(assumed_);
    const std::int64_t part = iterations * bytes_of_iteration(assumed_);
    const SpeedLoop loop = find("reads");
    const double seconds = least_seconds(most_runs, [&] {
      parallel(assumed_.workers(), [&](std::int64_t worker) WEFT_CALLS_COMPILED_CODE {
        loop(memory_.begin() + worker * part, -1, iterations);
      });
    });
    return static_cast<double>(part * assumed_.workers()) / seconds;
  }

  // Who is at work waits for the others, but not for ever: they may have no core.
  double seconds_until_all_work() const {
    constexpr std::chrono::microseconds patience{50};
    std::atomic<int> working{0};
    const double seconds = least_seconds(50, [&] {
      working = 0;
      parallel(assumed_.workers(), [&](std::int64_t) {
        ++working;
        const auto start = Clock::now();
        while (working < assumed_.workers() && Clock::now() - start < patience) {
        }
      });
    });
    return seconds < std::chrono::duration<double>(patience).count() ? seconds : assumed_.launch();
  }

  const Clock::time_point start_ = Clock::now();
  const DeviceModel& assumed_;
  ElfObject object_;
  Memory memory_;
};

}  // namespace

DeviceModel measured(const DeviceModel& assumed, bool has_fma, const CompileLoops& compile) {
  return Measurement(assumed, compile(speed_loops(assumed, has_fma))).result();
}

}  // namespace weft::cpu
