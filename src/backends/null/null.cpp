// NULL: kernels as C, which nobody runs. For looking at code, and at the time it takes to make it.

#include <fmt/core.h>
#include <weft/dev/device/host_memory.h>
#include <weft/dev/render/render.h>

namespace weft {
namespace null {
namespace {

class NullProgram final : public Program {
 public:
  void run(std::span<const Argument>, std::span<const std::int64_t>) override {}
};

class Null final : public Device {
 public:
  explicit Null(int index) : name_(index == 0 ? "NULL" : fmt::format("NULL:{}", index)) {}

  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return memory_; }
  Target target() const override {
    return {.lowered = true,
            .ops = rendered_ops(),
            .kinds = int_kinds | KindSet{Kind::Bool, Kind::F32, Kind::F64}};
  }
  std::string render(const Node* kernel) override {
    return render_c(kernel, target().scratch_bytes);
  }
  std::string compile(std::string_view source) override { return std::string(source); }
  std::string compiler_key() const override { return "null"; }
  std::unique_ptr<Program> load(std::string_view) override {
    return std::make_unique<NullProgram>();
  }

 private:
  std::string name_;
  HostMemory memory_;
};

}  // namespace
}  // namespace null

void add_null() {
  add_device("NULL", "renders kernels as C and runs nothing",
             [](int index) { return std::make_unique<null::Null>(index); });
}

}  // namespace weft
