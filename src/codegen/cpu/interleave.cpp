// Merges interleaved stores: copies that each store every second or every fourth element of the
// same memory become one contiguous store.
//
// This is a traversal, not a rewrite rule, since it examines all stores of an iteration together.

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/graph.h>

#include "common/traversal.h"
#include "lanes.h"
#include "lines.h"

namespace weft {
namespace {

// Interleaves vectors element by element.
UOp in_turns(const std::vector<UOp>& vectors) {
  if (vectors.size() == 1) return vectors[0];
  std::vector<UOp> even, odd, lanes;
  for (std::size_t i = 0; i < vectors.size(); ++i) (i % 2 == 0 ? even : odd).push_back(vectors[i]);
  const UOp first = in_turns(even), second = in_turns(odd);
  for (std::uint32_t i = 0; i < first->dtype().lanes(); ++i)
    for (const UOp& half : {first, second}) lanes.push_back(lane(half, i));
  return make(Op::Stack, lanes);
}

bool may_interleave(const Node* effect) {
  return effect->op() == Op::Store && effect->size() == 2 && !effect->arg<StoreArg>().combine &&
         effect->src(0)->size() == 3 && effect->src(0)->src(1)->is_const_int(1) &&
         effect->src(1)->dtype().lanes() > 1;
}

class Interleave {
 public:
  explicit Interleave(NodeList roots) {
    for (const Node* node : toposort(roots)) {
      std::vector<UOp> src;
      for (const Node* source : node->src()) src.push_back((*this)[source]);
      if (node->op() == Op::Tuple && node->dtype().is_void()) src = together(src);
      const bool is_one = node->op() == Op::Tuple && src.size() == 1 && node->size() > 1;
      made_.set(node, is_one ? src[0].node() : with_sources(UOp(node), src).node());
    }
  }

  UOp operator[](const Node* node) const { return UOp(*made_.find(node)); }

 private:
  // The memory, index base, stride and lane count that stores must share to be merged.
  using Key = std::tuple<const Node*, const Node*, std::int64_t, std::uint32_t>;

  static std::vector<UOp> together(const std::vector<UOp>& effects) {
    std::map<Key, std::map<std::int64_t, std::size_t>> groups;
    for (std::size_t i = 0; i < effects.size(); ++i) {
      if (!may_interleave(effects[i].node())) continue;
      const Node* place = effects[i]->src(0);
      const auto line = strided_index_of(place->src(2));
      if (line && (line->stride == 2 || line->stride == 4))
        groups[{place->src(0), line->base, line->stride, place->dtype().lanes()}].emplace(
            line->offset, i);
    }
    std::vector<UOp> result = effects;
    std::vector<std::size_t> gone;
    for (const auto& [key, members] : groups)
      for (auto at = members.begin(); at != members.end();) {
        const auto count = static_cast<std::size_t>(std::get<2>(key));
        std::vector<std::size_t> run;
        const std::int64_t first = at->first;
        while (run.size() < count && at != members.end() &&
               at->first == first + static_cast<std::int64_t>(run.size()))
          run.push_back((at++)->second);
        if (run.size() < count) continue;
        result[run[0]] = joined(effects, run, {std::get<1>(key), first, 1});
        gone.insert(gone.end(), run.begin() + 1, run.end());
      }
    std::ranges::sort(gone, std::greater());
    for (const std::size_t i : gone) result.erase(result.begin() + static_cast<std::ptrdiff_t>(i));
    return result;
  }

  static UOp joined(const std::vector<UOp>& effects, const std::vector<std::size_t>& run,
                    const StridedIndex& line) {
    std::vector<UOp> vectors;
    for (const std::size_t i : run) vectors.push_back(effects[i].src(1));
    const UOp value = in_turns(vectors), place = effects[run[0]].src(0);
    const DType dtype = place->src(2)->dtype().scalar();
    UOp base = const_int(line.offset, dtype);
    if (line.base != nullptr) base = line.offset == 0 ? UOp(line.base) : UOp(line.base) + base;
    const std::uint32_t lanes = value->dtype().lanes();
    const UOp at = make(Op::Splat, {base}, dtype.vec(lanes)) + lane_numbers(lanes, dtype);
    return make(Op::Store, {make(Op::Index, {place.src(0), const_bool(true), at}), value}, {},
                StoreArg{});
  }

  NodeMap<const Node*> made_;
};

}  // namespace

std::vector<UOp> interleave(const std::vector<UOp>& roots, const RewriteOptions&) {
  return traversed<Interleave>(roots);
}

}  // namespace weft
