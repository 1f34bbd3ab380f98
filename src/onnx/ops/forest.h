// Decision trees as tensors: all rows walk all trees together, a step for each level.
#pragma once

#include <cstdint>
#include <vector>

#include "scores.h"

namespace weft::onnx {

struct Forest {
  enum class Mode : std::uint8_t { Leq, Lt, Gte, Gt, Eq, Neq, Member, Leaf };
  struct Node {
    Mode mode = Mode::Leaf;
    std::int64_t feature = 0;
    double value = 0;
    bool missing_is_true = false;      // where NaN goes
    std::int64_t yes = 0, no = 0;      // of a leaf: itself
    std::vector<double> members = {};  // of Mode::Member
  };
  struct Weight {
    std::int64_t node, target;
    double weight;
  };
  enum class Sum : std::uint8_t { Average, Sum, Min, Max };

  std::vector<Node> nodes;
  std::vector<std::int64_t> roots;  // a tree each
  std::vector<Weight> weights;      // of leaves, for targets; a leaf may have several
  std::int64_t targets = 0;
  Sum sum = Sum::Sum;
};

// (rows, targets) of rows of features, in their dtype; refused where the forest is none.
Tensor walked(const Call& call, const Forest& forest, const Tensor& x);

}  // namespace weft::onnx
