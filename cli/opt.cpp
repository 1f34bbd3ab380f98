#include <cstdio>

#include <fmt/format.h>
#include <weft/dev/codegen/check_loops.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/validate/bounds.h>

#include "commands.h"
#include "input.h"

namespace weft::cli {
namespace {

class TraceToStderr final : public RewriteTrace {
 public:
  void applied(std::string_view pass, const Rule& rule, const Node* before,
               const Node* after) override {
    fmt::print(stderr, "{}: {} -> {}  by {}\n", pass, expression_text(before),
               expression_text(after), rule.str());
  }
};

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
      fmt::print(stderr, "{}: ends after at most {} iterations\n", graph.name,
                 check.most_iterations);
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
  for (Graph& graph : read_graphs(options.file)) {
    for (const std::string& pass : passes) graph.roots = run_named(pass, graph.roots, passing);
    if (options.validate) report_proofs(graph);
    if (options.check_loops) report_loops(graph);
    fmt::print("{}", print_graph(graph, {.renumber = options.renumber}));
  }
  flush_output();
}

}  // namespace weft::cli
