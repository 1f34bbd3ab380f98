#include "free_numbers.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include <weft/dev/base/lru_cache.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/schedule/number_arguments.h>

namespace weft {
namespace {

constexpr std::size_t most_graphs = 1024;
// Each is an argument of the kernels that use it.
constexpr std::size_t most_free = 16;

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

UOp new_variable() {
  const InternerScope scope(shared_graph());
  return number_variable();
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
std::shared_ptr<Seen> seen_before(const StructuralHash& hash, const std::vector<NumberUse>& uses) {
  std::vector<Bits> values;
  for (const NumberUse& use : uses) values.push_back(use.bits());
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

}  // namespace

bool free_numbers(Resolved& resolved) {
  std::vector<UOp> roots;
  for (const Root& root : resolved.roots) roots.push_back(root.tensor);
  const std::vector<const Node*> nodes = toposort(nodes_of(roots));
  const std::vector<NumberUse> uses = constant_uses(nodes);
  if (uses.empty()) return false;
  const StructuralHash hash = structural_hash(nodes_of(without_constants(roots, nodes, uses)));
  const std::shared_ptr<Seen> seen = seen_before(hash, uses);
  if (seen == nullptr || std::ranges::all_of(seen->variables, &UOp::is_null)) return false;
  const std::vector<UOp> freed =
      with_constants_as_variables(roots, nodes, uses, in_this_graph(seen->variables));
  for (std::size_t i = 0; i < freed.size(); ++i) resolved.roots[i].tensor = freed[i];
  std::vector<BoundVariable> added;
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (!seen->variables[i].is_null())
      added.push_back({seen->variables[i], static_cast<std::int64_t>(uses[i].bits())});
  list_variables(resolved, added);
  return true;
}

}  // namespace weft
