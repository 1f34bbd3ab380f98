#include <weft/dev/compile/pipeline.h>

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/validate/bounds.h>
#include <weft/error.h>
#include <weft/settings.h>

namespace weft {
namespace {

constexpr Pass passes[] = {
    {"simplify", simplify, Level::Any, "integer algebra: index arithmetic in few ops"},
    // Last: the algebra above is about integers without width.
    {"width", width, Level::Any, "i32, u32 or i64 for every index, by its bounds"},
};

void dump(std::string_view pass, NodeList before, NodeList after) {
  if (setting_int("DEBUG") < 4 && setting("DUMP") != pass) return;
  const bool same = std::ranges::equal(before, after);
  const std::string text = same ? "// " + std::string(pass) + " (unchanged)\n"
                                : print_graph(pass, after, {.renumber = true});
  std::fputs(text.c_str(), stderr);
}

}  // namespace

std::span<const Pass> all_passes() { return passes; }

const Pass* find_pass(std::string_view name) {
  const auto found = std::ranges::find(passes, name, &Pass::name);
  return found == std::end(passes) ? nullptr : found;
}

std::vector<UOp> run_pass(const Pass& pass, const std::vector<UOp>& roots, RewriteTrace* trace) {
  std::vector<UOp> result = pass.run(roots, {.pass = pass.name, .trace = trace});
  const std::vector<const Node*> nodes = nodes_of(result);
  dump(pass.name, nodes_of(roots), nodes);
  if (setting_int("SPEC") != 0) verify(nodes, pass.after, pass.name);
  if (setting_int("VALIDATE") != 0) validate_indices(nodes, pass.name);
  return result;
}

std::vector<UOp> run_named(std::string_view name, const std::vector<UOp>& roots,
                           RewriteTrace* trace) {
  if (name == "all") return run_pipeline(roots, trace);
  if (const Pass* pass = find_pass(name)) return run_pass(*pass, roots, trace);
  if (const RuleSet* rules = find_rule_set(name)) return rewrite(roots, *rules, {.trace = trace});
  user_error(fmt::format(
      "there is no pass or rule set '{}'; `weft list passes` and `weft list rules` name them",
      name));
}

std::vector<UOp> run_pipeline(const std::vector<UOp>& roots, RewriteTrace* trace) {
  std::vector<UOp> result = roots;
  for (const Pass& pass : passes) result = run_pass(pass, result, trace);
  return result;
}

}  // namespace weft
