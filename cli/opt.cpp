#include <fstream>
#include <iostream>
#include <iterator>

#include <fmt/core.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/validate/bounds.h>
#include <weft/error.h>

#include "commands.h"

namespace weft::cli {
namespace {

std::string read_all(const std::string& file) {
  if (file == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream in(file, std::ios::binary);
  if (!in) user_error(fmt::format("cannot open {}", file));
  return {std::istreambuf_iterator<char>(in), {}};
}

class TraceToStderr final : public RewriteTrace {
 public:
  void applied(std::string_view pass, const Rule& rule, const Node* before,
               const Node* after) override {
    fmt::print(stderr, "{}: {} -> {}  by {}\n", pass, expression_text(before),
               expression_text(after), rule.str());
  }
};

std::vector<const Pass*> chosen_passes(const std::vector<std::string>& names) {
  std::vector<const Pass*> passes;
  for (const std::string& name : names) {
    const Pass* pass = find_pass(name);
    if (pass == nullptr)
      user_error(fmt::format("there is no pass '{}'; `weft list passes` names them", name));
    passes.push_back(pass);
  }
  if (names.empty())
    for (const Pass& pass : all_passes()) passes.push_back(&pass);
  return passes;
}

void report_proofs(const Graph& graph) {
  std::vector<const Node*> roots;
  for (const UOp& root : graph.roots) roots.push_back(root.node());
  for (const IndexProof& proof : prove_indices(roots)) {
    const char* verdict = proof.proof.verdict == Verdict::Proved    ? "inside"
                          : proof.proof.verdict == Verdict::Refuted ? "OUTSIDE"
                                                                    : "unknown";
    fmt::print(stderr, "{}: {}: {}{}{}\n", graph.name, expression_text(proof.index), verdict,
               proof.proof.reason.empty() ? "" : ": ", proof.proof.reason);
  }
}

}  // namespace

void run_opt(const OptOptions& options) {
  const auto passes = chosen_passes(options.passes);
  Arena arena;
  const InternerScope scope(arena);
  TraceToStderr trace;
  std::vector<Graph> graphs;
  const std::string text = read_all(options.file);
  try {
    graphs = parse_graphs(text);
  } catch (const Error& error) {
    user_error(fmt::format("{}:{}", options.file == "-" ? "<stdin>" : options.file, error.what()));
  }
  for (Graph& graph : graphs) {
    for (const Pass* pass : passes)
      graph.roots = run_pass(*pass, graph.roots, options.trace ? &trace : nullptr);
    if (options.validate) report_proofs(graph);
    fmt::print("{}", print_graph(graph, {.renumber = options.renumber}));
  }
}

}  // namespace weft::cli
