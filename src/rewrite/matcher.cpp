#include "matcher.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <span>

namespace weft {
namespace {

bool is_literal(const Node* node, std::int64_t literal) {
  if (!node->is_const()) return false;
  const DType dtype = node->dtype().scalar();
  const Bits bits = node->arg<ConstArg>().bits;
  if (dtype.is_float())
    return double_from_bits(bits, dtype) == static_cast<double>(literal) &&
           bits == bits_from_int(literal, dtype);                 // not -0 for 0
  if (literal < 0) return bits == bits_from_int(literal, dtype);  // -1 is all ones
  return bits == static_cast<Bits>(literal) || (dtype.is_bool() && literal != 0 && bits != 0);
}

Wide const_value(const Node* node) { return node->bounds().lo; }

// The arithmetic of guards and folds, on numbers without width. False where it has no result.
bool apply_number(Op op, Wide a, Wide b, Wide& result) {
  switch (op) {
    case Op::Add: return !__builtin_add_overflow(a, b, &result);
    case Op::Sub: return !__builtin_sub_overflow(a, b, &result);
    case Op::Mul: return !__builtin_mul_overflow(a, b, &result);
    case Op::FloorDiv: result = b == 0 ? 0 : floor_div(a, b); return b != 0;
    case Op::FloorMod: result = b == 0 ? 0 : floor_mod(a, b); return b != 0;
    case Op::Max: result = a > b ? a : b; return true;
    case Op::CmpLt: result = a < b; return true;
    case Op::CmpEq: result = a == b; return true;
    case Op::CmpNe: result = a != b; return true;
    case Op::And: result = a & b; return true;
    case Op::Or: result = a | b; return true;
    case Op::Xor: result = a ^ b; return true;
    default: return false;
  }
}

// A scalar is no replacement for a tensor of that value. Sizes may be written differently.
bool same_shape(const Node* a, const Node* b) {
  return a->shape() == b->shape() ||
         std::ranges::equal(a->dims(), b->dims(), [](const Node* x, const Node* y) {
           return x->bounds() == y->bounds();
         });
}

struct Numbers {
  Wide stack[Build::most]{};
  int size = 0;

  void push(Wide value) { stack[size++] = value; }
  Wide pop() { return stack[--size]; }
  bool step(const Build& build, const Node* const* registers) {
    switch (build.act) {
      case Build::Do::Number: push(build.data); return true;
      case Build::Do::Value: push(const_value(registers[build.a])); return true;
      case Build::Do::Lo: push(registers[build.a]->bounds().lo); return true;
      case Build::Do::Hi: push(registers[build.a]->bounds().hi); return true;
      case Build::Do::Apply: {
        const Wide b = pop(), a = pop();
        Wide result = 0;
        const bool defined = apply_number(static_cast<Op>(build.b), a, b, result);
        push(result);
        return defined;
      }
      default: return false;
    }
  }
};

// Null where the number does not fit: a fold never changes a value by wrapping it.
const Node* folded(Wide value, DType dtype, Interner& interner) {
  if (dtype.is_bool()) return make_const(interner, dtype, value != 0 ? 1 : 0);
  if (!dtype.is_int()) return nullptr;
  if (!dtype_interval(dtype).contains(value)) return nullptr;
  return make_const(interner, dtype, static_cast<Bits>(value));
}

}  // namespace

const Node* Match::node(const Pat& pattern) const {
  for (const auto& [tree, reg] : rule_->registers)
    if (tree == pattern.get()) return registers_[reg];
  return nullptr;
}

// The programs worth trying for a node: by its op and, one more for leaves, its first source's.
class Matcher::Index {
 public:
  explicit Index(const Programs& programs) {
    std::map<List, std::uint8_t> known;  // ops that are the root of the same programs share a row
    for (int root = 0; root < op_count; ++root) {
      List fitting;
      for (const auto& program : programs)
        if (program->root.contains(static_cast<Op>(root))) fitting.push_back(program.get());
      const auto [row, is_new] =
          known.try_emplace(fitting, static_cast<std::uint8_t>(rows_.size()));
      row_by_op_[static_cast<std::size_t>(root)] = row->second;
      if (is_new) add_row(fitting);
    }
  }

  std::span<const CompiledRule* const> fitting(const Node* node) const {
    const Row& row = rows_[row_by_op_[static_cast<std::size_t>(node->op())]];
    const Bucket bucket =
        row[node->size() == 0 ? leaf : static_cast<std::size_t>(node->src(0)->op())];
    return {order_.data() + bucket.first, order_.data() + bucket.last};
  }

 private:
  using List = std::vector<const CompiledRule*>;
  struct Bucket {
    std::uint32_t first = 0, last = 0;
  };
  static constexpr std::size_t leaf = op_count;
  using Row = std::array<Bucket, leaf + 1>;

  static bool first_can_be(const CompiledRule& program, std::size_t column) {
    return column == leaf ? !program.first_matters
                          : program.first.contains(static_cast<Op>(column));
  }

  // Neighbours with the same programs share a bucket: most first sources are as good as any other.
  void add_row(const List& programs) {
    Row& row = rows_.emplace_back();
    Bucket last;
    List fitting;
    for (std::size_t column = 0; column <= leaf; ++column) {
      fitting.clear();
      for (const CompiledRule* program : programs)
        if (first_can_be(*program, column)) fitting.push_back(program);
      const std::span present(order_.data() + last.first, order_.data() + last.last);
      if (!std::ranges::equal(fitting, present)) {
        last.first = static_cast<std::uint32_t>(order_.size());
        order_.insert(order_.end(), fitting.begin(), fitting.end());
        last.last = static_cast<std::uint32_t>(order_.size());
      }
      row[column] = last;
    }
  }

  std::array<std::uint8_t, op_count> row_by_op_{};
  std::vector<Row> rows_;
  List order_;  // bucket after bucket
};

Matcher::~Matcher() { delete index_.load(); }

const Matcher::Index& Matcher::index() const {
  if (const Index* index = index_.load(std::memory_order_acquire)) return *index;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (index_.load() == nullptr) index_.store(new Index(programs_));
  return *index_.load();
}

bool Matcher::matches(const CompiledRule& rule, const Node** r) {
  for (const MatchStep& step : rule.steps) {
    switch (step.act) {
      case MatchStep::Do::IsOp:
        if (r[step.a]->op() != static_cast<Op>(step.b)) return false;
        break;
      case MatchStep::Do::IsOneOf:
        if (!rule.sets[static_cast<std::size_t>(step.data)].contains(r[step.a]->op())) return false;
        break;
      case MatchStep::Do::HasSources:
        if (r[step.a]->size() != step.b) return false;
        break;
      case MatchStep::Do::HasAtLeast:
        if (r[step.a]->size() < step.b) return false;
        break;
      case MatchStep::Do::Source: r[step.c] = r[step.a]->src(step.b); break;
      case MatchStep::Do::HasKind:
        if (((static_cast<std::uint64_t>(step.data) >>
              static_cast<int>(r[step.a]->dtype().kind())) &
             1) == 0)
          return false;
        break;
      case MatchStep::Do::IsConst:
        if (!r[step.a]->is_const()) return false;
        break;
      case MatchStep::Do::IsLiteral:
        if (!is_literal(r[step.a], step.data)) return false;
        break;
      case MatchStep::Do::IsSame:
        if (r[step.a] != r[step.b]) return false;
        break;
      case MatchStep::Do::IsExact:
        if (!r[step.a]->is_exact()) return false;
        break;
    }
  }
  return true;
}

const Node* Matcher::build(const CompiledRule& rule, Match& match) {
  if (rule.rule.function != nullptr) return rule.rule.function(match).node();
  const Node* stack[Build::most]{};
  int size = 0;
  Numbers numbers;
  for (const Build& step : rule.build) {
    const Node* const* r = match.registers_;
    switch (step.act) {
      case Build::Do::Load: stack[size++] = r[step.a]; break;
      case Build::Do::Literal: {
        const DType dtype = r[step.a]->dtype();
        stack[size++] =
            make_const(*match.interner_, dtype, bits_from_int(step.data, dtype.scalar()));
        break;
      }
      case Build::Do::Fold:
        stack[size] = folded(numbers.pop(), r[step.a]->dtype(), *match.interner_);
        if (stack[size++] == nullptr) return nullptr;
        break;
      case Build::Do::Make:
        size -= step.a;
        stack[size] =
            make_node(*match.interner_, static_cast<Op>(step.b), NodeList(stack + size, step.a));
        if (step.data != 0 && !stack[size]->is_exact()) return nullptr;
        ++size;
        break;
      default:
        if (!numbers.step(step, r)) return nullptr;
    }
  }
  return stack[0];
}

RuleSet::Result Matcher::apply(const Node* node, Interner& interner, RewriteContext context) const {
  const auto programs = index().fitting(node);
  if (programs.empty()) return {};
  Match match;
  match.registers_[0] = node;
  match.interner_ = &interner;
  match.context_ = context;
  for (const CompiledRule* program : programs) {
    const CompiledRule& rule = *program;
    if (!matches(rule, match.registers_)) continue;
    match.rule_ = program;
    if (!rule.guard.empty()) {
      Numbers numbers;
      bool holds = true;
      for (const Build& step : rule.guard) holds = holds && numbers.step(step, match.registers_);
      if (!holds || numbers.pop() == 0) continue;
    }
    const auto test = rule.rule.guard.test;
    if (test != nullptr && !test(match)) continue;
    const Node* result = build(rule, match);
    if (result != nullptr && result != node && same_shape(result, node))
      return {result, &rule.rule};
  }
  return {};
}

}  // namespace weft
