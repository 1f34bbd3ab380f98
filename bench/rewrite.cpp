// Simplifying the corpus of index expressions, each from empty intern and memo tables, and the
// same figures beside tinygrad's where tinygrad.json lies in the working directory.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/symbolic.h>
#include <nlohmann/json.hpp>

#include "report.h"

namespace weft::bench {
namespace {

struct Result {
  double build = 0, simplify = 0;  // seconds
  std::size_t ops = 0;
};

// What tinygrad's op count counts: offset and condition as one graph, the gate itself free.
std::size_t op_count_of(const UOp& root) {
  return static_cast<std::size_t>(std::ranges::count_if(
      toposort(root.node()), [](const Node* node) { return is_elementwise(node->op()); }));
}

// An offset with a condition is the INDEX of a buffer; both are simplified together.
UOp as_one(const std::vector<UOp>& roots) {
  if (roots.size() == 1) return roots[0];
  const UOp buffer = make(Op::Param, {}, dtypes::f32, ParamArg{0, Access::Read, 0});
  return make(Op::Index, {buffer, roots[1], roots[0]});
}

Result measure(const Graph& graph, Interner& from, Arena& arena) {
  Result result;
  const std::vector<const Node*> nodes = nodes_of(graph.roots);
  const InternerScope scope(arena);
  UOp root, simple;
  // Fresh tables each time: an arena that was reset holds no node, and memos live for one rewrite.
  result.build = best_seconds(1, [&] {
    arena.reset();
    root = as_one(import_graph(nodes, from, arena));
  });
  result.simplify = best_seconds(1, [&] { simple = simplify(root); });
  result.ops = op_count_of(simple);
  return result;
}

std::map<std::string, Result> best_of_passes(const std::vector<Graph>& graphs, Interner& from) {
  std::map<std::string, Result> best;
  Arena arena;
  for (int pass = 0; pass < 4; ++pass)  // the first warms up
    for (const Graph& graph : graphs) {
      const Result now = measure(graph, from, arena);
      if (pass <= 1) best[graph.name] = now;
      Result& known = best[graph.name];
      known.build = std::min(known.build, now.build);
      known.simplify = std::min(known.simplify, now.simplify);
    }
  return best;
}

// What trying the rules costs where none matches: on the nodes of results, each by itself.
void failing_matches(Report& report, const std::vector<Graph>& graphs, Interner& from) {
  Arena arena;
  const InternerScope scope(arena);
  std::vector<UOp> results;
  for (const Graph& graph : graphs)
    results.push_back(simplify(as_one(import_graph(nodes_of(graph.roots), from, arena))));
  std::vector<const Node*> nodes = toposort(nodes_of(results));
  const RuleSet& rules = fold_rules();  // patterns only: no functions that look further
  std::erase_if(nodes, [&](const Node* node) { return rules.apply(node, arena).node != nullptr; });
  std::size_t matched = 0;
  const double seconds = best_seconds(5, [&] {
    for (const Node* node : nodes) matched += rules.apply(node, arena).node != nullptr;
  });
  if (matched != 0) fmt::print("  ({} nodes matched after all)\n", matched);
  report.row(fmt::format("none of {} rules matches, each node", rules.rules().size()),
             seconds / static_cast<double>(nodes.size()) * 1e9, "ns");
}

void beside_tinygrad(Report& report, const std::map<std::string, Result>& ours, double seconds) {
  std::ifstream file("tinygrad.json");
  if (!file) {
    fmt::print("  (no tinygrad.json here: nothing to compare with)\n");
    return;
  }
  const auto theirs = nlohmann::json::parse(file);
  std::size_t larger = 0, ops = 0;
  double their_seconds = 0;
  for (const auto& [name, graph] : theirs.at("graphs").items()) {
    const auto found = ours.find(name);
    if (found == ours.end() || graph.contains("error")) continue;
    their_seconds += graph.at("seconds_simplify").get<double>();
    ops += graph.at("ops").get<std::size_t>();
    larger += found->second.ops > graph.at("ops").get<std::size_t>();
  }
  report.row("tinygrad: simplify, all", their_seconds, "s");
  report.row("tinygrad: operations left", static_cast<double>(ops), "");
  report.row("speed, times tinygrad's", their_seconds / seconds, "x", "goal 100");
  report.row("results larger than tinygrad's",
             100.0 * static_cast<double>(larger) / static_cast<double>(ours.size()), "%", "goal 2");
}

void run(Report& report, const std::string& corpus) {
  std::ifstream file(corpus);
  if (!file) {
    fmt::print("no {}: make it with bench/make_corpus.py\n", corpus);
    return;
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Arena parsed;
  std::vector<Graph> graphs;
  {
    const InternerScope scope(parsed);
    graphs = parse_graphs(text);
  }
  const auto ours = best_of_passes(graphs, parsed);
  Result total;
  for (const auto& [name, result] : ours) {
    total.build += result.build;
    total.simplify += result.simplify;
    total.ops += result.ops;
  }
  const auto count = static_cast<double>(ours.size());
  report.row("expressions", count, "", "goal 2000");
  report.row("build, each", total.build / count * 1e6, "us");
  report.row("simplify, each", total.simplify / count * 1e6, "us");
  report.row("simplify, all", total.simplify, "s");
  report.row("operations left", static_cast<double>(total.ops), "");
  beside_tinygrad(report, ours, total.simplify);
  failing_matches(report, graphs, parsed);
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  weft::bench::Report report("Simplifying index expressions", argc, argv);
  weft::bench::run(report, "corpus.weft");
}
