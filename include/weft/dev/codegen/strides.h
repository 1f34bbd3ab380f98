// Strides of flat indices.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>

namespace weft {

// The constant strides of integers: by how much they grow in each iteration of a range.
class Strides {
 public:
  Strides(const std::vector<const Node*>& slice, const Node* range) : range_(range) {
    for (const Node* node : slice)
      if (const auto stride = compute(node)) strides_.set(node, *stride);
  }
  // Returns nothing if the stride is not constant.
  std::optional<std::int64_t> of(const Node* node) const {
    if (const std::int64_t* stride = strides_.find(node)) return *stride;
    if (changes_with(node, range_)) return std::nullopt;
    return 0;
  }

 private:
  std::optional<std::int64_t> compute(const Node* node) const {
    if (node == range_) return 1;
    if (node->op() != Op::Add && node->op() != Op::Mul) return std::nullopt;
    const auto a = of(node->src(0)), b = of(node->src(1));
    const Node* factor = node->src(1);
    std::int64_t stride = 0;
    if (!a || !b) return std::nullopt;
    if (node->op() == Op::Add)
      return __builtin_add_overflow(*a, *b, &stride) ? std::nullopt : std::optional(stride);
    if (!factor->is_const() || !factor->dtype().is_int()) return std::nullopt;
    return __builtin_mul_overflow(*a, factor->lo(), &stride) ? std::nullopt : std::optional(stride);
  }

  const Node* range_;
  NodeMap<std::int64_t> strides_;
};

}  // namespace weft
