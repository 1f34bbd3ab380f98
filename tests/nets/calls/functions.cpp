// Calls of functions of each element.

#include "../call_rules.h"

namespace nets {
namespace {

using weft::Tensor;

const CallRule function_rules[] = {
    UNARY(expm1),
    UNARY(log1p),
    UNARY(log10),
    UNARY(tan),
    UNARY(asin),
    UNARY(acos),
    UNARY(atan),
    UNARY(sinh),
    UNARY(cosh),
    UNARY(asinh),
    UNARY(acosh),
    UNARY(atanh),
    UNARY(sinc),
    UNARY(erfc),
    UNARY(lgamma),
    UNARY(deg2rad),
    UNARY(rad2deg),
    UNARY(frac),
    UNARY(signbit),
    UNARY(relu6),
    UNARY(hardtanh),
    UNARY(leaky_relu),
    UNARY(elu),
    UNARY(celu),
    UNARY(selu),
    UNARY(mish),
    UNARY(softsign),
    UNARY(logsigmoid),
    UNARY(quick_gelu),
    UNARY(hardsigmoid),
    UNARY(hardswish),
    CALL("softplus_beta", x.softplus(real)),
    CALL("exact_gelu", x.gelu(weft::Gelu::Exact)),
    METHOD(atan2),
    METHOD(hypot),
    METHOD(logaddexp),
    METHOD(logaddexp2),
    METHOD(xlogy),
    METHOD(float_power),
    METHOD(gcd),
    METHOD(lcm),
    METHOD(fmax),
    METHOD(fmin),
    METHOD(heaviside),
    METHOD(copysign),
    METHOD(nextafter),
    METHOD(pow),
    CALL("number_pow", weft::pow(number, x)),
    METHOD(logical_xor),
    CALL("isclose", x.isclose(y)),
    CALL("isclose_within", x.isclose(y, 0.001, 0.3, flag)),
    CALL("lerp", x.lerp(y, z)),
    CALL("lerp_number", x.lerp(y, real)),
    CALL("addcmul", x.addcmul(y, z, scalar)),
    CALL("addcdiv", x.addcdiv(y, z, scalar)),
    CALL("nan_to_num", x.nan_to_num()),
    CALL("nan_to_num_number", x.nan_to_num(scalar)),
    CALL("isin", x.isin(y)),
    CALL("clip_least", x.clip(scalar, {})),
    CALL("clip_most", x.clip({}, scalar)),
    CALL("clamp_tensors", x.clamp(y, z)),
    CALL("clamp_least", x.clamp(y, Tensor())),
    CALL("clamp_most", x.clamp(Tensor(), y)),
};

}  // namespace

std::span<const CallRule> function_calls() { return function_rules; }

}  // namespace nets
