#include "open_lengths.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include <weft/dev/base/lru_cache.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/value.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/number_arguments.h>
#include <weft/settings.h>

#include "agreeing_sizes.h"

namespace weft {
namespace {

using Values = std::vector<std::int64_t>;

constexpr std::size_t most_kinds = 1024;
constexpr std::size_t most_lengths = 4;    // of one graph that change independently
constexpr int lengths_with_own_plans = 2;  // a smaller last batch is no reason to compile for all
constexpr int most_conclusions = 8;

// A size by the lengths: a number of times one, or the product of two, and something more.
struct Form {
  std::int64_t factor;
  std::optional<std::size_t> length = {}, other = {};
  std::int64_t more = 0;

  Wide of(const Values& lengths) const {
    const Wide product = length ? lengths[*length] : 1;
    return product * (other ? lengths[*other] : 1) * factor + more;
  }
  UOp of(const std::vector<UOp>& lengths) const {
    UOp product = const_int(factor);
    for (const auto& each : {length, other})
      if (each) product = product * lengths[*each];
    return simplify(product + more);
  }
};

// What was concluded from two runs: which sizes are lengths, and what follows from those for the others.
struct Forms {
  std::vector<std::size_t> lengths;
  std::vector<Form> sizes;

  Values lengths_of(const Values& values) const {
    Values result;
    for (const std::size_t size : lengths) result.push_back(values[size]);
    return result;
  }
  bool fit(const Values& values) const {
    const Values own = lengths_of(values);
    return std::ranges::equal(sizes, values, {}, [&](const Form& form) { return form.of(own); });
  }
};

// The values of a size in the two runs.
struct TwoSizes {
  std::int64_t a, b;
  friend auto operator<=>(const TwoSizes&, const TwoSizes&) = default;
  friend TwoSizes operator*(TwoSizes x, TwoSizes y) { return {x.a * y.a, x.b * y.b}; }
};

// How many times the product the size is, in both.
std::optional<std::int64_t> factor_of(TwoSizes size, TwoSizes product) {
  const std::int64_t factor = size.a / product.a;
  const bool is_multiple = size.a == factor * product.a && size.b == factor * product.b;
  return is_multiple ? std::optional(factor) : std::nullopt;
}

// As windows are counted: few times the length, or that a little longer. Others are seldom meant.
std::optional<Form> line_through(TwoSizes size, TwoSizes length) {
  constexpr std::int64_t most_times = 64, few_times = 2, most_more = 16;
  if (length.a == length.b || (size.a - size.b) % (length.a - length.b) != 0) return {};
  const std::int64_t factor = (size.a - size.b) / (length.a - length.b), times = std::abs(factor),
                     more = size.a - factor * length.a;
  const bool is_few = times <= few_times;
  const bool is_of_longer =
      times <= most_times && more % factor == 0 && std::abs(more / factor) <= most_more;
  return is_few || is_of_longer ? std::optional(Form{factor, {}, {}, more}) : std::nullopt;
}

// The simplest that gives both; nothing where none does.
std::optional<Form> form_of(TwoSizes size, const std::vector<TwoSizes>& lengths) {
  if (size.a == size.b) return Form{size.a};
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (const auto factor = factor_of(size, lengths[i])) return Form{*factor, i};
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (std::size_t j = i; j < lengths.size(); ++j)
      if (const auto factor = factor_of(size, lengths[i] * lengths[j])) return Form{*factor, i, j};
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (const auto form = line_through(size, lengths[i]))
      return Form{form->factor, i, {}, form->more};
  return {};
}

constexpr std::int64_t most_of_size = std::int64_t{1} << 31;  // products of two are in range

// Sizes that are equal in both runs are one size. Nothing where too much changes, or a length is 1, which is a case of its own
// in many programs.
std::optional<Forms> concluded(const Values& before, const Values& now) {
  Forms forms;
  std::vector<TwoSizes> lengths;
  std::map<TwoSizes, Form> known;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const TwoSizes size{before[i], now[i]};
    if (std::max(std::abs(size.a), std::abs(size.b)) > most_of_size && size.a != size.b) return {};
    auto found = known.find(size);
    if (found == known.end()) {
      auto form = form_of(size, lengths);
      if (!form) {
        if (lengths.size() == most_lengths || std::min(size.a, size.b) < 2) return {};
        form = Form{1, lengths.size()};
        lengths.push_back(size);
        forms.lengths.push_back(i);
      }
      found = known.emplace(size, *form).first;
    }
    forms.sizes.push_back(found->second);
  }
  return forms;
}

// What is known of the graphs that differ in their sizes alone.
struct KindSeen {
  Values last;
  int changes = 0;
  int conclusions = 0;
  std::optional<Forms> forms = {};
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
std::optional<Forms> invented(const Values& sizes) {
  Values before;
  for (const std::int64_t size : sizes)
    before.push_back(size < 2 ? size : size % 2 == 0 ? 2 * size : size + 1);
  auto forms = concluded(before, sizes);
  return forms && !forms->lengths.empty() ? forms : std::nullopt;
}

// Nothing where the graph is to be computed for its own sizes.
std::optional<Forms> forms_for(const SizedGraph& graph) {
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

// From behind a power of two up to the next.
UOp length_variable(std::int64_t length) {
  const InternerScope scope(shared_graph());
  const auto most = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(length)));
  return Variable("length", most / 2 + 1, most);
}

UOp in_own_graph(const UOp& variable) {
  const Node* root[] = {variable.node()};
  return import_graph(root, shared_graph(), Interner::current())[0];
}

}  // namespace

bool open_lengths(Resolved& resolved) {
  const std::int64_t asked = setting_int("LENGTHS");
  if (asked == 0) return false;
  const SizedGraph graph(resolved);
  if (!graph.may_be_open()) return false;
  const std::optional<Forms> forms = asked == 1 ? forms_for(graph) : invented(graph.sizes);
  if (!forms) return false;
  std::vector<BoundVariable> added;
  std::vector<UOp> lengths;
  for (const std::int64_t length : forms->lengths_of(graph.sizes)) {
    added.push_back({length_variable(length), length});
    lengths.push_back(in_own_graph(added.back().variable));
  }
  bool has_open_constant = false;  // what kernels keep of a constant has a fixed size
  auto form = forms->sizes.begin();
  const auto other = [&](const Node* user, std::size_t i) {
    if (!is_size(user->src(i))) return UOp();
    const Form& own = *form++;
    if (!own.length) return UOp();
    has_open_constant = has_open_constant || (user->op() == Op::Buffer &&
                                              user->arg<BufferArg>().space == Space::Constant);
    return own.of(lengths);
  };
  const std::vector<UOp> opened = with_other_sources(graph.roots, graph.nodes, other);
  if (has_open_constant || !sizes_agree(opened)) {
    forget_conclusion(resolved);
    return false;
  }
  for (std::size_t i = 0; i < opened.size(); ++i) resolved.roots[i].tensor = opened[i];
  for (const BoundVariable& length : added)
    resolved.lengths.insert(length.variable->arg<VariableArg>().id.value);
  list_variables(resolved, added);
  return true;
}

void forget_conclusion(const Resolved& resolved) {
  const Kinds::Key key = SizedGraph(resolved).key();
  const std::lock_guard lock(kinds().mutex);
  const auto* seen = kinds().seen.find(key);
  if (seen != nullptr) (*seen)->forms.reset();  // with LENGTHS=2 none are known
}

}  // namespace weft
