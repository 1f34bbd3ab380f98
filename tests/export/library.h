// Exported libraries, compiled and loaded into this process as any program would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/dev/base/temporary_folder.h>
#include <weft/export.h>
#include <weft/weft_library.h>

namespace weft {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const Tensor& tensor);
std::string text_of_file(const std::string& path);

// Begins with a line, as a mapped file does.
struct Aligned {
  explicit Aligned(const std::string& text);
  explicit Aligned(std::size_t bytes);
  void* at(std::size_t offset = 0) const { return memory.get() + offset; }

  struct Free {
    void operator()(std::byte* bytes) const;
  };
  std::size_t size;
  std::unique_ptr<std::byte, Free> memory;
};

// As NAME.h declares them.
struct Threads {
  void (*parallel_for)(void* context, std::size_t n, void (*body)(void* arg, std::size_t i),
                       void* arg);
  void* context;
};
using Verify = int (*)(const void* weights, std::size_t size);
using Run = int (*)(void* const* io, const void* weights, void* workspace, const Threads* threads);

// Memory that calls read and write besides inputs and outputs.
struct Beside {
  std::vector<std::int64_t> sizes = {};
  void* state = nullptr;
  const weft_library_threads* threads = nullptr;
};

class ExportedLibrary {
 public:
  ExportedLibrary(const std::vector<ExportEntry>& entries, const ExportOptions& options,
                  const std::string& compiler = "cc");
  // The compiler makes a shared library of the code, unless `kinds` have one.
  ExportedLibrary(const ExportedFunction& function, const std::vector<NamedTensor>& inputs,
                  const std::string& target = "cpu=native", const std::string& compiler = "cc",
                  const std::vector<ExportKind>& kinds = {ExportKind::Object});

  // The outputs' bytes, each of so many; the status has to be 0.
  std::vector<Bytes> operator()(const std::vector<Tensor>& inputs,
                                const std::vector<std::size_t>& outputs,
                                const Threads* threads = nullptr) const;

  // By what an entry point says of itself; outputs have the bytes that they have at most.
  int call(const weft_library_description& entry, const std::vector<Tensor>& inputs,
           std::vector<Bytes>& outputs, const Beside& beside = {}) const;
  const weft_library_description& about(const std::string& entry = "") const;

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  const Aligned& weights() const { return *weights_; }
  Verify verify() const { return verify_; }
  Run run() const { return run_; }
  void* symbol(const char* name) const;
  const ExportReport& report() const { return report_; }

 private:
  TemporaryFolder folder_;
  ExportReport report_;
  std::unique_ptr<Aligned> weights_;
  std::shared_ptr<void> handle_;
  Verify verify_ = nullptr;
  Run run_ = nullptr;
};

}  // namespace weft
