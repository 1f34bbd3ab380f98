// Patterns: trees that read like the algebra they match.
//
//   static const Pat x = ints("x"), c = int_const("c"), d = int_const("d");
//   rule((x * c) * d, x * fold(c * d))
//
// A Pat that stands twice in a rule must match the same node. On the right side a Pat of the left
// side is what it matched. Literals match and make constants of the dtype around them. On
// integers `/` and `%` are FLOORDIV and FLOORMOD. Where an op commutes, both orders are tried:
// write one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/ir/kind_set.h>
#include <weft/dev/ir/uop.h>

namespace weft {

class Pat {
 public:
  struct Tree;
  Pat(int literal)
      : Pat(static_cast<std::int64_t>(literal)) {}  // NOLINT: literals read as they are
  Pat(std::int64_t literal);                        // NOLINT
  explicit Pat(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}

  const Tree& operator*() const { return *tree_; }
  const Tree* operator->() const { return tree_.get(); }
  const Tree* get() const { return tree_.get(); }
  std::string str() const;

 private:
  std::shared_ptr<const Tree> tree_;
};

struct Pat::Tree {
  enum class Form {
    Wildcard,  // any node of the kinds (and a constant, where `constant` says so)
    Literal,   // the constant `literal`
    Ops,       // a node with one of the ops, and sources that match
    Bound,     // right side and guards: the least or largest value of src[0]
    Fold,      // right side: the constant src[0] computes to; no match where it overflows
  };
  Form form = Form::Wildcard;
  std::string name;
  KindSet kinds = KindSet::all();
  bool constant = false;
  bool exact = false;        // the matched op must not wrap
  bool more = false;         // further sources are allowed
  bool ordered = false;      // an op that commutes is matched as written
  bool any_sources = false;  // the sources are not looked at
  bool upper = false;        // Bound: the largest
  std::int64_t literal = 0;
  OpSet ops;
  Op op = Op::Add;  // the first of ops: what a right side makes
  std::vector<Pat> src;
};

// Wildcards. The name is for printing.
Pat any(std::string_view name);
Pat ints(std::string_view name);     // integers incl. index, not bool
Pat indices(std::string_view name);  // the index dtype only
Pat bools(std::string_view name);
Pat floats(std::string_view name);
Pat of_kinds(std::string_view name, KindSet kinds);
Pat any_const(std::string_view name);
Pat int_const(std::string_view name);
Pat bool_const(std::string_view name);

// Nodes by op. `node(op)` looks at no source; `with_more` allows further ones.
Pat node(Op op);
Pat node(const OpSet& ops);
Pat node(Op op, std::vector<Pat> src);
Pat node(const OpSet& ops, std::vector<Pat> src);
Pat with_more(const Pat& pattern);
Pat ordered(const Pat& pattern);  // its op only, not those inside
Pat with_kinds(const Pat& pattern, KindSet kinds);
// The same pattern where no op in it may wrap: needed wherever order or division is involved. On
// the right side too: no match where an op that is built could wrap.
Pat exact(const Pat& pattern);

Pat operator+(const Pat& a, const Pat& b);
Pat operator-(const Pat& a, const Pat& b);
Pat operator*(const Pat& a, const Pat& b);
Pat operator/(const Pat& a, const Pat& b);
Pat operator%(const Pat& a, const Pat& b);
Pat operator-(const Pat& a);
Pat operator<(const Pat& a, const Pat& b);
Pat operator>(const Pat& a, const Pat& b);
Pat operator<=(const Pat& a, const Pat& b);  // guards only, like the next two
Pat operator>=(const Pat& a, const Pat& b);
Pat operator==(const Pat& a, const Pat& b);
Pat operator!=(const Pat& a, const Pat& b);
Pat operator&(const Pat& a, const Pat& b);
Pat operator|(const Pat& a, const Pat& b);
Pat operator^(const Pat& a, const Pat& b);
Pat operator&&(const Pat& a, const Pat& b);
Pat operator||(const Pat& a, const Pat& b);
Pat operator!(const Pat& a);  // a != true, for a bool
Pat max(const Pat& a, const Pat& b);
Pat where(const Pat& condition, const Pat& yes, const Pat& no);

Pat lo(const Pat& a);  // of what `a` matched
Pat hi(const Pat& a);
Pat fold(const Pat& expression);

}  // namespace weft
