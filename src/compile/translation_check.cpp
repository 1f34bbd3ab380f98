#include "translation_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <ranges>

#include <fmt/format.h>
#include <weft/dev/base/hash.h>
#include <weft/dev/interpret/interpreter.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/ir/value.h>
#include <weft/error.h>
#include <weft/settings.h>

namespace weft {
namespace {

constexpr std::int64_t most_steps = 300'000;
constexpr std::size_t most_bytes = std::size_t{1} << 20;

// What elements are made of: `random` is another number for each of them.
struct InputKind {
  std::string_view name;
  double (*real)(std::uint64_t random);
  Bits (*integer)(std::uint64_t random, DType dtype);
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double small_whole(std::uint64_t random) { return static_cast<double>(random % 7) - 3; }
double between_two(std::uint64_t random) {
  return std::ldexp(static_cast<double>(random >> 11), -51) - 2;
}
double special(std::uint64_t random) {
  constexpr double values[] = {0, -0.0, 1, -1, infinity, -infinity, nan, 1e-30};
  return values[random % std::size(values)];
}

// Indices that often are in bounds.
Bits small_index(std::uint64_t random, DType) { return random % 4; }
Bits any_bits(std::uint64_t random, DType) { return random; }
Bits extreme(std::uint64_t random, DType dtype) {
  const Interval all = dtype_interval(dtype);
  const Wide values[] = {0, 1, -1, all.lo, all.hi, all.hi - 1};
  return static_cast<Bits>(values[random % std::size(values)]);
}

constexpr std::array input_kinds{
    InputKind{"small whole numbers", small_whole, small_index},
    InputKind{"random numbers", between_two, any_bits},
    InputKind{"infinities, NaN and extreme integers", special, extreme},
};
// Of a sum with them, passes may change which of them comes out (docs/decisions.md).
constexpr std::size_t special_kind = 2;

std::vector<std::byte> elements(const InputKind& kind, DType dtype, std::size_t count,
                                std::uint64_t seed) {
  std::vector<std::byte> bytes(count * dtype.bytes());
  const DType scalar = dtype.scalar();
  for (std::size_t at = 0; at < bytes.size(); at += scalar.bytes()) {
    const std::uint64_t random = hash_mix(hash_mix(seed, at), at);  // once leaves low bits alike
    const Bits bits = scalar.is_float()  ? bits_from_double(kind.real(random), scalar)
                      : scalar.is_bool() ? random & 1
                                         : canonical_bits(kind.integer(random, scalar), scalar);
    std::memcpy(&bytes[at], &bits, scalar.bytes());
  }
  return bytes;
}

std::uint64_t id_of(const Node* variable) { return variable->arg<VariableArg>().id.value; }

// A few of the values that it may have. One of any bits holds a number: about 1.5 as f16, f32 and f64.
std::int64_t value_of(const Node* variable, std::size_t kind) {
  constexpr std::int64_t number = 0x3ff8'0000'3fc0'3e00;
  const bool is_number = variable->lo() == std::numeric_limits<std::int64_t>::min();
  const std::int64_t first = is_number ? number : variable->lo();
  return std::min(first + static_cast<std::int64_t>(kind), variable->hi());
}

// Of a PARAM when variables have those values.
std::optional<std::size_t> count_of(const Node* param, const Substitution& values) {
  std::size_t count = 1;
  for (const Node* size : param->dims()) {
    const Interval bounds = substitute(UOp(size), values)->bounds();
    if (!bounds.is_point() || bounds.lo < 0 || bounds.lo > static_cast<Wide>(most_bytes)) return {};
    count *= static_cast<std::size_t>(bounds.lo);
    if (count > most_bytes) return {};
  }
  return count;
}

Bits read(const std::vector<std::byte>& bytes, std::size_t at, DType scalar) {
  Bits bits = 0;
  std::memcpy(&bits, &bytes[at], scalar.bytes());
  return canonical_bits(bits, scalar);
}

double largest(const std::vector<std::byte>& bytes, DType scalar) {
  double most = 0;
  for (std::size_t at = 0; at < bytes.size(); at += scalar.bytes()) {
    const double size = std::abs(double_from_bits(read(bytes, at, scalar), scalar));
    if (std::isfinite(size)) most = std::max(most, size);
  }
  return most;
}

// The square root of epsilon: half of the mantissa's bits.
double precision(DType scalar) {
  const Bits one = bits_from_double(1, scalar);
  return std::sqrt(double_from_bits(one + 1, scalar) - 1);
}

bool are_close(Bits a, Bits b, DType scalar, double error) {
  if (a == b || !scalar.is_float()) return a == b;
  const double x = double_from_bits(a, scalar), y = double_from_bits(b, scalar);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (std::isinf(x) || std::isinf(y)) return x == y;
  return std::abs(x - y) <= error;
}

std::string text(Bits bits, DType scalar) {
  return expression_text(const_bits(scalar, bits).node());
}

bool is_float_sum(const Node* node) {
  return node->op() == Op::Reduce && node->dtype().is_float() &&
         node->arg<ReduceArg>().op != Op::Max;
}

// Jumps where its operand changes by a rounding error.
bool is_discontinuous(const Node* node) {
  if (node->size() == 0 || !node->src(0)->dtype().is_float()) return false;
  return OpSet{Op::Trunc, Op::Mod, Op::Bitcast}.contains(node->op()) ||
         has(node->op(), OpFlag::Compare) || (node->op() == Op::Cast && !node->dtype().is_float());
}

// The precision of the narrowest floats that a rounding error goes through (0: none), of an op that is only bounded or of a
// sum in another order, where it stays a rounding error. Sums of narrow floats are not even that: passes add them in f32.
std::optional<double> comparable_precision(const Node* kernel) {
  constexpr OpSet bounded{Op::Exp2, Op::Log2, Op::Sin, Op::Cos, Op::Pow};
  constexpr OpSet fast{Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Recip};
  const bool is_fast = setting_int("FASTMATH") != 0;
  const std::vector<const Node*> nodes = toposort(kernel);
  NodeMap<bool> rounded;
  double worst = 0;
  for (int round = 0; round < 2; ++round)  // the second with what was stored to be loaded elsewhere
    for (const Node* node : nodes) {
      if (is_float_sum(node) && node->dtype().scalar().bits() < 32) return {};
      const bool has_rounded_operand = std::ranges::any_of(
          node->src(), [&](const Node* source) { return rounded.contains(source); });
      if (has_rounded_operand && is_discontinuous(node)) return {};
      const bool rounds = bounded.contains(node->op()) || is_float_sum(node) ||
                          (is_fast && node->dtype().is_float() && fast.contains(node->op()));
      if (has_rounded_operand || rounds) {
        rounded.set(node, true);
        if (node->dtype().is_float()) worst = std::max(worst, precision(node->dtype().scalar()));
      }
      if (node->op() == Op::Store && rounded.contains(node->src(1)))
        rounded.set(storage_of(node->src(0)->src(0)), true);
    }
  return worst;
}

bool runs_all(const std::vector<UOp>& roots) {
  return std::ranges::all_of(
      roots, [](const UOp& root) { return not_interpreted(root.node()) == nullptr; });
}

}  // namespace

TranslationCheck::TranslationCheck(const std::vector<UOp>& roots) {
  for (const UOp& root : roots) {
    const auto rounded = comparable_precision(root.node());
    if (!rounded) return;
    precision_ = std::max(precision_, *rounded);
    has_float_sums_ |= std::ranges::any_of(toposort(root.node()), is_float_sum);
    const Signature signature = signature_of(root.node());
    for (const Node* param : signature.params)
      if (param != nullptr) slots_.push_back(param->arg<ParamArg>().slot);
    for (const Node* variable : signature.variables) variables_.push_back(id_of(variable));
  }
  if (runs_all(roots)) whole_ = outcomes(roots);
}

void TranslationCheck::after(std::string_view pass, const std::vector<UOp>& roots) {
  const auto is_new = [&](const Node* variable) {
    return std::ranges::find(variables_, id_of(variable)) == variables_.end();
  };
  const auto has_loop_variable = [&](const UOp& root) {
    return std::ranges::any_of(signature_of(root.node()).variables, is_new);
  };
  if (!whole_) return;
  auto& known = std::ranges::any_of(roots, has_loop_variable) ? iteration_ : whole_;
  if (!known || !runs_all(roots)) {
    if (!known && runs_all(roots)) known = outcomes(roots);
    return add_unchecked(pass);
  }
  bool are_compared = &known == &whole_;
  for (std::size_t kind = 0; kind < input_kinds.size(); ++kind)
    if (const Outcome& before = (*known)[kind]; before.has_value())
      are_compared &= compare(pass, roots, kind, before.value());
  if (are_compared)
    unchecked_.clear();
  else
    add_unchecked(pass);
}

auto TranslationCheck::outcomes(const std::vector<UOp>& roots) const -> std::vector<Outcome> {
  std::vector<Outcome> result(input_kinds.size());
  for (std::size_t kind = 0; kind < result.size(); ++kind) try {
      if (kind != special_kind || (!has_float_sums_ && setting_int("FASTMATH") == 0))
        result[kind] = outcome(roots, kind);
    } catch (const Error&) {
      // Inputs used as indices may be out of bounds, which no pass has to do with.
      result[kind].reset();
    }
  return result;
}

auto TranslationCheck::inputs(const std::vector<UOp>& roots, std::size_t kind) const
    -> std::optional<Memories> {
  Memories memories;
  std::size_t all_bytes = 0;
  for (const UOp& root : roots) {
    const Signature signature = signature_of(root.node());
    Substitution values;
    for (const Node* variable : signature.variables)
      values.emplace(variable, const_int(value_of(variable, kind), variable->dtype()));
    for (const Node* param : signature.params) {
      if (param == nullptr) continue;
      const auto& arg = param->arg<ParamArg>();
      const auto count = count_of(param, values);
      if (!count) return {};
      const std::size_t bytes = *count * param->dtype().bytes();
      Memory& memory = memories[arg.slot];
      memory.is_written |= writes(arg.access);
      if (memory.bytes.size() >= bytes) continue;
      all_bytes += bytes;
      if (all_bytes > most_bytes) return {};
      memory.dtype = param->dtype();
      // Prepacked weights are zero before they are filled.
      const bool is_kept = std::ranges::find(slots_, arg.slot) == slots_.end();
      memory.bytes = is_kept ? std::vector<std::byte>(bytes)
                             : elements(input_kinds[kind], param->dtype(), *count,
                                        hash_mix(kind, static_cast<std::uint64_t>(arg.slot)));
    }
  }
  return memories;
}

auto TranslationCheck::outcome(const std::vector<UOp>& roots, std::size_t kind) const -> Outcome {
  std::optional<Memories> memories = inputs(roots, kind);
  if (!memories) return {};
  std::vector<Argument> arguments;
  if (!memories->empty()) arguments.resize(static_cast<std::size_t>(memories->rbegin()->first) + 1);
  for (auto& [slot, memory] : *memories)
    arguments[static_cast<std::size_t>(slot)] = {memory.bytes.data(), 0, memory.bytes.size()};
  for (const UOp& root : roots | std::views::reverse) {  // prepacked weights first
    std::vector<std::int64_t> values;
    for (const Node* variable : signature_of(root.node()).variables)
      values.push_back(value_of(variable, kind));
    if (!Interpreter(root.node()).run(arguments, values, most_steps)) return {};
  }
  return memories;
}

bool TranslationCheck::compare(std::string_view pass, const std::vector<UOp>& roots,
                               std::size_t kind, const Memories& before) const {
  Outcome after;
  try {
    after = outcome(roots, kind);
  } catch (const Error& error) {
    report(pass, roots[0], kind, error.what());
  }
  if (!after) return false;
  for (const auto& [slot, memory] : before) {
    if (!memory.is_written) continue;
    const Memory& now = (*after)[slot];
    if (now.dtype != memory.dtype || now.bytes.size() != memory.bytes.size())
      report(pass, roots[0], kind, fmt::format("argument {} has another size or dtype", slot));
    const DType scalar = memory.dtype.scalar();
    const double error = scalar.is_float() ? error_of(memory.bytes, scalar) : 0;
    for (std::size_t at = 0; at < memory.bytes.size(); at += scalar.bytes()) {
      const Bits is = read(now.bytes, at, scalar), was = read(memory.bytes, at, scalar);
      if (!are_close(is, was, scalar, error))
        report(pass, roots[0], kind,
               fmt::format("element {} of argument {} is {}, and was {}", at / scalar.bytes(), slot,
                           text(is, scalar), text(was, scalar)));
    }
  }
  return true;
}

// Beside the largest of the output, or 1 as the inputs are: sums may be reassociated, and cancel. An f64 that was an f32
// on the way is no better than that.
double TranslationCheck::error_of(const std::vector<std::byte>& output, DType scalar) const {
  return std::max(precision(scalar), precision_) * std::max(largest(output, scalar), 1.0);
}

void TranslationCheck::add_unchecked(std::string_view pass) {
  unchecked_ += fmt::format("{}{}", unchecked_.empty() ? "" : ", ", pass);
}

void TranslationCheck::report(std::string_view pass, const UOp& kernel, std::size_t kind,
                              const std::string& difference) const {
  internal_error(
      fmt::format("{}{} changed what kernel {} computes, of {}: {}", pass,
                  unchecked_.empty() ? "" : " or what ran before it (" + unchecked_ + ")",
                  kernel->arg<KernelArg>().name.get(), input_kinds[kind].name, difference));
}

}  // namespace weft
