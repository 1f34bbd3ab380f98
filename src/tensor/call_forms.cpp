#include "call_forms.h"

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

namespace weft {

Form::Form(const NamedTensor& argument) : name(argument.first) {
  const Operand tensor(argument.second);
  dtype = tensor.uop()->dtype();
  shape = UOp(tensor.uop()->shape());
  device = tensor.device;
  if (are_several(device.get()))
    user_error(
        fmt::format("jit: {} is in parts on {}: cut it within the function", name, device.get()));
}

std::string Form::text() const {
  const std::string sizes = shape.is_null() ? "()" : sizes_text(shape->src());
  return fmt::format("{} of shape {} on {}", dtype.str(), sizes, device.get());
}

Forms::Forms(const JitArguments& arguments) : plain(arguments.plain) {
  for (const NamedTensor& argument : arguments.tensors) tensors.emplace_back(argument);
  for (const UOp& size : arguments.sizes) {
    if (size->op() != Op::Bind)
      user_error("jit: a size that is no number is to be a variable that is bound to one");
    variables.push_back(size.src(0));
  }
}

void Forms::want(const JitArguments& arguments) const {
  const Forms now(arguments);
  if (now.tensors.size() != tensors.size() || now.plain.size() != plain.size())
    user_error(fmt::format(
        "jit: {} tensors and {} other values, where the function was captured with {} and {}",
        now.tensors.size(), now.plain.size(), tensors.size(), plain.size()));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (!now.tensors[i].is_like(tensors[i]))
      user_error(fmt::format("jit: {} is {}, where the function was captured with {}",
                             now.tensors[i].name, now.tensors[i].text(), tensors[i].text()));
  for (std::size_t i = 0; i < plain.size(); ++i)
    if (now.plain[i] != plain[i])
      user_error(
          fmt::format("jit: {}, where the function was captured with {}", now.plain[i], plain[i]));
  if (!std::ranges::equal(now.variables, variables, {}, &UOp::node, &UOp::node))
    user_error("jit: sizes are bound to other variables than when the function was captured");
}

}  // namespace weft
