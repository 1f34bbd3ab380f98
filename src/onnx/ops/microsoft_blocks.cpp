// com.microsoft: weights of few bits, whose scales belong to blocks of them.
#include <array>

#include <fmt/format.h>

#include "microsoft.h"

namespace weft::onnx {
namespace {

// Numbers of 2, 4 or 8 bits out of bytes along the last axis, the lowest bits first.
Tensor unpacked(const Call& call, const Tensor& bytes, std::int64_t bits) {
  if (bits == 8) return bytes;
  if (bits != 2 && bits != 4) call.refuse(fmt::format("it has 2, 4 or 8 bits, not {}", bits));
  const Tensor shifts = Tensor::arange(8 / bits, call.options(dtypes::u8)) * bits;
  return ((bytes.unsqueeze(-1) >> shifts) & ((1 << bits) - 1)).flatten(-2);
}

struct Weights {
  std::int64_t inputs, outputs, block, bits, blocks;  // blocks: of each output
};

Weights weights_of(const Call& call) {
  Weights weights{call.attr<std::int64_t>("K"), call.attr<std::int64_t>("N"),
                  call.attr<std::int64_t>("block_size"), call.attr("bits", 4), 0};
  constexpr std::int64_t most = 1 << 30;
  if (weights.inputs < 1 || weights.outputs < 1 || weights.block < 1 || weights.inputs > most ||
      weights.outputs > most || weights.block > most)
    call.refuse(fmt::format("weights of {} x {} in blocks of {}", weights.outputs, weights.inputs,
                            weights.block));
  weights.blocks = (weights.inputs + weights.block - 1) / weights.block;
  return weights;
}

// (outputs, blocks): what stands for 0, packed, as numbers, or in the middle.
Tensor zeros_of(const Call& call, const Weights& weights, DType dtype) {
  const double middle = static_cast<double>(1 << (weights.bits - 1));
  if (!call.has(3)) return Tensor::full({1, 1}, middle, call.options(dtype));
  const Tensor zeros = call.tensor(3);
  if (zeros.dtype().is_float()) return zeros.reshape({weights.outputs, weights.blocks}).cast(dtype);
  return unpacked(call, zeros.reshape({weights.outputs, -1}), weights.bits)
      .narrow(1, 0, weights.blocks)
      .cast(dtype);
}

Tensor matmul_nbits(const Call& call) {
  const Tensor x = call.tensor(0);
  const Weights weights = weights_of(call);
  const Tensor codes =
      unpacked(call, call.tensor(1).reshape({weights.outputs, weights.blocks, -1}), weights.bits);
  if (codes.size(2) != weights.block)
    call.refuse(fmt::format("blocks of {} numbers, not {}", codes.size(2), weights.block));
  const Tensor scales = call.tensor(2).reshape({weights.outputs, weights.blocks}).cast(x.dtype());
  const Tensor zeros = zeros_of(call, weights, x.dtype());
  Tensor dense;
  if (call.has(4)) {
    // Each input is of a block of its own choice.
    const Tensor block = call.tensor(4);
    const Tensor flat = codes.flatten(1).narrow(1, 0, weights.inputs).cast(x.dtype());
    const Tensor own = zeros.expand({weights.outputs, weights.blocks}).index_select(1, block);
    dense = (flat - own) * scales.index_select(1, block);
  } else {
    dense = ((codes.cast(x.dtype()) - zeros.unsqueeze(-1)) * scales.unsqueeze(-1))
                .flatten(1)
                .narrow(1, 0, weights.inputs);
  }
  const Tensor y = x.matmul(dense.mT());
  return call.has(5) ? y + call.tensor(5) : y;
}

// The 16 numbers of bitsandbytes' 4-bit floats: FP4, and NF4, whose are quantiles of a normal distribution.
constexpr std::array<double, 16> fp4 = {
    0,    0.005208333333,  0.66666667,  1,  0.33333333,  0.5,  0.16666667,  0.25,
    -0.0, -0.005208333333, -0.66666667, -1, -0.33333333, -0.5, -0.16666667, -0.25};
constexpr std::array<double, 16> nf4 = {-1.0,
                                        -0.6961928009986877,
                                        -0.5250730514526367,
                                        -0.39491748809814453,
                                        -0.28444138169288635,
                                        -0.18477343022823334,
                                        -0.09105003625154495,
                                        0.0,
                                        0.07958029955625534,
                                        0.16093020141124725,
                                        0.24611230194568634,
                                        0.33791524171829224,
                                        0.44070982933044434,
                                        0.5626170039176941,
                                        0.7229568362236023,
                                        1.0};

// Two numbers in a byte, the first in the upper bits; blocks go through the rows.
Tensor matmul_bnb4(const Call& call) {
  const Tensor x = call.tensor(0);
  const Weights weights = weights_of(call);
  const std::int64_t count = weights.inputs * weights.outputs, kind = call.attr("quant_type", 1);
  if (kind != 0 && kind != 1) call.refuse(fmt::format("quant_type is 0 or 1, not {}", kind));
  const std::array<double, 16>& table = kind == 0 ? fp4 : nf4;
  const Tensor values(std::vector<double>(table.begin(), table.end()), call.options(x.dtype()));
  const Tensor bytes = call.tensor(1).flatten();
  const Tensor codes = Tensor::stack({bytes >> 4, bytes & 15}, 1).flatten().narrow(0, 0, count);
  const Tensor scales =
      call.tensor(2).flatten().cast(x.dtype()).repeat_interleave(weights.block).narrow(0, 0, count);
  const Tensor dense = values.take(codes.cast(dtypes::i32)) * scales;
  if (call.attr("transB", 1) == 0)
    return x.matmul(dense.reshape({weights.inputs, weights.outputs}));
  return x.matmul(dense.reshape({weights.outputs, weights.inputs}).mT());
}

// Rows of a table whose last axis is in blocks.
Tensor gather_block_quantized(const Call& call) {
  const std::int64_t block = call.attr("block_size", 128), bits = call.attr("bits", 4);
  const Tensor data = call.tensor(0), index = call.tensor(1), scales = call.tensor(2);
  const std::int64_t rank = data.ndim(), along = call.attr("quantize_axis", 1);
  if (bits != 2 && bits != 4 && bits != 8)
    call.refuse(fmt::format("it has 2, 4 or 8 bits, not {}", bits));
  if (call.attr("gather_axis", 0) != 0 || (along != rank - 1 && along != -1) || block < 1)
    call.refuse("it gathers along the first axis what is quantised along the last");
  // Whole bytes of them are packed; types of 4 bits are not.
  const bool is_packed = call.value(0).type() == Type::U8 && bits < 8;
  const auto rows = [&](const Tensor& table) {
    const Tensor found = table.take(index);
    return is_packed && table.dtype() == dtypes::u8 ? unpacked(call, found, bits) : found;
  };
  const Tensor scale = scales.take(index), codes = rows(data).cast(scale.dtype());
  Tensor zero;
  if (call.has(3))
    zero = rows(call.tensor(3)).narrow(-1, 0, scale.size(-1)).cast(scale.dtype());
  else if (is_packed || call.value(0).type() == Type::U8)
    zero = Tensor::full({1}, static_cast<double>(1 << (bits - 1)), call.options(scale.dtype()));
  const std::int64_t width = codes.size(-1);
  const auto spread = [&](const Tensor& each) {
    return each.size(-1) == 1 ? each : each.repeat_interleave(block, -1).narrow(-1, 0, width);
  };
  const Tensor centred = zero.is_null() ? codes : codes - spread(zero);
  return centred * spread(scale);
}

}  // namespace

OpTable microsoft_blocks_ops() {
  static const Op ops[] = {
      {"GatherBlockQuantized", 1, gather_block_quantized},
      {"MatMulBnb4", 1, matmul_bnb4},
      {"MatMulNBits", 1, matmul_nbits},
  };
  return {microsoft, ops};
}

}  // namespace weft::onnx
