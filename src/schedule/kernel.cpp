#include <weft/dev/schedule/kernel.h>

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/schedule/ranges.h>
#include <weft/error.h>

#include "graph/reshape.h"

namespace weft {
namespace {

// A loop nest over all elements of one shape, and its stores.
struct Loops {
  explicit Loops(const UOp& storage) : shape(storage->shape()) {
    for (const Node* size : storage->dims())
      indices.push_back(range(size_as_index(size), fresh_id().value));
  }

  void store(const UOp& storage, const UOp& value) {
    const bool is_scalar = value->shape() == nullptr;
    if (!is_scalar && value->dims().size() != indices.size())
      user_error(fmt::format("a kernel stores a tensor of {} axes in a buffer of {}",
                             value->dims().size(), indices.size()));
    const UOp all = const_bool(true);
    const UOp what = element(value, all, is_scalar ? std::vector<UOp>{} : indices);
    stores.push_back(make(Op::Store, {place(storage, all, indices), what}, {}, StoreArg{}));
  }

  UOp close() const {
    std::vector<UOp> src{stores.size() == 1 ? stores[0] : tuple(stores)};
    src.insert(src.end(), indices.begin(), indices.end());
    return make(Op::End, src);
  }

  const Node* shape;
  std::vector<UOp> indices, stores;
};

}  // namespace

UOp make_kernel(std::string_view name, const std::vector<Output>& outputs) {
  std::vector<Loops> nests;
  for (const auto& [storage, value] : outputs) {
    auto nest = std::ranges::find(nests, storage->shape(), &Loops::shape);
    if (nest == nests.end()) nest = nests.insert(nests.end(), Loops(storage));
    nest->store(storage, value);
  }
  std::vector<UOp> effects;
  for (const Loops& nest : nests) effects.push_back(nest.close());
  return make(Op::Sink, effects, {}, KernelArg{Symbol(std::string(name))});
}

}  // namespace weft
