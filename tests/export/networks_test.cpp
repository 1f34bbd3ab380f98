// Networks as libraries compute what they do in this process: those that are trained, and those of the standard. They are read
// from where they are.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <weft/onnx.h>
#include <weft/settings.h>

#include "../onnx/trained.h"
#include "library.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using onnx::Model;
using onnx::Port;
using onnx::Trained;

std::vector<Trained> all_networks() {
  std::vector<Trained> all = onnx::networks();
  const fs::path light = fs::path(WEFT_SHARED_DATA) / "onnx/light";
  std::set<fs::path> files;
  if (fs::exists(light))
    for (const auto& entry : fs::directory_iterator(light))
      if (entry.path().extension() == ".onnx") files.insert(entry.path());
  for (const fs::path& file : files)
    all.push_back({file.stem().string(), fs::relative(file, WEFT_SHARED_DATA).string(), {}});
  return all;
}

// A network as a function of its tensors; integers that are no tensors are settings of it.
class Network {
 public:
  Network(const Trained& network, const std::string& device)
      : model_(Model::load(network.path().string(), {.device = device})),
        values_(network.inputs(model_, device)) {
    for (const Port& port : model_.inputs()) {
      const Tensor& tensor = values_.at(port.name).tensor();
      if (tensor.ndim() > 0 || tensor.dtype().is_float()) inputs_.emplace_back(port.name, tensor);
    }
  }

  const std::vector<NamedTensor>& inputs() const { return inputs_; }
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> tensors;
    for (const auto& [name, tensor] : inputs_) tensors.push_back(tensor);
    return tensors;
  }

  std::vector<NamedTensor> operator()(const std::vector<Tensor>& given) const {
    onnx::NamedValues values = values_;
    for (std::size_t i = 0; i < given.size(); ++i) values[inputs_[i].first] = given[i];
    const onnx::NamedValues outputs = model_(values);
    std::vector<NamedTensor> results;
    for (const Port& port : model_.outputs())
      results.emplace_back(port.name, outputs.at(port.name).tensor());
    return results;
  }

 private:
  Model model_;
  onnx::NamedValues values_;
  std::vector<NamedTensor> inputs_;
};

struct Results {
  std::vector<Tensor> expected;
  std::vector<Bytes> found;
};

Results results_of(const Trained& file, const std::string& target) {
  const Network network(file, export_device(target));
  const ExportedLibrary library([&](const auto& given) { return network(given); }, network.inputs(),
                                target);
  EXPECT_EQ(library.verify()(library.weights().at(), library.weights().size), 0);
  Results results;
  std::vector<std::size_t> bytes;
  for (const auto& [name, tensor] : network(network.tensors())) {
    results.expected.push_back(tensor);
    bytes.push_back(static_cast<std::size_t>(tensor.nbytes()));
  }
  results.found = library(network.tensors(), bytes);
  return results;
}

// Without what takes most of a minute.
std::vector<Trained> networks() {
  std::vector<Trained> all = all_networks();
  if (std::getenv("WEFT_FULL") == nullptr)
    std::erase_if(all, [](const Trained& network) { return network.name == "light_vgg19"; });
  return all;
}

// Compilers of C take longer: in each run of the tests they compile what is small, and of many kinds.
std::vector<Trained> networks_in_c() {
  static const std::set<std::string> small{"dnsmos",    "dtln-1",      "fsmn-vad",   "mnist-8",
                                           "ppocr-cls", "tinyphysics", "silero-vad", "yunet"};
  std::vector<Trained> all = all_networks();
  if (std::getenv("WEFT_FULL") == nullptr)
    std::erase_if(all, [](const Trained& network) { return !small.contains(network.name); });
  return all;
}

std::string name_of(const testing::TestParamInfo<Trained>& network) {
  std::string name = network.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

class ExportedNetworks : public testing::TestWithParam<Trained> {
 protected:
  void SetUp() override {
    if (!fs::exists(GetParam().path())) GTEST_SKIP() << "there is no " << GetParam().path();
  }
};

TEST_P(ExportedNetworks, GiveTheSameBits) {
  const auto [expected, found] = results_of(GetParam(), "cpu=native");
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], bytes_of(expected[i])) << "output " << i;
}

class ExportedNetworksInC : public ExportedNetworks {};

TEST_P(ExportedNetworksInC, AreNearlyTheSameInC) {
  const auto [expected, found] = results_of(GetParam(), "c");
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Tensor& wanted = expected[i];
    const Tensor tensor =
        Tensor::from_bytes(found[i], wanted.shape(), {.dtype = wanted.dtype(), .device = "CPU"});
    const auto values = tensor.to_vector<double>(), exact = wanted.to_vector<double>();
    double scale = 1e-3;
    for (const double value : exact) scale = std::max(scale, std::abs(value));
    for (std::size_t k = 0; k < exact.size(); ++k)
      ASSERT_NEAR(values[k], exact[k], 1e-3 * scale) << "output " << i << " at " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ExportedNetworks, testing::ValuesIn(networks()), name_of);
INSTANTIATE_TEST_SUITE_P(Files, ExportedNetworksInC, testing::ValuesIn(networks_in_c()), name_of);

}  // namespace
}  // namespace weft
