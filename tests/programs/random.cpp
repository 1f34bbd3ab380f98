#include "random.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <weft/dev/ir/value.h>
#include <weft/error.h>

#include "draft.h"

namespace weft {
namespace {

constexpr std::int64_t most_elements = 2000;

constexpr DType common[] = {dtypes::f32, dtypes::f32, dtypes::f32, dtypes::i32, dtypes::i32};
constexpr DType rare[] = {dtypes::f64, dtypes::f16, dtypes::bf16,   dtypes::bool_, dtypes::i8,
                          dtypes::i16, dtypes::i64, dtypes::u8,     dtypes::u16,   dtypes::u32,
                          dtypes::u64, dtypes::f64, dtypes::f8e4m3, dtypes::f8e5m2};

// A program grows by one instruction after the other, each tried out at once: ops refuse some operands.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed), draft_(random_) {
    for (const ProgramOp& op : program_ops()) total_weight_ += op.weight;
  }

  Script program() {
    add_input(shape::any(draft_), some_dtype(KindSet::all()));
    add_input(shape::any(draft_), some_dtype(KindSet::all()));
    for (std::int64_t left = 5 + draft_.below(36), tries = 400; left > 0 && tries > 0; --tries)
      left -= try_some_op();
    std::vector<bool> used(program_.code.size());
    for (const Instruction& instruction : program_.code)
      for (std::size_t operand : instruction.operands) used[operand] = true;
    for (std::size_t i = 0; i < used.size(); ++i)
      if (i + 1 == used.size() || (used[i] ? draft_.one_in(15) : !draft_.one_in(4)))
        program_.outputs.push_back(i);
    return without_dead(program_);
  }

  // Each on an input of its own.
  Script every_op() {
    for (const ProgramOp& op : program_ops()) {
      Numbers sizes(std::max<std::size_t>(op.rank, 2));
      do {
        for (std::int64_t& size : sizes) size = 2 + draft_.below(3);
      } while (!try_op(op, add_input(sizes, some_dtype(op.kinds))));
      program_.outputs.push_back(program_.code.size() - 1);
    }
    return without_dead(program_);
  }

 private:
  const ProgramOp& some_op() {
    std::int64_t at = draft_.below(total_weight_);
    return *std::ranges::find_if(program_ops(),
                                 [&](const ProgramOp& op) { return (at -= op.weight) < 0; });
  }

  DType some_dtype(KindSet kinds) {
    for (;;) {
      const DType dtype = draft_.one_in(2) ? rare[draft_.below(std::size(rare))]
                                           : common[draft_.below(std::size(common))];
      if (kinds.contains(dtype.kind())) return dtype;
      if (kinds == KindSet{Kind::Bool}) return dtypes::bool_;
    }
  }

  std::uint64_t some_value(DType dtype) {
    if (dtype.is_float() && draft_.one_in(60)) {
      constexpr double odd[] = {0.0,
                                -0.0,
                                1e30,
                                -1e-30,
                                65504,
                                std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()};
      return bits_from_double(odd[draft_.below(std::size(odd))], dtype);
    }
    if (dtype.is_float() && draft_.one_in(2))
      return bits_from_double(static_cast<double>(draft_.below(20'001) - 10'000) / 3000, dtype);
    if (!dtype.is_float() && draft_.one_in(40)) return canonical_bits(random_(), dtype);
    return bits_from_int(draft_.below(9) - (dtype.is_unsigned() ? 0 : 4), dtype);
  }

  std::size_t add_input(const Numbers& sizes, DType dtype) {
    Instruction input{.with = {.n = sizes, .dtype = dtype}};
    std::int64_t count = 1;
    for (std::int64_t size : sizes) count *= size;
    for (std::int64_t i = 0; i < count; ++i) input.values.push_back(some_value(dtype));
    return add(std::move(input));
  }

  std::size_t add(Instruction instruction) {
    tensors_.push_back(build(instruction, tensors_));
    program_.code.push_back(std::move(instruction));
    return tensors_.size() - 1;
  }

  // Mostly of the latest, so that programs are deep; less often of one element or none.
  std::optional<std::size_t> some_operand(KindSet kinds, std::size_t rank) {
    for (int tries = 0; tries < 10; ++tries) {
      const auto size = std::ssize(tensors_);
      const auto window = draft_.one_in(3) ? size : std::min<std::ptrdiff_t>(size, 3);
      const auto at = static_cast<std::size_t>(size - 1 - draft_.below(window));
      const Tensor& tensor = tensors_[at];
      if (kinds.contains(tensor.dtype().kind()) && tensor.shape().size() >= rank &&
          (tensor.numel() > 1 || draft_.one_in(4)))
        return at;
    }
    return {};
  }

  // One that is there, or a new input.
  std::size_t operand_of(const OperandRule& rule) {
    const Numbers sizes = rule.shape(draft_);
    for (std::size_t at = tensors_.size(); at-- > 0;)
      if (tensors_[at].shape() == sizes && rule.kinds.contains(tensors_[at].dtype().kind()) &&
          !draft_.one_in(3))
        return at;
    return add_input(sizes, some_dtype(rule.kinds));
  }

  bool try_some_op() {
    const ProgramOp& op = some_op();
    const auto x = some_operand(op.kinds, op.rank);
    return x && try_op(op, *x);
  }

  bool try_op(const ProgramOp& op, std::size_t x) {
    const auto before = std::ssize(program_.code);
    draft_.shape = tensors_[x].shape();
    draft_.dtype = tensors_[x].dtype();
    draft_.with = {};
    if (op.draw != nullptr) op.draw(draft_);
    Instruction instruction{.op = &op, .operands = {x}, .with = draft_.with};
    try {
      for (const OperandRule& rule : {op.y, op.z})
        if (rule.shape != nullptr) instruction.operands.push_back(operand_of(rule));
      const Tensor result = tensors_[add(instruction)];
      if (result.numel() <= most_elements) return true;
    } catch (const Error& error) {
      if (std::string_view(error.what()).find("internal error") != std::string_view::npos) throw;
    }
    // What an assignment did to the tensors stays, but here only shapes and dtypes matter.
    program_.code.resize(static_cast<std::size_t>(before));
    tensors_.resize(static_cast<std::size_t>(before));
    return false;
  }

  std::mt19937_64 random_;
  Draft draft_;
  std::int64_t total_weight_ = 0;
  Script program_;
  std::vector<Tensor> tensors_;
};

}  // namespace

Script random_program(std::uint64_t seed) { return Generator(seed).program(); }
Script program_of_every_op() { return Generator(1).every_op(); }

}  // namespace weft
