#include <weft/dev/rewrite/pattern.h>

#include <fmt/core.h>
#include <weft/dev/ir/text.h>

namespace weft {
namespace {

using Form = Pat::Tree::Form;

Pat make_pat(Pat::Tree tree) { return Pat(std::make_shared<const Pat::Tree>(std::move(tree))); }

Pat wildcard(std::string_view name, KindSet kinds, bool constant = false) {
  Pat::Tree tree;
  tree.name = name;
  tree.kinds = kinds;
  tree.constant = constant;
  return make_pat(std::move(tree));
}

Pat of_ops(const OpSet& ops, std::vector<Pat> src, bool any_sources = false) {
  Pat::Tree tree;
  tree.form = Form::Ops;
  tree.ops = ops;
  for (int i = op_count - 1; i >= 0; --i)
    if (ops.contains(static_cast<Op>(i))) tree.op = static_cast<Op>(i);
  tree.src = std::move(src);
  tree.any_sources = any_sources;
  return make_pat(std::move(tree));
}

Pat wrapping(Form form, const Pat& a, bool upper = false) {
  Pat::Tree tree;
  tree.form = form;
  tree.upper = upper;
  tree.src = {a};
  return make_pat(std::move(tree));
}

}  // namespace

Pat::Pat(std::int64_t literal) {
  Tree tree;
  tree.form = Form::Literal;
  tree.literal = literal;
  tree_ = std::make_shared<const Tree>(std::move(tree));
}

Pat any(std::string_view name) { return wildcard(name, KindSet::all()); }
Pat ints(std::string_view name) { return wildcard(name, int_kinds); }
Pat indices(std::string_view name) { return wildcard(name, {Kind::Index}); }
Pat bools(std::string_view name) { return wildcard(name, {Kind::Bool}); }
Pat floats(std::string_view name) { return wildcard(name, float_kinds); }
Pat of_kinds(std::string_view name, KindSet kinds) { return wildcard(name, kinds); }
Pat any_const(std::string_view name) { return wildcard(name, KindSet::all(), true); }
Pat int_const(std::string_view name) { return wildcard(name, int_kinds, true); }
Pat bool_const(std::string_view name) { return wildcard(name, {Kind::Bool}, true); }

Pat node(Op op) { return of_ops({op}, {}, true); }
Pat node(const OpSet& ops) { return of_ops(ops, {}, true); }
Pat node(Op op, std::vector<Pat> src) { return of_ops({op}, std::move(src)); }
Pat node(const OpSet& ops, std::vector<Pat> src) { return of_ops(ops, std::move(src)); }

Pat with_more(const Pat& pattern) {
  Pat::Tree tree = *pattern;
  tree.more = true;
  return make_pat(std::move(tree));
}

Pat ordered(const Pat& pattern) {
  Pat::Tree tree = *pattern;
  tree.ordered = true;
  return make_pat(std::move(tree));
}

Pat with_kinds(const Pat& pattern, KindSet kinds) {
  Pat::Tree tree = *pattern;
  tree.kinds = kinds;
  return make_pat(std::move(tree));
}

Pat exact(const Pat& pattern) {
  if (pattern->form != Form::Ops) return pattern;
  Pat::Tree tree = *pattern;
  tree.exact = true;
  for (Pat& source : tree.src) source = exact(source);
  return make_pat(std::move(tree));
}

Pat operator+(const Pat& a, const Pat& b) { return node(Op::Add, {a, b}); }
Pat operator-(const Pat& a, const Pat& b) { return node(Op::Sub, {a, b}); }
Pat operator*(const Pat& a, const Pat& b) { return node(Op::Mul, {a, b}); }
Pat operator/(const Pat& a, const Pat& b) { return node(Op::FloorDiv, {a, b}); }
Pat operator%(const Pat& a, const Pat& b) { return node(Op::FloorMod, {a, b}); }
Pat operator-(const Pat& a) { return node(Op::Neg, {a}); }
Pat operator<(const Pat& a, const Pat& b) { return node(Op::CmpLt, {a, b}); }
Pat operator>(const Pat& a, const Pat& b) { return b < a; }
Pat operator<=(const Pat& a, const Pat& b) { return a < b + 1; }
Pat operator>=(const Pat& a, const Pat& b) { return b < a + 1; }
Pat operator==(const Pat& a, const Pat& b) { return node(Op::CmpEq, {a, b}); }
Pat operator!=(const Pat& a, const Pat& b) { return node(Op::CmpNe, {a, b}); }
Pat operator&(const Pat& a, const Pat& b) { return node(Op::And, {a, b}); }
Pat operator|(const Pat& a, const Pat& b) { return node(Op::Or, {a, b}); }
Pat operator^(const Pat& a, const Pat& b) { return node(Op::Xor, {a, b}); }
Pat operator&&(const Pat& a, const Pat& b) { return a & b; }
Pat operator||(const Pat& a, const Pat& b) { return a | b; }
Pat operator!(const Pat& a) { return a != 1; }
Pat max(const Pat& a, const Pat& b) { return node(Op::Max, {a, b}); }
Pat where(const Pat& condition, const Pat& yes, const Pat& no) {
  return node(Op::Where, {condition, yes, no});
}

Pat lo(const Pat& a) { return wrapping(Form::Bound, a, false); }
Pat hi(const Pat& a) { return wrapping(Form::Bound, a, true); }
Pat fold(const Pat& expression) { return wrapping(Form::Fold, expression); }

namespace {

std::string text(const Pat& pattern, bool inner) {
  const Pat::Tree& tree = *pattern;
  if (tree.form == Form::Wildcard) return tree.name;
  if (tree.form == Form::Literal) return fmt::format("{}", tree.literal);
  const Infix* infix = infix_of(tree.op);
  if (tree.form == Form::Ops && tree.src.size() == 2 && infix != nullptr) {
    const std::string out =
        fmt::format("{}{}{}", text(tree.src[0], true), infix->symbol, text(tree.src[1], true));
    return inner ? "(" + out + ")" : out;
  }
  std::string out = tree.form == Form::Fold    ? "fold"
                    : tree.form == Form::Bound ? (tree.upper ? "hi" : "lo")
                                               : std::string(info(tree.op).name);
  out += "(";
  for (std::size_t i = 0; i < tree.src.size(); ++i)
    out += (i == 0 ? "" : ", ") + text(tree.src[i], false);
  return out + (tree.more || tree.any_sources ? "...)" : ")");
}

}  // namespace

std::string Pat::str() const { return text(*this, false); }

}  // namespace weft
