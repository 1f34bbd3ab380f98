// Merges interleaved stores: copies that each store every second or every fourth element of the
// same memory become one contiguous store. All stores of an iteration are in one TUPLE.

#include <map>
#include <tuple>
#include <vector>

#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/lower.h>

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

// Returns one store of all elements between those of the run, which begins at an offset from a base.
UOp joined_store(const std::vector<UOp>& run, const Node* from, std::int64_t offset) {
  std::vector<UOp> vectors;
  for (const UOp& store : run) vectors.push_back(store.src(1));
  const UOp value = in_turns(vectors), place = run[0].src(0);
  const UOp base = from != nullptr ? UOp(from) : UOp();
  const UOp first = plus_offset(base, offset, place->src(2)->dtype().scalar());
  return store_at(place_in(place.src(0), {lanes_from(first, value->dtype().lanes())}), value);
}

// The memory, index base, stride and lane count that stores must share to be merged.
using StoreKey = std::tuple<const Node*, const Node*, std::int64_t, std::uint32_t>;

UOp merge_stores(const Match& m) {
  std::vector<UOp> effects = list_of(m.root()->src());
  std::map<StoreKey, std::map<std::int64_t, std::size_t>> groups;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    if (!may_interleave(effects[i].node())) continue;
    const Node* place = effects[i]->src(0);
    const auto line = strided_index_of(place->src(2));
    if (line && (line->stride == 2 || line->stride == 4))
      groups[{place->src(0), line->base, line->stride, place->dtype().lanes()}].emplace(
          line->offset, i);
  }
  for (const auto& [key, members] : groups)
    for (auto at = members.begin(); at != members.end();) {
      const auto first = at;
      std::vector<UOp> run;
      for (; std::ssize(run) < std::get<2>(key) && at != members.end() &&
             at->first == first->first + std::ssize(run);
           ++at)
        run.push_back(effects[at->second]);
      if (std::ssize(run) < std::get<2>(key)) continue;
      for (auto merged = first; merged != at; ++merged) effects[merged->second] = UOp();
      effects[first->second] = joined_store(run, std::get<1>(key), first->first);
    }
  if (std::erase_if(effects, [](const UOp& effect) { return effect.is_null(); }) == 0) return {};
  return effects.size() == 1 ? effects[0] : tuple(effects);
}

}  // namespace

std::vector<UOp> interleave(const std::vector<UOp>& roots, const RewriteOptions& options) {
  static const RuleSet rules{"interleave", {rule(node(Op::Tuple), merge_stores)}};
  return rewrite_once(roots, rules, options);
}

}  // namespace weft
