// What a replayed function costs besides its kernels: ten thousand of them that do next to nothing.

#include <weft/weft.h>

#include "report.h"

namespace weft::bench {
namespace {

constexpr int kernels = 10'000;

// So many kernels, each of which needs the one before.
Tensor chain(Tensor x) {
  for (int i = 0; i < kernels; ++i) x = (x + 1.0).contiguous();
  return x;
}

void report_replay(Report& report) {
  auto f = jit(chain);
  const Tensor x = Tensor::zeros({16}).realize();
  f(x);
  const double captured = best_seconds(1, [&] { f(x); });
  const double replayed = best_seconds(20, [&] { f(x); });
  report.row("kernels", static_cast<double>(f.report().kernels), "");
  report.row("captured in", captured, "s");
  report.row("replayed: a kernel", replayed / kernels * 1e9, "ns", "goal 1000");
  if (f(x).to_vector<float>()[0] != kernels) fmt::print("the result is wrong\n");
}

// A call of few kernels: what it takes to look at arguments and to make results.
void report_call(Report& report) {
  auto f = jit([](const Tensor& a, const Tensor& b) { return a + b; });
  const Tensor x = Tensor::ones({16}).realize();
  for (int i = 0; i < 3; ++i) f(x, x);
  constexpr int calls = 1000;
  const double seconds = best_seconds(20, [&] {
    for (int i = 0; i < calls; ++i) f(x, x);
  });
  report.row("a call of one kernel, two arguments, one result", seconds / calls * 1e6, "us");
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  using namespace weft::bench;
  Report report("replayed functions", argc, argv);
  report_call(report);
  report_replay(report);
}
