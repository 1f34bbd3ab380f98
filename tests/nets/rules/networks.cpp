// Products and layers of networks, as the oracle computes them.

#include "../evaluate.h"
#include "../oracle/elementwise.h"
#include "../oracle/layers.h"
#include "../oracle/products.h"
#include "../oracle/rearrange.h"
#include "../oracle/reduce.h"
#include "../oracle/windows.h"

namespace nets {
namespace {

void add_products(Rules& rules) {
  for (const char* equation :
       {"ab,bc->ac", "ab,cb->ac", "ab,ab->a", "ab,ab->", "ab,b->a", "a,b->ab", "a,a->",
        "abc,acd->abd", "abc,bd->acd", "ab,ac->abc", "ab->b"})
    rules[std::string("einsum:") + equation] = [equation](const Call& c) {
      return einsum(equation, c.all());
    };
  rules["tensordot"] = [](const Call& c) { return tensordot(c[0], c[1], c.step.k); };
  rules["inner"] = [](const Call& c) { return inner(c[0], c[1]); };
  rules["dot"] = rules["mv"] = [](const Call& c) { return matmul(c[0], c[1]); };
  rules["addmm"] = rules["baddbmm"] = [](const Call& c) {
    return added(c[0], matmul(c[1], c[2]), c.real(), static_cast<double>(c.step.k));
  };
  rules["linear"] = [](const Call& c) { return added(c[2], matmul(c[0], c[1]), 1, 1); };
  rules["cross"] = [](const Call& c) { return cross(c[0], c[1], c.step.i); };
  rules["attention"] = [](const Call& c) { return attention(c[0], c[1], c[2], false); };
  rules["attention_causal"] = [](const Call& c) { return attention(c[0], c[1], c[2], true); };
}

void add_windows(Rules& rules) {
  const auto form = [](const Step& step, bool counts_padding, std::int64_t dilation) {
    return PoolForm{step.n, step.j, dilation, step.k, step.flag, counts_padding};
  };
  rules["max_pool_form"] = [form](const Call& c) {
    return max_pool(c[0], form(c.step, true, c.step.i));
  };
  rules["avg_pool_form"] = [form](const Call& c) { return avg_pool(c[0], form(c.step, true, 1)); };
  rules["avg_pool_inside"] = [form](const Call& c) {
    return avg_pool(c[0], form(c.step, false, 1));
  };
  rules["conv_bias"] = [](const Call& c) {
    const Array sum = conv(c[0], c[1], c.step.i, c.step.j, c.step.n.at(0), c.step.k);
    Numbers shape(sum.shape.size(), 1);
    shape[1] = -1;
    return added(open_reshape(c[2], shape), sum, 1, 1);
  };
  rules["conv_transpose"] = [](const Call& c) {
    return conv_transpose(c[0], c[1], {c.step.i, c.step.j, c.step.k, c.step.n.at(0)});
  };
  rules["interpolate_nearest"] = [](const Call& c) { return interpolate_nearest(c[0], c.step.n); };
  rules["interpolate_linear"] = [](const Call& c) {
    return interpolate_linear(c[0], c.step.n, c.step.flag);
  };
}

void add_losses(Rules& rules) {
  for (const auto& [kind, name] : {std::pair{"mse_loss", "mse"},
                                   {"l1_loss", "l1"},
                                   {"smooth_l1_loss", "smooth_l1"},
                                   {"huber_loss", "huber"},
                                   {"logits_loss", "logits"}})
    rules[kind] = [name](const Call& c) {
      return pair_loss(name, c[0], c[1], static_cast<Reduction>(c.step.k));
    };
  rules["cross_entropy"] = [](const Call& c) {
    const std::int64_t axis = c[0].rank() == 1 ? 0 : 1;
    return class_loss(softmax(c[0], axis, true), c[1], c.real(), static_cast<Reduction>(c.step.k));
  };
  rules["nll_loss"] = [](const Call& c) {
    return class_loss(c[0], c[1], 0, static_cast<Reduction>(c.step.k));
  };
}

}  // namespace

void add_networks(Rules& rules) {
  add_products(rules);
  add_windows(rules);
  add_losses(rules);
  rules["rmsnorm"] = [](const Call& c) { return rmsnorm(c[0], c.step.i, 1e-6); };
  rules["group_norm"] = [](const Call& c) { return group_norm(c[0], c.step.k, 1e-5); };
  rules["batchnorm"] = [](const Call& c) { return batchnorm(c[0], c[1], c[2], c[3], c[4]); };
}

}  // namespace nets
