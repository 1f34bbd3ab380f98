// INTERP: the reference device. It runs the unoptimised kernel in the plainest way.

#include <fmt/core.h>
#include <weft/dev/device/host_memory.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/spec.h>
#include <weft/error.h>

#include "machine.h"

namespace weft {
namespace interp {
namespace {

constexpr OpSet refused{Op::Special,   Op::If,   Op::EndIf,  Op::Shuffle, Op::Mma,
                        Op::AsyncCopy, Op::Wait, Op::Custom, Op::Counter};

UOp parse_in(Arena& arena, std::string_view text) {
  const InternerScope scope(arena);
  return parse_node(text);
}

class KernelProgram final : public Program {
 public:
  explicit KernelProgram(std::string_view text)
      : kernel_(parse_in(arena_, text)),
        signature_(signature_of(kernel_.node())),
        nests_(kernel_.node()) {}

  void run(std::span<const Argument> arguments, std::span<const std::int64_t> values) override {
    Machine(kernel_.node(), nests_).run(signature_, arguments, values);
  }

 private:
  Arena arena_;
  UOp kernel_;
  Signature signature_;
  Nests nests_;
};

class Interpreter final : public Device {
 public:
  explicit Interpreter(int index)
      : name_(index == 0 ? "INTERP" : fmt::format("INTERP:{}", index)) {}

  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return memory_; }

  std::string render(const Node* kernel) override {
    const NodeList roots(&kernel, 1);
    verify(roots, Level::Kernel, "scheduling");
    for (const Node* node : toposort(kernel))
      if ((refused.contains(node->op()) && !is_thread(node)) ||
          (node->op() == Op::Stage && node->dtype().is_void()))
        user_error(fmt::format("{} does not run {}", name_, info(node->op()).name));
    return print_graph(kernel->arg<KernelArg>().name.get(), roots);
  }

  // The text is the code.
  std::string compile(std::string_view source) override { return std::string(source); }
  std::string compiler_key() const override { return "interp"; }
  std::unique_ptr<Program> load(std::string_view code) override {
    return std::make_unique<KernelProgram>(code);
  }

 private:
  std::string name_;
  HostMemory memory_;
};

}  // namespace
}  // namespace interp

void add_interp() {
  add_device("INTERP", "runs kernels node by node and checks every access: the reference",
             [](int index) { return std::make_unique<interp::Interpreter>(index); });
}

}  // namespace weft
