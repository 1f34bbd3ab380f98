#include "machine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ranges>

#include <fmt/core.h>
#include <weft/dev/codegen/decompose.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

namespace weft::interp {
namespace {

// The ops whose result is only bounded, computed well inside their bound. EXP2: Machine::exponent_of.
std::optional<long double> transcendental(Op op, long double a, long double b) {
  switch (op) {
    case Op::Log2: return std::log2(a);
    case Op::Sin: return std::sin(a);
    case Op::Cos: return std::cos(a);
    case Op::Pow: return std::pow(a, b);
    default: return std::nullopt;
  }
}

Bits result_of(const Node* node, std::span<const Bits> operands) {
  const DType from = node->src(node->op() == Op::Where ? 1 : 0)->dtype().scalar();
  const DType to = node->dtype().scalar();
  if (node->op() == Op::Cast) return convert(operands[0], from, to);
  if (node->op() == Op::Bitcast) return reinterpret(operands[0], from, to);
  if (const auto bits = evaluate(node->op(), from, operands)) return *bits;
  const auto as_float = [&](std::size_t i) {
    return i < operands.size() ? double_from_bits(operands[i], from) : 0.0;
  };
  if (const auto value = transcendental(node->op(), as_float(0), as_float(1)))
    return bits_from_double(static_cast<double>(*value), to);
  internal_error(fmt::format("INTERP: {} of {} has no value", info(node->op()).name, from.str()));
}

Bits combined(Op op, DType dtype, Bits a, Bits b) {
  const Bits operands[] = {a, b};
  if (const auto bits = evaluate(op, dtype, operands)) return *bits;
  internal_error(fmt::format("INTERP: {} does not combine {}", info(op).name, dtype.str()));
}

const Node* without_after(const Node* node) {
  while (node->op() == Op::After) node = node->src(0);
  return node;
}

Bits read(const std::byte* from, DType scalar) {
  Bits bits = 0;
  std::memcpy(&bits, from, scalar.bytes());
  return canonical_bits(bits, scalar);
}

// What memory of a kernel holds before anything is written there: NaN, or -1.
constexpr std::byte uninitialised{0xff};

void write(std::byte* to, Bits bits, DType scalar) { std::memcpy(to, &bits, scalar.bytes()); }

}  // namespace

Machine::Machine(const Steps& steps, std::span<const Argument> arguments, Launch& launch)
    : steps_(&steps),
      arguments_(arguments),
      launch_(&launch),
      values_(steps.lanes() + 1),
      storages_(steps.storages()) {}

const Node* Machine::run() {
  const std::vector<Step>& list = steps_->list();
  while (next_ < list.size()) {
    if (--launch_->steps_left < 0) throw OutOfSteps();
    const Step& step = list[next_++];
    switch (step.type) {
      case Step::Run:
        execute(step.node);
        if (step.node->op() == Op::Barrier) return step.node;
        break;
      case Step::Open:
        if (!open(step)) next_ = step.other + 1;
        break;
      case Step::Close:
        if (close(step)) next_ = step.other + 1;
    }
  }
  return nullptr;
}

bool Machine::open(const Step& step) {
  if (step.is_outermost && step.node->op() == Op::Stage) bind(step.node);
  if (step.is_outermost && step.node->op() == Op::Reduce) {
    Bits* result = values_of(step.node);
    const Identity identity = info(step.node->arg<ReduceArg>().op).identity;
    for (const Node* member : members_of(step.node))
      for (std::size_t lane = 0; lane < member->dtype().lanes(); ++lane)
        *result++ = identity_bits(identity, member->dtype().scalar());
  }
  if (step.range == nullptr) return true;
  *values_of(step.range) = 0;
  return integer(step.range->src(0)) > 0;
}

bool Machine::close(const Step& step) {
  if (step.is_innermost && step.node->op() == Op::Reduce) reduce(step.node);
  if (step.is_innermost && step.node->op() == Op::Stage) fill_stage(step.node);
  if (step.range == nullptr) return false;
  return static_cast<std::int64_t>(++*values_of(step.range)) < integer(step.range->src(0));
}

void Machine::reduce(const Node* node) {
  const Op op = node->arg<ReduceArg>().op;
  Bits* result = values_of(node);
  for (const Node* member : members_of(node))
    for (std::size_t lane = 0; lane < member->dtype().lanes(); ++lane, ++result) {
      *result = combined(op, member->dtype().scalar(), *result, values_of(member)[lane]);
    }
}

void Machine::execute(const Node* node) {
  switch (node->op()) {
    case Op::Variable:
    case Op::Range:
    case Op::Special:
    case Op::Index:
    case Op::Tuple:
    case Op::Prefetch:
    case Op::Barrier: return;  // read where they are used
    case Op::Const:
      std::fill_n(values_of(node), node->dtype().lanes(), node->arg<ConstArg>().bits);
      return;
    case Op::Param:
    case Op::Buffer: return bind(node);
    case Op::Load: return load(node);
    case Op::Store: return store(node);
    case Op::After:
    case Op::GetTuple:
    case Op::Stack:
    case Op::Splat:
    case Op::Lane: return move_lanes(node);
    default: return compute(node);
  }
}

void Machine::compute(const Node* node) {
  Bits operands[3] = {};
  for (std::size_t lane = 0; lane < node->dtype().lanes(); ++lane) {
    if (node->op() == Op::Exp2) {
      const long double power = std::exp2(exponent_of(node, lane));
      values_of(node)[lane] = bits_from_double(static_cast<double>(power), node->dtype().scalar());
      continue;
    }
    for (std::size_t i = 0; i < node->size(); ++i) operands[i] = lane_of(node->src(i), lane);
    values_of(node)[lane] = result_of(node, std::span(operands, node->size()));
  }
}

// Of EXP2. A product with a constant is taken as it is before it would be rounded, as devices do that decompose EXP2: of
// exp(88) the rounding would be 60 ulp.
long double Machine::exponent_of(const Node* power, std::size_t lane) {
  const Node* exponent = power->src(0);
  const DType dtype = exponent->dtype().scalar();
  const auto value = [&](const Node* node) { return double_from_bits(lane_of(node, lane), dtype); };
  const auto is_factor = [&](std::size_t i) { return exponent->src(i)->is_const(); };
  if (exponent->op() != Op::Mul || dtype.bits() < 32 || (!is_factor(0) && !is_factor(1)))
    return value(exponent);
  const auto error_of = [&](std::size_t i) {
    return is_factor(i) ? rounding_error_of(value(exponent->src(i)), dtype) : 0;
  };
  const std::size_t i = is_factor(0) && (!is_factor(1) || error_of(0) != 0) ? 0 : 1;
  return value(exponent->src(1 - i)) *
         (static_cast<long double>(value(exponent->src(i))) + error_of(i));
}

void Machine::move_lanes(const Node* node) {
  Bits* to = values_of(node);
  const std::size_t lanes = lanes_of(node);
  switch (node->op()) {
    case Op::Stack:
      for (std::size_t lane = 0; lane < lanes; ++lane) to[lane] = *values_of(node->src(lane));
      return;
    case Op::Splat: std::fill_n(to, lanes, *values_of(node->src(0))); return;
    case Op::Lane: *to = values_of(node->src(0))[node->arg<PositionArg>().at]; return;
    case Op::GetTuple: {
      const auto at = static_cast<std::size_t>(node->arg<PositionArg>().at);
      const Node* list = without_after(node->src(0));
      const bool reduced = list->op() == Op::Reduce;
      const Bits* from = reduced ? values_of(list) + lanes_of(members_of(list).first(at))
                                 : values_of(list->src(at));
      std::copy_n(from, lanes, to);
      return;
    }
    default:  // AFTER, of a value
      std::copy_n(values_of(node->src(0)), lanes, to);
  }
}

void Machine::bind(const Node* node) {
  Storage& storage = storage_at(node);
  storage.sizes.clear();
  std::size_t bytes = node->dtype().bytes();
  const bool staged = node->op() == Op::Stage;
  for (const Node* source : node->src().subspan(staged ? 1 : 0)) {
    const Node* size = source->op() == Op::Range ? source->src(0) : source;
    storage.sizes.push_back(staged && size == source ? 1 : integer(size));
    if (storage.sizes.back() < 0 ||
        __builtin_mul_overflow(bytes, static_cast<std::size_t>(storage.sizes.back()), &bytes))
      internal_error(
          fmt::format("INTERP: the size of {} is {}", expression_text(node), storage.sizes.back()));
  }
  storage.bytes = memory_for(node, bytes);
}

std::byte* Machine::memory_for(const Node* node, std::size_t bytes) {
  if (node->op() == Op::Param) {
    const Argument& argument = arguments_[static_cast<std::size_t>(node->arg<ParamArg>().slot)];
    if (argument.bytes < bytes)
      internal_error(fmt::format("INTERP: {} needs {} bytes and has {}", expression_text(node),
                                 bytes, argument.bytes));
    return static_cast<std::byte*>(argument.memory) + argument.offset;
  }
  const bool is_shared = node->op() == Op::Buffer && node->arg<BufferArg>().space == Space::Shared;
  std::vector<std::byte>& own =
      is_shared ? launch_->shared[steps_->storage_of(node)] : storage_at(node).own;
  own.resize(bytes, uninitialised);
  return own.data();
}

std::byte* Machine::place_of(const Node* index, std::size_t lane) {
  if (lane_of(index->src(1), lane) == 0) return nullptr;
  const Node* node = storage_of(index->src(0));
  const Storage& storage = storage_at(node);
  std::int64_t place = 0;
  for (std::size_t i = 0; i < storage.sizes.size(); ++i) {
    const Node* source = index->src(i + 2);
    const auto at = static_cast<std::int64_t>(lane_of(source, lane));
    if (at < 0 || at >= storage.sizes[i])
      internal_error(fmt::format(
          "INTERP: {} is {}, outside [0, {}) of {}, in kernel {}", expression_text(source), at,
          storage.sizes[i], expression_text(node), steps_->kernel()->arg<KernelArg>().name.get()));
    place = place * storage.sizes[i] + at;
  }
  return storage.bytes + static_cast<std::size_t>(place) * node->dtype().bytes();
}

// A place holds one lane, or in a buffer of vectors all of them.
void Machine::load(const Node* node) {
  const Node* index = node->src(0);
  const DType scalar = node->dtype().scalar();
  const std::size_t lanes = node->dtype().lanes();
  const std::size_t each = index->src(0)->dtype().lanes();
  for (std::size_t lane = 0; lane < lanes; lane += each) {
    const std::byte* place = place_of(index, lane);
    for (std::size_t i = lane; i < lane + each; ++i) {
      Bits& value = values_of(node)[i];
      if (place != nullptr)
        value = read(place + (i - lane) * scalar.bytes(), scalar);
      else
        value = node->size() > 1 ? lane_of(node->src(1), i) : 0;
    }
  }
}

void Machine::store(const Node* node) {
  const Node* index = node->src(0);
  const Node* value = node->src(1);
  const DType scalar = value->dtype().scalar();
  const auto& arg = node->arg<StoreArg>();
  const std::size_t each = index->src(0)->dtype().lanes();
  for (std::size_t lane = 0; lane < value->dtype().lanes(); lane += each) {
    std::byte* place = place_of(index, lane);
    if (place == nullptr) continue;
    for (std::size_t i = 0; i < each; ++i, place += scalar.bytes()) {
      const Bits bits = lane_of(value, lane + i);
      write(place, arg.combine ? combined(arg.op, scalar, read(place, scalar), bits) : bits,
            scalar);
    }
  }
}

void Machine::fill_stage(const Node* stage) {
  const Storage& storage = storage_at(stage);
  std::size_t place = 0;
  for (std::size_t i = 0; i < storage.sizes.size(); ++i)
    place = place * static_cast<std::size_t>(storage.sizes[i]) + *values_of(stage->src(i + 1));
  const DType scalar = stage->dtype().scalar();
  for (std::size_t lane = 0; lane < stage->dtype().lanes(); ++lane)
    write(storage.bytes + place * stage->dtype().bytes() + lane * scalar.bytes(),
          values_of(stage->src(0))[lane], scalar);
}

}  // namespace weft::interp
