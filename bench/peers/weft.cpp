// weft as a peer:  peers_weft [movement | realize]
//
// Replays each case. `movement` says a matrix product by movement, a product and a sum; `realize`
// builds the graph anew and realises it every time.

#include <functional>
#include <map>
#include <string_view>

#include <weft/dev/device/device.h>
#include <weft/settings.h>
#include <weft/version.h>
#include <weft/weft.h>

#include "input_values.h"
#include "network.h"
#include "schedules.h"
#include "train.h"
#include "work.h"

namespace weft::bench {
namespace {

using nlohmann::json;
using Inputs = std::vector<Tensor>;
using Build = Tensor (*)(const json&, const Inputs&);

std::vector<std::int64_t> integers(const json& list) {
  return list.get<std::vector<std::int64_t>>();
}

std::int64_t axis(const json& one) { return one.at("axis").get<std::int64_t>(); }
std::vector<std::int64_t> axes(const json& one) { return integers(one.at("axes")); }

// Matrices that lie transposed are taken as they lie.
Tensor operand(const json& one, const Inputs& in, std::size_t which) {
  return one.at("transposed").at(which).get<bool>() ? in[which].transpose(-2, -1) : in[which];
}

Tensor matmul(const json& one, const Inputs& in) {
  return operand(one, in, 0).matmul(operand(one, in, 1));
}

Tensor movement(const json& one, const Inputs& in) {
  const Tensor a = operand(one, in, 0), b = operand(one, in, 1);
  const std::int64_t rows = a.size(0), depth = a.size(1), columns = b.size(1);
  return (a.reshape({rows, 1, depth}) * b.transpose().reshape({1, columns, depth})).sum(2);
}

Tensor conv(const json& one, const Inputs& in) {
  return in[0].conv2d(in[1], {}, one.at("groups").get<std::int64_t>(),
                      one.at("stride").get<std::int64_t>(), 1,
                      one.at("padding").get<std::int64_t>());
}

Tensor conv_transpose(const json& one, const Inputs& in) {
  return in[0].conv_transpose2d(in[1], {}, 1, one.at("stride").get<std::int64_t>());
}

// All heads beside one another, as a layer gives them.
Tensor attention(const json& one, const Inputs& in) {
  const auto heads = [&](const Tensor& x) {
    return x.reshape({1, x.size(1), one.at("heads").get<std::int64_t>(), -1}).transpose(1, 2);
  };
  return functional::scaled_dot_product_attention(heads(in[0]), heads(in[1]), heads(in[2]),
                                                  {.is_causal = one.at("causal").get<bool>()})
      .transpose(1, 2)
      .reshape(in[0].shape());
}

// clang-format off
const std::map<std::string_view, Build> ops{
  {"matmul",         matmul},
  {"conv",           conv},
  {"conv_transpose", conv_transpose},
  {"attention",      attention},
  {"add",       [](const json&, const Inputs& in) { return in[0] + in[1]; }},
  {"muladd",    [](const json&, const Inputs& in) { return in[0] * in[1] + in[2]; }},
  {"gelu",      [](const json&, const Inputs& in) { return in[0].gelu(); }},
  {"softmax",   [](const json& one, const Inputs& in) { return in[0].softmax(axis(one)); }},
  {"layernorm", [](const json& one, const Inputs& in) { return in[0].layernorm(axes(one)); }},
  {"sum",       [](const json& one, const Inputs& in) { return in[0].sum(axes(one)); }},
  {"max",       [](const json& one, const Inputs& in) { return in[0].max(axes(one)); }},
  {"permute",   [](const json& one, const Inputs& in) { return in[0].permute(axes(one)).contiguous(); }},
  {"cumsum",    [](const json& one, const Inputs& in) { return in[0].cumsum(axis(one)); }},
};
// clang-format on

Tensor input(const json& shape, std::uint32_t number) {
  std::size_t count = 1;
  for (const std::int64_t size : integers(shape)) count *= static_cast<std::size_t>(size);
  const std::vector<float> values = input_values(count, number);
  return Tensor::from_bytes(std::as_bytes(std::span(values)), integers(shape),
                            {.dtype = dtypes::f32});
}

class WeftWork : public Work {
 public:
  WeftWork(const json& one, Build build) : case_(one), build_(build) {
    for (const json& shape : one.at("inputs"))
      inputs_.push_back(input(shape, static_cast<std::uint32_t>(inputs_.size())));
  }

 protected:
  Tensor graph() const { return build_(case_, inputs_); }

 private:
  json case_;
  Build build_;
  Inputs inputs_;
};

class Launched final : public WeftWork {
 public:
  using WeftWork::WeftWork;
  void build() override {
    for (int call = 0; call < 2; ++call) run();  // the second is captured
  }
  void run() override {
    last_ = {};  // its memory is the next one's
    last_ = replayed_();
  }
  std::vector<float> result() override { return last_.to_vector<float>(); }
  std::vector<std::string> schedules() const override { return schedules_of(graph()); }

 private:
  Jit<std::function<Tensor()>> replayed_{[this] { return graph(); }};
  Tensor last_;
};

class Realized final : public WeftWork {
 public:
  using WeftWork::WeftWork;
  void run() override {
    last_ = {};  // its node knows where it is: without it nothing does
    last_ = graph().realize();
  }
  std::vector<float> result() override { return last_.to_vector<float>(); }

 private:
  Tensor last_;
};

std::unique_ptr<Work> load(std::string_view form, const json& request) {
  const json& one = request.at("case");
  const auto op = one.at("op").get<std::string>();
  if (op == "train") return training(one);
  if (op == "network") return network(one);
  if (form == "realize") return std::make_unique<Realized>(one, ops.at(op));
  return std::make_unique<Launched>(one, form == "movement" ? movement : ops.at(op));
}

json configuration() {
  const Device& device = find_device(default_device());
  const std::string key = device.compiler_key();
  // Up to the features of the processor, one by one.
  const std::string compiler = key.substr(0, key.find_last_not_of(' ', key.find(" +")) + 1);
  return {{"version", version()},
          {"device", device.name()},
          {"threads", device.target().workers},
          {"bytes of a vector", device.target().vector_bytes},
          {"compiler", compiler}};
}

}  // namespace
}  // namespace weft::bench

// The compiler is loaded before the first case, as torch is imported before: it is no case's memory.
void load_compiler() {
  const weft::Context always{{"CACHE_DIR", "none"}};
  (weft::Tensor::ones({2}) + 1).realize();
}

int main(int argc, char** argv) {
  load_compiler();
  const std::string_view form = argc > 1 ? argv[1] : "";
  weft::bench::serve(
      [&](const nlohmann::json& request) { return weft::bench::load(form, request); },
      weft::bench::configuration());
}
