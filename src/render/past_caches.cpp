#include "past_caches.h"

#include <algorithm>

#include <weft/dev/ir/memory.h>

#include "program.h"

namespace weft {
namespace {

constexpr std::size_t line_bytes = 64;

// Of a power of two: what wraps stays one.
bool is_multiple(const Node* node, std::int64_t of) {
  const auto is_one = [=](const Node* source) { return is_multiple(source, of); };
  switch (node->op()) {
    case Op::Const: return node->lo() % of == 0;
    case Op::Cast: return is_one(node->src(0));
    case Op::Mul: return std::ranges::any_of(node->src(), is_one);
    case Op::Add:
    case Op::Sub:
    case Op::Max: return std::ranges::all_of(node->src(), is_one);
    case Op::Where: return std::ranges::all_of(node->src().subspan(1), is_one);
    default: return false;
  }
}

}  // namespace

bool goes_past_caches(const Node* store, std::size_t cache_bytes) {
  const Node *place = store->src(0), *storage = storage_of(place->src(0));
  if (storage->op() != Op::Param || storage->arg<ParamArg>().access != Access::Write) return false;
  if (store->arg<StoreArg>().combine || !is_always_valid(place)) return false;
  const DType dtype = memory_of(store->src(1)->dtype());
  const std::size_t bytes = dtype.scalar().bytes();
  if (dtype.lanes() * bytes != line_bytes || !storage->src(0)->is_const()) return false;
  if (static_cast<std::size_t>(storage->src(0)->lo()) * bytes <= cache_bytes) return false;
  const Node* at = index_of(place);
  const auto run = at != nullptr ? run_of(at) : std::nullopt;
  return run && (run->base == nullptr || is_multiple(run->base, dtype.lanes()));
}

}  // namespace weft
