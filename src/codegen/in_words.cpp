// Fields of packed numbers that become floats, in words from where they are read: bytes are widened as they are loaded, once
// for all fields, and not each field on its own.

#include <weft/dev/codegen/lower.h>
#include <weft/dev/rewrite/rule.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/settings.h>

#include "steps.h"

namespace weft {
namespace {

constexpr KindSet packed_kinds{Kind::U8, Kind::U16};
// What has the same bits of zero-extended operands.
const OpSet bitwise{Op::And, Op::Or, Op::Xor, Op::Shr};

UOp widened(const UOp& value) {
  if (!bitwise.contains(value->op())) return cast(value, dtypes::i32.vec(value->dtype().lanes()));
  return make(value->op(), {widened(value.src(0)), widened(value.src(1))});
}

UOp field_in_words(const Match& m) {
  const UOp field = UOp(m.root()).src(0);
  const bool becomes_float = m.root()->dtype().is_float();
  if (!becomes_float || !bitwise.contains(field->op())) return {};
  return cast(widened(field), m.root()->dtype());
}

}  // namespace

std::vector<UOp> in_words(const std::vector<UOp>& roots, const RewriteOptions& options) {
  static const RuleSet own{
      "fields", {rule(node(Op::Cast, {of_kinds("field", packed_kinds)}), field_in_words)}};
  static const RuleSet rules{"in_words", {&own, &fold_rules()}};
  return setting_int("NOOPT") != 0 ? roots : rewrite(roots, rules, options);
}

}  // namespace weft
