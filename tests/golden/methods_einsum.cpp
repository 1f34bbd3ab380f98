// Sums of products by labels, and matrix products by names.

#include "golden.h"

namespace weft::golden {
namespace {

std::vector<Tensor> all(const Case& c) { return {c.inputs().begin(), c.inputs().end()}; }
std::vector<Tensor> rest(const Case& c) { return {c.inputs(1).begin(), c.inputs(1).end()}; }

Scalar factor(const Case& c, std::string_view key) {
  return c.has(key) ? c.number(key) : Scalar(1);
}

Tensor tensordot(const Case& c) {
  if (!c.is_list("dims")) return c[0].tensordot(c[1], c.integer("dims"));
  return c[0].tensordot(c[1], c.lists("dims")[0], c.lists("dims")[1]);
}

// What is assigned to, and all of what it is a part of.
std::vector<Tensor> assigned(const Case& c) {
  Tensor target = c[0];
  return {target.imatmul(c[1]), c.bases[0]};
}

// clang-format off
const Group group("einsum", {
  {"einsum", [](const Case& c) { return one(Tensor::einsum(c.text("formula"), all(c), c.dtype("dtype"))); }},
  {"mm", [](const Case& c) { return one(c[0].mm(c[1])); }},
  {"bmm", [](const Case& c) { return one(c[0].bmm(c[1])); }},
  {"mv", [](const Case& c) { return one(c[0].mv(c[1])); }},
  {"inner", [](const Case& c) { return one(c[0].inner(c[1])); }},
  {"__rmatmul__", [](const Case& c) { return one(matmul(c[1], c[0])); }},
  {"__imatmul__", assigned},
  {"addmm", [](const Case& c) { return one(c[0].addmm(c[1], c[2], factor(c, "beta"), factor(c, "alpha"))); }},
  {"addmv", [](const Case& c) { return one(c[0].addmv(c[1], c[2], factor(c, "beta"), factor(c, "alpha"))); }},
  {"baddbmm", [](const Case& c) { return one(c[0].baddbmm(c[1], c[2], factor(c, "beta"), factor(c, "alpha"))); }},
  {"tensordot", [](const Case& c) { return one(tensordot(c)); }},
  {"usum", [](const Case& c) { return one(c[0].usum(rest(c))); }},
  {"uprod", [](const Case& c) { return one(c[0].uprod(rest(c))); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
