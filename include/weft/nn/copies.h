// Copies of models: with tensors of their own, in another dtype, and one that follows on average.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include <weft/fields.h>

namespace weft::nn {

namespace copies {
[[noreturn]] void refuse_sharing();
void want_decay(double decay);
Tensor clone(const Tensor& tensor);
Tensor cast(const Tensor& tensor, DType dtype);
void follow(const std::vector<Tensor>& averages, const std::vector<Tensor>& model, double decay);

struct SameHandle {
  bool operator()(const Tensor& a, const Tensor& b) const { return a.is(b); }
};
}  // namespace copies

// A copy of the model with what `make` makes of its tensors, of each once.
template <class Model, class Make>
Model copy_with(const Model& model, Make&& make) {
  Model copy = model;
  std::vector<const Tensor*> places;
  for_each_tensor(model, [&](const std::string&, const Tensor& own) { places.push_back(&own); });
  std::unordered_map<Tensor, Tensor, std::hash<Tensor>, copies::SameHandle> made;
  std::size_t number = 0;
  for_each_tensor(copy, [&](const std::string&, Tensor& tensor) {
    if (&tensor == places[number++]) copies::refuse_sharing();
    if (tensor.is_null()) return;
    const auto found = made.find(tensor);
    tensor = found != made.end() ? found->second : made.emplace(tensor, make(tensor)).first->second;
  });
  return copy;
}

// With tensors of its own, which have the values of the model's. A plain copy has the model's tensors.
template <class Model>
Model clone(const Model& model) {
  const Called called("clone");
  return copy_with(model, copies::clone);
}

// The model computed in another dtype: its parameters are those of the model, cast, so that gradients come
// to the model itself. What is no parameter, such as running means, is the model's own.
//
//   const Mlp half = nn::cast(mlp, dtypes::bf16);
//   half(x.bfloat16()).to_float().square().mean().backward();   // into mlp
template <class Model>
Model cast(const Model& model, DType dtype) {
  const Called called("cast");
  return copy_with(model, [&](const Tensor& tensor) { return copies::cast(tensor, dtype); });
}

// A copy whose parameters are moving averages of the model's: each update leaves `decay` of what they were.
// What is no parameter becomes what the model has.
template <class Model>
struct EMA {
  Model model;
  double decay;

  explicit EMA(const Model& followed, double keep = 0.999)
      : model(nn::clone(followed)), decay(keep) {
    copies::want_decay(keep);
  }
  void update(const Model& followed) {
    const Called called("update");
    copies::follow(get_parameters(model), get_parameters(followed), decay);
    copies::follow(get_buffers(model), get_buffers(followed), 0);
  }
  WEFT_FIELDS(model);
};

}  // namespace weft::nn
