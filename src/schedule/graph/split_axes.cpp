#include "split_axes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>

#include "rebuild.h"
#include "reshape.h"

namespace weft {
namespace {

// The most nodes that are visited below a sum. The limit is needed because many sums may share a
// subgraph, which is searched for each of them.
constexpr std::size_t max_visited = 512;

using AxisOf = std::pair<const Node*, std::size_t>;  // an axis of a value

// An axis of a RESHAPE's source, and the factor of its size that belongs to one axis of the result.
struct AxisFactor {
  std::size_t axis;
  std::int64_t size;
};

// Returns the source axes that a RESHAPE merges into an axis, outermost first; empty if a size is
// unknown, or if the boundaries of the axes do not divide each other.
std::vector<AxisFactor> merged_axes(const Node* reshape, std::size_t axis) {
  const NodeList from = reshape->src(0)->dims(), to = reshape->dims();
  if (!have_known_sizes(from) || !have_known_sizes(to)) return {};
  const Wide least = elements_behind(to, axis);
  std::vector<AxisFactor> joints;
  Wide end = least * to[axis]->lo();
  for (std::size_t i = 0; i < from.size() && end > least; ++i) {
    const Wide begin = std::max(elements_behind(from, i), least);
    if (begin >= end) continue;
    if (end % begin != 0) return {};
    joints.push_back({i, static_cast<std::int64_t>(end / begin)});
    end = begin;
  }
  return joints;
}

bool is_map(const Node* node) {
  return is_elementwise(node->op()) && std::ranges::all_of(node->src(), [&](const Node* source) {
           return source->shape() == nullptr || source->shape() == node->shape();
         });
}

// Decides whether some operand of a value is repeated along an axis.
class Repeats {
 public:
  bool operator()(const Node* node, std::size_t axis) {
    if (!visited_.insert({node, axis}).second || visited_.size() > max_visited) return false;
    if (whole_views.contains(node->op())) {
      const auto before = source_axis(node, axis);
      return repeats(node, axis) || (before && (*this)(node->src(0), *before));
    }
    return is_map(node) && std::ranges::any_of(node->src(), [&](const Node* source) {
             return source->shape() != nullptr && (*this)(source, axis);
           });
  }

 private:
  std::set<AxisOf> visited_;
};

// Decides whether a value is decoded from bytes.
class Decodes {
 public:
  bool operator()(const Node* node) {
    if (!visited_.insert(node).second || visited_.size() > max_visited) return false;
    if (node->op() == Op::Cast && node->src(0)->dtype().is_int() &&
        node->src(0)->dtype().bytes() == 1)
      return true;
    if (whole_views.contains(node->op())) return (*this)(node->src(0));
    return is_map(node) &&
           std::ranges::any_of(node->src(), [&](const Node* source) { return (*this)(source); });
  }

 private:
  std::set<const Node*> visited_;
};

// Moves RESHAPEs below elementwise ops, where they meet other RESHAPEs and merge with them.
class ReshapeSinker {
 public:
  UOp operator()(const UOp& value) {
    if (const auto known = made_.find(value.node()); known != made_.end()) return known->second;
    if (made_.size() > max_visited) return value;
    const UOp result = sunk(value);
    made_.emplace(value.node(), result);
    seen_.push_back(value);
    return result;
  }

 private:
  UOp sunk(const UOp& value) {
    const bool is_reshaped = value->op() == Op::Reshape;
    const Node* map = is_reshaped ? value->src(0) : value.node();
    if (!is_map(map)) return value;
    std::vector<UOp> src;
    for (const Node* each : map->src()) {
      const UOp source(each);
      const bool is_scalar = each->shape() == nullptr;
      src.push_back(is_scalar ? source
                              : (*this)(is_reshaped ? reshape(source, sizes_of(value)) : source));
    }
    return with_sources(UOp(map), src);
  }

  Substitution made_;
  std::vector<UOp> seen_;  // keeps the keys of made_ alive, so that no new node reuses one
};

// Splits an axis of a summed value into the axes that a RESHAPE below merged it from.
class AxisSplitter {
 public:
  AxisSplitter(const Node* value, std::size_t axis) { look(value, axis); }

  // Returns the sizes of the axes that the axis splits into.
  const std::vector<std::int64_t>& parts() const { return parts_; }

  // Returns the value with the axis split. Operands without such a RESHAPE are reshaped.
  UOp with_axis_split(const Node* value, std::size_t axis) {
    UOp& made = made_[{value, axis}];
    if (made.is_null()) made = parted(value, axis);
    return made;
  }

  // Returns the list of axes with one of them split.
  Axes with_parts(const Axes& axes, std::size_t axis) const {
    const auto at = static_cast<std::int64_t>(axis);
    Axes result;
    for (const std::int64_t other : axes) {
      const std::int64_t parts = other == at ? std::ssize(parts_) : 1;
      const std::int64_t first = other <= at ? other : other + std::ssize(parts_) - 1;
      for (std::int64_t part = 0; part < parts; ++part) result.push_back(first + part);
    }
    return result;
  }

 private:
  UOp parted(const Node* value, std::size_t axis) {
    const auto found = reaches_reshape_.find({value, axis});
    const Sizes sizes = part_sizes(sizes_of(UOp(value)), axis);
    if (found == reaches_reshape_.end() || !found->second) return reshape(UOp(value), sizes);
    if (value->op() == Op::Reshape) {
      const auto before = source_axis(value, axis);
      const UOp source(value->src(0));
      return reshape(before ? with_axis_split(source.node(), *before) : ReshapeSinker()(source),
                     sizes);
    }
    if (value->op() == Op::Permute) {
      const auto& axes = value->arg<AxesArg>().axes.get();
      const auto before = static_cast<std::size_t>(axes[axis]);
      return permute(with_axis_split(value->src(0), before), with_parts(axes, before));
    }
    if (value->op() == Op::Expand) return expand(with_axis_split(value->src(0), axis), sizes);
    std::vector<UOp> src;
    for (const Node* source : value->src())
      src.push_back(source->shape() == nullptr ? UOp(source) : with_axis_split(source, axis));
    return with_sources(UOp(value), src);
  }

  // Returns whether some RESHAPE below merges axes into this one. The first one found determines
  // the parts.
  bool look(const Node* node, std::size_t axis) {
    const auto [known, is_new] = reaches_reshape_.try_emplace({node, axis}, false);
    if (!is_new) return known->second;
    if (reaches_reshape_.size() > max_visited) return false;
    bool leads = false;
    if (whole_views.contains(node->op())) {
      const auto before = source_axis(node, axis);
      leads = before ? !repeats(node, axis) && look(node->src(0), *before) : joins(node, axis);
    } else if (is_map(node)) {
      for (const Node* source : node->src())
        if (source->shape() != nullptr) leads |= look(source, axis);
    }
    reaches_reshape_[{node, axis}] = leads;
    return leads;
  }

  bool joins(const Node* reshape, std::size_t axis) {
    const std::vector<AxisFactor> joints = merged_axes(reshape, axis);
    const auto is_repeated = [&](const AxisFactor& joint) {
      return Repeats()(reshape->src(0), joint.axis);
    };
    if (joints.size() < 2 || std::ranges::none_of(joints, is_repeated)) return false;
    if (parts_.empty())
      for (const AxisFactor& joint : joints) parts_.push_back(joint.size);
    return true;
  }

  Sizes part_sizes(Sizes sizes, std::size_t axis) const {
    const auto at = sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
    const Sizes parts = constant_sizes(parts_);
    sizes.insert(at, parts.begin(), parts.end());
    return sizes;
  }

  std::vector<std::int64_t> parts_;
  std::map<AxisOf, bool> reaches_reshape_;
  std::map<AxisOf, UOp> made_;
};

// Returns the sum with one of its axes split; null if none was merged.
UOp with_axis_split(const UOp& sum) {
  const Axes axes = sum->arg<ReduceArg>().axes.get();
  for (const std::int64_t axis : axes) {
    const auto at = static_cast<std::size_t>(axis);
    AxisSplitter joined(sum->src(0), at);
    if (joined.parts().empty()) continue;
    return reduce(sum->arg<ReduceArg>().op, joined.with_axis_split(sum->src(0), at),
                  joined.with_parts(axes, at));
  }
  return {};
}

UOp in_all_parts(const UOp& sum) {
  UOp parted;
  for (UOp next = sum; !next.is_null(); next = with_axis_split(parted)) parted = next;
  return parted.is(sum) ? sum : reshape(parted, sizes_of(sum));
}

bool adds_what_is_decoded(const Node* node) {
  return node->op() == Op::Reduce && node->arg<ReduceArg>().op == Op::Add &&
         !node->arg<ReduceArg>().axes.empty() && node->src(0)->op() != Op::Tuple &&
         Decodes()(node->src(0));
}

}  // namespace

std::vector<UOp> with_axes_split(const std::vector<UOp>& tensors) {
  const auto is_joined = [](const Node* node) {
    return adds_what_is_decoded(node) && !with_axis_split(UOp(node)).is_null();
  };
  if (std::ranges::none_of(toposort(nodes_of(tensors)), is_joined)) return tensors;
  return rebuilt(tensors, [](const Node* node, const std::vector<UOp>& sources) {
    const UOp made = with_sources(UOp(node), sources);
    return adds_what_is_decoded(node) ? in_all_parts(made) : made;
  });
}

}  // namespace weft
