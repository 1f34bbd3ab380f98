#include "compile.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>
#include <weft/error.h>

namespace weft {
namespace {

using Form = Pat::Tree::Form;
using Tree = Pat::Tree;

[[noreturn]] void rule_error(const Rule& rule, std::string_view what) {
  internal_error(fmt::format("rule {}: {}", rule.str(), what));
}

bool commutes(const Tree& tree) {
  if (tree.form != Form::Ops || tree.src.size() != 2 || tree.more || tree.ordered) return false;
  for (int i = 0; i < op_count; ++i)
    if (tree.ops.contains(static_cast<Op>(i)) && !has(static_cast<Op>(i), OpFlag::Commutes))
      return false;
  return tree.src[0].get() != tree.src[1].get();
}

void collect_commuting(const Pat& pattern, std::vector<const Tree*>& found) {
  if (commutes(*pattern) && std::ranges::find(found, pattern.get()) == found.end())
    found.push_back(pattern.get());
  for (const Pat& source : pattern->src) collect_commuting(source, found);
}

class LeftCompiler {
 public:
  LeftCompiler(CompiledRule& out, const std::vector<const Tree*>& swapped)
      : out_(out), swapped_(swapped) {}

  // Breadth first: ops near the root fail soonest.
  void run(const Pat& root) {
    std::vector<std::pair<const Tree*, std::uint8_t>> level{{root.get(), 0}};
    out_.registers.push_back({root.get(), 0});
    check(*root, 0);
    while (!level.empty()) {
      std::vector<std::pair<const Tree*, std::uint8_t>> next;
      for (const auto& [tree, reg] : level) sources(*tree, reg, next);
      level = std::move(next);
    }
  }

 private:
  void emit(MatchStep step) { out_.steps.push_back(step); }

  void sources(const Tree& tree, std::uint8_t reg,
               std::vector<std::pair<const Tree*, std::uint8_t>>& next) {
    if (tree.form != Form::Ops) return;
    const bool swap = std::ranges::find(swapped_, &tree) != swapped_.end();
    for (std::size_t i = 0; i < tree.src.size(); ++i) {
      const Pat& source = tree.src[swap ? 1 - i : i];
      const std::uint8_t target = fresh();
      emit({MatchStep::Do::Source, reg, static_cast<std::uint8_t>(i), target});
      const auto known = std::ranges::find(out_.registers, source.get(),
                                           [](const auto& entry) { return entry.first; });
      if (known != out_.registers.end()) {
        emit({MatchStep::Do::IsSame, target, known->second});
        continue;
      }
      out_.registers.push_back({source.get(), target});
      check(*source, target);
      next.push_back({source.get(), target});
    }
  }

  void check(const Tree& tree, std::uint8_t reg) {
    if (tree.form == Form::Ops) check_ops(tree, reg);
    if (tree.kinds != KindSet::all())
      emit({MatchStep::Do::HasKind, reg, 0, 0, static_cast<std::int64_t>(tree.kinds.bits())});
    if (tree.constant) emit({MatchStep::Do::IsConst, reg});
    if (tree.form == Form::Literal) emit({MatchStep::Do::IsLiteral, reg, 0, 0, tree.literal});
    if (tree.exact) emit({MatchStep::Do::IsExact, reg});
  }

  void check_ops(const Tree& tree, std::uint8_t reg) {
    if (tree.ops == OpSet{tree.op}) {
      emit({MatchStep::Do::IsOp, reg, static_cast<std::uint8_t>(tree.op)});
    } else {
      emit({MatchStep::Do::IsOneOf, reg, 0, 0, static_cast<std::int64_t>(out_.sets.size())});
      out_.sets.push_back(tree.ops);
    }
    if (tree.any_sources) return;
    const auto count = static_cast<std::uint8_t>(tree.src.size());
    if (tree.more)
      emit({MatchStep::Do::HasAtLeast, reg, count});
    else if (!fixed_arity(tree, count))
      emit({MatchStep::Do::HasSources, reg, count});
  }

  static bool fixed_arity(const Tree& tree, std::uint8_t count) {
    for (int i = 0; i < op_count; ++i) {
      const Op op = static_cast<Op>(i);
      if (tree.ops.contains(op) && !(info(op).arity.exact && info(op).arity.least == count))
        return false;
    }
    return true;
  }

  std::uint8_t fresh() {
    if (++last_ >= Match::most_registers) rule_error(out_.rule, "the left side has too many nodes");
    return last_;
  }

  CompiledRule& out_;
  const std::vector<const Tree*>& swapped_;
  std::uint8_t last_ = 0;
};

class RightCompiler {
 public:
  explicit RightCompiler(const CompiledRule& rule) : rule_(rule) {}

  // `like` is the register whose dtype a lone literal takes.
  void nodes(const Pat& pattern, std::uint8_t like, std::vector<Build>& out) const {
    if (const auto reg = find(pattern)) {
      out.push_back({Build::Do::Load, *reg});
      return;
    }
    switch (pattern->form) {
      case Form::Literal: out.push_back({Build::Do::Literal, like, 0, pattern->literal}); return;
      case Form::Fold:
        numbers(pattern->src[0], out);
        out.push_back({Build::Do::Fold, like});
        return;
      case Form::Ops: break;
      default: rule_error(rule_.rule, "the right side uses what the left side does not bind");
    }
    const bool is_where = pattern->op == Op::Where;
    const std::uint8_t operand = dtype_source(pattern).value_or(like);
    for (std::size_t i = 0; i < pattern->src.size(); ++i) {
      const Pat& source = pattern->src[i];
      const std::uint8_t kind = is_where && i == 0 ? dtype_source(source).value_or(like) : operand;
      nodes(source, kind, out);
    }
    out.push_back({Build::Do::Make, static_cast<std::uint8_t>(pattern->src.size()),
                   static_cast<std::uint8_t>(pattern->op), pattern->exact});
  }

  void numbers(const Pat& pattern, std::vector<Build>& out) const {
    if (const auto reg = find(pattern); reg && pattern->form != Form::Literal) {
      out.push_back({Build::Do::Value, *reg});
      return;
    }
    switch (pattern->form) {
      case Form::Literal: out.push_back({Build::Do::Number, 0, 0, pattern->literal}); return;
      case Form::Bound: {
        const auto reg = find(pattern->src[0]);
        if (!reg) rule_error(rule_.rule, "bounds of what the left side does not bind");
        out.push_back({pattern->upper ? Build::Do::Hi : Build::Do::Lo, *reg});
        return;
      }
      case Form::Ops:
        if (pattern->src.size() != 2) rule_error(rule_.rule, "numbers know binary ops only");
        numbers(pattern->src[0], out);
        numbers(pattern->src[1], out);
        out.push_back({Build::Do::Apply, 0, static_cast<std::uint8_t>(pattern->op)});
        return;
      default: rule_error(rule_.rule, "a number uses what the left side does not bind");
    }
  }

 private:
  std::optional<std::uint8_t> find(const Pat& pattern) const {
    for (const auto& [tree, reg] : rule_.registers)
      if (tree == pattern.get()) return reg;
    return std::nullopt;
  }

  // A register with the dtype that the sources of this right-side op share.
  std::optional<std::uint8_t> dtype_source(const Pat& pattern) const {
    if (const auto reg = find(pattern)) return reg;
    if (pattern->form != Form::Ops) return std::nullopt;
    const std::size_t first = pattern->op == Op::Where ? 1 : 0;
    for (std::size_t i = first; i < pattern->src.size(); ++i) {
      const Pat& source = pattern->src[i];
      if (const auto reg = find(source)) return reg;
      if (source->form == Form::Ops && info(source->op).dtype != DTypeRule::Bool)
        if (const auto reg = dtype_source(source)) return reg;
    }
    return std::nullopt;
  }

  const CompiledRule& rule_;
};

OpSet possible(const Pat& pattern) {
  if (pattern->form == Form::Ops) return pattern->ops;
  if (pattern->form == Form::Literal || pattern->constant) return {Op::Const};
  return all_ops();
}

CompiledRule compile_order(const Rule& rule, const std::vector<const Tree*>& swapped) {
  CompiledRule out{.rule = rule};
  out.root = possible(rule.left);
  out.first = all_ops();
  if (!rule.left->src.empty()) {
    const bool swap = std::ranges::find(swapped, rule.left.get()) != swapped.end();
    out.first = possible(rule.left->src[swap ? 1 : 0]);
    out.first_matters = true;
  }
  LeftCompiler(out, swapped).run(rule.left);
  const RightCompiler right(out);
  if (rule.right) right.nodes(*rule.right, 0, out.build);
  if (rule.guard.condition) right.numbers(*rule.guard.condition, out.guard);
  if (out.build.size() > Build::most || out.guard.size() > Build::most)
    rule_error(rule, "the right side or the guard is too long");
  return out;
}

}  // namespace

std::vector<CompiledRule> compile_rule(const Rule& rule) {
  std::vector<const Tree*> commuting;
  collect_commuting(rule.left, commuting);
  if (commuting.size() > 5) rule_error(rule, "too many commuting ops in the left side");
  std::vector<CompiledRule> result;
  for (unsigned order = 0; order < 1u << commuting.size(); ++order) {
    std::vector<const Tree*> swapped;
    for (std::size_t i = 0; i < commuting.size(); ++i)
      if ((order >> i & 1) != 0) swapped.push_back(commuting[i]);
    result.push_back(compile_order(rule, swapped));
  }
  return result;
}

}  // namespace weft
