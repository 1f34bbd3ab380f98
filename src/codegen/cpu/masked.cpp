// Splits masked vector accesses that are wider than a register. A masked load of one place by all
// lanes becomes a scalar load.
//
// LLVM would split wide accesses itself. On x86 without AVX-512, however, LLVM 14 to 22 accesses a
// part whose mask it finds to be constantly false as if it had no mask. Here the mask of each part
// is simplified before LLVM sees it.

#include <algorithm>

#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/rules/symbolic.h>

#include "lanes.h"
#include "lines.h"

namespace weft {
namespace {

struct Part {
  std::uint32_t first, count;
};

// Returns the lanes of a part. Elementwise operations are computed again for these lanes only.
UOp part_of(const UOp& value, const Part& part) {
  if (value->dtype().lanes() == 1) return value;
  if (value->op() == Op::Splat) return splat(value.src(0), part.count);
  if (value->op() == Op::Stack)
    return make(Op::Stack, list_of(value->src().subspan(part.first, part.count)));
  if (is_elementwise(value->op())) {
    std::vector<UOp> src;
    for (const Node* source : value->src()) src.push_back(part_of(UOp(source), part));
    return on_lanes(value.node(), src, part.count);
  }
  return shuffled(value, part.count, [&](std::uint32_t i) { return part.first + i; });
}

// Returns the index of the first lane of a contiguous access; null for other accesses.
UOp first_lane_index(const Node* at) {
  if (step_of(at) == 1) return const_int(0, at->dtype().scalar());
  if (at->op() != Op::Add || at->src(0)->op() != Op::Splat || step_of(at->src(1)) != 1) return {};
  return UOp(at->src(0)->src(0));
}

// Splits a contiguous access with a condition per lane into parts of one register. Returns no parts
// if one register holds all lanes, or if the access has another form.
std::vector<Part> parts_of(const Node* index, DType dtype, const Target* target) {
  const std::uint32_t lanes = dtype.lanes();
  if (target == nullptr || target->vector_bytes == 0 || index->size() != 3) return {};
  if (index->src(1)->dtype().lanes() == 1 || first_lane_index(index->src(2)).is_null()) return {};
  const auto most = static_cast<std::uint32_t>(std::max<std::size_t>(
      1, static_cast<std::size_t>(target->vector_bytes) / dtype.scalar().bytes()));
  std::vector<Part> parts;
  for (std::uint32_t first = 0; most < lanes && first < lanes; first += most)
    parts.push_back({first, std::min(most, lanes - first)});
  return parts;
}

// Returns the place of a part, with its condition simplified for these lanes.
UOp place_of(const Node* index, const Part& part) {
  const UOp valid = rewrite(part_of(UOp(index->src(1)), part), symbolic());
  const UOp first = first_lane_index(index->src(2)) + static_cast<std::int64_t>(part.first);
  return make(Op::Index, {UOp(index->src(0)), valid->is_const_int(1) ? const_bool(true) : valid,
                          lanes_from(first, part.count)});
}

bool is_inside(const UOp& place, const Node* storage) {
  if (storage->op() != Op::Param) return false;
  std::int64_t elements = 1;
  for (const Node* size : storage->dims()) elements *= size->lo();
  return place->bounds().lo >= 0 && place->bounds().hi < elements;
}

// If all lanes read one place, loads it once, unconditionally, instead of gathering it. The bounds
// of the place must show that it is inside its memory.
UOp load_uniform(const Match& m) {
  const Node* load = m.root();
  const Node* index = load->src(0);
  if (index->size() != 3 || index->src(1)->dtype().lanes() == 1) return {};
  if (index->src(2)->op() != Op::Splat) return {};
  const UOp place(index->src(2)->src(0));
  if (!is_inside(place, storage_of(index->src(0)))) return {};
  const UOp value = make(Op::Load, {place_in(UOp(index->src(0)), {place})});
  const UOp other = load->size() > 1 ? UOp(load->src(1)) : const_bits(load->dtype(), 0);
  return make(Op::Where, {UOp(index->src(1)), splat(value, load->dtype().lanes()), other});
}

UOp read(const Match& m) {
  const Node* load = m.root();
  const std::vector<Part> parts = parts_of(load->src(0), load->dtype(), m.context<Target>());
  if (parts.empty()) return {};
  std::vector<UOp> lanes;
  for (const Part& part : parts) {
    std::vector<UOp> src{place_of(load->src(0), part)};
    if (load->size() > 1) src.push_back(part_of(UOp(load->src(1)), part));
    const UOp value = make(Op::Load, src);
    for (std::uint32_t i = 0; i < part.count; ++i) lanes.push_back(lane(value, i));
  }
  return make(Op::Stack, lanes);
}

UOp write(const Match& m) {
  const Node* store = m.root();
  const UOp value(store->src(1));
  const std::vector<Part> parts = parts_of(store->src(0), value->dtype(), m.context<Target>());
  if (parts.empty()) return {};
  std::vector<UOp> stores;
  for (const Part& part : parts)
    stores.push_back(make(Op::Store, {place_of(store->src(0), part), part_of(value, part)}, {},
                          store->arg<StoreArg>()));
  return tuple(stores);
}

}  // namespace

const RuleSet& masked_rules() {
  static const RuleSet rules{"masked",
                             {rule(with_more(node(Op::Load)), load_uniform),
                              rule(with_more(node(Op::Load)), read), rule(node(Op::Store), write)}};
  return rules;
}

std::vector<UOp> masked(const std::vector<UOp>& roots, const RewriteOptions& options) {
  return rewrite(roots, masked_rules(), options);
}

}  // namespace weft
