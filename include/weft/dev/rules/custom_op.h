// Ops that a program adds: by what they mean in terms of those that there are. So every device has
// them, and they have gradients.
//
//   const AddedOp swish("swish", {.meaning = [](const std::vector<UOp>& x) {
//     return x[0] / (1 + make(Op::Exp2, {x[0] * -1.4427}));
//   }});
//   Tensor y = Tensor::custom("swish", {x});
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <weft/dev/rewrite/rule.h>

namespace weft {

struct CustomOp {
  // The value, of any shape, computed from the operands. Called by any thread and more than once:
  // equal operands have to give equal values. It may use other ops that were added, but not itself.
  std::function<UOp(const std::vector<UOp>& operands)> meaning;
  // The gradients of the operands, null for those without, from the gradient of the value and the
  // node custom_op() made, whose sources are the shape and then the operands. By default those of
  // the meaning.
  std::function<std::vector<UOp>(const UOp& gradient, const UOp& custom)> backward = {};
};

// The op is known to all threads as long as this lives. Tensors made of it have to be realized by
// then.
class AddedOp {
 public:
  AddedOp(std::string_view name, CustomOp op);
  ~AddedOp();
  AddedOp(const AddedOp&) = delete;
  AddedOp& operator=(const AddedOp&) = delete;

 private:
  Symbol name_;
};

// CUSTOM(shape, operands ...) with the dtype and shape of what it means.
UOp custom_op(std::string_view name, const std::vector<UOp>& operands);

// Of such a node. An error where its op is not known any more.
std::shared_ptr<const CustomOp> definition_of(const Node* custom);
std::vector<UOp> operands_of(const Node* custom);
// What its op means, of these operands.
UOp meaning_of(const Node* custom, const std::vector<UOp>& operands);

// CUSTOM becomes what it means.
const RuleSet& custom_rules();

}  // namespace weft
