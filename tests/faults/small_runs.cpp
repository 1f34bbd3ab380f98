#include "small_runs.h"

#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <weft/data.h>
#include <weft/io.h>
#include <weft/loader.h>
#include <weft/nn.h>
#include <weft/onnx.h>
#include <weft/onnx_writer.h>
#include <weft/settings.h>
#include <weft/state.h>
#include <weft/tokenizer.h>
#include <weft/weft.h>

namespace weft {
namespace {

void expect(const std::vector<float>& found, const std::vector<float>& expected) {
  if (found != expected)
    throw std::logic_error(
        fmt::format("{} where {} is right", fmt::join(found, " "), fmt::join(expected, " ")));
}

// Sums of rows of small integers, which are exact.
void compute(int number, const std::string& device) {
  const std::int64_t rows = 2 + number % 5, columns = 3 + number % 7;
  const Options here{.dtype = dtypes::f32, .device = device};
  const Tensor x = Tensor::arange(rows * columns, here).reshape({rows, columns}) + 1.0;
  const Tensor weights = Tensor::full({columns, 2}, 2, here).contiguous();
  const Tensor y = x.matmul(weights).relu() - static_cast<double>(number);
  std::vector<float> expected;
  for (std::int64_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (std::int64_t i = 0; i < columns; ++i) sum += static_cast<float>(row * columns + i + 1);
    expected.insert(expected.end(), 2, 2 * sum - static_cast<float>(number));
  }
  expect(y.to_vector<float>(), expected);
}

void interpret(int number, const std::string&) { compute(number, "INTERP"); }
void compile(int number, const std::string&) { compute(number, "CPU"); }

// What is compiled and planned is kept on disk.
void cache(int number, const std::string& folder) {
  const std::string path = folder + "/cache";
  const Context here{{"CACHE_DIR", std::string_view(path)}, {"CACHE_LIMIT", "200kB"}};
  compute(number, "INTERP");
}

void differentiate(int number, const std::string&) {
  const Options here{.dtype = dtypes::f32, .device = "INTERP", .requires_grad = true};
  const std::int64_t size = 3 + number % 6;
  Tensor x = Tensor::full({size}, number, here);
  (x * x + x).sum().backward();
  expect(x.grad().to_vector<float>(),
         std::vector<float>(static_cast<std::size_t>(size), static_cast<float>(2 * number + 1)));
}

void replay(int number, const std::string&) {
  auto twice = jit([&](const Tensor& x) { return x * 2.0 + static_cast<double>(number); });
  const Options here{.dtype = dtypes::f32, .device = "INTERP"};
  for (int i = 0; i < 4; ++i)
    expect(twice(Tensor::full({3}, i, here).contiguous()).to_vector<float>(),
           std::vector<float>(3, static_cast<float>(2 * i + number)));
}

void keep(int number, const std::string& folder) {
  const Options here{.dtype = dtypes::f32, .device = "INTERP"};
  const StateDict state{{"a", Tensor::full({4}, number, here)}, {"b", Tensor::full({2}, 7, here)}};
  const std::string path = folder + "/state.safetensors", packed = folder + "/state.npz";
  save_safetensors(path, state);
  expect(load_safetensors(path, "INTERP").at("a").to_vector<float>(),
         std::vector<float>(4, static_cast<float>(number)));
  save_npz(packed, state, true);
  expect(load_npz(packed, {.device = "INTERP"}).at("b").to_vector<float>(), {7, 7});
}

// A model from a file, which is written first.
void import(int number, const std::string& folder) {
  const std::string path = folder + "/model.onnx";
  const Options here{.dtype = dtypes::f32, .device = "INTERP"};
  onnx::Writer net("net", 22);
  const auto x = net.input("x", onnx::Type::F32, {2, 3});
  const auto bias = net.constant("bias", Tensor::full({3}, number, here));
  net.output("y", net.node("Relu", {net.node("Add", {x, bias})}));
  net.save(path);
  const auto model = onnx::Model::load(path, {.device = "INTERP"});
  expect(model({{"x", Tensor::full({2, 3}, 1, here)}}).at("y").tensor().to_vector<float>(),
         std::vector<float>(6, static_cast<float>(number + 1)));
}

// Tensors that outlive runs, some of which fail: all of an assignment is there, or nothing, and nothing is there twice.
struct Counter {
  Tensor values;
  int times;  // in one run
  float least = 0, most = 0;

  void add(int number) {
    const std::int64_t size = values.numel();
    const Tensor more =
        Tensor::full({size + number % 3}, 1, {.dtype = dtypes::f32, .device = "INTERP"});
    for (int i = 0; i < times; ++i) {
      most += 1;
      values.assign(values + more.shrink({{0, size}}));
    }
  }
  void check() {
    const std::vector<float> all = values.to_vector<float>();
    expect(all, std::vector<float>(all.size(), all[0]));
    if (all[0] <= least || all[0] > most)
      throw std::logic_error(fmt::format("{} where {} to {} may be", all[0], least, most));
    least = most = all[0];
  }
};

void assign(int number, const std::string&) {
  const auto zeros = [](std::int64_t size) {
    return Tensor::zeros({size}, {.dtype = dtypes::f32, .device = "INTERP"}).contiguous().realize();
  };
  static auto* const counters =
      new std::vector<Counter>{{zeros(5), 1}, {zeros(7), 3}, {zeros(3), 1}};
  for (Counter& counter : *counters) counter.add(number);
  Tensor::realize({(*counters)[0].values, (*counters)[1].values, (*counters)[2].values});
  for (Counter& counter : *counters) counter.check();
}

// So does a layer that is trained: it learns that all weights are the same.
void train(int number, const std::string&) {
  const Context here{{"DEV", "INTERP"}};
  static auto* const layer = new nn::Linear(2, 2);
  static auto* const optimizer = new nn::SGD(get_parameters(*layer), {.lr = 0.1});
  const Tensor x = Tensor::ones({2 + number % 5, 2});
  optimizer->zero_grad();
  const Tensor loss = ((*layer)(x)-1.0).square().mean();
  loss.backward();
  optimizer->step();
  if (!(loss.item<float>() < 100)) throw std::logic_error("the loss is no small number");
}

std::string data(const char* name) { return std::string(WEFT_IO_DATA) + "/" + name; }

void read(int number, const std::string&) {
  expect(
      load_torch(data("small.pt"), "INTERP").begin()->second.flatten().to_vector<float>(),
      load_torch(data("small_legacy.pt"), "INTERP").begin()->second.flatten().to_vector<float>());
  load_gguf(data("quants.gguf"), "INTERP").tensors.begin()->second.realize();
  const auto tokenizer = BytePairTokenizer::from_ranks(data("small.tiktoken"));
  const std::string text = fmt::format("text of {}", number);
  if (tokenizer.decode(tokenizer.encode(text)) != text) throw std::logic_error("another text");
  const Tensor rows = load_npy(data("f4.npy"), {.device = "INTERP"});
  std::vector<float> all;
  for (DataLoader loader({rows}, {.device = "INTERP"}); const std::vector<Tensor>& batch : loader)
    for (const float value : batch[0].to_vector<float>()) all.push_back(value);
  expect(all, rows.to_vector<float>());
}

constexpr SmallRun runs[] = {
    {"interpret", 4, interpret}, {"differentiate", 4, differentiate},
    {"replay", 4, replay},       {"keep", 4, keep},
    {"import", 4, import},       {"compile", 2, compile},
    {"cache", 4, cache},         {"assign", 4, assign},
    {"train", 4, train},         {"read", 4, read},
};

}  // namespace

std::span<const SmallRun> small_runs() { return runs; }

}  // namespace weft
