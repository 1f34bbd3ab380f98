// Decomposes SIN and COS. For all arguments, x is multiplied by the bits of 2/pi that matter at its
// exponent (Payne and Hanek), in pieces whose products are exact by FMA.

#include "transcendental.h"

#include <bit>
#include <vector>

namespace weft {
namespace {

// 2/pi, cut into pieces of `precision` bits. Piece i has the weight 2^-(i*precision).
constexpr double two_over_pi_f32[] = {
    0x1.45f306p-1, 0x1.b93910p-2, 0x1.529fc0p-4, 0x1.3abe88p-3, 0x1.ea69bap-1,
    0x1.81b6c4p-1, 0x1.2b3278p-1, 0x1.0e4104p-2, 0x1.fca2c6p-1,
};
constexpr double two_over_pi_f64[] = {
    0x1.45f306dc9c882p-1, 0x1.4a7f09d5f47d4p-1, 0x1.a6ee06db14accp-1, 0x1.3c439041fe516p-1,
    0x1.d5ef5de2b0db8p-3, 0x1.2371d2126e970p-2, 0x1.924bba8274600p-8, 0x1.21cfe1deb1cb1p-1,
    0x1.4d39f74411af8p-3, 0x1.4baed1213a671p-1, 0x1.8135a2fbf209cp-1, 0x1.91d639835339fp-1,
    0x1.272117e2ef7e4p-2, 0x1.41d8ffc4bffeep-2, 0x1.02cc07f79788cp-1, 0x1.6b414da3eda6cp-2,
    0x1.fb3c9f2c26dd2p-2, 0x1.d18fd9a797fa8p-1, 0x1.6ba93dd63f5f2p-1, 0x1.f17b3d0739f78p-1,
    0x1.4a525d4d7f6bfp-1, 0x1.88fc6ae842b00p-2, 0x1.98237e3db5d5fp-1,
};
constexpr double half_pi_f32[] = {0x1.921fb6p+0, -0x1.777a5cp-25};
constexpr double half_pi_f64[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// (sin r - r)/r^3 and (cos r - 1 + r^2/2)/r^4 as polynomials in r^2, for |r| at most a little above
// pi/4, fitted as in transcendental.cpp.
constexpr double sin_f32[] = {-0x1.555546p-3, 0x1.11077ep-7, -0x1.9956acp-13};  // 2^-28.0
constexpr double cos_f32[] = {0x1.55554ap-5, -0x1.6c0c28p-10, 0x1.99e80cp-16};  // 2^-32.9
constexpr double sin_f64[] = {                                                  // 2^-58.0
    -0x1.5555555555549p-3, 0x1.111111110f8a4p-7,   -0x1.a01a019c15a3fp-13,
    0x1.71de357a905c1p-19, -0x1.ae5e6819f43ecp-26, 0x1.5d937820cdfb9p-33};
constexpr double cos_f64[] = {  // 2^-63.9
    0x1.555555555554bp-5,   -0x1.6c16c16c15016p-10, 0x1.a01a019c8f3d7p-16,
    -0x1.27e4f7f19b6dfp-22, 0x1.1ee9dbcf4ddabp-29,  -0x1.8fa6811684f98p-37};

struct SinTables {
  std::span<const double> two_over_pi, half_pi, sin, cos;
  // i*reciprocal >> 16 equals i/precision for every i below the largest exponent.
  std::int64_t reciprocal;
};
const SinTables f32_tables{two_over_pi_f32, half_pi_f32, sin_f32, cos_f32, 2731};
const SinTables f64_tables{two_over_pi_f64, half_pi_f64, sin_f64, cos_f64, 1237};

// The number of pieces that x is multiplied by. The products with earlier pieces are multiples of
// 4, i.e. whole turns. Those with later pieces are below 2^-(3*precision) in total, while no number
// except 0 is closer to a multiple of pi/2 than 2^-(precision + 10).
constexpr std::size_t piece_count = 5;

// Returns table[at], table[at + 1] ... by a shift for each bit of `at`, since ops cannot index.
std::vector<UOp> pieces_from(const UOp& at, const SinTables& tables, const FloatLayout& layout) {
  std::vector<UOp> pieces;
  for (const double piece : tables.two_over_pi) pieces.push_back(layout.number(piece));
  const std::size_t last = pieces.size() - piece_count;
  for (std::size_t step = std::bit_floor(last); step > 0; step /= 2) {
    const UOp is_on = (at & static_cast<std::int64_t>(step)) != 0;
    const std::size_t wanted = std::min(pieces.size(), piece_count + step - 1);
    for (std::size_t i = 0; i < wanted; ++i)
      if (i + step < pieces.size()) pieces[i] = where(is_on, pieces[i + step], pieces[i]);
    pieces.resize(wanted);
  }
  return pieces;
}

// Subtracts a multiple of 4 from v, exactly, for -2^precision <= v < 2^(precision + 1).
UOp minus_whole_turns(const UOp& v, const FloatLayout& layout) {
  return mulacc(round_to_integer(v * 0.25, layout).value, layout.number(-4), v);
}

struct Reduced {
  UOp quadrant;   // in the two low bits
  Pair fraction;  // of a quadrant: from -1/2 to 1/2
};

// Returns the sum of the products, without whole quadrants. Products below 2^-precision matter only
// if the larger ones nearly cancel. All bits count then: the rounding errors of a first sum go into
// a second one, and the errors of that one are added up.
Reduced reduced(const UOp& x, const std::vector<UOp>& pieces, const FloatLayout& layout) {
  std::vector<Pair> products;
  UOp scaled = x;
  for (const UOp& piece : pieces) {
    products.push_back(two_product(scaled, piece));
    scaled = scaled * std::ldexp(1.0, -layout.precision);
  }
  const UOp zero = layout.number(0);
  const UOp& first = products[0].high;
  const UOp partial = where(first < std::ldexp(1.0, layout.precision + 1), first, zero);

  UOp sum = minus_whole_turns(partial, layout);
  std::vector<UOp> rounded;
  for (const UOp& next :
       {minus_whole_turns(products[0].low, layout), minus_whole_turns(products[1].high, layout),
        products[1].low, products[2].high}) {
    const Pair exact = two_sum(sum, next);
    sum = exact.high;
    rounded.push_back(exact.low);
  }
  const Rounded whole = round_to_integer(sum, layout);
  sum = sum - whole.value;

  const Pair tail = two_sum(products[2].low, products[3].high);
  UOp low = tail.low + (products[3].low + products[4].high);
  rounded.push_back(tail.high);
  for (const UOp& next : rounded) {
    const Pair exact = two_sum(sum, next);
    sum = exact.high;
    low = low + exact.low;
  }
  return {whole.word, fast_two_sum(sum, low)};
}

// Converts a fraction of a quadrant to radians.
Pair radians_of(const Pair& fraction, const SinTables& tables, const FloatLayout& layout) {
  const UOp high = layout.number(tables.half_pi[0]), low = layout.number(tables.half_pi[1]);
  const Pair product = two_product(fraction.high, high);
  return {product.high, product.low + mulacc(fraction.high, low, fraction.low * high)};
}

UOp sine(const Pair& r, const UOp& z, const SinTables& tables) {
  const UOp low = mulacc(r.low * z, literal_like(-0.5, z), r.low);  // r.low * cos r
  return r.high + mulacc(r.high * z, polynomial(z, tables.sin), low);
}

UOp cosine(const Pair& r, const UOp& z, const SinTables& tables) {
  const Pair start = fast_two_sum(literal_like(1.0, z), z * -0.5);
  const UOp turn = mulacc(z * z, polynomial(z, tables.cos), -(r.high * r.low));
  return start.high + (start.low + turn);
}

// The angle of |x|: a number of quadrants and a rest.
struct Angle {
  UOp quadrant;
  Pair rest;  // in radians, within +-pi/4
};

Angle angle_of(const UOp& magnitude_word, const SinTables& tables, const FloatLayout& layout) {
  const int precision = layout.precision;
  // The first piece that matters. x is scaled as if it were piece 0.
  const UOp beyond = shr(magnitude_word, layout.mantissa()) - (layout.bias + precision + 1);
  const UOp at = where(beyond < 0, layout.integer(0), shr(beyond * tables.reciprocal, 16));
  const UOp scale = power_of_two(at * -precision, layout);
  const auto [quadrant, fraction] = reduced(bitcast(magnitude_word, layout.value) * scale,
                                            pieces_from(at, tables, layout), layout);
  return {quadrant, radians_of(fraction, tables, layout)};
}

// Returns the word of the sine of the angle plus so many quadrants.
UOp sine_word(const Angle& angle, int quadrants, const SinTables& tables,
              const FloatLayout& layout) {
  const UOp quadrant = quadrants == 0 ? angle.quadrant : angle.quadrant + quadrants;
  const UOp z = angle.rest.high * angle.rest.high;
  const UOp is_odd = (quadrant & 1) != 0;
  const UOp turned = where(is_odd, cosine(angle.rest, z, tables), sine(angle.rest, z, tables));
  return bitcast(turned, layout.word) ^ shl(quadrant & 2, layout.word.bits() - 2);
}

const SinTables& tables_of(const FloatLayout& layout) {
  return layout.precision == 24 ? f32_tables : f64_tables;
}

// Returns whether |x| is so small that sin x rounds to x and cos x to 1. The low parts of its
// products could underflow.
UOp is_tiny(const UOp& magnitude_word, const FloatLayout& layout) {
  return bitcast(magnitude_word, layout.value) < std::ldexp(1.0, -(layout.precision + 1) / 2);
}

}  // namespace

UOp sin_of(const UOp& x) {
  const FloatLayout layout = FloatLayout::of(x->dtype());
  const SinTables& tables = tables_of(layout);
  const UOp word = bitcast(x, layout.word), sign = word & layout.sign(), magnitude = word ^ sign;
  const UOp sine = sine_word(angle_of(magnitude, tables, layout), 0, tables, layout) ^ sign;
  return where(is_tiny(magnitude, layout), x, bitcast(sine, layout.value));
}

UOp cos_of(const UOp& x) {
  const FloatLayout layout = FloatLayout::of(x->dtype());
  const SinTables& tables = tables_of(layout);
  const UOp word = bitcast(x, layout.word), magnitude = word ^ (word & layout.sign());
  const UOp cosine = sine_word(angle_of(magnitude, tables, layout), 1, tables, layout);
  return where(is_tiny(magnitude, layout), literal_like(1.0, x), bitcast(cosine, layout.value));
}

}  // namespace weft
