#include "gguf_blocks.h"

#include <algorithm>

namespace weft {
namespace {

Tensor part(const Tensor& blocks, std::int64_t first, std::int64_t count) {
  return blocks.slice(1, {first, first + count});
}

// Of so many bytes, little-endian, as the integer of that width.
Tensor integer_at(const Tensor& blocks, std::int64_t first, DType dtype) {
  Tensor value = part(blocks, first, 1).cast(dtype);
  for (std::int64_t i = 1; i < static_cast<std::int64_t>(dtype.bytes()); ++i)
    value = value | (part(blocks, first + i, 1).cast(dtype) << 8 * i);
  return value;
}
Tensor half_at(const Tensor& blocks, std::int64_t first) {
  return integer_at(blocks, first, dtypes::u16).bitcast(dtypes::f16).cast(dtypes::f32);
}

// Numbers of `width` bits: the bytes are so many rows, and each row is read once for its lowest bits, then for the next.
Tensor unpacked(const Tensor& bytes, std::int64_t rows, int width) {
  const std::int64_t size = bytes.size(1);
  const Options options{.dtype = dtypes::u8, .device = bytes.device()};
  const Tensor shifts = Tensor::arange(8 / width, options).reshape({8 / width, 1}) * width;
  const Tensor spread = bytes.reshape({-1, rows, 1, size / rows});
  return ((spread >> shifts) & ((1 << width) - 1)).flatten(1);
}

Tensor number(const Tensor& integer) { return integer.cast(dtypes::f32); }
Tensor signed_number(const Tensor& bytes) { return number(bytes.bitcast(dtypes::i8)); }

// A factor for each group of neighbours.
Tensor scaled(const Tensor& values, const Tensor& scales) {
  return (values.reshape({-1, scales.size(1), values.size(1) / scales.size(1)}) *
          scales.unsqueeze(-1))
      .flatten(1);
}

Tensor looked_up(const Tensor& places, std::initializer_list<Nested> values) {
  const Tensor table(values, {.dtype = dtypes::f32, .device = places.device()});
  return table[places.cast(dtypes::i32)];
}

// --- Blocks of 32 with a scale of their own --------------------------------------------------------

Tensor q4_0(const Tensor& x) {
  return (number(unpacked(part(x, 2, 16), 1, 4)) - 8) * half_at(x, 0);
}
Tensor q4_1(const Tensor& x) {
  return number(unpacked(part(x, 4, 16), 1, 4)) * half_at(x, 0) + half_at(x, 2);
}

// The fifth bits are apart from the other four.
Tensor five_bits(const Tensor& x, std::int64_t first) {
  const Tensor fifth = unpacked(part(x, first, 4), 4, 1),
               low = unpacked(part(x, first + 4, 16), 1, 4);
  return number(low | (fifth << 4));
}
Tensor q5_0(const Tensor& x) { return (five_bits(x, 2) - 16) * half_at(x, 0); }
Tensor q5_1(const Tensor& x) { return five_bits(x, 4) * half_at(x, 0) + half_at(x, 2); }
Tensor q8_0(const Tensor& x) { return signed_number(part(x, 2, 32)) * half_at(x, 0); }

// --- Blocks of 256, in groups with scales that are packed themselves -------------------------------

Tensor q2_k(const Tensor& x) {
  const Tensor scales = part(x, 0, 16), values = number(unpacked(part(x, 16, 64), 2, 2));
  const Tensor by = number(scales & 15) * half_at(x, 80),
               less = number(scales >> 4) * half_at(x, 82);
  return scaled(values, by) - scaled(values.full_like(1), less);
}

Tensor q3_k(const Tensor& x) {
  const Tensor high = unpacked(part(x, 0, 32), 1, 1), low = unpacked(part(x, 32, 64), 2, 2);
  const Tensor scales = unpacked(part(x, 96, 8), 1, 4) | (unpacked(part(x, 104, 4), 1, 2) << 4);
  return scaled(number(low | (high << 2)) - 4, (number(scales) - 32) * half_at(x, 108));
}

// 8 scales and 8 least values of 6 bits each, in 12 bytes from 4 on.
struct Scales {
  Tensor by, less;
};
Scales six_bit_scales(const Tensor& x) {
  const Tensor a = part(x, 4, 4), b = part(x, 8, 4), c = part(x, 12, 4);
  const Tensor by = Tensor::cat({a & 63, (c & 15) | ((a >> 6) << 4)}, 1);
  const Tensor less = Tensor::cat({b & 63, (c >> 4) | ((b >> 6) << 4)}, 1);
  return {number(by) * half_at(x, 0), number(less) * half_at(x, 2)};
}
Tensor above_least(const Tensor& values, const Scales& scales) {
  return scaled(values, scales.by) - scaled(values.full_like(1), scales.less);
}
Tensor q4_k(const Tensor& x) {
  return above_least(number(unpacked(part(x, 16, 128), 4, 4)), six_bit_scales(x));
}
Tensor q5_k(const Tensor& x) {
  const Tensor fifth = unpacked(part(x, 16, 32), 1, 1), low = unpacked(part(x, 48, 128), 4, 4);
  return above_least(number(low | (fifth << 4)), six_bit_scales(x));
}

Tensor q6_k(const Tensor& x) {
  const Tensor low = unpacked(part(x, 0, 128), 2, 4), high = unpacked(part(x, 128, 64), 2, 2);
  const Tensor scales = signed_number(part(x, 192, 16)) * half_at(x, 208);
  return scaled(number(low | (high << 4)) - 32, scales);
}

Tensor q8_k(const Tensor& x) {
  return signed_number(part(x, 4, 256)) * integer_at(x, 0, dtypes::u32).bitcast(dtypes::f32);
}

// --- Numbers that are places in a table ------------------------------------------------------------

Tensor from_curve(const Tensor& places) {
  return looked_up(places,
                   {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113});
}
Tensor iq4_nl(const Tensor& x) {
  return from_curve(unpacked(part(x, 2, 16), 1, 4)) * half_at(x, 0);
}
Tensor iq4_xs(const Tensor& x) {
  const Tensor scales = unpacked(part(x, 4, 4), 4, 4) | (unpacked(part(x, 2, 2), 2, 2) << 4);
  return scaled(from_curve(unpacked(part(x, 8, 128), 8, 4)), (number(scales) - 32) * half_at(x, 0));
}

// The scale is the exponent of a float; the table is of 4-bit floats, twice as large.
Tensor mxfp4(const Tensor& x) {
  const Tensor exponent = part(x, 0, 1).cast(dtypes::u32);
  const Tensor subnormal = exponent.full_like(0x00200000) << exponent.minimum(1);
  const Tensor bits = (exponent < 2).where(subnormal, (exponent.maximum(1) - 1) << 23);
  return looked_up(unpacked(part(x, 1, 16), 1, 4),
                   {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}) *
         bits.bitcast(dtypes::f32);
}

// --- Numbers of three values -----------------------------------------------------------------------

Tensor tq2_0(const Tensor& x) {
  return (number(unpacked(part(x, 0, 64), 2, 2)) - 1) * half_at(x, 64);
}

// Five in a byte, as the digits after the point of a fraction to the base of 3.
Tensor digits_of(const Tensor& bytes, int count) {
  std::vector<Tensor> digits;
  for (int i = 0, power = 1; i < count; ++i, power *= 3)
    digits.push_back(((bytes * power).cast(dtypes::u16) * 3) >> 8);
  return number(Tensor::cat(digits, 1));
}
Tensor tq1_0(const Tensor& x) {
  const Tensor all = Tensor::cat(
      {digits_of(part(x, 0, 32), 5), digits_of(part(x, 32, 16), 5), digits_of(part(x, 48, 4), 4)},
      1);
  return (all - 1) * half_at(x, 52);
}

// clang-format off
constexpr GgufType types[] = {
    {0, "F32", 1, 4, dtypes::f32, nullptr},    {1, "F16", 1, 2, dtypes::f16, nullptr},
    {30, "BF16", 1, 2, dtypes::bf16, nullptr}, {28, "F64", 1, 8, dtypes::f64, nullptr},
    {24, "I8", 1, 1, dtypes::i8, nullptr},     {25, "I16", 1, 2, dtypes::i16, nullptr},
    {26, "I32", 1, 4, dtypes::i32, nullptr},   {27, "I64", 1, 8, dtypes::i64, nullptr},
    {2, "Q4_0", 32, 18, {}, q4_0},             {3, "Q4_1", 32, 20, {}, q4_1},
    {6, "Q5_0", 32, 22, {}, q5_0},             {7, "Q5_1", 32, 24, {}, q5_1},
    {8, "Q8_0", 32, 34, {}, q8_0},
    {10, "Q2_K", 256, 84, {}, q2_k},           {11, "Q3_K", 256, 110, {}, q3_k},
    {12, "Q4_K", 256, 144, {}, q4_k},          {13, "Q5_K", 256, 176, {}, q5_k},
    {14, "Q6_K", 256, 210, {}, q6_k},          {15, "Q8_K", 256, 292, {}, q8_k},
    {20, "IQ4_NL", 32, 18, {}, iq4_nl},        {23, "IQ4_XS", 256, 136, {}, iq4_xs},
    {39, "MXFP4", 32, 17, {}, mxfp4},
    {34, "TQ1_0", 256, 54, {}, tq1_0},         {35, "TQ2_0", 256, 66, {}, tq2_0},
};
// clang-format on

}  // namespace

const GgufType* find_gguf_type(std::uint32_t code) {
  const auto* found = std::ranges::find(types, code, &GgufType::code);
  return found == std::end(types) ? nullptr : found;
}

}  // namespace weft
