#include "all_reduce.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "shard_slices.h"

namespace weft {
namespace {

// With fewer elements, many small steps cost more than the copies that they save.
constexpr std::int64_t least_for_rings = std::int64_t{1} << 18;

constexpr std::array<std::string_view, 4> names{"", "naive", "ring", "all2all"};

struct Parts {
  Op op;
  const std::vector<UOp>& parts;
  const std::vector<Symbol>& devices;

  std::size_t count() const { return parts.size(); }
  UOp combined(const UOp& a, const UOp& b) const { return make(op, {a, b}); }
  UOp moved(const UOp& value, std::size_t from, std::size_t to) const {
    return copied(value, devices[from], devices[to]);
  }
};

// The order is the same on each device, because sums of floats depend on it.
UOp sum_on(const Parts& all, const std::vector<UOp>& values, std::size_t device) {
  UOp sum = all.moved(values[0], 0, device);
  for (std::size_t from = 1; from < all.count(); ++from)
    sum = all.combined(sum, all.moved(values[from], from, device));
  return sum;
}

std::vector<UOp> naive(const Parts& all) {
  std::vector<UOp> sums;
  for (std::size_t i = 0; i < all.count(); ++i) sums.push_back(sum_on(all, all.parts, i));
  return sums;
}

// Sums one piece around the ring, from the device after `owner` to `owner`.
UOp sum_around(const Parts& all, const std::vector<UOp>& values, std::size_t owner) {
  std::size_t at = (owner + 1) % all.count();
  UOp sum = values[at];
  for (std::size_t step = 1; step < all.count(); ++step) {
    const std::size_t next = (at + 1) % all.count();
    sum = all.combined(all.moved(sum, at, next), values[next]);
    at = next;
  }
  return sum;
}

// Sends a sum from its owner to all devices, around the ring or directly. The result is by device.
std::vector<UOp> spread(const Parts& all, const UOp& sum, std::size_t owner, bool around) {
  std::vector<UOp> on(all.count());
  on[owner] = sum;
  for (std::size_t step = 1; step < all.count(); ++step) {
    const std::size_t to = (owner + step) % all.count();
    const std::size_t from = around ? (owner + step - 1) % all.count() : owner;
    on[to] = all.moved(on[from], from, to);
  }
  return on;
}

// Each device sums one piece and sends it to the others.
std::vector<UOp> by_pieces(const Parts& all, std::int64_t elements, bool around) {
  const Layout pieces(0, elements, all.devices);
  std::vector<std::vector<UOp>> found(all.count());
  for (std::size_t owner = 0; owner < all.count(); ++owner) {
    if (pieces.size(owner) == 0) continue;
    std::vector<UOp> values;
    for (const UOp& part : all.parts)
      values.push_back(slice_of(reshape(part, {const_int(elements)}), 0,
                                const_int(pieces.bounds[owner]), pieces.size(owner)));
    const UOp sum = around ? sum_around(all, values, owner) : sum_on(all, values, owner);
    const std::vector<UOp> everywhere = spread(all, sum, owner, around);
    for (std::size_t i = 0; i < all.count(); ++i) found[i].push_back(everywhere[i]);
  }
  std::vector<UOp> sums;
  for (const std::vector<UOp>& each : found)
    sums.push_back(reshape(joined(each, 0), sizes_of(all.parts[0])));
  return sums;
}

}  // namespace

AllReduceBy all_reduce_in_force() {
  const std::string asked = setting("ALLREDUCE");
  const auto found = std::ranges::find(names, asked);
  if (found == names.end())
    user_error(fmt::format("ALLREDUCE={}: expected naive, ring or all2all", asked));
  return static_cast<AllReduceBy>(found - names.begin());
}

std::vector<UOp> all_reduced(Op op, const std::vector<UOp>& parts,
                             const std::vector<Symbol>& devices, AllReduceBy by) {
  const Parts all{op, parts, devices};
  const std::int64_t elements =
      constant_product(parts[0]->dims()).value_or(0);  // 0: not cut into pieces
  if (by == AllReduceBy::Size && parts.size() > 2 && elements >= least_for_rings)
    by = AllReduceBy::Ring;
  if (by == AllReduceBy::Size || by == AllReduceBy::Naive || elements == 0) return naive(all);
  return by_pieces(all, elements, by == AllReduceBy::Ring);
}

}  // namespace weft
