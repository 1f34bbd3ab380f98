#include "library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

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
    : report_(
          export_c(function, inputs, folder_.path().string(), {.target = target, .kinds = kinds})) {
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

}  // namespace weft
