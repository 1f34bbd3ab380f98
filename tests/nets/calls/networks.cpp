// Calls of products and of layers of networks.

#include "../call_rules.h"

namespace nets {
namespace {

using weft::Tensor;

#define EINSUM(equation) CALL("einsum:" equation, Tensor::einsum(equation, all))

const CallRule network_rules[] = {
    EINSUM("ab,bc->ac"),
    EINSUM("ab,cb->ac"),
    EINSUM("ab,ab->a"),
    EINSUM("ab,ab->"),
    EINSUM("ab,b->a"),
    EINSUM("a,b->ab"),
    EINSUM("a,a->"),
    EINSUM("abc,acd->abd"),
    EINSUM("abc,bd->acd"),
    EINSUM("ab,ac->abc"),
    EINSUM("ab->b"),
    CALL("tensordot", x.tensordot(y, k)),
    CALL("inner", x.inner(y)),
    CALL("dot", x.dot(y)),
    CALL("mv", x.mv(y)),
    CALL("addmm", x.addmm(y, z, scalar, k)),
    CALL("baddbmm", x.baddbmm(y, z, scalar, k)),
    CALL("linear", x.linear(y, z)),
    CALL("cross", x.cross(y, i)),
    CALL("attention", x.scaled_dot_product_attention(y, z)),
    CALL("attention_causal", x.scaled_dot_product_attention(y, z, Tensor(), 0.0, true)),
    CALL("rmsnorm", x.rmsnorm(i)),
    CALL("group_norm", weft::functional::group_norm(x, k)),
    CALL("batchnorm", x.batchnorm(all[1], all[2], all[3], all[4])),
    CALL("max_pool_form",
         x.max_pool(n, {.stride = j, .dilation = i, .padding = k, .ceil_mode = flag})),
    CALL("avg_pool_form", x.avg_pool(n, {.stride = j, .padding = k, .ceil_mode = flag})),
    CALL("avg_pool_inside",
         x.avg_pool(n, {.stride = j, .padding = k, .ceil_mode = flag, .count_include_pad = false})),
    CALL("conv_bias", x.conv(y, z, {.groups = i, .stride = j, .dilation = n[0], .padding = k})),
    CALL("conv_transpose",
         x.conv_transpose(y, {}, {.groups = i, .stride = j, .padding = k, .output_padding = n[0]})),
    CALL("interpolate_nearest", x.interpolate(n, {.mode = weft::Resampling::Nearest})),
    CALL("interpolate_linear", x.interpolate(n, {.align_corners = flag})),
    CALL("mse_loss", x.mse_loss(y, static_cast<weft::Reduction>(k))),
    CALL("l1_loss", weft::functional::l1_loss(x, y, static_cast<weft::Reduction>(k))),
    CALL("smooth_l1_loss",
         weft::functional::smooth_l1_loss(x, y, 1.0, static_cast<weft::Reduction>(k))),
    CALL("huber_loss", weft::functional::huber_loss(x, y, 1.0, static_cast<weft::Reduction>(k))),
    CALL("logits_loss", x.binary_crossentropy_logits(y, static_cast<weft::Reduction>(k))),
    CALL("cross_entropy", x.cross_entropy(y, static_cast<weft::Reduction>(k), real)),
    CALL("nll_loss", x.nll_loss(y, {}, {}, static_cast<weft::Reduction>(k))),
};

}  // namespace

std::span<const CallRule> network_calls() { return network_rules; }

}  // namespace nets
