#include "call_rules.h"

#include <array>
#include <cstring>
#include <unordered_map>

namespace nets {
namespace {

using weft::Tensor;
using Scatter = Tensor::Scatter;

// A function of two operands: of tensors, and of a number on either side.
#define OPERATOR(name, symbol)                                                 \
  CALL(#name, x symbol y), CALL(#name "_number", x symbol number),             \
      CALL("number_" #name, number symbol x), CALL("i" #name, x symbol## = y), \
      CALL("i" #name "_number", x symbol## = number)
#define COMPARISON(name, symbol)                                   \
  CALL(#name, x symbol y), CALL(#name "_number", x symbol number), \
      CALL("number_" #name, number symbol x)

const CallRule rules[] = {
    CALL("full", Tensor::full(n, scalar, {.dtype = type})),
    CALL("arange", Tensor::arange(i, j, k, {.dtype = type})),
    CALL("reshape", x.reshape(n)),
    CALL("permute", x.permute(n)),
    CALL("expand", x.expand(n)),
    CALL("shrink", x.shrink(bounds)),
    CALL("flip", x.flip(n)),
    CALL("pad", x.pad(bounds, scalar)),
    CALL("unsqueeze", x.unsqueeze(i)),
    CALL("squeeze", x.squeeze(i)),
    CALL("index", x[index]),
    CALL("repeat", x.repeat(n)),
    CALL("repeat_interleave", x.repeat_interleave(j, i)),
    CALL("roll", x.roll(j, i)),
    CALL("unfold", x.unfold(i, j, k)),
    CALL("diagonal", x.diagonal(i)),
    CALL("triu", x.triu(i)),
    CALL("tril", x.tril(i)),
    CALL("cat", Tensor::cat(all, i)),
    CALL("stack", Tensor::stack(all, i)),
    UNARY(contiguous),
    UNARY(clone),
    UNARY(detach),
    CALL("cast", x.cast(type)),

    CALL("neg", -x),
    UNARY(abs),
    UNARY(square),
    UNARY(sqrt),
    UNARY(relu),
    UNARY(reciprocal),
    UNARY(rsqrt),
    UNARY(exp),
    UNARY(exp2),
    UNARY(log),
    UNARY(log2),
    UNARY(sin),
    UNARY(cos),
    UNARY(tanh),
    UNARY(sigmoid),
    UNARY(silu),
    UNARY(gelu),
    UNARY(softplus),
    UNARY(erf),
    UNARY(sign),
    UNARY(trunc),
    UNARY(floor),
    UNARY(ceil),
    UNARY(round),
    UNARY(isnan),
    UNARY(isinf),
    UNARY(isfinite),
    CALL("logical_not", !x),
    CALL("bitwise_not", ~x),
    OPERATOR(add, +),
    OPERATOR(sub, -),
    OPERATOR(mul, *),
    OPERATOR(div, /),
    OPERATOR(mod, %),
    OPERATOR(bitwise_and, &),
    OPERATOR(bitwise_or, |),
    OPERATOR(bitwise_xor, ^),
    OPERATOR(lshift, <<),
    OPERATOR(rshift, >>),
    COMPARISON(lt, <),
    COMPARISON(le, <=),
    COMPARISON(gt, >),
    COMPARISON(ge, >=),
    COMPARISON(eq, ==),
    COMPARISON(ne, !=),
    CALL("floordiv", x.floordiv(y)),
    CALL("floordiv_number", x.floordiv(number)),
    CALL("number_floordiv", weft::floordiv(number, x)),
    METHOD(maximum),
    METHOD(minimum),
    METHOD(fmod),
    CALL("div_trunc", x.div(y, Tensor::Rounding::Trunc)),
    CALL("div_trunc_number", x.div(number, Tensor::Rounding::Trunc)),
    CALL("logical_and", x.logical_and(y)),
    CALL("logical_or", x.logical_or(y)),
    CALL("where", x.where(y, z)),
    CALL("where_number", x.where(y, number)),
    CALL("masked_fill", x.masked_fill(y, scalar)),
    CALL("clamp", x.clamp(i, j)),

    CALL("sum", x.sum(n, flag)),
    CALL("prod", x.prod(n, flag)),
    CALL("max", x.max(n, flag)),
    CALL("min", x.min(n, flag)),
    CALL("any", x.any(n, flag)),
    CALL("all", x.all(n, flag)),
    CALL("mean", x.mean(n, flag)),
    CALL("var", x.var(n, flag, k)),
    CALL("std", x.std(n, flag, k)),
    CALL("logsumexp", x.logsumexp(n, flag)),
    CALL("count_nonzero", x.count_nonzero(n)),
    CALL("argmax", x.argmax(i, flag)),
    CALL("argmin", x.argmin(i, flag)),
    CALL("argmax_all", x.argmax()),
    CALL("argmin_all", x.argmin()),
    CALL("cumsum", x.cumsum(i)),
    CALL("cumprod", x.cumprod(i)),
    CALL("cummax", x.cummax(i).first),
    CALL("cummin", x.cummin(i).first),
    CALL("softmax", x.softmax(i)),
    CALL("log_softmax", x.log_softmax(i)),
    CALL("layernorm", x.layernorm(n)),
    CALL("sort", x.sort(i, flag).values),
    CALL("sort_places", x.sort(i, flag).indices),
    CALL("argsort", x.argsort(i, flag)),
    CALL("topk", x.topk(k, i, flag).values),
    CALL("topk_places", x.topk(k, i, flag).indices),
    CALL("matmul", x.matmul(y)),
    CALL("conv", x.conv(y, {}, {.groups = i, .stride = j, .dilation = n[0], .padding = k})),
    CALL("max_pool", x.max_pool(n, {.stride = j, .padding = k})),
    CALL("avg_pool", x.avg_pool(n, {.stride = j, .padding = k})),

    CALL("index_tensors", x[index]),
    CALL("take", x.take(y, i)),
    CALL("gather", x.gather(i, y)),
    CALL("scatter", x.scatter(i, y, z.cast(x.dtype()))),
    CALL("scatter_number", x.scatter(i, y, number)),
    CALL("scatter_add", x.scatter_add(i, y, z.cast(x.dtype()))),
    CALL("scatter_add_number", x.scatter_add(i, y, number)),
    CALL("scatter_sum", x.scatter_reduce(i, y, z, Tensor::Reduce::Sum)),
    CALL("scatter_prod", x.scatter_reduce(i, y, z, Tensor::Reduce::Prod)),
    CALL("scatter_amax", x.scatter_reduce(i, y, z, Tensor::Reduce::Amax)),
    CALL("scatter_amin", x.scatter_reduce(i, y, z, Tensor::Reduce::Amin)),
    CALL("index_put", x.index_put(index, y.cast(x.dtype()), flag)),
    CALL("set", x.set(index, y.cast(x.dtype()))),
    CALL("set_number", x.set(index, number)),
    CALL("assign", x.assign(y)),
    CALL("assign_number", x.assign(number)),
};

weft::Index index_of(const Part& part, const std::vector<Tensor>& operands) {
  switch (part.form) {
    case Part::Form::At: return part.number;
    case Part::Form::NewAxis: return weft::newaxis;
    case Part::Form::Ellipsis: return weft::ellipsis;
    case Part::Form::List: return part.list;
    case Part::Form::Array: return operands.at(part.operand);
    case Part::Form::Slice: break;
  }
  weft::Slice slice{.step = part.step};
  if (part.start) slice.start = weft::Dim(*part.start);
  if (part.stop) slice.stop = weft::Dim(*part.stop);
  return slice;
}

}  // namespace

const CallRule& call_rule(std::string_view kind) {
  static const auto by_kind = [] {
    std::unordered_map<std::string_view, const CallRule*> result;
    for (const std::span<const CallRule> table :
         {std::span<const CallRule>(rules), function_calls(), shape_calls(), statistics_calls(),
          network_calls()})
      for (const CallRule& rule : table) result.emplace(rule.kind, &rule);
    return result;
  }();
  const auto found = by_kind.find(kind);
  if (found == by_kind.end()) throw std::logic_error("no call for " + std::string(kind));
  return *found->second;
}

weft::DType dtype_of(Type type) { return *weft::parse_dtype(name_of(type)); }

namespace {

// The bytes of a cell, as memory holds it.
void append(std::vector<std::byte>& bytes, const Cell& cell, Type type) {
  const auto add = [&](auto value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
  };
  if (type == Type::F64) return add(cell.real);
  if (type == Type::F32) return add(static_cast<float>(cell.real));
  if (is_float(type)) return;  // made of f32
  const std::size_t width = is_bool(type) ? 1 : static_cast<std::size_t>(bits_of(type)) / 8;
  const auto* first = reinterpret_cast<const std::byte*>(&cell.whole);
  bytes.insert(bytes.end(), first, first + width);
}

}  // namespace

Tensor input_tensor(const Step& step, std::size_t call) {
  const bool is_half = step.type == Type::F16 || step.type == Type::BF16;
  const Type held = is_half ? Type::F32 : step.type;
  std::vector<std::byte> bytes;
  for (const Cell& cell : step.values.at(is_kept(step) ? 0 : call)) append(bytes, cell, held);
  Tensor tensor = Tensor::from_bytes(bytes, step.n, {.dtype = dtype_of(held)});
  if (is_half) tensor = tensor.cast(dtype_of(step.type));
  return step.flag ? tensor.realize() : tensor;
}

Array array_of(const Tensor& tensor) {
  Array result = fresh(type_of(tensor.dtype().str()).value(), tensor.shape());
  const bool is_half = result.type == Type::F16 || result.type == Type::BF16;
  const Tensor wide = is_half ? tensor.cast(weft::dtypes::f32) : tensor;
  const Type type = is_half ? Type::F32 : result.type;
  const std::size_t width = is_bool(type) ? 1 : static_cast<std::size_t>(bits_of(type)) / 8;
  std::vector<std::byte> bytes(width * result.size());
  wide.to_bytes(bytes);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::byte* first = bytes.data() + i * width;
    if (type == Type::F64) {
      std::memcpy(&result[i].real, first, width);
    } else if (type == Type::F32) {
      float value = 0;
      std::memcpy(&value, first, width);
      result[i].real = value;
    } else {
      std::int64_t value = 0;
      std::memcpy(&value, first, width);
      result[i].whole = wrapped(value, type);
    }
  }
  return result;
}

std::vector<Tensor> tensors_of(const Step& step, const std::vector<Tensor>& values) {
  std::vector<Tensor> result;
  for (const std::size_t operand : step.operands) result.push_back(values[operand]);
  return result;
}

Tensor call_weft(const Step& step, const std::vector<Tensor>& values) {
  CallArguments arguments{.x = {},
                          .y = {},
                          .z = {},
                          .all = tensors_of(step, values),
                          .n = step.n,
                          .bounds = {},
                          .i = step.i,
                          .j = step.j,
                          .k = step.k,
                          .flag = step.flag,
                          .type = dtype_of(step.type),
                          .number = 0,
                          .scalar = 0,
                          .real = 0,
                          .index = {}};
  const auto operand = [&](std::size_t i) {
    return i < arguments.all.size() ? arguments.all[i] : Tensor();
  };
  arguments.x = operand(0), arguments.y = operand(1), arguments.z = operand(2);
  for (std::size_t i = 0; i + 1 < step.n.size(); i += 2)
    arguments.bounds.emplace_back(step.n[i], step.n[i + 1]);
  const auto [form, whole, real] = step.number;
  if (form == Literal::Form::Float)
    arguments.number = real, arguments.scalar = real, arguments.real = real;
  else
    arguments.number = whole, arguments.scalar = whole, arguments.real = static_cast<double>(whole);
  std::vector<weft::Index> parts;
  for (const Part& part : step.index) parts.push_back(index_of(part, arguments.all));
  arguments.index = weft::Indices(parts);
  return call_rule(step.kind).call(arguments);
}

}  // namespace nets
