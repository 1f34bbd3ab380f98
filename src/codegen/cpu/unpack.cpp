// Extracts bit fields that become floats in 32-bit words: packed bytes are widened once, as they
// are loaded, instead of each field after it is extracted.

#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rewrite/rule.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/settings.h>

namespace weft {
namespace {

constexpr KindSet packed_kinds{Kind::U8, Kind::U16};
// Operations that commute with zero extension.
const OpSet bitwise{Op::And, Op::Or, Op::Xor, Op::Shr};

// Widens each node once, however many users it has: `made` are those so far.
UOp widened(const UOp& value, Substitution& made) {
  if (const auto known = made.find(value.node()); known != made.end()) return known->second;
  const UOp wide =
      bitwise.contains(value->op())
          ? make(value->op(), {widened(value.src(0), made), widened(value.src(1), made)})
          : cast(value, dtypes::i32.vec(value->dtype().lanes()));
  made.emplace(value.node(), wide);
  return wide;
}

UOp field_in_words(const Match& m) {
  const UOp field = UOp(m.root()).src(0);
  const bool becomes_float = m.root()->dtype().is_float();
  if (!becomes_float || !bitwise.contains(field->op())) return {};
  Substitution made;
  return cast(widened(field, made), m.root()->dtype());
}

}  // namespace

std::vector<UOp> unpack(const std::vector<UOp>& roots, const RewriteOptions& options) {
  static const RuleSet own{
      "fields", {rule(node(Op::Cast, {of_kinds("field", packed_kinds)}), field_in_words)}};
  static const RuleSet rules{"unpack", {&own, &fold_rules()}};
  return setting_int("NOOPT") != 0 ? roots : rewrite(roots, rules, options);
}

}  // namespace weft
