#include "library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../support/guarded.h"

namespace weft {
namespace {

constexpr std::size_t line = 64;

// What C99 does not have, and what anybody might warn of, is an error.
constexpr const char* strict = "-std=c99 -pedantic -Wall -Wextra -Werror";

}  // namespace

Bytes bytes_of(const Tensor& tensor) {
  Bytes bytes(static_cast<std::size_t>(tensor.nbytes()));
  tensor.contiguous().to_bytes(bytes);
  return bytes;
}

std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Aligned::Aligned(std::size_t bytes)
    : size(bytes),
      memory(static_cast<std::byte*>(std::aligned_alloc(line, (bytes / line + 1) * line))) {
  std::memset(memory.get(), 0xa5, bytes);
}
Aligned::Aligned(const std::string& text) : Aligned(text.size()) {
  std::memcpy(memory.get(), text.data(), text.size());
}
void Aligned::Free::operator()(std::byte* bytes) const { std::free(bytes); }

ExportedLibrary::ExportedLibrary(const ExportedFunction& function,
                                 const std::vector<NamedTensor>& inputs, const std::string& target,
                                 const std::string& compiler, const std::vector<ExportKind>& kinds)
    : ExportedLibrary({{"", function, inputs}}, {.target = target, .kinds = kinds}, compiler) {}

ExportedLibrary::ExportedLibrary(const std::vector<ExportEntry>& entries,
                                 const ExportOptions& options, const std::string& compiler)
    : report_(export_c(entries, folder_.path().string(), options)) {
  const std::string code = report_.files.at(1), library = file("net.so");
  const std::string command =
      fmt::format("{} {} -O1 -shared -fPIC -o {} {}", compiler, strict, library, file(code));
  if (code != "net.so" && std::system(command.c_str()) != 0) throw std::runtime_error(command);
  handle_.reset(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* handle) {
    if (handle != nullptr) dlclose(handle);
  });
  if (handle_ == nullptr) throw std::runtime_error(dlerror());
  verify_ = reinterpret_cast<Verify>(symbol("net_verify"));
  run_ = reinterpret_cast<Run>(symbol("net_run"));
  weights_ = std::make_unique<Aligned>(text_of_file(file("net.weights")));
}

void* ExportedLibrary::symbol(const char* name) const { return dlsym(handle_.get(), name); }

std::vector<Bytes> ExportedLibrary::operator()(const std::vector<Tensor>& inputs,
                                               const std::vector<std::size_t>& outputs,
                                               const Threads* threads) const {
  std::vector<Bytes> memory;
  for (const Tensor& input : inputs) memory.push_back(bytes_of(input));
  for (const std::size_t bytes : outputs) memory.emplace_back(bytes);
  std::vector<void*> io;
  for (Bytes& each : memory) io.push_back(each.data());
  const Aligned workspace(report_.workspace_bytes + line);
  const std::string behind(line, '\xa5');
  EXPECT_EQ(run_(io.data(), weights_->at(), workspace.at(), threads), 0);
  EXPECT_EQ(std::memcmp(workspace.at(report_.workspace_bytes), behind.data(), line), 0);
  memory.erase(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
  return memory;
}

const weft_library_description& ExportedLibrary::about(const std::string& entry) const {
  const std::string name = entry.empty() ? "net_description" : "net_" + entry + "_description";
  return *static_cast<const weft_library_description*>(symbol(name.c_str()));
}

int ExportedLibrary::call(const weft_library_description& entry, const std::vector<Tensor>& inputs,
                          std::vector<Bytes>& outputs, const Beside& beside) const {
  std::deque<Guarded> memory;  // a read behind an input ends the process
  std::vector<void*> pointers;
  for (const Tensor& input : inputs) {
    const Bytes bytes = bytes_of(input);
    std::ranges::copy(bytes, memory.emplace_back(bytes.size()).data());
    pointers.push_back(memory.back().data());
  }
  outputs.clear();
  for (std::uint32_t i = entry.inputs; i < entry.inputs + entry.outputs; ++i)
    outputs.emplace_back(entry.ports[i].bytes, std::byte(0xa5));
  for (Bytes& each : outputs) pointers.push_back(each.data());
  std::vector<std::int64_t> sizes = beside.sizes;
  if (entry.size_count > 0) pointers.push_back(sizes.data());
  if (entry.state_bytes > 0) pointers.push_back(beside.state);
  const Aligned workspace(entry.workspace_bytes + line);
  const std::string behind(line, '\xa5');
  const int status = entry.run(pointers.data(), weights_->at(), workspace.at(), beside.threads);
  EXPECT_EQ(std::memcmp(workspace.at(entry.workspace_bytes), behind.data(), line), 0);
  return status;
}

}  // namespace weft
