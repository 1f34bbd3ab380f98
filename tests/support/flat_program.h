// An expression as a list of steps, evaluated for many values of its leaves.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

// Of vectors it computes one lane.
class FlatProgram {
 public:
  FlatProgram(const UOp& root, const std::vector<UOp>& leaves) {
    for (const UOp& leaf : leaves) add(leaf.node());
    for (const Node* node : toposort(root.node()))
      if (!places_.contains(node)) add(node);
    result_ = places_.at(root.node());
    leaf_count_ = leaves.size();
  }

  template <class... Values>
  Bits operator()(Values... values) {
    std::size_t i = 0;
    ((values_[i++] = values), ...);
    for (i = leaf_count_; i < steps_.size(); ++i)
      if (steps_[i].op != Op::Const) values_[i] = compute(steps_[i]);
    return values_[result_];
  }

  std::size_t size() const { return steps_.size(); }

 private:
  struct Step {
    Op op;
    DType from, to;
    std::array<std::size_t, 3> src{};
    std::size_t count;
  };

  void add(const Node* node) {
    Step step{node->op(), {}, node->dtype().scalar(), {}, node->size()};
    for (std::size_t i = 0; i < node->size(); ++i) step.src[i] = places_.at(node->src(i));
    if (node->size() > 0) step.from = node->src(node->op() == Op::Where ? 1 : 0)->dtype().scalar();
    places_.emplace(node, steps_.size());
    steps_.push_back(step);
    values_.push_back(node->is_const() ? node->arg<ConstArg>().bits : 0);
  }

  Bits compute(const Step& step) const {
    std::array<Bits, 3> in{};
    for (std::size_t i = 0; i < step.count; ++i) in[i] = values_[step.src[i]];
    if (step.op == Op::Splat) return in[0];
    if (step.op == Op::Cast) return convert(in[0], step.from, step.to);
    if (step.op == Op::Bitcast) return reinterpret(in[0], step.from, step.to);
    return evaluate(step.op, step.from, std::span(in).first(step.count)).value();
  }

  std::vector<Step> steps_;
  std::vector<Bits> values_;
  std::map<const Node*, std::size_t> places_;
  std::size_t leaf_count_ = 0, result_ = 0;
};

}  // namespace weft
