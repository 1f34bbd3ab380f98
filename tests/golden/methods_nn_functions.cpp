// Activations, normalisation, embeddings.

#include "golden.h"

namespace weft::golden {
namespace {

using Unary = Tensor (Tensor::*)() const;
Method unary(Unary method) {
  return [method](const Case& c) { return one((c[0].*method)()); };
}
Method unary(Tensor (*function)(const Tensor&)) {
  return [function](const Case& c) { return one(function(c[0])); };
}

std::optional<std::int64_t> maybe(const Case& c, std::string_view key) {
  return c.has(key) ? std::optional(c.integer(key)) : std::nullopt;
}

// The running statistics too, where it trains them.
std::vector<Tensor> batch_norm(const Case& c) {
  const auto copy = [](const Tensor& x) { return x.is_null() ? x : x + 0; };
  const Tensor mean = copy(c[1]), var = copy(c[2]);
  const Tensor y = functional::batch_norm(c[0], mean, var, c[3], c[4],
                                          {.training = c.flag("training"),
                                           .momentum = c.real("momentum", 0.1),
                                           .eps = c.real("eps", 1e-5)});
  if (c.outputs.size() == 1) return {y};
  return {y, mean, var};
}

functional::Bag bag_mode(const Case& c) {
  if (c.text("mode") == "max") return functional::Bag::Max;
  return c.text("mode") == "sum" ? functional::Bag::Sum : functional::Bag::Mean;
}

Tensor embedding_bag(const Case& c) {
  return functional::embedding_bag(c[0], c[1],
                                   {.mode = bag_mode(c),
                                    .offsets = c[2],
                                    .per_sample_weights = c[3],
                                    .padding_idx = maybe(c, "padding_idx"),
                                    .include_last_offset = c.flag("include_last_offset")});
}

// clang-format off
const Group group("nn_functions", {
  {"relu", unary(&Tensor::relu)},
  {"relu6", unary(&Tensor::relu6)},
  {"hardtanh", [](const Case& c) { return one(c[0].hardtanh()); }},
  {"hardswish", unary(&Tensor::hardswish)},
  {"softsign", unary(&Tensor::softsign)},
  {"quick_gelu", unary(&Tensor::quick_gelu)},
  {"hardsigmoid", [](const Case& c) { return one(c[0].hardsigmoid(c.real("alpha", 1.0 / 6), c.real("beta", 0.5))); }},
  {"celu", [](const Case& c) { return one(c[0].celu(c.real("alpha"))); }},
  {"elu", [](const Case& c) { return one(c[0].elu(c.real("alpha"))); }},
  {"leaky_relu", [](const Case& c) { return one(c[0].leaky_relu(c.real("neg_slope"))); }},
  {"selu", [](const Case& c) {
    return one(c.has("alpha") ? c[0].selu(c.real("alpha"), c.real("gamma")) : c[0].selu());
  }},
  {"softmin", [](const Case& c) { return one(c[0].softmin(c.integer("axis"))); }},
  {"functional.hardshrink", [](const Case& c) { return one(functional::hardshrink(c[0], c.real("lambd"))); }},
  {"functional.softshrink", [](const Case& c) { return one(functional::softshrink(c[0], c.real("lambd"))); }},
  {"functional.tanhshrink", unary(functional::tanhshrink)},
  {"functional.log_sigmoid", unary(functional::log_sigmoid)},
  {"functional.threshold", [](const Case& c) { return one(functional::threshold(c[0], c.real("least"), c.real("value"))); }},
  {"functional.rrelu", [](const Case& c) { return one(functional::rrelu(c[0], c.real("lower"), c.real("upper"))); }},
  {"functional.prelu", [](const Case& c) { return one(functional::prelu(c[0], c[1])); }},
  {"functional.glu", [](const Case& c) { return one(functional::glu(c[0], c.integer("axis"))); }},

  {"layernorm", [](const Case& c) {
    return one(c[0].layernorm(c.has("axis") ? c.axes("axis") : AxisList(-1), c.real("eps", 1e-5), c[1], c[2]));
  }},
  {"rmsnorm", [](const Case& c) { return one(c[0].rmsnorm(c.integer("axis", -1), c.real("eps", 1e-6), c[1])); }},
  {"normalize", [](const Case& c) {
    return one(c[0].normalize(c.real("p", 2), c.integer("axis", 1), c.real("eps", 1e-12)));
  }},
  {"functional.batch_norm", batch_norm},
  {"functional.group_norm", [](const Case& c) {
    return one(functional::group_norm(c[0], c.integer("groups"), c[1], c[2], c.real("eps", 1e-5)));
  }},
  {"functional.instance_norm", [](const Case& c) {
    return one(functional::instance_norm(c[0], c[1], c[2], c.real("eps", 1e-5)));
  }},
  {"functional.local_response_norm", [](const Case& c) {
    return one(functional::local_response_norm(c[0], c.integer("size"), c.real("alpha", 1e-4), c.real("beta", 0.75), c.real("k", 1)));
  }},
  {"functional.weight_norm", [](const Case& c) { return one(functional::weight_norm(c[0], c[1], c.integer("axis"))); }},

  {"functional.embedding", [](const Case& c) { return one(functional::embedding(c[0], c[1], maybe(c, "padding_idx"))); }},
  {"functional.embedding_bag", [](const Case& c) { return one(embedding_bag(c)); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
