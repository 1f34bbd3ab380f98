#include "machine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/core.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

namespace weft::interp {
namespace {

// The ops whose result is only bounded, computed well inside their bound.
std::optional<long double> transcendental(Op op, long double a, long double b) {
  switch (op) {
    case Op::Exp2: return std::exp2(a);
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
  const double a = as_float(0), b = as_float(1);
  if (const auto value = transcendental(node->op(), a, b)) {
    const auto rounded = static_cast<double>(*value);
    // No infinity goes in, and there is no pole: the result is only too large, which fp8 saturates.
    const bool is_finite = std::isfinite(a) && std::isfinite(b) && a != 0;
    if (to.is_fp8() && std::isinf(rounded) && is_finite)
      return bits_from_double(std::copysign(std::numeric_limits<double>::max(), rounded), to);
    return bits_from_double(rounded, to);
  }
  internal_error(fmt::format("INTERP: {} of {} has no value", info(node->op()).name, from.str()));
}

Bits combined(Op op, DType dtype, Bits a, Bits b) {
  const Bits operands[] = {a, b};
  if (const auto bits = evaluate(op, dtype, operands)) return *bits;
  internal_error(fmt::format("INTERP: {} does not combine {}", info(op).name, dtype.str()));
}

// What a REDUCE combines, or a GETTUPLE chooses from: source 0, or the members of that list.
NodeList members_of(const Node* user) {
  const NodeList first = user->src().first(1);
  return first[0]->op() == Op::Tuple ? first[0]->src() : first;
}

const Node* without_after(const Node* node) {
  while (node->op() == Op::After) node = node->src(0);
  return node;
}

std::size_t lanes_of(NodeList nodes) {
  std::size_t lanes = 0;
  for (const Node* node : nodes) lanes += node->dtype().is_void() ? 0 : node->dtype().lanes();
  return lanes;
}

std::size_t lanes_of(const Node* node) {
  return lanes_of(node->op() == Op::Reduce ? members_of(node) : NodeList(&node, 1));
}

Bits read(const std::byte* from, DType scalar) {
  Bits bits = 0;
  std::memcpy(&bits, from, scalar.bytes());
  return canonical_bits(bits, scalar);
}

void write(std::byte* to, Bits bits, DType scalar) { std::memcpy(to, &bits, scalar.bytes()); }

}  // namespace

Machine::Machine(const Node* kernel, const Nests& nests) : kernel_(kernel), nests_(nests) {
  std::size_t lanes = 0;
  for (const Node* node : toposort(kernel)) {
    offset_.set(node, static_cast<std::uint32_t>(lanes));
    lanes += lanes_of(node);
  }
  values_.resize(lanes + 1);
}

void Machine::run(const Signature& signature, std::span<const Argument> arguments,
                  std::span<const std::int64_t> values) {
  if (arguments.size() < signature.params.size() || values.size() != signature.variables.size())
    internal_error(fmt::format("INTERP: {} takes {} buffers and {} values, not {} and {}",
                               kernel_->arg<KernelArg>().name.get(), signature.params.size(),
                               signature.variables.size(), arguments.size(), values.size()));
  arguments_ = arguments;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Node* variable = signature.variables[i];
    if (!variable->bounds().contains(values[i]))
      internal_error(fmt::format("INTERP: {} = {} is outside its bounds", expression_text(variable),
                                 values[i]));
    *values_of(variable) = static_cast<Bits>(values[i]);
  }
  for (std::int64_t thread = 0; thread < signature.threads(); ++thread) {
    if (signature.thread != nullptr) *values_of(signature.thread) = static_cast<Bits>(thread);
    run(nests_.root());
  }
}

void Machine::run(const Nest& nest) {
  const Op op = nest.closer->op();
  if (op == Op::Reduce) {
    Bits* result = values_of(nest.closer);
    const Identity identity = info(nest.closer->arg<ReduceArg>().op).identity;
    for (const Node* member : members_of(nest.closer))
      for (std::size_t lane = 0; lane < member->dtype().lanes(); ++lane)
        *result++ = identity_bits(identity, member->dtype().scalar());
  }
  if (op == Op::Sink) return iterate(nest);

  // All trips of the ranges, the first outermost.
  std::vector<const Node*> ranges;
  for (const Node* range : nest.closer->src().subspan(1))
    if (range->op() == Op::Range) ranges.push_back(range);
  for (const Node* range : ranges) {
    if (integer(range->src(0)) <= 0) return;
    *values_of(range) = 0;
  }
  for (;;) {
    iterate(nest);
    std::size_t turning = ranges.size();
    while (turning > 0) {
      const Node* range = ranges[turning - 1];
      if (static_cast<std::int64_t>(++*values_of(range)) < integer(range->src(0))) break;
      *values_of(range) = 0;
      --turning;
    }
    if (turning == 0) return;
  }
}

void Machine::iterate(const Nest& nest) {
  for (const Node* node : nest.body) execute(node);
  if (nest.closer->op() == Op::Reduce) reduce(nest.closer);
  if (nest.closer->op() == Op::Stage) fill_stage(nest.closer);
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
    case Op::Barrier: return;  // read where they are used
    case Op::Const:
      std::fill_n(values_of(node), node->dtype().lanes(), node->arg<ConstArg>().bits);
      return;
    case Op::Param:
    case Op::Buffer: return bind(node);
    case Op::Stage: bind(node); [[fallthrough]];
    case Op::Reduce:
    case Op::End: return run(*nests_.of(node));
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
    for (std::size_t i = 0; i < node->size(); ++i) operands[i] = lane_of(node->src(i), lane);
    values_of(node)[lane] = result_of(node, std::span(operands, node->size()));
  }
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
  const std::uint32_t* known = storage_.find(node);
  if (known == nullptr) {
    storage_.set(node, static_cast<std::uint32_t>(storages_.size()));
    storages_.emplace_back();
  }
  Storage& storage = storages_[*storage_.find(node)];
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
  if (node->op() != Op::Param) {
    storage.own.resize(bytes);
    storage.bytes = storage.own.data();
    return;
  }
  const Argument& argument = arguments_[static_cast<std::size_t>(node->arg<ParamArg>().slot)];
  if (argument.bytes < bytes)
    internal_error(fmt::format("INTERP: {} needs {} bytes and has {}", expression_text(node), bytes,
                               argument.bytes));
  storage.bytes = static_cast<std::byte*>(argument.memory) + argument.offset;
}

std::byte* Machine::place_of(const Node* index, std::size_t lane) {
  if (lane_of(index->src(1), lane) == 0) return nullptr;
  const Node* node = storage_of(index->src(0));
  const Storage& storage = storages_[*storage_.find(node)];
  std::int64_t place = 0;
  for (std::size_t i = 0; i < storage.sizes.size(); ++i) {
    const Node* source = index->src(i + 2);
    const auto at = static_cast<std::int64_t>(lane_of(source, lane));
    if (at < 0 || at >= storage.sizes[i])
      internal_error(fmt::format("INTERP: {} is {}, outside [0, {}) of {}, in kernel {}",
                                 expression_text(source), at, storage.sizes[i],
                                 expression_text(node), kernel_->arg<KernelArg>().name.get()));
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
  const Storage& storage = storages_[*storage_.find(stage)];
  std::size_t place = 0;
  for (std::size_t i = 0; i < storage.sizes.size(); ++i)
    place = place * static_cast<std::size_t>(storage.sizes[i]) + *values_of(stage->src(i + 1));
  const DType scalar = stage->dtype().scalar();
  for (std::size_t lane = 0; lane < stage->dtype().lanes(); ++lane)
    write(storage.bytes + place * stage->dtype().bytes() + lane * scalar.bytes(),
          values_of(stage->src(0))[lane], scalar);
}

}  // namespace weft::interp
