// INTERP: the reference device. It runs the unoptimised kernel in the plainest way.

#include <fmt/core.h>
#include <weft/dev/device/host_memory.h>
#include <weft/dev/interpret/interpreter.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/spec.h>
#include <weft/error.h>

namespace weft {
namespace interp {
namespace {

std::string described(const Node* node) {
  const auto name = [&](LoopKind kind) {
    return fmt::format("{} of kind {}", info(node->op()).name,
                       enum_names(kind)[static_cast<std::size_t>(kind)]);
  };
  if (node->op() == Op::Special) return name(node->arg<SpecialArg>().kind);
  return node->op() == Op::Range ? name(node->arg<RangeArg>().kind)
                                 : std::string(info(node->op()).name);
}

UOp parse_in(Arena& arena, std::string_view text) {
  const InternerScope scope(arena);
  return parse_node(text);
}

class KernelProgram final : public Program {
 public:
  explicit KernelProgram(std::string_view text)
      : kernel_(parse_in(arena_, text)), interpreter_(kernel_.node()) {}

  void run(std::span<const Argument> arguments, std::span<const std::int64_t> values) override {
    interpreter_.run(arguments, values);
  }

 private:
  Arena arena_;
  UOp kernel_;
  Interpreter interpreter_;
};

class Reference final : public Device {
 public:
  explicit Reference(int index) : name_(index == 0 ? "INTERP" : fmt::format("INTERP:{}", index)) {}

  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return memory_; }

  std::string render(const Node* kernel) override {
    const NodeList roots(&kernel, 1);
    verify(roots, Level::Kernel, "scheduling");
    if (const Node* node = not_interpreted(kernel))
      user_error(fmt::format("{} does not run {}", name_, described(node)));
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
  add_device("INTERP", "the reference: interprets kernels node by node and checks every access",
             [](int index) { return std::make_unique<interp::Reference>(index); });
}

}  // namespace weft
