#include "contraction.h"

#include <algorithm>

#include "ops.h"

namespace weft {
namespace {

bool has(Labels set, std::size_t label) { return (set >> label) % 2 == 1; }

// Its axes in the order of these labels, of size 1 where it has none.
Tensor spread(const Labelled& x, const std::vector<std::size_t>& labels) {
  Axes order;
  std::vector<Dim> sizes;
  const std::vector<Dim> own = x.tensor.dims();
  for (std::size_t label : labels) {
    const auto at = std::ranges::find(x.labels, label) - x.labels.begin();
    if (at == std::ssize(x.labels)) {
      sizes.emplace_back(1);
    } else {
      order.push_back(at);
      sizes.push_back(own[static_cast<std::size_t>(at)]);
    }
  }
  return x.tensor.permute(order).reshape(Shape(sizes));
}

Labelled summed(const Labelled& x, Labels kept, DType within) {
  Labelled result;
  Axes axes;
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    if (has(kept, x.labels[i]))
      result.labels.push_back(x.labels[i]);
    else
      axes.push_back(static_cast<std::int64_t>(i));
  }
  result.tensor = axes.empty() ? x.tensor : x.tensor.sum(axes, false, within);
  return result;
}

// What both have runs along together; what is not kept comes last.
Labelled product(const Labelled& a, const Labelled& b, Labels kept) {
  Labelled result;
  for (const bool is_kept : {true, false})
    for (const Labelled* x : {&a, &b})
      for (std::size_t label : x->labels)
        if (has(kept, label) == is_kept &&
            std::ranges::find(result.labels, label) == result.labels.end())
          result.labels.push_back(label);
  result.tensor = spread(a, result.labels) * spread(b, result.labels);
  return result;
}

std::vector<double> sizes_of(const std::vector<Labelled>& operands) {
  std::vector<double> sizes(64, 1);
  for (const Labelled& operand : operands) {
    const std::vector<std::int64_t> shape = operand.tensor.max_shape();
    for (std::size_t i = 0; i < shape.size(); ++i)
      sizes[operand.labels[i]] = static_cast<double>(shape[i]);
  }
  return sizes;
}

// What the output or any of these has but the two.
Labels needed(Labels output, const std::vector<Labelled>& operands, std::size_t a, std::size_t b) {
  Labels all = output;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (i != a && i != b) all |= operands[i].set();
  return all;
}

Labelled two_by_two(std::vector<Labelled> operands, Labels output, DType within) {
  std::vector<Labels> sets;
  for (std::size_t i = 0; i < operands.size(); ++i)
    operands[i] = summed(operands[i], needed(output, operands, i, i), within);
  for (const Labelled& operand : operands) sets.push_back(operand.set());
  const Pairs pairs = contraction_order(sets, output, sizes_of(operands));
  for (const auto& [first, second] : pairs) {
    const Labels kept = needed(output, operands, first, second);
    const Labelled both = product(operands[first], operands[second], kept);
    operands[first] = operands[second] = {};  // taken
    operands.push_back(summed(both, kept, within));
  }
  return operands.back();
}

}  // namespace

Labels Labelled::set() const {
  Labels all = 0;
  for (std::size_t label : labels) all |= Labels{1} << label;
  return all;
}

Tensor contraction(std::string_view op, std::vector<Labelled> operands,
                   const std::vector<std::size_t>& output, DType dtype) {
  const Labels kept = Labelled{{}, output}.set();
  if (operands.size() == 1) {
    const DType own = operands[0].tensor.dtype();
    const DType within = dtype.is_void() && !own.is_float() ? accumulator(own) : dtype;
    const Tensor sum = spread(summed(operands[0], kept, within), output);
    return dtype.is_void() ? sum : sum.cast(dtype);
  }
  DType joint = operands[0].tensor.dtype();
  std::vector<Operand> tensors;
  std::vector<const Operand*> addresses;
  for (const Labelled& operand : operands) {
    joint = settled(promote(joint, operand.tensor.dtype()));
    tensors.emplace_back(operand.tensor);
  }
  for (const Operand& tensor : tensors) addresses.push_back(&tensor);
  common_device(op, addresses);
  const DType within = dtype.is_void() ? accumulator(joint) : dtype;
  for (Labelled& operand : operands) operand.tensor = operand.tensor.cast(within);
  const Tensor sum = spread(two_by_two(std::move(operands), kept, within), output);
  return dtype.is_void() && joint.is_float() ? sum.cast(joint) : sum;
}

}  // namespace weft
