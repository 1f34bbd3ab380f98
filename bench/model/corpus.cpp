#include "corpus.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/graph.h>
#include <weft/onnx.h>

#include "../networks/random_network.h"

namespace weft::bench {
namespace {

// Of all that is constant in a call, each buffer once.
std::size_t constant_bytes(const std::vector<ScheduleItem>& items) {
  std::map<const Node*, std::size_t> bytes;
  for (const ScheduleItem& item : items) {
    if (item.kernel.is_null()) continue;
    for (const Node* node : toposort(item.kernel.node())) {
      if (node->op() != Op::Param || node->arg<ParamArg>().access != Access::Constant) continue;
      const UOp& buffer = item.buffers.at(static_cast<std::size_t>(node->arg<ParamArg>().slot));
      bytes[buffer.node()] = bytes_of(node->dtype(), node->dims());
    }
  }
  std::size_t sum = 0;
  for (const auto& [buffer, each] : bytes) sum += each;
  return sum;
}

// Of what it reads, the same in each call: it need not be computed again.
bool is_once(const ScheduleItem& item) {
  return std::ranges::all_of(toposort(item.kernel.node()), [](const Node* node) {
    return node->op() != Op::Param || node->arg<ParamArg>().access == Access::Write ||
           node->arg<ParamArg>().access == Access::Constant;
  });
}

// Open sizes are 1.
onnx::NamedValues inputs_of(const onnx::Model& model) {
  onnx::NamedValues values;
  for (const onnx::Port& port : model.inputs()) {
    std::vector<std::int64_t> sizes;
    for (const auto& size : port.shape)
      sizes.push_back(std::holds_alternative<std::int64_t>(size) ? std::get<std::int64_t>(size)
                                                                 : 1);
    const DType dtype = onnx::dtype_of(port.type);
    values[port.name] = Tensor::ones(sizes, {.dtype = dtype}).contiguous().realize();
  }
  return values;
}

}  // namespace

void Corpus::add(const std::string& program, const std::string& family,
                 const std::vector<ScheduleItem>& items) {
  const std::size_t number = programs_.size();
  programs_.push_back({program, family, {}, constant_bytes(items)});
  CorpusProgram& own = programs_.back();
  for (const ScheduleItem& item : items) {
    if (item.kernel.is_null() || is_once(item)) continue;
    const StructuralHash hash = structural_hash(nodes_of({&item.kernel, 1}));
    if (seen_.emplace(hash.high, hash.low).second)
      kernels_.push_back({program, family, item.kernel, item.name, &find_device(item.device),
                          own.constant_bytes, number, own.items.size()});
    own.items.push_back(item);
  }
}

void Corpus::add_file(const std::string& path) {
  const onnx::Model model = onnx::Model::load(path);
  const std::filesystem::path file = path;
  const std::string name = file.stem() == "model" ? file.parent_path().filename() : file.stem();
  add(name, "files", model.cost(inputs_of(model)).kernels);
}

void Corpus::add_random(std::uint64_t seed) {
  const RandomNetwork network = random_network(seed);
  const onnx::Model model = onnx::Model::parse(network.file.bytes());
  add(fmt::format("random {}", seed), network.family, model.cost(inputs_of(model)).kernels);
}

}  // namespace weft::bench
