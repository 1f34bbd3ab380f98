#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include <fmt/format.h>
#include <weft/dev/codegen/check_loops.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
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

// Text comes from outside: passes are only given legal graphs.
std::vector<Graph> parse_legal(const std::string& text, const std::string& file) {
  const std::string name = file == "-" ? "<stdin>" : file;
  std::vector<Graph> graphs;
  try {
    graphs = parse_graphs(text);
  } catch (const Error& error) {
    user_error(fmt::format("{}:{}", name, error.what()));
  }
  for (const Graph& graph : graphs)
    if (const auto findings = spec_violations(nodes_of(graph.roots), Level::Any); !findings.empty())
      user_error(fmt::format("{}: graph {} is not legal:\n  {}", name, graph.name,
                             fmt::join(findings, "\n  ")));
  return graphs;
}

void report_proofs(const Graph& graph) {
  for (const IndexProof& proof : prove_indices(nodes_of(graph.roots))) {
    const char* verdict = proof.proof.verdict == Verdict::Proved    ? "inside"
                          : proof.proof.verdict == Verdict::Refuted ? "OUTSIDE"
                                                                    : "unknown";
    fmt::print(stderr, "{}: {}: {}{}{}\n", graph.name, expression_text(proof.index), verdict,
               proof.proof.reason.empty() ? "" : ": ", proof.proof.reason);
  }
}

void report_loops(const Graph& graph) {
  for (const UOp& root : graph.roots) {
    const LoopCheck check = check_loops(root.node());
    for (const std::string& finding : check.findings)
      fmt::print(stderr, "{}: {}\n", graph.name, finding);
    if (check.findings.empty())
      fmt::print(stderr, "{}: ends after at most {} trips\n", graph.name, check.most_trips);
  }
}

}  // namespace

void run_opt(const OptOptions& options) {
  const std::vector<std::string> passes =
      options.passes.empty() ? std::vector<std::string>{"all"} : options.passes;
  Arena arena;
  const InternerScope scope(arena);
  TraceToStderr trace;
  PassOptions passing;
  if (!options.device.empty()) passing.target = find_device(options.device).target();
  if (options.trace) passing.trace = &trace;
  for (Graph& graph : parse_legal(read_all(options.file), options.file)) {
    for (const std::string& pass : passes) graph.roots = run_named(pass, graph.roots, passing);
    if (options.validate) report_proofs(graph);
    if (options.check_loops) report_loops(graph);
    fmt::print("{}", print_graph(graph, {.renumber = options.renumber}));
  }
  if (std::fflush(stdout) != 0) user_error("the output cannot be written");
}

}  // namespace weft::cli
