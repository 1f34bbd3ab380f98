// Extracts bit fields that become floats in 32-bit words: packed bytes are widened once, as they
// are loaded, instead of each field after it is extracted.

#include <deque>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rewrite/rule.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/settings.h>

#include "arithmetic/arithmetic_steps.h"

namespace weft {
namespace {

constexpr KindSet packed_kinds{Kind::U8, Kind::U16};
// Operations that commute with zero extension.
const OpSet bitwise{Op::And, Op::Or, Op::Xor, Op::Shr};

// Widens each node once, however many users it has.
class Widening {
 public:
  const UOp& operator()(const UOp& value) {
    if (const std::size_t* known = place_.find(value.node())) return made_[*known];
    const bool is_bitwise = bitwise.contains(value->op());
    UOp wide = is_bitwise
                   ? make(value->op(), {UOp((*this)(value.src(0))), UOp((*this)(value.src(1)))})
                   : cast(value, dtypes::i32.vec(value->dtype().lanes()));
    place_.set(value.node(), made_.size());
    return made_.emplace_back(std::move(wide));
  }

 private:
  NodeMap<std::size_t> place_;
  std::deque<UOp> made_;
};

UOp field_in_words(const Match& m) {
  const UOp field = UOp(m.root()).src(0);
  const bool becomes_float = m.root()->dtype().is_float();
  if (!becomes_float || !bitwise.contains(field->op())) return {};
  return cast(Widening()(field), m.root()->dtype());
}

}  // namespace

std::vector<UOp> unpack(const std::vector<UOp>& roots, const RewriteOptions& options) {
  static const RuleSet own{
      "fields", {rule(node(Op::Cast, {of_kinds("field", packed_kinds)}), field_in_words)}};
  static const RuleSet rules{"unpack", {&own, &fold_rules()}};
  return setting_int("NOOPT") != 0 ? roots : rewrite(roots, rules, options);
}

}  // namespace weft
