#include "table.h"

#include <algorithm>

#include "../../../src/tensor/state.h"

namespace weft {
namespace {

// What is in a file is copied first.
Tensor where_it_runs(const Tensor& tensor) {
  const std::string device = tensor.device();
  return are_several(device) || find_device(device).runs_kernels() ? tensor : tensor.to("CPU");
}

// A tensor, with what it holds.
class Witness {
 public:
  Witness(std::function<Tensor()> tensor, std::vector<double> values)
      : tensor_(std::move(tensor)), values_(std::move(values)) {}

  // The tensor and a number, which is in memory so that all of them run the same kernels.
  Tensor plus(double number) const {
    const Tensor tensor = where_it_runs(tensor_());
    return tensor.cast(dtypes::f64) + Tensor(std::vector{number}).to(tensor.device());
  }

  bool is_as_before(const Tensor& sum, double number) const {
    const auto same = [=](double now, double before) {
      return now == before + number || (std::isnan(now) && std::isnan(before));
    };
    return std::ranges::equal(sum.to_vector<double>(), values_, same);
  }

 private:
  std::function<Tensor()> tensor_;  // whatever it is by now
  std::vector<double> values_;
};

std::vector<Witness>& witnesses() {
  static std::vector<Witness> all;
  return all;
}

// Where it can be computed: not of an unknown size, nor on NULL, which computes nothing.
void witness(const std::function<Tensor()>& tensor) {
  if (tensor().device().starts_with("NULL")) return;
  try {
    witnesses().emplace_back(tensor, where_it_runs(tensor()).cast(dtypes::f64).to_vector<double>());
  } catch (const Error&) {
    return;
  }
}

Tensor held(const Tensor& tensor) {
  witness([tensor] { return tensor; });
  return tensor;
}

bool is_symbolic(const Shape& shape) {
  return std::ranges::any_of(shape.dims(), &Dim::is_symbolic);
}

void witness_all() {
  witnesses().clear();
  std::vector<std::shared_ptr<Storage>> all;
  Storage::for_each_alive([&](const auto& storage) { all.push_back(storage); });
  for (const auto& storage : all)
    witness([storage] { return Tensor::from({storage->version(), storage->device(), false}); });
}

// All at once: what they have in common is computed once.
bool are_as_before(double number) {
  std::vector<Tensor> sums;
  for (const Witness& witness : witnesses()) sums.push_back(witness.plus(number));
  Tensor::realize(sums);
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (!witnesses()[i].is_as_before(sums[i], number)) return false;
  return true;
}

}  // namespace

void expect_errors(std::span<const WrongCall> calls) {
  const Context unchecked{{"CHECK", 0}};  // what is wrong with shapes is to be said
  witness_all();
  const std::size_t before = witnesses().size();
  double number = 1;
  for (const WrongCall& wrong : calls) {
    SCOPED_TRACE(wrong.name);
    EXPECT_EQ(error_of([&] {
                wrong.call();
                return 0;
              }),
              wrong.text);
    const std::string_view method = wrong.name.substr(0, wrong.name.find(", "));
    EXPECT_TRUE(wrong.text.starts_with(std::string(method) + ": ")) << wrong.text;
    EXPECT_TRUE(are_as_before(number++));
    witnesses().erase(witnesses().begin() + static_cast<std::ptrdiff_t>(before), witnesses().end());
  }
  witnesses().clear();
}

Tensor of(const Shape& shape, const Options& options) {
  if (is_symbolic(shape)) return Tensor::zeros(shape, options);
  const std::int64_t count = Tensor::zeros(shape).numel();
  return held(Tensor(ramp(count, 0, 1), options).reshape(shape));
}

Tensor values(std::initializer_list<Nested> values, const Options& options) {
  return held(Tensor(values, options));
}

}  // namespace weft
