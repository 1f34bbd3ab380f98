// State that does not fit a model.

#include "table.h"

namespace weft {
namespace {

struct Layer {
  Tensor weight, bias;
  WEFT_FIELDS(weight, bias);
};

TEST(TensorErrors, State) {
  const std::vector<Layer> layers{{of({2, 3}), of({3})}, {of({3}), {}}};
  const Tensor wide = of({2, 4}), row = of({3}), whole = of({3}, {.dtype = dtypes::i64});
  const WrongCall calls[] = {
      {"load_state_dict, names",
       [&] { load_state_dict(layers, {{"0.weight", wide}, {"2.bias", row}, {"x", row}}); },
       "load_state_dict: missing: 0.bias, 1.weight; unexpected: 2.bias, x; 0.weight has shape "
       "(2, 4), not (2, 3)"},
      {"load_state_dict, dtype",
       [&] {
         load_state_dict(layers, {{"0.bias", whole}, {"1.weight", whole}}, {.strict = false});
       },
       "load_state_dict: 0.bias is i64, not f32, 1.weight is i64, not f32"},
      {"load_state_dict, null",
       [&] { load_state_dict(layers, {{"0.bias", Tensor()}}, {.strict = false}); },
       "load_state_dict" + is_null},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
