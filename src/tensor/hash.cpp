// Keccak (FIPS 202) of each row, and a hash of all bytes that is made of it. A round is one kernel over the
// 25 words of all rows and over its tables, which go on with them: so all rounds are one program.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include "functions.h"

namespace weft {
namespace {

constexpr std::int64_t side = 5, words = side * side, rounds = 24, table_rows = 2;

struct Sponge {
  std::string_view name;
  std::int64_t rate;    // bytes that go in at a time; half of the others come out
  std::uint8_t suffix;  // the first byte after the message
};
constexpr Sponge sponges[] = {
    {"sha3_224", 144, 0x06}, {"sha3_256", 136, 0x06},  {"sha3_384", 104, 0x06},
    {"sha3_512", 72, 0x06},  {"shake_128", 168, 0x1f}, {"shake_256", 136, 0x1f},
};

const Sponge& sponge_of(const std::string& name) {
  const auto* found = std::ranges::find(sponges, name, &Sponge::name);
  if (found != std::end(sponges)) return *found;
  std::vector<std::string_view> known;
  for (const Sponge& sponge : sponges) known.push_back(sponge.name);
  user_error(fmt::format("keccak: there is no \"{}\": want {}", name, fmt::join(known, ", ")));
}

// How far each word turns: the lengths 1, 3, 6 ... along a walk over all words but the first.
std::vector<std::uint64_t> turns() {
  std::vector<std::uint64_t> result(words, 0);
  for (std::uint64_t step = 1, x = 1, y = 0; step < words; ++step) {
    result[x + side * y] = step * (step + 1) / 2 % 64;
    const std::uint64_t next = (2 * x + 3 * y) % side;
    x = y;
    y = next;
  }
  return result;
}

// What each round adds to the first word: bits 2^j - 1, from a shift register of 8 bits.
std::vector<std::uint64_t> constants() {
  std::vector<std::uint64_t> result(rounds, 0);
  unsigned bits = 1;
  for (std::uint64_t& constant : result)
    for (int j = 0; j < 7; ++j) {
      constant |= std::uint64_t{bits & 1} << ((1 << j) - 1);
      bits = (bits << 1) ^ ((bits >> 7) * 0x171);
    }
  return result;
}

// The rows in front of the words: the turns, and the constants from that of the next round on.
Tensor tables(const std::string& device) {
  std::vector<std::uint64_t> values = turns();
  std::ranges::copy(constants(), std::back_inserter(values));
  values.resize(table_rows * words, 0);
  return Tensor(values, {.device = device}).reshape({table_rows, side, side});
}

// Word (y, x) comes from row x and column x + 3y: a diagonal of the rows side by side, as x moves on by
// one row and one column.
Tensor permuted(const Tensor& x) {
  const Tensor flat = x.repeat({1, 1, 2}).flatten(1).pad({{0, 0}, {0, side}});
  const Tensor columns = flat.reshape({x.size(0), side, 2 * side + 1}).slice(2, {.stop = side});
  return columns.transpose(1, 2).repeat({1, 3, 1}).slice(1, {.stop = 3 * side, .step = 3});
}

// Of tables and words (rows, y, x); the steps of the standard are theta, rho and pi, chi, iota.
Tensor next_round(const Tensor& state) {
  const Tensor distances = state.slice(0, {.stop = 1}), x = state.slice(0, {.start = table_rows});
  const Tensor added = state.slice(0, {.start = 1, .stop = 2}).flatten(1);
  const auto row = [&](std::int64_t y) { return x.slice(1, {.start = y, .stop = y + 1}); };
  const Tensor parity = row(0) ^ row(1) ^ row(2) ^ row(3) ^ row(4);
  const Tensor right = parity.roll(-1, 2);
  const Tensor mixed = x ^ parity.roll(1, 2) ^ (right << 1) ^ (right >> 63);
  const Tensor moved = permuted((mixed << distances) | (mixed >> (64 - distances)));
  const Tensor chosen = moved ^ (~moved.roll(-1, 2) & moved.roll(-2, 2));
  const Tensor constant = added.slice(1, {.stop = 1}).pad({{0, 0}, {0, words - 1}});
  const Tensor later =
      added.slice(1, {.stop = rounds}).roll(-1, 1).pad({{0, 0}, {0, words - rounds}});
  return Tensor::cat({distances, later.unflatten(1, {side, side}),
                      chosen ^ constant.unflatten(1, {side, side})})
      .contiguous();
}

// The bytes of the elements along the last axis, the lowest first.
Tensor in_bytes(const Tensor& x) {
  if (x.dtype().is_bool()) return x.cast(dtypes::u8);
  const auto width = static_cast<std::int64_t>(x.element_size());
  if (width == 1) return x.bitcast(dtypes::u8);
  const DType bits = bits_of(x.dtype());
  const Tensor shifts = Tensor::arange(0, 8 * width, 8, {.dtype = bits, .device = x.device()});
  return (x.bitcast(bits).unsqueeze(-1) >> shifts).cast(dtypes::u8).flatten(-2);
}

// The message (rows, bytes) with its end marked, as words (rows, blocks, y, x).
Tensor blocks_of(const Tensor& message, const Sponge& sponge) {
  const std::int64_t rows = message.size(0), filled = message.size(1) % sponge.rate;
  std::vector<std::uint8_t> end(static_cast<std::size_t>(sponge.rate - filled), 0);
  end.front() = sponge.suffix;
  end.back() |= 0x80;
  const auto behind = static_cast<std::int64_t>(end.size());
  const Tensor tail = Tensor(end, {.device = message.device()}).expand({rows, behind});
  const Tensor whole = Tensor::cat({message, tail}, 1);
  const std::int64_t blocks = whole.size(1) / sponge.rate, given = sponge.rate / 8;
  const Tensor bytes = whole.reshape({rows, blocks, given, 8}).cast(dtypes::u64);
  const Tensor shifts = Tensor::arange(0, 64, 8, {.dtype = dtypes::u64, .device = bytes.device()});
  const Tensor in = (bytes << shifts).sum(-1).pad({{0, 0}, {0, 0}, {0, words - given}});
  return in.reshape({rows, blocks, side, side}).contiguous();
}

Tensor sponged(const Tensor& message, const Sponge& sponge) {
  const Tensor blocks = blocks_of(message, sponge);
  Tensor state = tables(message.device()).pad({{0, message.size(0)}, {0, 0}, {0, 0}});
  for (std::int64_t i = 0; i < blocks.size(1); ++i) {
    const Tensor block = blocks.slice(1, {.start = i, .stop = i + 1}).squeeze(1);
    state = (state ^ block.pad({{table_rows, 0}, {0, 0}, {0, 0}})).contiguous();
    for (int round = 0; round < rounds; ++round) state = next_round(state);
  }
  const Tensor last = state.slice(0, {.start = table_rows}).flatten(1);
  return in_bytes(last).slice(1, {.stop = (8 * words - sponge.rate) / 2});
}

// A hash for each row of 1 MiB: of those of its parts.
Tensor hash_of_rows(const Tensor& rows) {
  constexpr std::int64_t part = 4096;
  const Sponge& sponge = sponge_of("shake_128");
  return sponged(sponged(rows.reshape({-1, part}), sponge).reshape({rows.size(0), part}), sponge);
}

}  // namespace

Tensor Tensor::keccak(const std::string& name) const {
  const Called called;
  const Sponge& sponge = sponge_of(name);
  std::vector<std::int64_t> sizes = constant_shape("keccak", uop());
  if (sizes.empty()) user_error("keccak: a scalar has no last axis: reshape({1}) is a row of one");
  const Tensor bytes = in_bytes(*this);
  const std::int64_t rows =
      std::accumulate(sizes.begin(), sizes.end() - 1, std::int64_t{1}, std::multiplies<>());
  const Tensor hashes = sponged(bytes.reshape({rows, bytes.size(-1)}), sponge);
  sizes.back() = hashes.size(1);
  return hashes.reshape(sizes);
}

Tensor Tensor::hash() const {
  const Called called;
  constexpr std::int64_t row = 1 << 20;
  constant_shape("hash", uop());
  Tensor bytes = in_bytes(flatten());
  while (true) {
    const std::int64_t rows = std::max<std::int64_t>(1, (bytes.numel() + row - 1) / row);
    bytes = hash_of_rows(bytes.pad({{0, rows * row - bytes.numel()}}).reshape({rows, row}));
    if (rows == 1) return bytes.flatten();
    bytes = bytes.flatten();
  }
}

}  // namespace weft
