// Processors multiply bytes four times as fast as floats, and codes are bytes. x therefore becomes
// bytes too, without being rounded to 8 bits: in each block of the matrix it is a 24-bit integer
// times a power of two, and the integer is split into three limbs (base 256), each a signed byte.
// The error is about the last mantissa bit of the largest x of the block.

#include "limbs.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>

#include "prepacked_weights.h"
#include "quantized_gemv.h"

namespace weft {
namespace {

constexpr int bits_of_digit = 8;
constexpr std::int64_t digits = 3, base = 1 << bits_of_digit;
// Products that an instruction sums in each lane, and lanes of the widest vector of sums.
constexpr std::int64_t group = 4, lanes = 16;
// Larger blocks would overflow i32 in products(), and all their x share the largest one's exponent.
constexpr std::int64_t most_in_block = 256;

// x is rounded to multiples of its block's power of two times 2^-22.
constexpr int steps = 22;
// The format of f32: bits of the mantissa, and the largest biased exponent.
constexpr std::int64_t mantissa = 23, exponent_mask = 255;

class LimbForm {
 public:
  LimbForm(const UOp& kernel, const QuantizedGemv& of)
      : maker_(kernel), of_(of), values_(prepacked_weights(of)) {}

  KernelForm made() {
    maker_.add_memory(dtypes::f32, sizes_of_blocks());
    maker_.add_memory(dtypes::f32, sizes_of_blocks());
    std::vector<UOp> sizes = sizes_of_blocks();
    sizes.push_back(const_int(digits));
    for (const Node* code : of_.codes) sizes.emplace_back(code->src(0));
    maker_.add_memory(dtypes::i8, sizes);
    if (has_sums()) maker_.add_memory(dtypes::f32, sizes_of_blocks());
    for (const Node* value : values_) maker_.add(packed(value), true);
    maker_.add(powers());
    maker_.add(in_digits());
    if (has_sums()) maker_.add(sums());
    maker_.add(products());
    return maker_.made();
  }

 private:
  enum Memory : std::uint8_t { Powers, Steps, Limbs, Sums };

  // The loops of a part, in place of the kernel's. In parts that read the matrix, the loop over
  // rows is split into blocks of lanes, and the last loop over codes into groups.
  struct Loops {
    Substitution by;
    std::vector<UOp> blocks, codes;
    UOp rows, lane, group = {};  // null in other parts
  };

  static UOp own(std::int64_t iterations, LoopKind kind) {
    return range(iterations, fresh_id().value, kind);
  }

  // Returns the loops of parts that read x.
  Loops along_vector(LoopKind kind_of_codes) const {
    Loops loops;
    loops.blocks = renewed(of_.blocks, LoopKind::Loop, loops.by);
    loops.codes = renewed(of_.codes, kind_of_codes, loops.by);
    return loops;
  }

  Loops along_matrix(LoopKind kind) const {
    Loops loops;
    loops.rows = own(iterations_of(of_.row) / lanes, LoopKind::Loop);
    loops.lane = own(lanes, LoopKind::Loop);
    loops.by.emplace(of_.row, loops.rows * lanes + loops.lane);
    loops.blocks = renewed(of_.blocks, kind, loops.by);
    renew_codes(loops, kind);
    return loops;
  }

  // Returns new loops in place of those of the kernel.
  static std::vector<UOp> renewed(const Ranges& ranges, LoopKind kind, Substitution& by) {
    std::vector<UOp> loops;
    for (const Node* range : ranges) {
      loops.push_back(own(iterations_of(range), kind));
      by.insert_or_assign(range, loops.back());
    }
    return loops;
  }
  void renew_codes(Loops& loops, LoopKind kind) const {
    loops.codes = renewed(of_.codes, kind, loops.by);
    const Node* last = of_.codes.back();
    loops.group = own(group, kind);
    loops.codes.back() = own(iterations_of(last) / group, kind);
    loops.by[last] = loops.codes.back() * group + loops.group;
  }

  static std::vector<UOp> joined(std::vector<UOp> loops, const std::vector<UOp>& more) {
    loops.insert(loops.end(), more.begin(), more.end());
    return loops;
  }

  std::vector<UOp> sizes_of_blocks() const {
    std::vector<UOp> sizes;
    for (const Node* block : of_.blocks) sizes.emplace_back(block->src(0));
    return sizes;
  }

  UOp kernel(const std::vector<UOp>& stores, const std::vector<UOp>& loops,
             std::string_view suffix) const {
    return maker_.kernel(simplify(stores), loops, suffix);
  }

  static UOp reduced(Op op, const UOp& value, const std::vector<UOp>& loops) {
    return make(Op::Reduce, joined({value}, loops), {}, ReduceArg{op, {}});
  }

  // Prepacks a value of the matrix in the order in which products() reads it: a group of codes of
  // each lane's row, beside those of the next lane.
  UOp packed(const Node* value) {
    const Loops loops = along_matrix(LoopKind::Loop);
    const std::vector<UOp> at = place_of(value, loops);
    std::vector<UOp> sizes;
    for (const UOp& loop : at) sizes.emplace_back(loop->src(0));
    const std::int32_t memory = maker_.add_memory(value->dtype(), sizes, Space::Constant);
    packed_.push_back(memory);
    return kernel({maker_.store(memory, at, substitute(UOp(value), loops.by))}, at,
                  fmt::format("packed{}", packed_.size() - 1));
  }

  // Computes for each block the largest power of two that is at most (1 + 1/128) * max |x|; this
  // factor keeps limbs from exceeding 127. The power is NaN if max |x| is NaN or infinite.
  UOp powers() const {
    const Loops loops = along_vector(LoopKind::Reduce);
    const UOp x = substitute(of_.x, loops.by);
    const UOp most = reduced(Op::Max, max(x, -x), loops.codes);
    const UOp exponent =
        max(bitcast(most * (1 + 1.0 / 128), dtypes::i32) & (exponent_mask << mantissa),
            const_int(std::int64_t{1} << mantissa, dtypes::i32));
    const UOp power = bitcast(exponent, dtypes::f32) + (most - most);
    const UOp step = power * std::ldexp(1.0, bits_of_digit - steps);
    return kernel(
        {maker_.store(Powers, loops.blocks, power), maker_.store(Steps, loops.blocks, step)},
        loops.blocks, "powers");
  }

  // Returns x as an integer. It fits into 24 bits, since |x| is less than twice its block's power.
  UOp in_steps(const Loops& loops, const UOp& power) const {
    const UOp two_by_power =
        bitcast((exponent_mask << mantissa) - bitcast(power, dtypes::i32), dtypes::f32);
    const UOp x = substitute(of_.x, loops.by) * two_by_power * std::ldexp(1.0, steps - 1);
    const UOp half = where(x < 0.0, const_float(-0.5, x->dtype()), const_float(0.5, x->dtype()));
    return cast(x + half, dtypes::i32);
  }

  UOp in_digits() const {
    const Loops loops = along_vector(LoopKind::Loop);
    UOp rest = in_steps(loops, maker_.load(Powers, loops.blocks));
    std::vector<UOp> stores;
    for (std::int64_t digit = 0; digit < digits; ++digit) {
      const UOp byte = cast(rest, dtypes::i8);
      stores.push_back(maker_.store(Limbs, place_of_digit(loops, digit), byte));
      rest = (rest - cast(byte, dtypes::i32)) / base;
    }
    return kernel(stores, joined(loops.blocks, loops.codes), "digits");
  }

  bool has_sums() const { return !of_.shift.is_null() || !of_.offset.is_null(); }
  bool is_shift_of_all() const { return !of_.shift.is_null() && of_.shift->is_const(); }

  // Computes what shifts and offsets multiply: the sum of a block's x, rounded as the limbs are. If
  // the shift is a constant, the sum is already multiplied by it.
  UOp sums() const {
    const Loops loops = along_vector(LoopKind::Reduce);
    const UOp whole = in_steps(loops, maker_.load(Powers, loops.blocks));
    const UOp sum = cast(reduced(Op::Add, whole, loops.codes), dtypes::f32);
    const UOp value = sum * maker_.load(Steps, loops.blocks) * std::ldexp(1.0, -bits_of_digit);
    return kernel({maker_.store(Sums, loops.blocks, is_shift_of_all() ? value * of_.shift : value)},
                  loops.blocks, "sums");
  }

  std::vector<UOp> place_of_digit(const Loops& loops, std::int64_t digit) const {
    std::vector<UOp> at = loops.blocks;
    at.push_back(const_int(digit));
    for (const Node* code : of_.codes) at.push_back(loops.by.at(code));
    return at;
  }

  std::vector<UOp> place_of(const Node* value, const Loops& loops) const {
    std::vector<UOp> at{loops.rows};
    for (std::size_t i = 0; i < of_.blocks.size(); ++i)
      if (changes_with(value, of_.blocks[i])) at.push_back(loops.blocks[i]);
    for (std::size_t i = 0; i < of_.codes.size(); ++i)
      if (changes_with(value, of_.codes[i])) at.push_back(loops.codes[i]);
    at.push_back(loops.lane);
    if (changes_with(value, of_.codes.back())) at.push_back(loops.group);
    return at;
  }

  // Substitutes a part's loops, and reads of prepacked memory for values of the matrix.
  Substitution where_packed(const Loops& loops) const {
    Substitution by = loops.by;
    for (std::size_t i = 0; i < values_.size(); ++i)
      by.emplace(values_[i], maker_.load(packed_[i], place_of(values_[i], loops)));
    return by;
  }

  // Returns the sum of the products of one limb and the codes of a block.
  UOp limb_sum(Loops& loops, std::int64_t digit) const {
    renew_codes(loops, LoopKind::Reduce);
    const UOp code = substitute(UOp(of_.code), where_packed(loops));
    const UOp product = cast(maker_.load(Limbs, place_of_digit(loops, digit)), dtypes::i32) *
                        cast(code, dtypes::i32);
    return reduced(Op::Add, product, joined(loops.codes, {loops.group}));
  }

  // The sums of the two upper limbs combined still fit into i32, for up to most_in_block codes.
  UOp products() const {
    Loops loops = along_matrix(LoopKind::Reduce);
    const UOp high = limb_sum(loops, 2), middle = limb_sum(loops, 1), low = limb_sum(loops, 0);
    const UOp product =
        cast(high * base + middle, dtypes::f32) + cast(low, dtypes::f32) * (1.0 / base);
    const Substitution packed = where_packed(loops);
    UOp block = product * maker_.load(Steps, loops.blocks);
    if (!of_.shift.is_null()) {
      const UOp sum = maker_.load(Sums, loops.blocks);
      block = block + (is_shift_of_all() ? sum : substitute(of_.shift, packed) * sum);
    }
    block = block * substitute(of_.scale, packed);
    if (!of_.offset.is_null())
      block = block + substitute(of_.offset, packed) * maker_.load(Sums, loops.blocks);
    const UOp all = reduced(Op::Add, block, loops.blocks);
    const UOp store = substitute(UOp(of_.store), {{of_.sum, all}, {of_.row, loops.by.at(of_.row)}});
    return kernel({store}, {loops.rows, loops.lane}, "products");
  }

  FormMaker maker_;
  const QuantizedGemv& of_;
  std::vector<const Node*> values_;
  std::vector<std::int32_t> packed_;  // by value: its prepacked memory
};

}  // namespace

std::vector<KernelForm> limb_forms(const UOp& kernel) {
  const auto sum = quantized_gemv_in(kernel);
  if (!sum || sum->codes_of_block() > most_in_block || iterations_of(sum->row) % lanes != 0 ||
      iterations_of(sum->codes.back()) % group != 0)
    return {};
  return {LimbForm(kernel, *sum).made()};
}

}  // namespace weft
