#include "quantized_gemv.h"

#include <algorithm>

#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {
namespace {

constexpr std::int64_t least_in_block = 16;

void add_factors(const Node* product, std::vector<const Node*>& factors) {
  if (product->op() != Op::Mul) return factors.push_back(product);
  for (const Node* factor : product->src()) add_factors(factor, factors);
}

UOp product_of(const std::vector<const Node*>& factors) {
  UOp product(factors[0]);
  for (std::size_t i = 1; i < factors.size(); ++i) product = product * UOp(factors[i]);
  return product;
}

// A value as scale * leaf + offset. Without the leaf, the scale is null; an offset of 0 is null.
struct OfLeaf {
  UOp scale, offset;
};

UOp added(const UOp& a, const UOp& b) {
  if (a.is_null()) return b;
  return b.is_null() ? a : a + b;
}
UOp negative(const UOp& value) { return value.is_null() ? value : -value; }

std::optional<OfLeaf> of_leaf(const Node* value, const Node* leaf) {
  if (value == leaf) return OfLeaf{const_float(1, leaf->dtype()), {}};
  if (!depends_on(value, leaf)) return OfLeaf{{}, UOp(value)};
  if (!OpSet{Op::Mul, Op::Add, Op::Sub}.contains(value->op())) return std::nullopt;
  const auto a = of_leaf(value->src(0), leaf), b = of_leaf(value->src(1), leaf);
  if (!a || !b) return std::nullopt;
  if (value->op() == Op::Add) return OfLeaf{added(a->scale, b->scale), added(a->offset, b->offset)};
  if (value->op() == Op::Sub)
    return OfLeaf{added(a->scale, negative(b->scale)), added(a->offset, negative(b->offset))};
  if (!a->scale.is_null() && !b->scale.is_null()) return std::nullopt;
  const OfLeaf& with_leaf = a->scale.is_null() ? *b : *a;
  const UOp& factor = a->scale.is_null() ? a->offset : b->offset;
  return OfLeaf{with_leaf.scale * factor,
                with_leaf.offset.is_null() ? UOp() : with_leaf.offset * factor};
}

std::vector<const Node*> reads_below(const std::vector<const Node*>& values, const Node* row) {
  std::vector<const Node*> reads;
  for (const Node* node : elementwise_below(values))
    if (node->op() == Op::Load && changes_with(node, row)) reads.push_back(node);
  return reads;
}

// Removes the factors of another product; returns null if `product` does not contain them all.
UOp without_factors(const UOp& product, const UOp& other) {
  std::vector<const Node*> left, factors;
  add_factors(product.node(), left);
  add_factors(other.node(), factors);
  for (const Node* factor : factors) {
    const auto found = std::ranges::find(left, factor);
    if (found == left.end()) return {};
    left.erase(found);
  }
  return left.empty() ? const_float(1, product->dtype()) : product_of(left);
}

void add_offset(const UOp& offset, QuantizedGemv& sum) {
  sum.shift = without_factors(offset, sum.scale);
  if (sum.shift.is_null()) sum.offset = offset;
}

// Returns whether the matrix is computed from constants alone.
bool is_of_constants(const QuantizedGemv& sum) {
  return std::ranges::all_of(toposort(sum.parts_of_matrix()), [](const Node* node) {
    if (node->op() == Op::Param) return node->arg<ParamArg>().access == Access::Constant;
    return is_elementwise(node->op()) ||
           OpSet{Op::Load, Op::Index, Op::Const, Op::Range}.contains(node->op());
  });
}

// Sorts the loops of the sum into `blocks` and `codes`. Returns false if that is not possible.
bool sort_loops(QuantizedGemv& found) {
  std::vector<const Node*> parts = found.parts_of_matrix();
  parts.erase(parts.begin());
  for (const Node* range : found.sum->src().subspan(1)) {
    const bool is_of_block =
        std::ranges::any_of(parts, [&](const Node* part) { return changes_with(part, range); });
    if (!is_of_block && !changes_with(found.code, range)) return false;
    (is_of_block ? found.blocks : found.codes).push_back(range);
  }
  const std::vector<const Node*> reads = reads_below({found.code}, found.row);
  const auto iterations_if_read = [&](const Node* range) {
    const bool is_read_along =
        std::ranges::all_of(reads, [&](const Node* read) { return changes_with(read, range); });
    return is_read_along ? iterations_of(range) : 0;
  };
  const auto last = std::ranges::max_element(found.codes, {}, iterations_if_read);
  if (last == found.codes.end() || iterations_if_read(*last) == 0) return false;
  std::rotate(last, last + 1, found.codes.end());
  return !found.blocks.empty();
}

}  // namespace

std::vector<const Node*> QuantizedGemv::parts_of_matrix() const {
  std::vector<const Node*> parts{code, scale.node()};
  for (const UOp& part : {shift, offset})
    if (!part.is_null()) parts.push_back(part.node());
  return parts;
}

std::optional<QuantizedGemv> quantized_gemv_in(const UOp& kernel) {
  const auto of = sum_kernel_in(kernel);
  if (!of || of->end->size() != 2 || of->sum->dtype() != dtypes::f32) return {};
  const Node* row = of->end->src(1);
  std::vector<const Node*> factors, shared, own;
  add_factors(of->sum->src(0), factors);
  for (const Node* factor : factors) (changes_with(factor, row) ? own : shared).push_back(factor);
  if (shared.empty() || own.empty()) return {};
  const UOp matrix = product_of(own);
  std::optional<QuantizedGemv> best;
  for (const Node* leaf : elementwise_below({matrix.node()})) {
    if (leaf->op() != Op::Cast || leaf->src(0)->dtype() != dtypes::u8 || !changes_with(leaf, row))
      continue;
    const auto parts = of_leaf(matrix.node(), leaf);
    if (!parts) continue;
    QuantizedGemv found{*of, row, product_of(shared), leaf->src(0), simplify(parts->scale)};
    if (!parts->offset.is_null()) add_offset(simplify(parts->offset), found);
    if (!is_of_constants(found) || !sort_loops(found)) continue;
    if (found.codes_of_block() < least_in_block) continue;
    if (!best || found.codes_of_block() > best->codes_of_block()) best = std::move(found);
  }
  return best;
}

}  // namespace weft
