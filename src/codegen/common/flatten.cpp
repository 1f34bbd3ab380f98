// Gives all memory one dimension: indices become row-major offsets. Rewrites top-down, so that an
// INDEX meets its storage as declared, with all dimensions.

#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {
namespace {

UOp as_index(const Node* value) {
  return cast(UOp(value), dtypes::index.vec(value->dtype().lanes()));
}

UOp flat_storage(const Node* storage) {
  UOp size = as_index(storage->src(0));
  for (const Node* dim : storage->src().subspan(1)) size = size * as_index(dim);
  return with_sources(UOp(storage), {size});
}

// Rebuilds a chain of AFTERs on the storage `to`. Returns null if the chain does not start at
// `storage`.
UOp moved(const Node* chain, const Node* storage, const UOp& to) {
  std::vector<const Node*> links;
  for (; chain->op() == Op::After; chain = chain->src(0)) links.push_back(chain);
  if (chain != storage) return {};
  UOp result = to;
  for (; !links.empty(); links.pop_back()) {
    std::vector<UOp> src{result};
    for (const Node* effect : links.back()->src().subspan(1)) src.emplace_back(effect);
    result = make(Op::After, src);
  }
  return result;
}

UOp flat_place(const Match& m) {
  const Node *index = m.root(), *storage = storage_of(index->src(0));
  const NodeList dims = storage->dims(), at = index->src().subspan(2);
  if (dims.size() < 2 || dims.size() != at.size()) return {};
  if (storage->op() != Op::Buffer && storage->op() != Op::Param) return {};
  const UOp to = moved(index->src(0), storage, flat_storage(storage));
  if (to.is_null()) return {};
  UOp place = as_index(at[0]);
  for (std::size_t i = 1; i < dims.size(); ++i) {
    const UOp size = as_index(dims[i]);
    const std::uint32_t lanes = place->dtype().lanes();
    const UOp scale = lanes == 1 ? size : make(Op::Splat, {size}, dtypes::index.vec(lanes));
    place = place * scale + as_index(at[i]);
  }
  return make(Op::Index, {to, UOp(index->src(1)), place});
}

}  // namespace

const RuleSet& flatten_rules() {
  static const RuleSet rules{"flatten", {rule(node(Op::Index), flat_place)}};
  return rules;
}

// Simplifies the result, since a quotient and a remainder that a reshape made of one range
// recombine in a flat index. The algebra brings a context of its own.
std::vector<UOp> flatten(const std::vector<UOp>& roots, const RewriteOptions& options) {
  RewriteOptions first = options;
  first.order = Order::TopDown;
  return simplify(rewrite(roots, flatten_rules(), first),
                  {.pass = options.pass, .trace = options.trace});
}

}  // namespace weft
