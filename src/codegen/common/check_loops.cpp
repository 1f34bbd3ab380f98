// Shows that a kernel ends and bounds its iterations. This is an analysis: nothing is rewritten.

#include <weft/dev/codegen/check_loops.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>
#include <weft/dev/codegen/linearize.h>
#include <weft/dev/ir/text.h>

namespace weft {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

std::int64_t clamped(Wide value) {
  return static_cast<std::int64_t>(std::clamp<Wide>(value, 0, most));
}
std::int64_t times(std::int64_t a, std::int64_t b) { return clamped(Wide{a} * b); }
std::int64_t plus(std::int64_t a, std::int64_t b) { return clamped(Wide{a} + b); }

std::int64_t most_iterations_of(const Node* loop) { return clamped(loop->src(0)->bounds().hi); }

// Returns whether the size depends only on constants, VARIABLEs and enclosing loops, which are
// bounded themselves.
bool is_bounded(const Node* size) {
  return std::ranges::all_of(toposort(size), [](const Node* node) {
    return OpSet{Op::Const, Op::Variable, Op::Range}.contains(node->op()) ||
           is_elementwise(node->op());
  });
}

std::vector<std::string> findings_of(const Node* kernel, NodeList order) {
  std::unordered_map<const Node*, int> closers;
  for (const Node* node : order)
    if (has(node->op(), OpFlag::Closes))
      for (const Node* loop : node->src().subspan(1)) ++closers[loop];

  std::vector<std::string> findings;
  const auto check = [&](bool holds, const Node* node, std::string_view complaint) {
    if (!holds) findings.push_back(fmt::format("{}: {}", expression_text(node), complaint));
  };
  const auto check_whole = [&](const Node* graph) {
    for (const Node* loop : graph->ranges())
      check(false, loop, "the loop is still open at the end");
  };
  check_whole(kernel);
  for (const Node* node : order) {
    if (node->op() == Op::Range)
      check(closers[node] == 1, node, "not closed by exactly one END, REDUCE or STAGE");
    if (node->op() == Op::Range || node->op() == Op::Special)
      check(
          is_bounded(node->src(0)), node,
          "the number of iterations depends on more than constants, VARIABLEs and enclosing loops");
    if (node->op() == Op::Call) check_whole(node->src(0));
    check(node->op() != Op::Custom, node, "what its code does is not known here");
  }
  return findings;
}

// Counts the iterations of a graph in its linear order, in which loops are properly nested. Those of
// the bodies that it calls are known.
std::int64_t count_iterations(const Node* root, const NodeMap<std::int64_t>& bodies) {
  NodeMap<bool> elsewhere;
  std::int64_t workers = 1, iterations = 0;
  const std::vector<const Node*> program = linearize(root);
  for (const Node* node : program)
    if (node->op() == Op::Call)
      for (const Node* inner : toposort(node->src(0))) elsewhere.set(inner, true);
  for (const Node* node : program)
    if (node->op() == Op::Special && !elsewhere.contains(node))
      workers = times(workers, most_iterations_of(node));
  std::vector<std::int64_t> open{workers};
  for (const Node* node : program) {
    if (elsewhere.contains(node)) continue;
    if (node->op() == Op::Range) {
      open.push_back(times(open.back(), most_iterations_of(node)));
      iterations = plus(iterations, open.back());
    } else if (has(node->op(), OpFlag::Closes)) {
      open.resize(open.size() - static_cast<std::size_t>(std::ranges::count(node->src().subspan(1),
                                                                            Op::Range, &Node::op)));
    } else if (node->op() == Op::Call) {
      iterations = plus(iterations, times(open.back(), *bodies.find(node->src(0))));
    }
  }
  return iterations;
}

}  // namespace

LoopCheck check_loops(const Node* kernel) {
  const std::vector<const Node*> order = toposort(kernel);
  LoopCheck result{findings_of(kernel, order), 0};
  if (!result.findings.empty()) return result;
  NodeMap<std::int64_t> bodies;  // counted before their calls, as they come in topological order
  for (const Node* node : order)
    if (node->op() == Op::Call && !bodies.contains(node->src(0)))
      bodies.set(node->src(0), count_iterations(node->src(0), bodies));
  result.most_iterations = count_iterations(kernel, bodies);
  return result;
}

}  // namespace weft
