// LOAD and AFTER of sharded memory. A tensor that is read at computed indices is copied to each
// device in whole. A write is executed by the devices that hold the element.

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

#include "shard_rules.h"
#include "shard_slices.h"

namespace weft {
namespace {

// Materialises a tensor that is read at computed indices, unless it is memory already.
UOp in_memory(const UOp& tensor) {
  static const OpSet memory{Op::Buffer, Op::Copy, Op::Contiguous, Op::After, Op::Remat};
  return memory.contains(tensor->op()) ? tensor : make(Op::Contiguous, {tensor});
}

UOp shard_load(const Match& m) {
  const Node* load = m.root();
  const Node* index = load->src(0);
  std::vector<const Node*> operands(index->src().begin() + 1, index->src().end());
  operands.insert(operands.end(), load->src().begin() + 1, load->src().end());
  auto layout = common_layout(operands);
  if (!layout) layout = common_layout(index->src().first(1));
  if (!layout) return {};
  const Layout whole(layout->devices);
  if (!common_layout(operands)) layout = whole;
  return for_each_part(*layout, [&](std::size_t i) {
    std::vector<UOp> place{in_memory(shard_slice(UOp(index->src(0)), whole, i))}, read{UOp()};
    for (const Node* source : index->src().subspan(1))
      place.push_back(shard_slice(UOp(source), *layout, i));
    read[0] = make(Op::Index, place);
    for (const Node* source : load->src().subspan(1))
      read.push_back(shard_slice(UOp(source), *layout, i));
    return make(Op::Load, read);
  });
}

// The stores of an AFTER on one device, to the part of the memory that it holds.
struct ShardStores {
  const Node* memory;
  const Layout& layout;
  std::size_t part;
  UOp own;

  Layout whole() const { return Layout(layout.devices); }

  UOp stored(const Node* store, const UOp& place, const UOp& value) const {
    return with_sources(UOp(store), {place, value});
  }

  // Every device has all indices and values, and masks those outside of its part. Returns null if that
  // has no elements.
  UOp store_at_indices(const Node* store) const {
    if (layout.is_split() && layout.size(part) == 0) return {};
    const Node* index = store->src(0);
    std::vector<UOp> src{own};
    for (const Node* source : index->src().subspan(1))
      src.push_back(shard_slice(UOp(source), whole(), part));
    if (layout.is_split()) {
      UOp& along = src[static_cast<std::size_t>(layout.axis) + 2];
      along = cast(along, dtypes::index) - layout.bounds[part];
      src[1] = src[1] & (along >= 0) & (along < layout.size(part));
    }
    return stored(store, make(Op::Index, src), shard_slice(UOp(store->src(1)), whole(), part));
  }

  // Returns null if no element of the view is on this device.
  UOp store_in_view(const Node* store) const {
    const UOp view(store->src(0)), value(store->src(1));
    if (view->op() != Op::Multi)
      return stored(store, rebased(view, UOp(memory), own), shard_slice(value, whole(), part));
    const Layout seen = Layout::of(view.node());
    const auto here = static_cast<std::size_t>(
        std::ranges::find(seen.devices, layout.devices[part]) - seen.devices.begin());
    if (seen.is_split() && seen.size(here) == 0) return {};
    const UOp place = view.src(here);
    if (!is_view_of(place.node(), own.node()))
      internal_error(
          fmt::format("a store in a view of shape {} that is not in the parts of its memory",
                      sizes_text(place->dims())));
    return stored(store, place, shard_slice(value, seen, here));
  }
};

UOp shard_after(const Match& m) {
  const Node* after = m.root();
  std::vector<const Node*> operands;
  for (const Node* store : after->src().subspan(1)) {
    operands.insert(operands.end(), store->src().begin(), store->src().end());
    const NodeList places = store->src(0)->src();
    operands.insert(operands.end(), places.begin(), places.end());
  }
  auto layout = common_layout(after->src().first(1));
  if (const auto of_values = common_layout(operands); !layout && of_values)
    layout = Layout(of_values->devices);
  if (!layout) return {};
  return for_each_part(*layout, [&](std::size_t i) {
    const ShardStores here{after->src(0), *layout, i, shard_slice(UOp(after->src(0)), *layout, i)};
    std::vector<UOp> src{here.own};
    for (const Node* store : after->src().subspan(1)) {
      const bool is_at_places = store->src(0)->op() == Op::Index;
      const UOp done = is_at_places ? here.store_at_indices(store) : here.store_in_view(store);
      if (!done.is_null()) src.push_back(done);
    }
    return src.size() == 1 ? here.own : with_sources(UOp(after), src);
  });
}

}  // namespace

const RuleSet& shard_memory_rules() {
  static const RuleSet rules{"shard_memory",
                             {
                                 rule(with_more(node(Op::Load, {node(Op::Index)})), shard_load),
                                 rule(node(Op::After), shard_after),
                             }};
  return rules;
}

}  // namespace weft
