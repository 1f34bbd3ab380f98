#include <weft/dev/compile/pipeline.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

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

namespace weft {
namespace {

constexpr Pass passes[] = {
    {"ranges", ranges, Level::Any, Pass::Always,
     "tensors to loops: indices pushed through the graph down to memory"},
    {"simplify", simplify, Level::Any, Pass::Algebra,
     "integer algebra: index arithmetic in few ops"},
    {"one_trip", one_trip, Level::Kernel, Pass::Lowering,
     "what a loop repeats whose trips need each other: one trip"},
    {"same_sums", same_sums, Level::Kernel, Pass::Lowering,
     "reductions that differ in the names of their ranges alone become one"},
    // Before schedules: what is a choice between memories may be contiguous in each of them.
    {"sections", sections, Level::Kernel, Pass::Lowering,
     "loops cut where conditions on their range change often, or say which memory is read"},
    {"optimise", optimise, Level::Kernel, Pass::Lowering,
     "the actions of the schedule: tiles, the order and kinds of loops, what is staged"},
    {"in_order", in_order, Level::Kernel, Pass::Lowering,
     "in such a trip, what reads what another part of it writes after that"},
    {"workers", workers, Level::Kernel, Pass::Lowering,
     "loops that threads, work-groups or their items share to the numbers of these"},
    {"stages", stages, Level::Kernel, Pass::Lowering,
     "what is computed once gets memory of its own and a loop that fills it"},
    // After schedules: the order and kinds of loops say which of them carry.
    {"scans", scans, Level::Any, Pass::Always,
     "running sums, products and extremes to accumulators that a loop hands on"},
    // Before widths: a flat index may need more bits than those it is made of.
    {"flatten", flatten, Level::Kernel, Pass::Lowering, "one dimension for all memory, row-major"},
    // Sees by flat indices at which distances rows lie.
    {"fragments", fragments, Level::Kernel, Pass::Lowering,
     "MMA ranges to an instruction that multiplies matrices"},
    // Sees by flat indices what is contiguous.
    {"vectorize", vectorize, Level::Kernel, Pass::Lowering,
     "loops over what is contiguous, as wide as vector registers"},
    // After all that asks how the loops of a sum stand: a sum of sums is no nest that it knows.
    {"factors", factors, Level::Kernel, Pass::Lowering,
     "factors that inner loops of a sum do not change to the outside of these"},
    // Before copies, which then share what they read.
    {"in_words", in_words, Level::Kernel, Pass::Lowering,
     "fields of bytes that become floats in words, as they are read"},
    {"unroll", unroll, Level::Kernel, Pass::Lowering, "UNROLL and UPCAST ranges to copies"},
    // Before accumulate: reductions whose bodies are vectors get vectors to add to.
    {"expand", expand, Level::Kernel, Pass::Lowering, "VECTOR ranges to lanes"},
    {"dots", dots, Level::Kernel, Pass::Lowering,
     "DOT ranges to an instruction that multiplies neighbours and adds them up in each lane"},
    {"accumulate", accumulate, Level::Kernel, Pass::Lowering,
     "reductions to registers and loops, shared where they can be"},
    // After accumulate: copies of a reduction have one loop by then.
    {"turn", turn, Level::Kernel, Pass::Lowering,
     "lanes at a distance one by one; of copies that are neighbours: rows are read and turned to "
     "columns"},
    {"interleave", interleave, Level::Kernel, Pass::Lowering,
     "what copies write in turns to one store of all of it"},
    {"masked", masked, Level::Kernel, Pass::Lowering,
     "masked lanes that fill several registers to an access for each of them"},
    {"all_trips", all_trips, Level::Kernel, Pass::Lowering, "the loop around one trip"},
    // After the algebra, which is about integers without width.
    {"width", width, Level::Any, Pass::Always, "i32, u32 or i64 for every index, by its bounds"},
    // Before decompose, whose steps count on each rounding.
    {"contract", contract, Level::Program, Pass::Lowering,
     "a*b + c in one instruction where FASTMATH=1 allows it"},
    // After widths: dividing by multiplication is about integers that have one.
    {"decompose", decompose, Level::Program, Pass::Lowering,
     "ops and dtypes that machines lack, in terms of what they have"},
    // Last: needs the widths, and the algebra would undo it.
    {"guard", guard, Level::Program, Pass::Lowering,
     "no division by 0 and no shift by the width, wherever bounds do not exclude them"},
};

// Whether SKIP, a list with commas, names the pass. A name that no pass has would skip nothing.
bool is_skipped(const Pass& pass) {
  const std::string list = setting("SKIP");
  bool skipped = false;
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (find_pass(name) == nullptr)
      user_error(fmt::format("SKIP={}: there is no pass '{}'", list, name));
    skipped = skipped || name == pass.name;
  }
  return skipped;
}

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
  const bool is_asked_for = setting("DUMP") == pass;
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

// Runs it, and reports and checks what came out.
std::vector<UOp> gated(std::string_view name, Level after, const std::vector<UOp>& roots,
                       const PassOptions& options, const Run& run) {
  const Clock::time_point start = Clock::now();
  std::vector<UOp> result = run({.pass = name, .context = &options.target, .trace = options.trace});
  const Clock::duration time = Clock::now() - start;
  const std::vector<const Node*> nodes = nodes_of(result);
  report_cost(name, time, nodes_of(roots), nodes);
  dump(name, nodes_of(roots), nodes);
  if (setting_int("SPEC") != 0) verify_each(nodes, after, name);
  if (setting_int("VALIDATE") != 0) validate_indices(nodes, name);
  return result;
}

// The program's own rules at one place.
std::vector<UOp> run_extra(ExtraRules::Side side, std::string_view pass, Level level,
                           const std::vector<UOp>& roots, const PassOptions& options) {
  std::vector<UOp> result = roots;
  for (const auto& set : *options.extra)
    if (set->side == side && set->pass == pass)
      result = gated(set->rules.name(), level, result, options,
                     [&](const RewriteOptions& how) { return rewrite(result, set->rules, how); });
  return result;
}

}  // namespace

std::span<const Pass> all_passes() { return passes; }

const Pass* find_pass(std::string_view name) {
  const auto found = std::ranges::find(passes, name, &Pass::name);
  return found == std::end(passes) ? nullptr : found;
}

std::vector<UOp> run_pass(const Pass& pass, const std::vector<UOp>& roots,
                          const PassOptions& options) {
  std::vector<UOp> result = run_extra(ExtraRules::Before, pass.name, Level::Any, roots, options);
  if (!is_skipped(pass))
    result = gated(pass.name, pass.after, result, options,
                   [&](const RewriteOptions& how) { return pass.run(result, how); });
  return run_extra(ExtraRules::After, pass.name, pass.after, result, options);
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
  return run_extra(ExtraRules::Before, "", Level::Any, roots, options);
}

std::vector<UOp> run_pipeline(const std::vector<UOp>& roots, const PassOptions& options) {
  return run_pipeline_until("", roots, options);
}

std::vector<UOp> run_pipeline_until(std::string_view end, const std::vector<UOp>& roots,
                                    const PassOptions& options) {
  std::vector<UOp> result = roots;
  for (const Pass& pass : passes) {
    if (pass.name == end) break;
    if (is_wanted(pass, options.target)) result = run_pass(pass, result, options);
  }
  return result;
}

}  // namespace weft
