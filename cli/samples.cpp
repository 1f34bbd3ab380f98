#include "samples.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include <weft/error.h>

#include "image_input.h"
#include "model_inputs.h"

namespace weft::cli {
namespace {

using onnx::NamedValues;

bool is_sample(const std::filesystem::path& path) {
  const std::string kind = path.extension().string();
  return kind == ".npy" || kind == ".npz" || kind == ".pb" || is_image(path.string());
}

// Folders by what values are in them, in the order of its names.
std::vector<std::string> files_of(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& each : given) {
    if (!std::filesystem::is_directory(each)) {
      files.push_back(each);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(each))
      if (is_sample(entry.path())) inside.push_back(entry.path().string());
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

// How many calls a file is for: as often as the first size of an input goes into what it has of it.
std::int64_t calls_in(const onnx::Port& port, const onnx::Value& value) {
  if (!value.is_tensor() || port.shape.empty()) return 1;
  const auto* size = std::get_if<std::int64_t>(&port.shape[0]);
  const Tensor tensor = value.tensor();
  if (size == nullptr || *size < 1 || tensor.ndim() != std::ssize(port.shape)) return 1;
  return tensor.size(0) % *size == 0 ? std::max<std::int64_t>(1, tensor.size(0) / *size) : 1;
}

void add_calls(const onnx::Model& model, const NamedValues& values,
               std::vector<NamedValues>& calls) {
  std::int64_t count = 0;
  for (const onnx::Port& port : model.inputs()) {
    const std::int64_t own = calls_in(port, values.at(port.name));
    count = count == 0 ? own : std::min(count, own);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    NamedValues call = values;
    if (count > 1)
      for (auto& [name, value] : call) {
        const Tensor all = value.tensor();
        const std::int64_t size = all.size(0) / count;
        value = onnx::Value(all.narrow(0, i * size, size).contiguous(), value.type());
      }
    calls.push_back(std::move(call));
  }
}

}  // namespace

std::vector<NamedValues> model_calls(const onnx::Model& model, const ModelOptions& options,
                                     const ImageOptions& images) {
  if (options.samples.empty()) return {model_inputs(model, options.inputs, images)};
  const std::vector<std::string> files = files_of(options.samples);
  if (files.empty()) user_error("samples: the folders have no .npy, .npz, .pb or images");
  std::vector<NamedValues> calls;
  for (const std::string& file : files) {
    std::map<std::string, std::string> named;
    for (const onnx::Port& port : model.inputs()) named[port.name] = file;
    add_calls(model, model_inputs(model, named, images), calls);
  }
  return calls;
}

}  // namespace weft::cli
