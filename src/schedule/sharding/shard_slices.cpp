#include "shard_slices.h"

#include <algorithm>

#include <weft/dev/ir/graph.h>

namespace weft {
namespace {

UOp cut_out(const UOp& tensor, const Layout& layout, std::size_t part) {
  if (!layout.is_split() || tensor->shape() == nullptr) return tensor;
  return slice_of(tensor, layout.axis, const_int(layout.bounds[part]), layout.size(part));
}

// Returns whether every device has the value without a copy or computation.
bool is_everywhere(const UOp& value) {
  return value->dtype().is_void() || value->is_const() || value->op() == Op::Variable;
}

// Returns the slice of a tensor that is whole on each of its devices.
UOp slice_of_replicated(const UOp& multi, const Layout& have, const Layout& layout,
                        std::size_t part) {
  const Symbol device = layout.devices[part];
  const auto near = std::ranges::find(have.devices, device);
  const auto from =
      static_cast<std::size_t>(near == have.devices.end() ? 0 : near - have.devices.begin());
  return copied(cut_out(multi.src(from), layout, part), have.devices[from], device);
}

// Returns what a slice contains of one part of the tensor; null if that is nothing.
UOp overlap_with_part(const UOp& multi, const Layout& have, std::size_t from, const Layout& layout,
                      std::size_t part) {
  if (have.size(from) == 0) return {};
  const UOp whole = multi.src(from);
  if (have.axis != layout.axis) return cut_out(whole, layout, part);
  const std::int64_t first = std::max(have.bounds[from], layout.bounds[part]);
  const std::int64_t end = std::min(have.bounds[from + 1], layout.bounds[part + 1]);
  if (first >= end) return {};
  return slice_of(whole, have.axis, const_int(first - have.bounds[from]), end - first);
}

}  // namespace

UOp copied(const UOp& tensor, Symbol from, Symbol to) {
  return from == to ? tensor : make(Op::Copy, {tensor}, {}, DeviceArg{to});
}

UOp joined(const std::vector<UOp>& pieces, std::int64_t axis) {
  const auto at = static_cast<std::size_t>(axis);
  std::int64_t before = 0, after = 0;
  for (const UOp& piece : pieces) after += piece->dims()[at]->lo();
  UOp result;
  for (const UOp& piece : pieces) {
    after -= piece->dims()[at]->lo();
    const Sizes sizes = sizes_of(piece);
    Sizes zeros(sizes.size(), const_int(0)), behind = zeros;
    zeros[at] = const_int(before);
    behind[at] = const_int(after);
    const UOp placed = pad(piece, zeros, behind);
    const UOp everywhere =
        expand(reshape(const_bool(true), Sizes(sizes.size(), const_int(1))), sizes);
    result = result.is_null() ? placed : where(pad(everywhere, zeros, behind), placed, result);
    before += piece->dims()[at]->lo();
  }
  return result;
}

UOp shard_slice(const UOp& tensor, const Layout& layout, std::size_t part) {
  if (is_everywhere(tensor)) return tensor;
  const Symbol device = layout.devices[part];
  if (tensor->op() != Op::Multi)  // copy_rules() removes a needless COPY
    return make(Op::Copy, {cut_out(tensor, layout, part)}, {}, DeviceArg{device});
  const Layout have = Layout::of(tensor.node());
  if (have == layout) return tensor.src(part);
  if (!have.is_split()) return slice_of_replicated(tensor, have, layout, part);
  std::vector<UOp> pieces;
  for (std::size_t from = 0; from < have.devices.size(); ++from)
    if (const UOp piece = overlap_with_part(tensor, have, from, layout, part); !piece.is_null())
      pieces.push_back(copied(piece, have.devices[from], device));
  if (!pieces.empty()) return joined(pieces, have.axis);
  const UOp none = slice_of(tensor.src(0), have.axis, const_int(0), 0);
  return copied(have.axis == layout.axis ? none : cut_out(none, layout, part), have.devices[0],
                device);
}

std::optional<Layout> common_layout(NodeList operands) {
  const Node* whole = nullptr;
  for (const Node* operand : operands) {
    if (operand->op() != Op::Multi) continue;
    if (operand->arg<ShardArg>().axis >= 0) return Layout::of(operand);
    if (whole == nullptr) whole = operand;
  }
  return whole == nullptr ? std::nullopt : std::optional(Layout::of(whole));
}

std::optional<std::int64_t> constant_product(NodeList sizes) {
  std::int64_t result = 1;
  for (const Node* size : sizes)
    if (!size->is_const() || __builtin_mul_overflow(result, size->lo(), &result))
      return std::nullopt;
  return result;
}

bool is_view_of(const Node* view, const Node* memory) {
  while (view != memory && (is_movement(view) || view->op() == Op::Detach)) view = view->src(0);
  return view == memory;
}

UOp apply_on_each(const Node* op, const Layout& layout) {
  return for_each_part(layout, [&](std::size_t i) {
    std::vector<UOp> src;
    for (const Node* source : op->src()) src.push_back(shard_slice(UOp(source), layout, i));
    return with_sources(UOp(op), src);
  });
}

}  // namespace weft
