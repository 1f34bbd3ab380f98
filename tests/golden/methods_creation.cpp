#include "golden.h"

namespace weft::golden {
namespace {

Shape shape(const Case& c) { return {c.numbers("shape")}; }
Options options(const Case& c) { return {.dtype = c.dtype("dtype")}; }

Tensor arange(const Case& c) {
  if (!c.has("start")) return Tensor::arange(c.number("stop"), options(c));
  return Tensor::arange(c.number("start"), c.number("stop"), c.has("step") ? c.number("step") : 1,
                        options(c));
}

Tensor linspace(const Case& c) {
  return Tensor::linspace(c.number("start"), c.number("stop"), c.integer("steps"), options(c));
}

Tensor eye(const Case& c) {
  const std::int64_t rows = c.integer("n");
  return c.has("m") ? Tensor::eye(rows, c.integer("m"), options(c)) : Tensor::eye(rows, options(c));
}

// clang-format off
const Group group("creation", {
  {"zeros", [](const Case& c) { return one(Tensor::zeros(shape(c), options(c))); }},
  {"ones", [](const Case& c) { return one(Tensor::ones(shape(c), options(c))); }},
  {"full", [](const Case& c) { return one(Tensor::full(shape(c), c.number("fill_value"), options(c))); }},
  {"zeros_like", [](const Case& c) { return one(c[0].zeros_like()); }},
  {"ones_like", [](const Case& c) { return one(c[0].ones_like()); }},
  {"full_like", [](const Case& c) { return one(c[0].full_like(c.number("fill_value"))); }},
  {"arange", [](const Case& c) { return one(arange(c)); }},
  {"linspace", [](const Case& c) { return one(linspace(c)); }},
  {"eye", [](const Case& c) { return one(eye(c)); }},
  {"cast", [](const Case& c) { return one(c[0].cast(c.dtype("dtype"))); }},
  {"bitcast", [](const Case& c) { return one(c[0].bitcast(c.dtype("dtype"))); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
