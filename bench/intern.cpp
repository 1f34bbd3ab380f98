// Building and hash-consing nodes, with a million live ones: arenas alone and two at once, the
// shared graph, and the memory of a node.

#include <algorithm>
#include <random>
#include <thread>

#include <weft/dev/ir/graph.h>

#include "report.h"

namespace weft::bench {
namespace {

constexpr std::size_t live = 1'000'000;

// The recipe of a graph like index arithmetic: which op, and which earlier nodes it takes. Made
// beforehand, so that only building is timed. No two steps are equal.
struct Step {
  Op op;
  std::uint32_t a, b;
};

std::vector<Step> recipe(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  constexpr Op ops[] = {Op::Add, Op::Mul, Op::FloorDiv, Op::FloorMod, Op::CmpLt};
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i < 64 || i % 4 == 0) {
      steps.push_back({Op::Const, i, 0});
      continue;
    }
    // Sources are mostly recent; comparisons are bool, and never sources here.
    const std::uint32_t window = random() % 8 == 0 ? i : std::min<std::uint32_t>(i, 256);
    const auto source = [&] {
      std::uint32_t s = i - 1 - random() % window;
      while (steps[s].op == Op::CmpLt) --s;
      return s;
    };
    steps.push_back({ops[random() % std::size(ops)], source(), source()});
  }
  return steps;
}

void build(const std::vector<Step>& steps, Interner& interner, std::vector<const Node*>& nodes) {
  nodes.clear();
  for (const Step& step : steps) {
    if (step.op == Op::Const) {
      nodes.push_back(make_const(interner, dtypes::index, step.a));
      continue;
    }
    const Node* src[] = {nodes[step.a], nodes[step.b]};
    nodes.push_back(make_node(interner, step.op, src));
  }
}

std::size_t distinct(const std::vector<const Node*>& nodes) {
  std::vector<const Node*> sorted = nodes;
  std::ranges::sort(sorted);
  return static_cast<std::size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
}

// Builds a million nodes in a warm arena and frees them, per repeat.
double arena_rate(const std::vector<Step>& steps, Arena& arena, std::vector<const Node*>& nodes) {
  build(steps, arena, nodes);
  const auto made = static_cast<double>(arena.size());
  const double seconds = best_seconds(5, [&] {
    arena.reset();
    build(steps, arena, nodes);
  });
  return made / seconds / 1e6;
}

void arenas(Report& report) {
  const std::vector<Step> steps = recipe(live * 5 / 4, 1);
  Arena arena;
  std::vector<const Node*> nodes;
  const double alone = arena_rate(steps, arena, nodes);
  report.row("arena, one thread, 1 M live", alone, "M nodes/s", "goal 5");

  double rates[2];
  std::thread workers[2];
  for (int i = 0; i < 2; ++i)
    workers[i] = std::thread([&, i] {
      Arena own;
      std::vector<const Node*> own_nodes;
      rates[i] = arena_rate(steps, own, own_nodes);
    });
  for (std::thread& worker : workers) worker.join();
  report.row("arenas, two threads at once, each", (rates[0] + rates[1]) / 2, "M nodes/s", "goal 5");
  report.row("two threads against one, per thread", (rates[0] + rates[1]) / 2 / alone, "x",
             "goal 1");

  std::size_t sources = 0;
  const std::size_t count = distinct(nodes);
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (const Node* node : nodes) sources += node->size();
  report.row(
      "arena, memory of a node without its sources",
      static_cast<double>(arena.bytes() - sources * sizeof(Node*)) / static_cast<double>(count),
      "bytes", "goal 96");

  const double seconds = best_seconds(5, [&] { build(steps, arena, nodes); });
  report.row("arena, finding nodes that are there",
             static_cast<double>(steps.size()) / seconds / 1e6, "M nodes/s");
}

// A million nodes stay alive; a hundred thousand more come and go.
void shared(Report& report) {
  std::vector<const Node*> nodes;
  build(recipe(live * 5 / 4, 2), shared_graph(), nodes);
  const std::size_t standing = shared_graph().size();
  const auto churn = [](std::uint32_t seed) {
    std::vector<Step> steps = recipe(125'000, seed);
    for (Step& step : steps)
      if (step.op == Op::Const) step.a += seed * 1'000'000'000;
    std::vector<const Node*> made;
    const double seconds = best_seconds(5, [&] {
      build(steps, shared_graph(), made);
      for (const Node* node : made) shared_graph().release(node);
    });
    return static_cast<double>(made.size()) / seconds / 1e6;
  };
  const double alone = churn(3);
  report.row("shared graph, one thread, 1 M live, released", alone, "M nodes/s");
  double rates[2];
  std::thread workers[2];
  for (std::uint32_t i = 0; i < 2; ++i)
    workers[i] = std::thread([&, i] { rates[i] = churn(4 + i); });
  for (std::thread& worker : workers) worker.join();
  report.row("shared graph, two threads, together", rates[0] + rates[1], "M nodes/s");
  report.row("shared graph, memory of a node with its sources",
             static_cast<double>(shared_graph().bytes()) / static_cast<double>(standing), "bytes");
  for (const Node* node : nodes) shared_graph().release(node);
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  weft::bench::Report report("Building and hash-consing", argc, argv);
  weft::bench::arenas(report);
  weft::bench::shared(report);
}
