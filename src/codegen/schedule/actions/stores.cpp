#include "stores.h"

#include <algorithm>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

namespace weft {
namespace {

bool may_alias(const Node* a, const Node* b) {
  if (a == b) return true;
  if (a->op() != Op::Param || b->op() != Op::Param) return false;
  const auto &x = a->arg<ParamArg>(), &y = b->arg<ParamArg>();
  return x.slot == y.slot || (x.alias != 0 && x.alias == y.alias);
}

}  // namespace

NodeList stores_of(const Node* end) {
  const Node* effects = end->src(0);
  return effects->op() == Op::Tuple ? effects->src() : end->src().first(1);
}

bool has_loaded_indices(const Node* place) {
  return std::ranges::any_of(toposort(place->src().subspan(1)),
                             [](const Node* node) { return node->op() == Op::Load; });
}

bool is_plain_store(const Node* store) {
  return store->op() == Op::Store && !store->arg<StoreArg>().combine &&
         !has_loaded_indices(store->src(0));
}

bool may_store_twice(const Node* end) {
  std::vector<const Node*> written, read;
  for (const Node* store : stores_of(end)) {
    if (store->op() != Op::Store || store->arg<StoreArg>().combine) return false;
    written.push_back(storage_of(store->src(0)->src(0)));
  }
  for (const Node* node : toposort(end))
    if (node->op() == Op::Load) read.push_back(storage_of(node->src(0)->src(0)));
  return std::ranges::none_of(written, [&](const Node* to) {
    return std::ranges::any_of(read, [&](const Node* from) { return may_alias(to, from); });
  });
}

bool writes_are_disjoint(const Node* end, const Node* range) {
  return std::ranges::all_of(stores_of(end), [&](const Node* store) {
    if (store->op() == Op::End)
      return writes_are_disjoint(store, range);  // nested, such as by SPLIT_PARALLEL
    return is_plain_store(store) && changes_with(store->src(0), range);
  });
}

}  // namespace weft
