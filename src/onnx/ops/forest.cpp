#include "forest.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

namespace weft::onnx {
namespace {

using Ints = std::vector<std::int64_t>;
using Numbers = std::vector<double>;
using Mode = Forest::Mode;

constexpr std::int64_t most_weights = 1 << 28;

// How many steps lead from the roots to all leaves. Nothing is reached twice.
std::int64_t depth_of(const Call& call, const Forest& forest) {
  std::vector<bool> seen(forest.nodes.size());
  Ints level = forest.roots, below;
  for (std::int64_t depth = 0;; ++depth) {
    below.clear();
    for (const std::int64_t at : level) {
      if (at < 0 || at >= std::ssize(forest.nodes))
        call.refuse(fmt::format("there is no node {}", at));
      const Forest::Node& node = forest.nodes[static_cast<std::size_t>(at)];
      if (node.mode == Mode::Leaf) continue;
      if (seen[static_cast<std::size_t>(at)]) call.refuse("two branches lead to the same node");
      seen[static_cast<std::size_t>(at)] = true;
      below.push_back(node.yes);
      below.push_back(node.no);
    }
    if (below.empty()) return depth;
    level.swap(below);
  }
}

// A field of all nodes.
template <class F>
Tensor field(const Call& call, const Forest& forest, DType dtype, const F& of_node) {
  std::vector<std::decay_t<decltype(of_node(forest.nodes[0]))>> values;
  for (const Forest::Node& node : forest.nodes) values.push_back(of_node(node));
  return Tensor(values, call.options(dtype));
}

// The members of each node, NaN behind them: those are equal to nothing.
Tensor members_of(const Call& call, const Forest& forest, DType dtype) {
  std::size_t most = 0;
  for (const Forest::Node& node : forest.nodes) most = std::max(most, node.members.size());
  const auto width = static_cast<std::int64_t>(most);
  if (width * std::ssize(forest.nodes) > most_weights)
    call.refuse("its sets have too many members");
  Numbers members;
  for (const Forest::Node& node : forest.nodes) {
    members.insert(members.end(), node.members.begin(), node.members.end());
    members.resize(members.size() + most - node.members.size(),
                   std::numeric_limits<double>::quiet_NaN());
  }
  return Tensor(members, call.options(dtype)).reshape({-1, width});
}

Tensor compared(Mode mode, const Tensor& x, const Tensor& value) {
  switch (mode) {
    case Mode::Leq: return x <= value;
    case Mode::Lt: return x < value;
    case Mode::Gte: return x >= value;
    case Mode::Gt: return x > value;
    case Mode::Eq: return x == value;
    default: return x != value;
  }
}

// Where nodes at these places (rows, trees) send the rows to.
class Step {
 public:
  Step(const Call& call, const Forest& forest, const Tensor& x)
      : x_(x),
        features_(field(call, forest, dtypes::i64, [](const auto& node) { return node.feature; })),
        values_(field(call, forest, x.dtype(), [](const auto& node) { return node.value; })),
        modes_(field(call, forest, dtypes::u8,
                     [](const auto& node) { return static_cast<std::uint8_t>(node.mode); })),
        missing_(field(call, forest, dtypes::u8,
                       [](const auto& node) { return std::uint8_t{node.missing_is_true}; })),
        yes_(field(call, forest, dtypes::i64, [](const auto& node) { return node.yes; })),
        no_(field(call, forest, dtypes::i64, [](const auto& node) { return node.no; })) {
    for (const Forest::Node& node : forest.nodes) {
      occurs_[static_cast<std::size_t>(node.mode)] = true;
      has_missing_ = has_missing_ || node.missing_is_true;
    }
    if (occurs(Mode::Member)) members_ = members_of(call, forest, x.dtype());
  }

  Tensor operator()(const Tensor& at) const {
    const Tensor x = x_.gather(1, features_.take(at)), value = values_.take(at);
    const Tensor mode = modes_.take(at);
    Tensor is_true;
    for (const Mode each : {Mode::Leq, Mode::Lt, Mode::Gte, Mode::Gt, Mode::Eq, Mode::Neq}) {
      if (!occurs(each)) continue;
      const Tensor one = compared(each, x, value);
      is_true = is_true.is_null() ? one : (mode == static_cast<int>(each)).where(one, is_true);
    }
    if (occurs(Mode::Member)) {
      const Tensor one = (members_.take(at) == x.unsqueeze(-1)).any(-1);
      is_true =
          is_true.is_null() ? one : (mode == static_cast<int>(Mode::Member)).where(one, is_true);
    }
    if (has_missing_) is_true = is_true | (x.isnan() & (missing_.take(at) != 0));
    return is_true.where(yes_.take(at), no_.take(at));
  }

 private:
  bool occurs(Mode mode) const { return occurs_[static_cast<std::size_t>(mode)]; }

  Tensor x_, features_, values_, modes_, missing_, yes_, no_, members_;
  std::array<bool, static_cast<std::size_t>(Mode::Leaf) + 1> occurs_ = {};
  bool has_missing_ = false;
};

double combined(Forest::Sum sum, double a, double b) {
  if (sum == Forest::Sum::Min) return std::min(a, b);
  if (sum == Forest::Sum::Max) return std::max(a, b);
  return a + b;
}

// (nodes, targets): what a leaf adds, or nothing: `none`.
Tensor weights_of(const Call& call, const Forest& forest, DType dtype, double none) {
  const std::int64_t nodes = std::ssize(forest.nodes);
  if (forest.targets < 1 || forest.targets > most_weights / std::max<std::int64_t>(nodes, 1))
    call.refuse(fmt::format("{} targets for {} nodes", forest.targets, nodes));
  Numbers weights(static_cast<std::size_t>(nodes * forest.targets), none);
  for (const Forest::Weight& each : forest.weights) {
    if (each.target < 0 || each.target >= forest.targets)
      call.refuse(fmt::format("there is no target {} of {}", each.target, forest.targets));
    double& weight = weights[static_cast<std::size_t>(each.node * forest.targets + each.target)];
    weight = combined(forest.sum, weight, each.weight);
  }
  return Tensor(weights, call.options(dtype)).reshape({nodes, forest.targets});
}

void check_features(const Call& call, const Forest& forest, std::int64_t features) {
  for (const Forest::Node& node : forest.nodes)
    if (node.mode != Mode::Leaf && (node.feature < 0 || node.feature >= features))
      call.refuse(fmt::format("a node asks for feature {} of {}", node.feature, features));
}

}  // namespace

Tensor walked(const Call& call, const Forest& forest, const Tensor& x) {
  if (forest.roots.empty()) call.refuse("it has no tree");
  const std::int64_t depth = depth_of(call, forest), trees = std::ssize(forest.roots);
  check_features(call, forest, x.size(1));
  Tensor at = Tensor(forest.roots, call.options(dtypes::i64)).expand({x.size(0), trees});
  const Step step(call, forest, x);
  // Each step reads what the one before it wrote: computed again, that would double with every level.
  for (std::int64_t i = 0; i < depth; ++i) at = step(at).contiguous();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool is_min = forest.sum == Forest::Sum::Min, is_max = forest.sum == Forest::Sum::Max;
  const double none = is_min ? infinity : is_max ? -infinity : 0;
  const Tensor found =
      weights_of(call, forest, x.dtype(), none).take(at);  // (rows, trees, targets)
  if (!is_min && !is_max) {
    const Tensor sum = found.sum(1);
    return forest.sum == Forest::Sum::Average ? sum / trees : sum;
  }
  const Tensor extreme = is_min ? found.min(1) : found.max(1);
  return (extreme == none).where(0.0, extreme);
}

}  // namespace weft::onnx
