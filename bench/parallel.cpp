// What it costs to run something on several threads.

#include <atomic>
#include <thread>

#include <weft/dev/base/parallel.h>
#include <weft/settings.h>

#include "report.h"

namespace weft::bench {
namespace {

double nanoseconds_of(int calls, const std::function<void()>& call) {
  const double best = best_seconds(20, [&] {
    for (int i = 0; i < calls; ++i) call();
  });
  return best / calls * 1e9;
}

// Nobody goes before all have come.
void meet(int threads) {
  std::atomic<int> here{0};
  parallel(threads, [&](std::int64_t) {
    ++here;
    while (here < threads) {
    }
  });
}

void launches(Report& report) {
  const int threads = thread_count();
  report.row("threads", threads, "");
  report.row("parallel(2, nothing)", nanoseconds_of(10'000, [] { parallel(2, [](auto) {}); }), "ns",
             "1000");
  report.row("parallel(1000, nothing), an index",
             nanoseconds_of(100, [] { parallel(1000, [](auto) {}); }) / 1000, "ns");
  if (threads < 2) return;
  report.row("to another thread and back", nanoseconds_of(1'000, [] { meet(2); }), "ns", "1000");
  report.row("to all threads and back", nanoseconds_of(1'000, [&] { meet(threads); }), "ns");
  double woken = 0;
  for (int i = 0; i < 50; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    woken += best_seconds(1, [] { meet(2); }) / 50;
  }
  report.row("to a thread that sleeps and back", woken * 1e9, "ns");
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  weft::bench::Report report("Running on several threads", argc, argv);
  weft::bench::launches(report);
}
