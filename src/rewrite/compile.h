// Rules compiled: a left side to straight-line programs, a right side to a postfix one.
#pragma once

#include <array>
#include <vector>

#include <weft/dev/rewrite/rule.h>

namespace weft {

// One test or step on registers, each of which holds a node. Register 0 is the root.
struct MatchStep {
  enum class Do : std::uint8_t {
    IsOp,        // register a has op b
    IsOneOf,     // register a has an op of set number `data`
    HasSources,  // register a has b sources
    HasAtLeast,  // ... at least b
    Source,      // register c = source b of register a
    HasKind,     // register a has a dtype of the kinds `data`
    IsConst,     // register a is a constant
    IsLiteral,   // register a is the constant literal `data`
    IsSame,      // registers a and b hold the same node
    IsExact,     // register a does not wrap
  };
  Do act;
  std::uint8_t a = 0, b = 0, c = 0;
  std::int64_t data = 0;
};

// A step of the right side, on a stack of nodes and one of numbers.
struct Build {
  enum class Do : std::uint8_t {
    Load,     // push register a
    Literal,  // push the constant `data`, of register a's dtype (or of the lanes' bool)
    Fold,     // push the number on top as a constant of register a's dtype
    Make,     // pop a nodes, push op b of them; with `data` no match where that could wrap
    // Numbers, for guards and folds:
    Number,  // push `data`
    Value,   // push the constant in register a
    Lo,      // push the least value of register a
    Hi,
    Apply,  // pop two numbers, push op b of them
  };
  Do act;
  std::uint8_t a = 0, b = 0;
  std::int64_t data = 0;

  static constexpr int most = 32;  // steps of a program, so that no stack can be deeper
};

struct CompiledRule {
  Rule rule;
  std::vector<MatchStep> steps = {};
  std::vector<OpSet> sets = {};
  std::vector<Build> build = {}, guard = {};
  std::vector<std::pair<const Pat::Tree*, std::uint8_t>> registers = {};
  OpSet root = {}, first = {};  // what the root and its first source can be
  bool first_matters = false;
};

// One program for each order in which the left side's commuting ops can be read.
std::vector<CompiledRule> compile_rule(const Rule& rule);

inline OpSet all_ops() {
  return OpSet::where([](Op) { return true; });
}

}  // namespace weft
