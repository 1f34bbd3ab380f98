// DISK: tensors in files, DISK:path each. It stores them and runs nothing.

#include <fmt/core.h>
#include <weft/dev/device/device.h>
#include <weft/error.h>

#include "file.h"

namespace weft {
namespace disk {
namespace {

// Every tensor on the device begins where the file does. A handle is a File.
class DiskMemory final : public Allocator {
 public:
  explicit DiskMemory(std::string path) : path_(std::move(path)) {}

  void* allocate(std::size_t bytes) override { return new File(path_, bytes); }
  void release(void* memory, std::size_t) override { delete static_cast<File*>(memory); }
  void copy_in(void* to, std::size_t offset, std::span<const std::byte> from) override {
    static_cast<File*>(to)->write(from, offset);
  }
  void copy_out(std::span<std::byte> to, const void* from, std::size_t offset) override {
    static_cast<const File*>(from)->read(to, offset);
  }
  bool uses_addresses() const override { return false; }

 private:
  std::string path_;
};

class Disk final : public Device {
 public:
  explicit Disk(std::string_view path)
      : name_(fmt::format("DISK:{}", path)), memory_(std::string(path)) {}

  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return memory_; }
  bool runs_kernels() const override { return false; }
  std::string render(const Node* kernel) override { refuse(kernel->arg<KernelArg>().name.get()); }
  std::string compile(std::string_view) override { refuse("code"); }
  std::string compiler_key() const override { return "disk"; }
  std::unique_ptr<Program> load(std::string_view) override { refuse("code"); }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    user_error(
        fmt::format("{} only stores tensors, it cannot run {}: copy them first, as by to(\"CPU\")",
                    name_, what));
  }

  std::string name_;
  DiskMemory memory_;
};

}  // namespace
}  // namespace disk

void add_disk() {
  add_named_device("DISK", "tensors in a file, DISK:path; kernels run elsewhere",
                   [](std::string_view path) -> std::unique_ptr<Device> {
                     if (path.empty())
                       user_error("'DISK' is not the name of a device: write DISK:path");
                     return std::make_unique<disk::Disk>(path);
                   });
}

}  // namespace weft
