// Rules and rule sets: rewrites as data.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/rewrite/pattern.h>

namespace weft {

struct CompiledRule;

// Something immutable that rules may look at, with its type: sets of rules that know different
// contexts can be joined, and each sees only its own.
class RewriteContext {
 public:
  RewriteContext() = default;
  template <class T>
  RewriteContext(const T* thing) : thing_(thing), type_(&type_of<T>) {}  // NOLINT: reads as a value
  template <class T>
  const T* get() const {  // null where it is of another type
    return type_ == &type_of<T> ? static_cast<const T*>(thing_) : nullptr;
  }

 private:
  template <class T>
  static inline const char type_of = 0;
  const void* thing_ = nullptr;
  const void* type_ = nullptr;
};

// What a named rewrite gets: the matched nodes, and an immutable context.
class Match {
 public:
  static constexpr int most_registers = 24;  // one for each node of a left side

  const Node* root() const { return registers_[0]; }
  // The node that a Pat of the left side matched. Nodes that are built (operators on UOp, make())
  // land in the interner being rewritten.
  UOp operator[](const Pat& pattern) const { return UOp(node(pattern)); }
  const Node* node(const Pat& pattern) const;
  Interner& interner() const { return *interner_; }
  // What RewriteOptions::context is, if it is of this type.
  template <class T>
  const T* context() const {
    return context_.get<T>();
  }

 private:
  friend class Matcher;
  const Node* registers_[most_registers];
  const CompiledRule* rule_ = nullptr;
  Interner* interner_ = nullptr;
  RewriteContext context_;
};

// Right sides that algebra cannot say: null for "no match", tested first; pure in (node, context).
using RewriteFunction = UOp (*)(const Match&);

struct Guard {
  std::shared_ptr<const Pat> condition;  // over constants and bounds; may be null
  bool (*test)(const Match&) = nullptr;  // may be null
};
inline Guard when(const Pat& condition) { return {std::make_shared<const Pat>(condition)}; }
inline Guard when(bool (*test)(const Match&)) { return {nullptr, test}; }

struct Rule {
  Pat left;
  std::shared_ptr<const Pat> right;  // or
  RewriteFunction function = nullptr;
  Guard guard;
  const char* file = "";
  int line = 0;

  std::string str() const;  // "x*1 -> x (fold.cpp:20)"
};

Rule rule(const Pat& left, const Pat& right, Guard guard = {}, const char* file = __builtin_FILE(),
          int line = __builtin_LINE());
// Takes the literal 0, which would otherwise be a null function.
inline Rule rule(const Pat& left, int right, Guard guard = {}, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
  return rule(left, Pat(right), std::move(guard), file, line);
}
Rule rule(const Pat& left, RewriteFunction right, Guard guard = {},
          const char* file = __builtin_FILE(), int line = __builtin_LINE());

// A named list of rules, indexed by the root's op and its first source's. Earlier rules go first.
class RuleSet {
 public:
  RuleSet(std::string_view name, std::vector<Rule> rules);
  // The rules of both, under a new name.
  RuleSet(std::string_view name, std::initializer_list<const RuleSet*> parts);
  ~RuleSet();

  const std::string& name() const { return name_; }
  const std::vector<Rule>& rules() const { return rules_; }

  // The first rule that applies to the node, and its result; null where none does.
  struct Result {
    const Node* node = nullptr;
    const Rule* rule = nullptr;
  };
  Result apply(const Node* node, Interner& interner, RewriteContext context = {}) const;

 private:
  std::string name_;
  std::vector<Rule> rules_;
  std::unique_ptr<class Matcher> matcher_;
};

}  // namespace weft
