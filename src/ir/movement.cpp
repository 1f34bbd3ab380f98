#include <weft/dev/ir/movement.h>

#include <algorithm>

#include <weft/dev/ir/graph.h>
#include <weft/error.h>

namespace weft {
namespace {

bool are_sizes_of(const UOp& tensor, const Sizes& sizes) {
  return std::ranges::equal(tensor->dims(), sizes, {}, {}, &UOp::node);
}

bool are_zeros(const Sizes& sizes) {
  return std::ranges::all_of(sizes, [](const UOp& size) { return size->is_const_int(0); });
}

}  // namespace

Sizes sizes_of(const UOp& tensor) {
  const NodeList dims = tensor->dims();
  return Sizes(dims.begin(), dims.end());
}

bool has_no_elements(const UOp& tensor) {
  return std::ranges::any_of(tensor->dims(), [](auto size) { return size->is_const_int(0); });
}

Sizes constant_sizes(const std::vector<std::int64_t>& values) {
  Sizes sizes;
  for (std::int64_t value : values) sizes.push_back(const_int(value));
  return sizes;
}

UOp reshape(const UOp& tensor, const Sizes& sizes) {
  if (are_sizes_of(tensor, sizes)) return tensor;
  if (tensor->op() == Op::Reshape) return reshape(tensor.src(0), sizes);
  return make(Op::Reshape, {tensor, tuple(sizes)});
}

UOp permute(const UOp& tensor, const Axes& axes) {
  if (std::ranges::is_sorted(axes) && axes.size() == tensor->dims().size()) return tensor;
  return make(Op::Permute, {tensor}, {}, AxesArg{IntList(axes)});
}

UOp expand(const UOp& tensor, const Sizes& sizes) {
  if (are_sizes_of(tensor, sizes)) return tensor;
  return make(Op::Expand, {tensor, tuple(sizes)});
}

UOp pad(const UOp& tensor, const Sizes& before, const Sizes& after) {
  if (are_zeros(before) && are_zeros(after)) return tensor;
  return make(Op::Pad, {tensor, tuple(before), tuple(after)});
}

UOp shrink(const UOp& tensor, const Sizes& start, const Sizes& sizes) {
  if (are_zeros(start) && are_sizes_of(tensor, sizes)) return tensor;
  return make(Op::Shrink, {tensor, tuple(start), tuple(sizes)});
}

UOp flip(const UOp& tensor, const Axes& axes) {
  if (axes.empty()) return tensor;
  return make(Op::Flip, {tensor}, {}, AxesArg{IntList(axes)});
}

UOp rebased(const UOp& view, const UOp& from, const UOp& to) {
  std::vector<UOp> chain;
  for (UOp node = view; !node.is(from); node = node.src(0)) {
    if (node->size() == 0) internal_error("a view does not look at its root");
    chain.push_back(node);
  }
  UOp result = to;
  for (auto node = chain.rbegin(); node != chain.rend(); ++node) {
    std::vector<UOp> src{result};
    for (const Node* source : (*node)->src().subspan(1)) src.emplace_back(source);
    result = with_sources(*node, src);
  }
  return result;
}

UOp reduce(Op op, const UOp& tensor, const Axes& axes) {
  if (axes.empty()) return tensor;
  return make(Op::Reduce, {tensor}, {}, ReduceArg{op, IntList(axes)});
}

// A STAGE over one range: whoever reads an element puts its index in the range's place.
UOp counted(const UOp& size, DType dtype) {
  const UOp index = range(size, fresh_id().value);
  return make(Op::Stage, {cast(index, dtype), index}, {},
              StageArg{fresh_id(), Space::Register, {}});
}

}  // namespace weft
