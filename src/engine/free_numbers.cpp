#include "free_numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <weft/dev/base/lru_cache.h>
#include <weft/dev/ir/graph.h>

namespace weft {
namespace {

constexpr std::size_t most_graphs = 1024;
// Each is an argument of the kernels that use it.
constexpr std::size_t most_free = 16;

struct Use {
  const Node* user;
  std::size_t source;
  const Node* number;
};

// What is known of the graphs that differ in their numbers alone.
struct Seen {
  std::vector<Bits> values;    // of each use, at the last time
  std::vector<UOp> variables;  // null where all had the same value
};

struct Graphs {
  std::mutex mutex;
  LruCache<std::pair<std::uint64_t, std::uint64_t>, std::shared_ptr<Seen>> seen{most_graphs};
};

Graphs& graphs() {
  static auto& all = *new Graphs;  // leaked on purpose, as plans are
  return all;
}

// What code is made by: exact as an exponent, or not there at all.
bool is_special(const Node* number) {
  const double value = double_from_bits(number->arg<ConstArg>().bits, number->dtype());
  int exponent = 0;
  return !std::isfinite(value) || value == 0 || std::abs(std::frexp(value, &exponent)) == 0.5;
}

bool is_number(const Node* node) {
  const DType dtype = node->dtype();
  const bool is_wide = dtype.is_float() || (dtype.is_int() && dtype.bytes() >= 4);
  return node->is_const() && !dtype.is_weak() && is_wide && dtype.lanes() == 1 && !is_special(node);
}

std::vector<Use> numbers_in(const std::vector<const Node*>& nodes) {
  constexpr OpSet users{Op::Add,   Op::Sub,   Op::Mul,   Op::Div,   Op::Max,    Op::MulAcc,
                        Op::CmpLt, Op::CmpEq, Op::CmpNe, Op::Where, Op::Reshape};
  std::vector<Use> uses;
  for (const Node* node : nodes)
    if (users.contains(node->op()))
      for (std::size_t i = 0; i < node->size(); ++i)
        if (is_number(node->src(i))) uses.push_back({node, i, node->src(i)});
  return uses;
}

UOp new_variable() {
  const InternerScope scope(shared_graph());
  return Variable("number", std::numeric_limits<std::int64_t>::min(),
                  std::numeric_limits<std::int64_t>::max(), dtypes::i64);
}

// The variable holds the bits.
UOp number_of(const UOp& variable, DType dtype) {
  constexpr DType words[] = {dtypes::u8, dtypes::u16, dtypes::u32, dtypes::u64};
  const DType word = words[std::countr_zero(static_cast<unsigned>(dtype.bytes()))];
  return bitcast(cast(variable, word), dtype);
}

// The graph with variables in place of some uses; null ones leave the number there.
std::vector<UOp> replaced(const std::vector<UOp>& roots, const std::vector<const Node*>& nodes,
                          const std::vector<Use>& uses, const std::vector<UOp>& variables) {
  std::unordered_map<const Node*, UOp> made;
  auto use = uses.begin();
  for (const Node* node : nodes) {
    std::vector<UOp> src;
    for (const Node* source : node->src()) {
      const auto known = made.find(source);
      src.push_back(known == made.end() ? UOp(source) : known->second);
    }
    for (; use != uses.end() && use->user == node; ++use)
      if (const UOp& variable = variables[static_cast<std::size_t>(use - uses.begin())];
          !variable.is_null())
        src[use->source] = number_of(variable, use->number->dtype());
    const bool is_same = std::ranges::equal(src, node->src(), {}, &UOp::node);
    made.emplace(node, is_same ? UOp(node) : with_sources(UOp(node), src));
  }
  std::vector<UOp> results;
  for (const UOp& root : roots) results.push_back(made.at(root.node()));
  return results;
}

std::vector<UOp> in_this_graph(const std::vector<UOp>& variables) {
  std::vector<UOp> copies;
  for (const UOp& variable : variables) {
    const Node* root[] = {variable.node()};
    copies.push_back(
        variable.is_null() ? UOp() : import_graph(root, shared_graph(), Interner::current())[0]);
  }
  return copies;
}

// What was seen of this graph, with these values as the last ones. Null at the first time.
std::shared_ptr<Seen> seen_before(const StructuralHash& hash, const std::vector<Use>& uses) {
  std::vector<Bits> values;
  for (const Use& use : uses) values.push_back(use.number->arg<ConstArg>().bits);
  const std::lock_guard lock(graphs().mutex);
  const auto* found = graphs().seen.find({hash.high, hash.low});
  if (found == nullptr) {
    graphs().seen.insert({hash.high, hash.low},
                         std::make_shared<Seen>(Seen{values, std::vector<UOp>(values.size())}));
    return nullptr;
  }
  Seen& seen = **found;
  const auto free = static_cast<std::size_t>(std::ranges::count_if(
      seen.variables, [](const UOp& variable) { return !variable.is_null(); }));
  for (std::size_t i = 0, left = most_free - free; i < values.size() && left > 0; ++i)
    if (values[i] != seen.values[i] && seen.variables[i].is_null()) {
      seen.variables[i] = new_variable();
      --left;
    }
  return std::make_shared<Seen>(seen);
}

// The variables in the order in which they are met.
void list_variables(Resolved& resolved, const std::vector<Use>& uses, const Seen& seen) {
  std::map<std::uint64_t, std::pair<UOp, std::int64_t>> known;
  const auto add = [&](const UOp& variable, std::int64_t value) {
    known.emplace(variable->arg<VariableArg>().id.value, std::pair(variable, value));
  };
  for (std::size_t i = 0; i < resolved.variables.size(); ++i)
    add(resolved.variables[i], resolved.values[i]);
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (!seen.variables[i].is_null())
      add(seen.variables[i], static_cast<std::int64_t>(uses[i].number->arg<ConstArg>().bits));
  resolved.variables.clear();
  resolved.values.clear();
  std::vector<const Node*> roots;
  for (const Root& root : resolved.roots) roots.push_back(root.tensor.node());
  for (const Node* node : toposort(roots)) {
    if (node->op() != Op::Variable) continue;
    const auto& [variable, value] = known.at(node->arg<VariableArg>().id.value);
    resolved.variables.push_back(variable);
    resolved.values.push_back(value);
  }
}

}  // namespace

bool free_numbers(Resolved& resolved) {
  std::vector<UOp> roots;
  for (const Root& root : resolved.roots) roots.push_back(root.tensor);
  const std::vector<const Node*> nodes = toposort(nodes_of(roots));
  const std::vector<Use> uses = numbers_in(nodes);
  if (uses.empty()) return false;
  std::vector<UOp> all;
  for (std::size_t i = 0; i < uses.size(); ++i)
    all.push_back(Variable("number", 0, 0, dtypes::i64));
  const StructuralHash hash = structural_hash(nodes_of(replaced(roots, nodes, uses, all)));
  const std::shared_ptr<Seen> seen = seen_before(hash, uses);
  if (seen == nullptr || std::ranges::all_of(seen->variables, &UOp::is_null)) return false;
  const std::vector<UOp> freed = replaced(roots, nodes, uses, in_this_graph(seen->variables));
  for (std::size_t i = 0; i < freed.size(); ++i) resolved.roots[i].tensor = freed[i];
  list_variables(resolved, uses, *seen);
  return true;
}

}  // namespace weft
