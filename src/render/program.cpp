#include "program.h"

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/codegen/linearize.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/render/render.h>
#include <weft/dev/rules/spec.h>
#include <weft/error.h>

namespace weft {
namespace {

// What needs hardware that processors do not have, or belongs to the tensor graph.
constexpr OpSet refused{Op::Special, Op::If,     Op::EndIf,   Op::Shuffle, Op::AsyncCopy,
                        Op::Wait,    Op::Custom, Op::Counter, Op::Barrier};

bool is_of_groups(const Node* node) {
  switch (node->op()) {
    case Op::Special: return node->arg<SpecialArg>().kind != LoopKind::Thread;
    case Op::Barrier: return node->arg<ScopeArg>().scope == Scope::Group;
    case Op::Buffer: return node->arg<BufferArg>().space == Space::Shared;
    default: return false;
  }
}

std::size_t scratch_of(const Node* node) {
  if (node->op() != Op::Buffer) return 0;
  const BufferArg& arg = node->arg<BufferArg>();
  if (arg.space != Space::Scratch && arg.space != Space::Register)
    user_error("a kernel's own memory is scratch or registers here");
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(elements_of(node)), node->dtype().bytes(),
                             &bytes))
    return SIZE_MAX;
  return bytes;
}

// The lane numbers 0, 1, 2 ...
bool counts_lanes(const Node* node) {
  if (node->op() != Op::Stack) return false;
  for (std::uint32_t lane = 0; lane < node->size(); ++lane)
    if (!node->src(lane)->is_const_int(lane)) return false;
  return true;
}

}  // namespace

Domain domain_of(DType dtype) {
  if (dtype.is_bool()) return Domain::Logic;
  if (dtype.is_float()) return Domain::Real;
  return dtype.is_unsigned() ? Domain::Unsigned : Domain::Signed;
}

const Phrase& phrase_of(std::span<const Phrase> table, Op op, DType operand,
                        std::string_view language) {
  const auto found = std::ranges::find(table, op, &Phrase::op);
  const bool is_carried = operand.is_float() && carrier_of(operand) != operand && op != Op::Where;
  if (found == table.end() || form_of(*found, operand).empty() || is_carried)
    user_error(fmt::format("{} has no {} of {}: it has to be decomposed first", language,
                           info(op).name, operand.str()));
  return *found;
}

DType carrier_of(DType dtype) {
  if (!dtype.is_float() || dtype.bits() >= 32) return dtype;
  return (dtype.bits() == 16 ? dtypes::u16 : dtypes::u8).vec(dtype.lanes());
}

DType memory_of(DType dtype) { return dtype.is_bool() ? dtypes::u8.vec(dtype.lanes()) : dtype; }

bool will_be_written(const Node* prefetch) {
  const Node* memory = storage_of(prefetch->src(0)->src(0));
  return memory->op() == Op::Param && memory->arg<ParamArg>().access == Access::Write;
}

std::int64_t elements_of(const Node* buffer) {
  if (buffer->size() > 1) internal_error("a program's BUFFER has more than one dimension");
  return buffer->size() == 0 ? 1 : std::max<std::int64_t>(buffer->src(0)->hi(), 1);
}

std::vector<const Node*> checked_program(const Node* kernel, std::size_t scratch_bytes,
                                         bool has_mma) {
  verify(NodeList(&kernel, 1), Level::Program, "lowering");
  std::vector<const Node*> program = linearize(kernel);
  std::size_t scratch = 0;
  for (const Node* node : program) {
    if (is_of_groups(node)) user_error("a processor has threads, but no work-groups");
    if ((refused.contains(node->op()) && !is_thread(node)) || (node->op() == Op::Mma && !has_mma))
      user_error(fmt::format("a processor does not run {}", info(node->op()).name));
    const std::size_t bytes = scratch_of(node);
    if (bytes > scratch_bytes || scratch + bytes > scratch_bytes)
      user_error(fmt::format("kernel {} needs more than the {} bytes of scratch there are",
                             kernel->arg<KernelArg>().name.get(), scratch_bytes));
    scratch += bytes;
  }
  return program;
}

OpSet rendered_ops() {
  return OpSet::where([](Op op) {
    return is_elementwise(op) &&
           !OpSet{Op::Exp2, Op::Log2, Op::Sin, Op::Cos, Op::Pow, Op::Ldexp, Op::Threefry}.contains(
               op);
  });
}

std::optional<Run> run_of(const Node* index) {
  if (counts_lanes(index)) return Run{nullptr};
  if (index->op() != Op::Add) return std::nullopt;
  for (int side = 0; side < 2; ++side) {
    const Node *base = index->src(static_cast<std::size_t>(side)),
               *lanes = index->src(static_cast<std::size_t>(1 - side));
    if (base->op() == Op::Splat && counts_lanes(lanes)) return Run{base->src(0)};
  }
  return std::nullopt;
}

}  // namespace weft
