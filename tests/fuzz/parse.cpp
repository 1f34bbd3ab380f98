// Text that parses prints to text that parses to the same graph, and can be simplified. Any other
// text is refused with weft::Error. What the verifier finds nothing wrong with stays so.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/spec.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>

namespace weft {
namespace {

constexpr std::size_t small = 100;  // nodes

void check(bool holds, std::string_view what) {
  if (holds) return;
  std::cerr << what << "\n";
  std::abort();
}

void print_and_parse(const std::vector<const Node*>& roots) {
  const std::string text = print_graph("g", roots);
  check(nodes_of(parse_graphs(text).at(0).roots) == roots, "another graph in the same arena");
  Arena fresh;
  const InternerScope scope(fresh);
  for (bool renumber : {false, true}) {
    const auto copies =
        nodes_of(parse_graphs(print_graph("g", roots, {.renumber = renumber})).at(0).roots);
    check(structural_hash(copies) == structural_hash(roots), "another graph in a fresh arena");
    check(renumber || print_graph("g", copies) == text, "another text");
  }
}

void try_simplify(const Graph& graph) {
  const bool legal = spec_violations(nodes_of(graph.roots), Level::Any).empty();
  try {
    const std::vector<UOp> simple = simplify(graph.roots);
    print_and_parse(nodes_of(simple));
    check(!legal || spec_violations(nodes_of(simple), Level::Any).empty(), "no longer legal");
  } catch (const Error& error) {
    // Symbolic sizes that never fit may only show once they are simplified.
    check(!legal || !std::string_view(error.what()).starts_with("internal error"), error.what());
  }
}

void run(std::string_view text) {
  Arena arena;
  const InternerScope scope(arena);
  std::vector<Graph> graphs;
  try {
    graphs = parse_graphs(text);
  } catch (const Error&) {
    return;
  }
  for (const Graph& graph : graphs) {
    const std::vector<const Node*> roots = nodes_of(graph.roots);
    print_and_parse(roots);
    check(parse_graphs(print_graph(graph)).at(0).name == graph.name, "another name");
    for (const Node* root : roots)
      check(expression_text(root).size() < 100'000, "a long expression");
    if (toposort(roots).size() <= small) try_simplify(graph);
  }
}

}  // namespace
}  // namespace weft

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
