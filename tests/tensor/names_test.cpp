// Every name of the API is there, under its own spelling as far as C++ has one, and can be called.

#include <fstream>
#include <set>

#include <weft/dev/rules/custom_op.h>

#include "tensor_test.h"

namespace weft {
namespace {

// What the calls are made with, new for each.
struct In {
  Tensor x = Tensor(ramp(6, 0.1, 0.1)).reshape({2, 3}).realize(), y = (x * 0.5 + 0.2).realize();
  Tensor square = (Tensor::eye(3) + 0.5).realize(), line = Tensor(ramp(4, 0.1, 0.2)).realize();
  Tensor whole = Tensor{{1, 2, 0}, {2, 0, 1}}, mask = x > y, classes = Tensor({2, 0});
  Tensor image = Tensor::ones({1, 2, 4, 4}), kernel = Tensor::ones({2, 2, 2, 2});
  Tensor places = Tensor::arange(4).reshape({1, 1, 2, 2}).expand({1, 2, 2, 2}),
         row = Tensor({0.1, 0.2, 0.3});
  std::vector<std::string> devices{"CPU", "CPU:1"};
};

struct Name {
  std::string name;
  void (*call)(In);
};

template <class T>
void use(const T&) {}

#define WEFT_NAME(name, ...)                                                                       \
  {name, [](In in) {                                                                               \
     [[maybe_unused]] auto& [x, y, square, line, whole, mask, classes, image, kernel, places, row, \
                             devices] = in;                                                        \
     use((__VA_ARGS__));                                                                           \
   }}

// clang-format off
const Name names[] = {
  WEFT_NAME("__init__", Tensor({1, 2})),
  // Creation.
  WEFT_NAME("empty", Tensor::empty({2, 3})),
  WEFT_NAME("zeros", Tensor::zeros({2, 3})),
  WEFT_NAME("ones", Tensor::ones({2, 3})),
  WEFT_NAME("full", Tensor::full({2, 3}, 7)),
  WEFT_NAME("arange", Tensor::arange(0, 5, 2)),
  WEFT_NAME("linspace", Tensor::linspace(0, 1, 3)),
  WEFT_NAME("eye", Tensor::eye(2, 3)),
  WEFT_NAME("full_like", x.full_like(7)),
  WEFT_NAME("zeros_like", x.zeros_like()),
  WEFT_NAME("ones_like", x.ones_like()),
  WEFT_NAME("empty_like", x.empty_like()),
  WEFT_NAME("const", Tensor::constant(2)),  // a keyword
  WEFT_NAME("const_like", x.const_like(2)),
  WEFT_NAME("from_blob", [] { static float values[2]; return Tensor::from_blob(values, {2}); }()),
  // Random.
  WEFT_NAME("manual_seed", (Tensor::manual_seed(0), 0)),
  WEFT_NAME("rand", Tensor::rand({2})),
  WEFT_NAME("rand_like", x.rand_like()),
  WEFT_NAME("randn", Tensor::randn({2})),
  WEFT_NAME("randn_like", x.randn_like()),
  WEFT_NAME("randint", Tensor::randint({2}, 0, 10)),
  WEFT_NAME("randperm", Tensor::randperm(5)),
  WEFT_NAME("normal", Tensor::normal({2}, 0, 1)),
  WEFT_NAME("uniform", Tensor::uniform({2}, 0, 1)),
  WEFT_NAME("scaled_uniform", Tensor::scaled_uniform({2, 3})),
  WEFT_NAME("glorot_uniform", Tensor::glorot_uniform({2, 3})),
  WEFT_NAME("kaiming_uniform", Tensor::kaiming_uniform({2, 3})),
  WEFT_NAME("kaiming_normal", Tensor::kaiming_normal({2, 3})),
  WEFT_NAME("multinomial", line.multinomial(2, true)),
  WEFT_NAME("dropout", x.dropout(0.5)),
  WEFT_NAME("random_bits", Tensor::random_bits(Tensor(std::vector<std::uint64_t>{1}), Tensor(std::vector<std::uint64_t>{0}), 2)),
  WEFT_NAME("threefry", Tensor(std::vector<std::uint64_t>{1}).threefry(Tensor(std::vector<std::uint64_t>{2}))),
  // Movement.
  WEFT_NAME("view", x.view({3, 2})),
  WEFT_NAME("reshape", x.reshape({-1})),
  WEFT_NAME("expand", row.expand({2, -1})),
  WEFT_NAME("permute", x.permute({1, 0})),
  WEFT_NAME("flip", x.flip(0)),
  WEFT_NAME("shrink", x.shrink({{0, 1}, {1, 3}})),
  WEFT_NAME("pad", x.pad({1, 2})),
  WEFT_NAME("transpose", x.transpose(0, 1)),
  WEFT_NAME("T", x.T()),
  WEFT_NAME("squeeze", x.squeeze()),
  WEFT_NAME("unsqueeze", x.unsqueeze(0)),
  WEFT_NAME("flatten", x.flatten()),
  WEFT_NAME("unflatten", x.unflatten(1, {3, 1})),
  WEFT_NAME("cat", Tensor::cat({x, y}, 1)),
  WEFT_NAME("stack", Tensor::stack({x, y})),
  WEFT_NAME("repeat", x.repeat({2, 2})),
  WEFT_NAME("repeat_interleave", x.repeat_interleave(2, 0)),
  WEFT_NAME("split", x.split(2, 1)),
  WEFT_NAME("chunk", x.chunk(2, 1)),
  WEFT_NAME("unfold", x.unfold(1, 2, 1)),
  WEFT_NAME("meshgrid", Tensor::meshgrid({line, line})),
  WEFT_NAME("diag", line.diag()),
  WEFT_NAME("diagonal", x.diagonal()),
  WEFT_NAME("roll", x.roll(1, 0)),
  WEFT_NAME("rearrange", x.rearrange("a b -> b a")),
  WEFT_NAME("pad_to", x.pad_to({4, 4})),
  WEFT_NAME("shrink_to", x.shrink_to({1, 2})),
  // Elementwise.
  WEFT_NAME("neg", x.neg()),
  WEFT_NAME("logical_not", mask.logical_not()),
  WEFT_NAME("bitwise_not", whole.bitwise_not()),
  WEFT_NAME("abs", x.abs()),
  WEFT_NAME("sign", x.sign()),
  WEFT_NAME("square", x.square()),
  WEFT_NAME("sqrt", x.sqrt()),
  WEFT_NAME("rsqrt", x.rsqrt()),
  WEFT_NAME("reciprocal", x.reciprocal()),
  WEFT_NAME("exp", x.exp()),
  WEFT_NAME("exp2", x.exp2()),
  WEFT_NAME("log", x.log()),
  WEFT_NAME("log2", x.log2()),
  WEFT_NAME("log10", x.log10()),
  WEFT_NAME("sin", x.sin()),
  WEFT_NAME("cos", x.cos()),
  WEFT_NAME("tan", x.tan()),
  WEFT_NAME("asin", x.asin()),
  WEFT_NAME("acos", x.acos()),
  WEFT_NAME("atan", x.atan()),
  WEFT_NAME("sinh", x.sinh()),
  WEFT_NAME("cosh", x.cosh()),
  WEFT_NAME("tanh", x.tanh()),
  WEFT_NAME("asinh", x.asinh()),
  WEFT_NAME("acosh", x.acosh()),
  WEFT_NAME("atanh", x.atanh()),
  WEFT_NAME("erf", x.erf()),
  WEFT_NAME("trunc", x.trunc()),
  WEFT_NAME("floor", x.floor()),
  WEFT_NAME("ceil", x.ceil()),
  WEFT_NAME("round", x.round()),
  WEFT_NAME("isnan", x.isnan()),
  WEFT_NAME("isinf", x.isinf(true, false)),
  WEFT_NAME("isfinite", x.isfinite()),
  WEFT_NAME("clamp", x.clamp(0, 1)),
  WEFT_NAME("clip", x.clip({}, 1)),
  WEFT_NAME("relu", x.relu()),
  WEFT_NAME("relu6", x.relu6()),
  WEFT_NAME("leaky_relu", x.leaky_relu(0.01)),
  WEFT_NAME("sigmoid", x.sigmoid()),
  WEFT_NAME("logsigmoid", x.logsigmoid()),
  WEFT_NAME("hardsigmoid", x.hardsigmoid()),
  WEFT_NAME("hardtanh", x.hardtanh(-1, 1)),
  WEFT_NAME("hardswish", x.hardswish()),
  WEFT_NAME("elu", x.elu(1)),
  WEFT_NAME("celu", x.celu(1)),
  WEFT_NAME("selu", x.selu()),
  WEFT_NAME("swish", x.swish()),
  WEFT_NAME("silu", x.silu()),
  WEFT_NAME("mish", x.mish()),
  WEFT_NAME("softplus", x.softplus(1)),
  WEFT_NAME("softsign", x.softsign()),
  WEFT_NAME("gelu", x.gelu()),
  WEFT_NAME("quick_gelu", x.quick_gelu()),
  WEFT_NAME("add", x.add(y)),
  WEFT_NAME("sub", x.sub(y)),
  WEFT_NAME("mul", x.mul(y)),
  WEFT_NAME("div", x.div(y, Tensor::Rounding::Floor)),
  WEFT_NAME("mod", x.mod(y)),
  WEFT_NAME("fmod", x.fmod(y)),
  WEFT_NAME("pow", x.pow(y)),
  WEFT_NAME("maximum", x.maximum(y)),
  WEFT_NAME("minimum", x.minimum(y)),
  WEFT_NAME("bitwise_and", whole.bitwise_and(1)),
  WEFT_NAME("bitwise_or", whole.bitwise_or(1)),
  WEFT_NAME("bitwise_xor", whole.bitwise_xor(1)),
  WEFT_NAME("lshift", whole.lshift(1)),
  WEFT_NAME("rshift", whole.rshift(1)),
  WEFT_NAME("eq", x.eq(y)),
  WEFT_NAME("ne", x.ne(y)),
  WEFT_NAME("copysign", x.copysign(y)),
  WEFT_NAME("logaddexp", x.logaddexp(y)),
  WEFT_NAME("lerp", x.lerp(y, 0.5)),
  WEFT_NAME("isclose", x.isclose(y)),
  WEFT_NAME("where", mask.where(x, y)),
  WEFT_NAME("masked_fill", x.masked_fill(mask, 0)),
  // Operators.
  WEFT_NAME("__neg__", -x),
  WEFT_NAME("__invert__", ~whole),
  WEFT_NAME("__add__", x + y),
  WEFT_NAME("__sub__", x - y),
  WEFT_NAME("__mul__", x * y),
  WEFT_NAME("__truediv__", x / y),
  WEFT_NAME("__floordiv__", x.floordiv(y)),
  WEFT_NAME("__mod__", x % y),
  WEFT_NAME("__pow__", pow(x, y)),
  WEFT_NAME("__matmul__", matmul(x, square)),
  WEFT_NAME("__and__", whole & 1),
  WEFT_NAME("__or__", whole | 1),
  WEFT_NAME("__xor__", whole ^ 1),
  WEFT_NAME("__lshift__", whole << 1),
  WEFT_NAME("__rshift__", whole >> 1),
  WEFT_NAME("__lt__", x < y),
  WEFT_NAME("__le__", x <= y),
  WEFT_NAME("__gt__", x > y),
  WEFT_NAME("__ge__", x >= y),
  WEFT_NAME("__eq__", x == y),
  WEFT_NAME("__ne__", x != y),
  WEFT_NAME("__radd__", 2 + x),
  WEFT_NAME("__rsub__", 2 - x),
  WEFT_NAME("__rmul__", 2 * x),
  WEFT_NAME("__rtruediv__", 2 / x),
  WEFT_NAME("__rfloordiv__", floordiv(2, x)),
  WEFT_NAME("__rmod__", 2 % x),
  WEFT_NAME("__rpow__", pow(2, x)),
  WEFT_NAME("__rmatmul__", matmul(x, square)),
  WEFT_NAME("__rand__", 1 & whole),
  WEFT_NAME("__ror__", 1 | whole),
  WEFT_NAME("__rxor__", 1 ^ whole),
  WEFT_NAME("__rlshift__", 1 << whole),
  WEFT_NAME("__rrshift__", 1 >> whole),
  WEFT_NAME("__iadd__", x += y),
  WEFT_NAME("__isub__", x -= y),
  WEFT_NAME("__imul__", x *= y),
  WEFT_NAME("__itruediv__", x /= y),
  WEFT_NAME("__ifloordiv__", x.ifloordiv(y)),
  WEFT_NAME("__ipow__", x.ipow(2)),
  WEFT_NAME("__iand__", whole &= 1),
  WEFT_NAME("__ior__", whole |= 1),
  WEFT_NAME("__ixor__", whole ^= 1),
  WEFT_NAME("__ilshift__", whole <<= 1),
  WEFT_NAME("__irshift__", whole >>= 1),
  WEFT_NAME("__imatmul__", x.imatmul(square)),
  // Reductions and scans.
  WEFT_NAME("sum", x.sum(1, true)),
  WEFT_NAME("prod", x.prod(1, true)),
  WEFT_NAME("max", x.max(1, true)),
  WEFT_NAME("min", x.min(1, true)),
  WEFT_NAME("any", mask.any(1, true)),
  WEFT_NAME("all", mask.all(1, true)),
  WEFT_NAME("mean", x.mean(1, true)),
  WEFT_NAME("var", x.var(1, true, 0)),
  WEFT_NAME("var_mean", x.var_mean(1, true, 0)),
  WEFT_NAME("std", x.std(1, true, 0)),
  WEFT_NAME("std_mean", x.std_mean(1, true, 0)),
  WEFT_NAME("logsumexp", x.logsumexp(1)),
  WEFT_NAME("softmax", x.softmax(-1, dtypes::f64)),
  WEFT_NAME("log_softmax", x.log_softmax(-1, dtypes::f64)),
  WEFT_NAME("softmin", x.softmin(-1, dtypes::f64)),
  WEFT_NAME("normalize", x.normalize()),
  WEFT_NAME("argmax", x.argmax(1)),
  WEFT_NAME("argmin", x.argmin(1)),
  WEFT_NAME("allclose", x.allclose(y)),
  WEFT_NAME("cumsum", x.cumsum(1)),
  WEFT_NAME("cumprod", x.cumprod(1)),
  WEFT_NAME("cummax", x.cummax(1)),
  WEFT_NAME("cummin", x.cummin(1)),
  WEFT_NAME("logcumsumexp", x.logcumsumexp(1)),
  WEFT_NAME("sort", x.sort(-1, true)),
  WEFT_NAME("argsort", x.argsort()),
  WEFT_NAME("topk", x.topk(2)),
  // Products and windows.
  WEFT_NAME("dot", x.dot(square)),
  WEFT_NAME("matmul", x.matmul(square, dtypes::f64)),
  WEFT_NAME("linear", x.linear(square, row, dtypes::f64)),
  WEFT_NAME("einsum", Tensor::einsum("ij,jk->ik", {x, square}, dtypes::f64)),
  WEFT_NAME("conv2d", image.conv2d(kernel, {}, 1, 2, 1, 1)),
  WEFT_NAME("conv_transpose2d", image.conv_transpose2d(kernel, {}, 1, 2)),
  WEFT_NAME("avg_pool2d", image.avg_pool2d()),
  WEFT_NAME("max_pool2d", image.max_pool2d({2, 2}, 2)),
  WEFT_NAME("max_unpool2d", Tensor::ones({1, 2, 2, 2}).max_unpool2d(places)),
  WEFT_NAME("interpolate", image.interpolate({8, 8})),
  WEFT_NAME("image_dot", x.image_dot(square)),
  WEFT_NAME("image_conv2d", image.image_conv2d(kernel)),
  WEFT_NAME("layernorm", x.layernorm()),
  WEFT_NAME("batchnorm", image.batchnorm(classes, classes, classes, classes)),
  WEFT_NAME("one_hot", classes.one_hot(3)),
  WEFT_NAME("sequential", x.sequential({[](const Tensor& t) { return t.relu(); }})),
  WEFT_NAME("triu", square.triu()),
  WEFT_NAME("tril", square.tril()),
  WEFT_NAME("qr", square.qr()),
  WEFT_NAME("svd", square.svd(false)),
  WEFT_NAME("newton_schulz", square.newton_schulz(2, {3.4445, -4.775, 2.0315})),
  // Indexing.
  WEFT_NAME("__getitem__", x[{0, Slice{1}}]),
  WEFT_NAME("__setitem__", x.set({0, Slice{1}}, 5)),
  WEFT_NAME("__delitem__", std::is_same_v<decltype(x[0]), Tensor>),  // raises there
  WEFT_NAME("gather", x.gather(1, whole)),
  WEFT_NAME("scatter", x.scatter(1, whole, y, Tensor::Scatter::Add)),
  WEFT_NAME("scatter_reduce", x.scatter_reduce(1, whole, y, Tensor::Reduce::Mean, false)),
  WEFT_NAME("masked_select", x.masked_select(mask, 4)),
  WEFT_NAME("nonzero", x.nonzero(4)),
  // Dtypes. What is a keyword has to_ in front.
  WEFT_NAME("cast", x.cast(dtypes::f16)),
  WEFT_NAME("bitcast", x.bitcast(dtypes::i32)),
  WEFT_NAME("float", x.to_float()),
  WEFT_NAME("half", x.half()),
  WEFT_NAME("bfloat16", x.bfloat16()),
  WEFT_NAME("double", x.to_double()),
  WEFT_NAME("int", x.to_int()),
  WEFT_NAME("long", x.to_long()),
  WEFT_NAME("short", x.to_short()),
  WEFT_NAME("bool", x.to_bool()),
  WEFT_NAME("element_size", x.element_size()),
  WEFT_NAME("is_floating_point", x.is_floating_point()),
  WEFT_NAME("dtype", x.dtype()),
  // Losses and attention.
  WEFT_NAME("binary_crossentropy", x.binary_crossentropy(y)),
  WEFT_NAME("binary_crossentropy_logits", x.binary_crossentropy_logits(y)),
  WEFT_NAME("sparse_categorical_crossentropy", x.sparse_categorical_crossentropy(classes)),
  WEFT_NAME("cross_entropy", x.cross_entropy(classes)),
  WEFT_NAME("nll_loss", x.nll_loss(classes)),
  WEFT_NAME("scaled_dot_product_attention", x.scaled_dot_product_attention(x, y, {}, 0.0, true)),
  // Gradients.
  WEFT_NAME("backward", (x.set_requires_grad(), x.sum().backward(), 0)),
  WEFT_NAME("gradient", x.square().sum().gradient({x})),
  WEFT_NAME("detach", x.detach()),
  WEFT_NAME("contiguous_backward", x.contiguous_backward()),
  WEFT_NAME("grad", x.grad()),
  WEFT_NAME("is_param", x.is_param()),
  WEFT_NAME("is_param_", x.is_param_(false)),
  // Devices.
  WEFT_NAME("to", x.to("CPU:1")),
  WEFT_NAME("to_", x.to_("CPU:1")),
  WEFT_NAME("shard", x.shard(devices, 0)),
  WEFT_NAME("shard_", x.shard_(devices, 0)),
  WEFT_NAME("shard_like", x.shard_like(y)),
  WEFT_NAME("device", x.device()),
  WEFT_NAME("hash", x.hash()),
  WEFT_NAME("keccak", whole.keccak("sha3_256")),
  // Graphs and values.
  WEFT_NAME("realize", x.realize()),
  WEFT_NAME("schedule_linear", Tensor::schedule_linear({x, y})),
  WEFT_NAME("call", Tensor::call({x, y}, x.as_param(0) + y.as_param(1))),
  WEFT_NAME("as_param", x.as_param(0)),
  WEFT_NAME("custom_kernel", [&x = in.x] {
    const AddedOp twice("names_test.twice", {.meaning = [](const std::vector<UOp>& from) { return from[0] + from[0]; }});
    return Tensor::custom_kernel("names_test.twice", {x}).realize();
  }()),
  WEFT_NAME("contiguous", x.contiguous()),
  WEFT_NAME("clone", x.clone()),
  WEFT_NAME("assign", x.assign(y)),
  WEFT_NAME("replace", x.replace(y)),
  WEFT_NAME("alu", Tensor::from({make(Op::Sqrt, {x.uop()}), Symbol(x.device()), false})),
  WEFT_NAME("ufix", x.ufix(2)),
  WEFT_NAME("usum", x.usum({y, y})),
  WEFT_NAME("uprod", x.uprod({y, y})),
  WEFT_NAME("uop", x.uop()),
  WEFT_NAME("shape", x.shape()),
  WEFT_NAME("max_shape", x.max_shape()),
  WEFT_NAME("ndim", x.ndim()),
  WEFT_NAME("numel", x.numel()),
  WEFT_NAME("max_numel", x.max_numel()),
  WEFT_NAME("size", (x.size(), x.size(1))),
  WEFT_NAME("nbytes", x.nbytes()),
  WEFT_NAME("data", x.data<float>()),
  WEFT_NAME("item", x.sum().item<float>()),
  WEFT_NAME("tolist", x.tolist<float>()),
  WEFT_NAME("numpy", x.numpy<float>()),
  WEFT_NAME("__len__", x.len()),
  WEFT_NAME("__bool__", std::is_constructible_v<bool, Tensor>),  // raises there
  WEFT_NAME("__repr__", x.repr()),
  WEFT_NAME("__hash__", std::hash<Tensor>{}(x)),
};
// clang-format on

// The names of the API but for those that weft has not, which that file says with the reason.
std::multiset<std::string> names_of_the_api() {
  std::multiset<std::string> all;
  std::ifstream file(WEFT_NAMES);
  for (std::string line; std::getline(file, line);)
    if (line[0] != '#' && line.find(": not in weft: ") == std::string::npos)
      all.insert(line.substr(0, line.find(':')));
  return all;
}

TEST(TensorNames, AreAllHere) {
  std::multiset<std::string> here;
  for (const Name& name : names) here.insert(name.name);
  EXPECT_EQ(here, names_of_the_api());
}

TEST(TensorNames, CanBeCalled) {
  for (const Name& name : names)
    EXPECT_EQ(error_of([&] { name.call(In()); }), "no error") << name.name;
}

}  // namespace
}  // namespace weft
