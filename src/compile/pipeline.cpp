#include <weft/dev/compile/pipeline.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <weft/dev/codegen/decompose.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/compile/rule_sets.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/ranges.h>
#include <weft/dev/validate/bounds.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "pass_settings.h"
#include "translation_check.h"

namespace weft {
namespace {

constexpr Pass passes[] = {
    {"ranges", ranges, Level::Any, Pass::Always, Pass::Optional,
     "turns tensor ops and views into loops: indices are pushed through them to the buffers"},
    {"simplify", simplify, Level::Any, Pass::Algebra, Pass::Optional,
     "simplifies index arithmetic, conditions and other integer expressions"},
    {"strip_loop", strip_loop, Level::Any, Pass::Always, Pass::Required,
     "strips a sequential loop around the whole kernel, so that one iteration is scheduled"},
    {"common_reductions", common_reductions, Level::Kernel, Pass::Lowering, Pass::Optional,
     "merges reductions that differ only in the names of their loops"},
    // Before schedules: what is a choice between memories may be contiguous in each of them.
    {"index_set_split", index_set_split, Level::Kernel, Pass::Lowering, Pass::Optional,
     "splits a loop where conditions on its index change often or select which buffer is read"},
    {"optimise", optimise, Level::Kernel, Pass::Lowering, Pass::Optional,
     "applies the schedule: tiles, reorders, vectorises and parallelises loops, stages values"},
    {"in_order", in_order, Level::Any, Pass::Always, Pass::Required,
     "orders reads after earlier writes to their buffer in the iteration that strip_loop leaves"},
    {"workers", workers, Level::Kernel, Pass::Lowering, Pass::Optional,
     "replaces the index of a parallel loop by that of the thread, work-group or work-item"},
    {"stages", stages, Level::Kernel, Pass::Lowering, Pass::Required,
     "gives each staged value a buffer inside the kernel and the loops that fill it"},
    // After schedules: the order and kinds of loops say which of them carry.
    {"scans", scans, Level::Any, Pass::Always, Pass::Optional,
     "turns prefix sums, products and extremes into accumulators that a loop carries"},
    // Before widths: a flat index may need more bits than those it is made of.
    {"flatten", flatten, Level::Kernel, Pass::Lowering, Pass::Required,
     "gives every buffer one dimension: indices become row-major offsets"},
    // Sees by flat indices at which distances rows lie.
    {"fragments", fragments, Level::Kernel, Pass::Lowering, Pass::Required,
     "replaces the MMA loops of a matrix product by a matrix instruction"},
    // Sees by flat indices what is contiguous.
    {"vectorize", vectorize, Level::Kernel, Pass::Lowering, Pass::Optional,
     "splits loops that the schedule left plain into vectors, where their accesses are contiguous"},
    // After all that asks how the loops of a sum stand: a sum of sums is no nest that it knows.
    {"factor_out", factor_out, Level::Kernel, Pass::Lowering, Pass::Optional,
     "moves loop-invariant factors out of the inner loops of a sum"},
    // Before copies, which then share what they read.
    {"unpack", unpack, Level::Kernel, Pass::Lowering, Pass::Optional,
     "unpacks bit fields that become floats in 32-bit words, widened as they are loaded"},
    {"unroll", unroll, Level::Kernel, Pass::Lowering, Pass::Optional,
     "replaces UNROLL and UPCAST loops by a copy of the body for each iteration"},
    // Before accumulate: reductions whose bodies are vectors get vectors to add to.
    {"expand", expand, Level::Kernel, Pass::Lowering, Pass::Required,
     "replaces VECTOR loops by vectors: each iteration becomes a lane"},
    {"dots", dots, Level::Kernel, Pass::Lowering, Pass::Required,
     "replaces DOT loops by an instruction that adds up neighbouring products in each lane"},
    {"accumulate", accumulate, Level::Kernel, Pass::Lowering, Pass::Required,
     "turns reductions into loops that update registers; independent ones share a loop"},
    // After accumulate: copies of a reduction have one loop by then.
    {"transpose_vectors", transpose_vectors, Level::Kernel, Pass::Lowering, Pass::Optional,
     "replaces strided vector loads by scalar loads, or by row loads and a transpose"},
    {"interleave", interleave, Level::Kernel, Pass::Lowering, Pass::Optional,
     "merges interleaved stores, to every second or fourth element, into one contiguous store"},
    {"masked", masked, Level::Kernel, Pass::Lowering, Pass::Required,
     "splits masked vector accesses that are wider than a register"},
    {"restore_loop", restore_loop, Level::Any, Pass::Always, Pass::Required,
     "restores the loop that strip_loop has stripped"},
    // After the algebra, which is about integers without width.
    {"width", width, Level::Any, Pass::Always, Pass::Required,
     "chooses i32, u32 or i64 for every index, by its bounds"},
    // Before decompose, whose steps count on each rounding.
    {"fma_contract", fma_contract, Level::Program, Pass::Lowering, Pass::Optional,
     "fuses a*b + c into one instruction if FASTMATH=1 allows it"},
    // After widths: dividing by multiplication is about integers that have one.
    {"decompose", decompose, Level::Program, Pass::Lowering, Pass::Required,
     "replaces ops and dtypes that the target lacks by sequences of those that it has"},
    // Last: needs the widths, and the algebra would undo it.
    {"guard", guard, Level::Program, Pass::Lowering, Pass::Required,
     "guards integer division by 0 or -1 and too large shifts, unless bounds exclude them"},
};

bool is_wanted(const Pass& pass, const Target& target) {
  switch (pass.when) {
    case Pass::Always: return true;
    case Pass::Lowering: return target.lowered;
    case Pass::Algebra: return setting_int("ALGEBRA") != 0;
  }
  return true;
}

using Clock = std::chrono::steady_clock;

void report_cost(std::string_view pass, Clock::duration time, NodeList before, NodeList after) {
  if (setting_int("DEBUG") < 3) return;
  fmt::print(stderr, "// {}: {:.3f} ms, {} nodes -> {}\n", pass,
             std::chrono::duration<double, std::milli>(time).count(), toposort(before).size(),
             toposort(after).size());
}

void dump(std::string_view pass, NodeList before, NodeList after) {
  const bool is_asked_for = is_dumped(pass);
  if (setting_int("DEBUG") < 4 && !is_asked_for) return;
  const bool same = !is_asked_for && std::ranges::equal(before, after);
  const std::string text = same ? "// " + std::string(pass) + " (unchanged)\n"
                                : print_graph(pass, after, {.renumber = true});
  std::fputs(text.c_str(), stderr);
}

// A kernel, and those that fill what it keeps, are graphs of their own.
void verify_each(NodeList roots, Level level, std::string_view pass) {
  const auto is_kernel = [](const Node* root) { return root->op() == Op::Sink; };
  if (!std::ranges::all_of(roots, is_kernel)) return verify(roots, level, pass);
  for (std::size_t i = 0; i < roots.size(); ++i) verify(roots.subspan(i, 1), level, pass);
}

using Run = std::function<std::vector<UOp>(const RewriteOptions&)>;

// Runs it, and reports and checks what came out; also with the translation, where there is one.
std::vector<UOp> gated(std::string_view name, Level after, const std::vector<UOp>& roots,
                       const PassOptions& options, TranslationCheck* translation, const Run& run) {
  const Clock::time_point start = Clock::now();
  std::vector<UOp> result = run({.pass = name, .context = &options.target, .trace = options.trace});
  const Clock::duration time = Clock::now() - start;
  const std::vector<const Node*> nodes = nodes_of(result);
  report_cost(name, time, nodes_of(roots), nodes);
  dump(name, nodes_of(roots), nodes);
  if (setting_int("SPEC") != 0) verify_each(nodes, after, name);
  if (setting_int("VALIDATE") == 1 || (setting_int("VALIDATE") > 1 && can_prove()))
    validate_indices(nodes, name);
  if (translation != nullptr && !std::ranges::equal(nodes, nodes_of(roots)))
    translation->after(name, result);
  return result;
}

// The program's own rules at one place.
std::vector<UOp> run_extra(ExtraRules::Side side, std::string_view pass, Level level,
                           const std::vector<UOp>& roots, const PassOptions& options,
                           TranslationCheck* translation) {
  std::vector<UOp> result = roots;
  for (const auto& set : *options.extra)
    if (set->side == side && set->pass == pass)
      result = gated(set->rules.name(), level, result, options, translation,
                     [&](const RewriteOptions& how) { return rewrite(result, set->rules, how); });
  return result;
}

std::vector<UOp> run_with(TranslationCheck* translation, const Pass& pass,
                          const std::vector<UOp>& roots, const PassOptions& options) {
  check_pass_settings(*options.extra);
  std::vector<UOp> result =
      run_extra(ExtraRules::Before, pass.name, Level::Any, roots, options, translation);
  if (!is_skipped(pass.name))
    result = gated(pass.name, pass.after, result, options, translation,
                   [&](const RewriteOptions& how) { return pass.run(result, how); });
  return run_extra(ExtraRules::After, pass.name, pass.after, result, options, translation);
}

// Of kernels, where VALIDATE=2 asks for it.
std::optional<TranslationCheck> translation_of(const std::vector<UOp>& roots) {
  const auto is_kernel = [](const UOp& root) { return root->op() == Op::Sink; };
  if (setting_int("VALIDATE") < 2 || !std::ranges::all_of(roots, is_kernel)) return {};
  return std::optional<TranslationCheck>(std::in_place, roots);
}

}  // namespace

std::span<const Pass> all_passes() { return passes; }

const Pass* find_pass(std::string_view name) {
  const auto found = std::ranges::find(passes, name, &Pass::name);
  return found == std::end(passes) ? nullptr : found;
}

std::vector<UOp> run_pass(const Pass& pass, const std::vector<UOp>& roots,
                          const PassOptions& options) {
  std::optional<TranslationCheck> translation = translation_of(roots);
  return run_with(translation ? &*translation : nullptr, pass, roots, options);
}

std::vector<UOp> run_named(std::string_view name, const std::vector<UOp>& roots,
                           const PassOptions& options) {
  if (name == "all") return run_pipeline(roots, options);
  if (const Pass* pass = find_pass(name)) return run_pass(*pass, roots, options);
  if (const RuleSet* rules = find_rule_set(name))
    return rewrite(roots, *rules, {.trace = options.trace});
  user_error(fmt::format(
      "there is no pass or rule set '{}'; `weft list passes` and `weft list rules` name them",
      name));
}

std::vector<UOp> rewrite_tensors(const std::vector<UOp>& roots, const PassOptions& options) {
  check_pass_settings(*options.extra);
  return run_extra(ExtraRules::Before, "", Level::Any, roots, options, nullptr);
}

std::vector<UOp> run_pipeline(const std::vector<UOp>& roots, const PassOptions& options) {
  return run_pipeline_until("", roots, options);
}

std::vector<UOp> run_pipeline_until(std::string_view end, const std::vector<UOp>& roots,
                                    const PassOptions& options) {
  std::optional<TranslationCheck> translation = translation_of(roots);
  std::vector<UOp> result = roots;
  for (const Pass& pass : passes) {
    if (pass.name == end) break;
    if (is_wanted(pass, options.target))
      result = run_with(translation ? &*translation : nullptr, pass, result, options);
  }
  return result;
}

}  // namespace weft
