// The pipeline: the order of the passes, and the one gate that runs each.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <weft/dev/compile/extra_rules.h>
#include <weft/dev/device/target.h>
#include <weft/dev/rewrite/rewriter.h>
#include <weft/dev/rules/spec.h>

namespace weft {

struct Pass {
  std::string_view name;
  std::vector<UOp> (*run)(const std::vector<UOp>&, const RewriteOptions&);
  Level after;  // what the result must conform to
  // Lowering: only for targets that ask for it; Algebra: unless ALGEBRA=0.
  enum { Always, Lowering, Algebra } when;
  // Optional: without it, SKIP, kernels compute the same.
  enum { Required, Optional } need;
  std::string_view meaning;
};

// In order. pipeline.cpp is the only file that knows it.
std::span<const Pass> all_passes();
const Pass* find_pass(std::string_view name);

// For whom, who is told, and what the program adds. The rules that lower find the target as their
// context.
struct PassOptions {
  Target target = {};
  RewriteTrace* trace = nullptr;
  std::shared_ptr<const ExtraRuleList> extra = extra_rules();
};

// Rewrites, unless SKIP names the pass; then prints the time it took (DEBUG=3) and the result
// (DEBUG=4, DUMP=name), verifies (SPEC=1), validates (VALIDATE=1) and compares with the interpreter
// (VALIDATE=2). The program's own rules before and after the pass likewise. Throws where these
// settings name no pass, or SKIP one that is required.
std::vector<UOp> run_pass(const Pass& pass, const std::vector<UOp>& roots,
                          const PassOptions& options = {});
// A pass of the pipeline, a rule set to its fixed point, or `all` for the whole pipeline.
std::vector<UOp> run_named(std::string_view name, const std::vector<UOp>& roots,
                           const PassOptions& options = {});
// The program's own rules for tensors, before these are cut into kernels.
std::vector<UOp> rewrite_tensors(const std::vector<UOp>& roots, const PassOptions& options = {});
// The passes that the target asks for: what its device renders.
std::vector<UOp> run_pipeline(const std::vector<UOp>& roots, const PassOptions& options = {});
// Those of them that come before the pass `end`.
std::vector<UOp> run_pipeline_until(std::string_view end, const std::vector<UOp>& roots,
                                    const PassOptions& options = {});

}  // namespace weft
