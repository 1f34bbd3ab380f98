#include <weft/checkpoint.h>

#include <unordered_set>

#include <weft/dev/grad/gradient.h>

#include "ops.h"
#include "state.h"

namespace weft {
namespace {

const Node* below_movement(const Node* view) {
  while (info(view->op()).cls == OpClass::Movement) view = view->src(0);
  return view;
}

// Where the function's own computing ends: at tensors that there were, and at memory.
class Ends {
 public:
  Ends() {
    Storage::for_each_alive([&](const auto& storage) {
      held_.push_back(storage->present());
      add(held_.back().node());
      add(below_movement(held_.back().node()));
    });
  }

  void add(const Node* node) {
    const bool is_free = info(node->op()).cls == OpClass::Leaf && node->op() != Op::Buffer;
    if (!is_free) there_.insert(node);
  }

  // Those that the value is made of.
  std::vector<UOp> below(const UOp& value) const {
    std::vector<UOp> ends;
    std::unordered_set<const Node*> seen;
    for (std::vector<const Node*> open{value.node()}; !open.empty();) {
      const Node* node = open.back();
      open.pop_back();
      if (!seen.insert(node).second) continue;
      if (is_end(node))
        ends.emplace_back(node);
      else  // the body of a call is a function of its arguments
        for (const Node* source : node->src().subspan(node->op() == Op::Call ? 1 : 0))
          open.push_back(source);
    }
    return ends;
  }

 private:
  bool is_end(const Node* node) const {
    constexpr OpSet elsewhere{Op::Buffer, Op::Copy, Op::Shard, Op::Multi};
    return there_.contains(node) || elsewhere.contains(node->op()) ||
           (node->op() == Op::After && below_movement(node->src(0))->op() == Op::Buffer);
  }

  std::vector<UOp> held_;
  std::unordered_set<const Node*> there_;
};

}  // namespace

// The inputs are nodes that nothing else has, and that movement is not composed across: of these the gradient
// is asked for.
Tensor checkpoint_of(const Tensor::Forward& function, const std::vector<Tensor>& inputs) {
  if (NoGrad::is_on()) return function(inputs);
  Ends ends;
  std::vector<Tensor> own;
  {
    const Called called;
    for (const Tensor& input : inputs) {
      const Operand x(input);
      const UOp node = make(Op::Remat, {x.uop()}, {}, IdArg{fresh_id()});
      own.push_back(Tensor::from({node, x.device, x.tracked}));
      ends.add(node.node());
    }
  }
  const Tensor computed = function(own);  // what it calls has a name of its own
  const Called called;
  const Operand value(computed);
  return Tensor::from(
      {checkpoint(value.uop(), ends.below(value.uop())), value.device, value.tracked});
}

}  // namespace weft
