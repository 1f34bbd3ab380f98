#include "open_lengths.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <tuple>

#include <weft/dev/base/lru_cache.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/value.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/number_arguments.h>
#include <weft/settings.h>

#include "agreeing_sizes.h"
#include "length_forms.h"

namespace weft {
namespace {

constexpr std::size_t most_kinds = 1024;
constexpr int lengths_with_own_plans = 2;  // a smaller last batch is no reason to compile for all
constexpr int most_conclusions = 8;

// What is known of the graphs that differ in their sizes alone.
struct KindSeen {
  Values last;
  int changes = 0;
  int conclusions = 0;
  std::optional<LengthForms> forms = {};
};

struct Kinds {
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::size_t>;
  std::mutex mutex;
  LruCache<Key, std::shared_ptr<KindSeen>> seen{most_kinds};
};

Kinds& kinds() {
  static auto& all = *new Kinds;  // leaked on purpose, as plans are
  return all;
}

bool is_size(const Node* node) { return node->is_const() && node->dtype().is_index(); }

struct SizedGraph {
  explicit SizedGraph(const Resolved& resolved) {
    for (const Root& root : resolved.roots) roots.push_back(root.tensor);
    nodes = toposort(nodes_of(roots));
    for (const Node* node : nodes)
      for (const Node* source : node->src())
        if (is_size(source))
          sizes.push_back(int_from_bits(source->arg<ConstArg>().bits, source->dtype()));
  }

  Kinds::Key key() const {
    const StructuralHash hash = structural_hash_without_sizes(
        nodes_of(without_constants(roots, nodes, constant_uses(nodes))));
    return {hash.high, hash.low, sizes.size()};
  }

  // Copies are of whole buffers, which are larger in the plan. Where sizes are open already, the program has said which.
  bool may_be_open() const {
    constexpr OpSet closed{Op::Copy, Op::Multi, Op::Shard, Op::AllReduce, Op::Variable};
    return !sizes.empty() && std::ranges::none_of(nodes, [&](const Node* node) {
      return closed.contains(node->op());
    });
  }

  std::vector<UOp> roots;
  std::vector<const Node*> nodes;
  Values sizes;  // of each use
};

// For tests: of a graph that nobody has seen, as if it had been run once with other sizes. Odd ones and even ones change
// apart, so that there are forms of all kinds.
std::optional<LengthForms> invented(const Values& sizes) {
  Values before;
  for (const std::int64_t size : sizes)
    before.push_back(size < 2 ? size : size % 2 == 0 ? 2 * size : size + 1);
  auto forms = concluded(before, sizes);
  return forms && !forms->lengths.empty() ? forms : std::nullopt;
}

// Nothing where the graph is to be computed for its own sizes.
std::optional<LengthForms> forms_for(const SizedGraph& graph) {
  const Kinds::Key key = graph.key();
  const std::lock_guard lock(kinds().mutex);
  KindSeen& seen =
      *kinds().seen.insert(key, std::make_shared<KindSeen>(KindSeen{.last = graph.sizes}));
  if (graph.sizes != seen.last) {
    ++seen.changes;
    const bool is_known = seen.forms && seen.forms->fit(graph.sizes);
    if (!is_known && seen.conclusions < most_conclusions) {
      ++seen.conclusions;
      seen.forms = concluded(seen.last, graph.sizes);
    }
    seen.last = graph.sizes;
  }
  if (seen.changes < lengths_with_own_plans || !seen.forms || !seen.forms->fit(graph.sizes))
    return {};
  return std::ranges::min(seen.forms->lengths_of(graph.sizes)) < 2 ? std::nullopt : seen.forms;
}

struct Length {
  std::int64_t value, least, most;
};

// From behind a power of two up to the next.
Length length_around(std::int64_t value) {
  const auto most = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
  return {value, most / 2 + 1, most};
}

BoundVariable variable_of(const Length& length) {
  const InternerScope scope(shared_graph());
  return {Variable("length", length.least, length.most), length.value};
}

// Halves of the ranges, the widest first, until no size is below zero: few plans, whichever lengths come. Nothing where
// even single lengths do not fit.
std::optional<std::vector<Length>> narrowed(std::vector<Length> lengths,
                                            const std::vector<UOp>& variables,
                                            const std::vector<UOp>& sizes) {
  const auto are_sizes = [&] {
    Substitution now;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      now.emplace(variables[i].node(), Variable("length", lengths[i].least, lengths[i].most));
    return std::ranges::all_of(
        sizes, [&](const UOp& size) { return substitute(size, now)->bounds().lo >= 0; });
  };
  const auto width = [](const Length& length) { return length.most - length.least; };
  while (!are_sizes()) {
    Length& widest = *std::ranges::max_element(lengths, {}, width);
    if (width(widest) == 0) return {};
    const std::int64_t middle = std::midpoint(widest.least, widest.most);
    if (widest.value <= middle)
      widest.most = middle;
    else
      widest.least = middle + 1;
  }
  return lengths;
}

UOp in_own_graph(const UOp& variable) {
  const Node* root[] = {variable.node()};
  return import_graph(root, shared_graph(), Interner::current())[0];
}

struct OpenGraph {
  OpenGraph(const SizedGraph& graph, const LengthForms& forms, const std::vector<Length>& lengths) {
    for (const Length& length : lengths) {
      bound.push_back(variable_of(length));
      variables.push_back(in_own_graph(bound.back().variable));
    }
    auto form = forms.sizes.begin();
    roots = with_other_sources(graph.roots, graph.nodes, [&](const Node* user, std::size_t i) {
      if (!is_size(user->src(i))) return UOp();
      const LengthForm& own = *form++;
      if (!own.length) return UOp();
      has_constant |= user->op() == Op::Buffer && user->arg<BufferArg>().space == Space::Constant;
      return own.of(variables);
    });
  }

  std::vector<BoundVariable> bound;
  std::vector<UOp> variables;  // the same, in the graph's interner
  std::vector<UOp> roots;
  bool has_constant = false;  // of an open size, while what kernels keep of one has a fixed size
};

}  // namespace

bool open_lengths(Resolved& resolved) {
  const std::int64_t asked = setting_int("LENGTHS");
  if (asked == 0) return false;
  const SizedGraph graph(resolved);
  if (!graph.may_be_open()) return false;
  const std::optional<LengthForms> forms = asked == 1 ? forms_for(graph) : invented(graph.sizes);
  if (!forms) return false;
  std::vector<Length> lengths;
  for (const std::int64_t length : forms->lengths_of(graph.sizes))
    lengths.push_back(length_around(length));
  std::optional<OpenGraph> open(OpenGraph(graph, *forms, lengths));
  if (const std::vector<UOp> sizes = sizes_below_zero(open->roots); !sizes.empty()) {
    const auto narrower = narrowed(lengths, open->variables, sizes);
    open = narrower ? std::optional(OpenGraph(graph, *forms, *narrower)) : std::nullopt;
  }
  if (!open || open->has_constant || !sizes_agree(open->roots)) {
    forget_conclusion(resolved);
    return false;
  }
  for (std::size_t i = 0; i < open->roots.size(); ++i) resolved.roots[i].tensor = open->roots[i];
  for (const BoundVariable& length : open->bound)
    resolved.lengths.insert(length.variable->arg<VariableArg>().id.value);
  list_variables(resolved, open->bound);
  return true;
}

void forget_conclusion(const Resolved& resolved) {
  const Kinds::Key key = SizedGraph(resolved).key();
  const std::lock_guard lock(kinds().mutex);
  const auto* seen = kinds().seen.find(key);
  if (seen != nullptr) (*seen)->forms.reset();  // with LENGTHS=2 none are known
}

}  // namespace weft
