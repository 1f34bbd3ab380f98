// Proves that the kernels of the cases on stdin (bench_kernels.py) stay inside their memory, as they
// are compiled for the CPU by the schedules that the model chooses. WEFT_FULL=1 proves all, otherwise
// as many as 10 seconds allow, in an order that follows from WEFT_SEED.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>
#include <sstream>

#include <fmt/core.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/validate/bounds.h>
#include <weft/weft.h>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double sample_seconds = 10;
constexpr unsigned patience_ms = 20'000;

struct Case {
  std::string op, name;
  std::vector<std::int64_t> shapes[2];
  std::vector<std::int64_t> numbers;
};

std::vector<std::int64_t> shape_of(std::string text) {
  std::ranges::replace(text, ',', ' ');
  std::istringstream words(text);
  return {std::istream_iterator<std::int64_t>(words), {}};
}

Case case_of(const std::string& line) {
  Case one;
  std::istringstream words(line);
  std::string a, b;
  words >> one.op >> a >> b;
  one.shapes[0] = shape_of(a);
  one.shapes[1] = shape_of(b);
  one.numbers.resize(one.op == "matmul" ? 2 : 3);
  for (std::int64_t& number : one.numbers) words >> number;
  std::getline(words >> std::ws, one.name);
  return one;
}

Tensor result_of(const Case& one) {
  const Tensor a = Tensor::empty(one.shapes[0]), b = Tensor::empty(one.shapes[1]);
  const std::vector<std::int64_t>& n = one.numbers;
  if (one.op == "matmul")
    return (n[0] != 0 ? a.transpose(-2, -1) : a).matmul(n[1] != 0 ? b.transpose(-2, -1) : b);
  if (one.op == "conv") return a.conv2d(b, {}, n[2], n[0], 1, n[1]);
  return a.conv_transpose2d(b, {}, n[2], n[0], 1, n[1]);
}

struct Count {
  std::size_t cases = 0, places = 0, open = 0;
};

using IsOver = std::function<bool()>;

// A kernel may have hundreds of places, of which some take seconds.
void prove_kernel(const UOp& given, const Case& one, const IsOver& is_over, Count& count) {
  Arena arena;
  const InternerScope scope(arena);
  const UOp kernel = import_graph(nodes_of({&given, 1}), shared_graph(), arena)[0];
  const UOp program = run_pipeline({kernel}, {.target = find_device("CPU").target()})[0];
  for (const Node* place : toposort(program.node())) {
    if (place->op() != Op::Index) continue;
    if (is_over()) return;
    const IndexProof found = prove_indices({&place, 1}, patience_ms).back();
    ++count.places;
    if (found.proof.verdict == Verdict::Proved) continue;
    ++count.open;
    fmt::print("{}: {}\n", one.name, found.proof.reason);
  }
}

std::vector<Case> cases_in(std::istream& in) {
  std::vector<Case> cases;
  for (std::string line; std::getline(in, line);) cases.push_back(case_of(line));
  return cases;
}

int prove_all(std::vector<Case> cases) {
  const char* seed = std::getenv("WEFT_SEED");
  const bool is_full = std::getenv("WEFT_FULL") != nullptr;
  std::mt19937_64 random(seed != nullptr ? std::strtoull(seed, nullptr, 10) : 1);
  if (!is_full) std::shuffle(cases.begin(), cases.end(), random);
  const Clock::time_point start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const IsOver is_over = [&] { return !is_full && seconds() > sample_seconds; };
  Count count;
  for (const Case& one : cases) {
    if (is_over()) break;
    for (const ScheduleItem& item : result_of(one).schedule())
      if (!item.kernel.is_null()) prove_kernel(item.kernel, one, is_over, count);
    ++count.cases;
  }
  fmt::print("{} of {} cases, {} places in {:.1f} s, {} not proved\n", count.cases, cases.size(),
             count.places, seconds(), count.open);
  return count.places > 0 && count.open == 0 ? 0 : 1;
}

}  // namespace
}  // namespace weft

int main() { return weft::prove_all(weft::cases_in(std::cin)); }
