#include "strided.h"

#include <algorithm>

#include <weft/dev/ir/graph.h>

#include "lanes.h"

namespace weft {
namespace {

class Strided {
 public:
  explicit Strided(const StridedRead& read) : read_(read), lanes_(read.lanes) {}

  UOp result() const {
    UOp found = part(0);
    for (std::int64_t number = 1; number < read_.stride; ++number)
      found = with_part(found, part(number), number);
    return found;
  }

 private:
  // The last part begins earlier, so that it ends with the last lane.
  std::int64_t start(std::int64_t number) const {
    return std::min(number * lanes_, read_.stride * (lanes_ - 1) + 1 - lanes_);
  }

  std::int64_t part_of(std::int64_t lane) const {
    return std::min(lane * read_.stride / lanes_, read_.stride - 1);
  }

  UOp index_at(std::int64_t by) const {
    if (by == 0) return read_.first;
    return read_.first->is_const() ? const_int(read_.first->lo() + by, read_.first->dtype())
                                   : read_.first + by;
  }

  UOp part(std::int64_t number) const {
    const UOp at = short_lanes_from(index_at(start(number)), read_.lanes);
    std::vector<UOp> src{make(Op::Index, {read_.memory, valid(number), at})};
    if (!read_.otherwise.is_null()) src.push_back(splat(read_.otherwise, read_.lanes));
    return make(Op::Load, src);
  }

  // If each lane has its own condition, the elements between lanes are masked off.
  UOp valid(std::int64_t number) const {
    if (read_.valid->is_const()) return read_.valid;
    if (read_.valid->dtype().lanes() == 1) return splat(read_.valid, read_.lanes);
    std::vector<UOp> is_lane;
    for (std::int64_t i = 0; i < lanes_; ++i)
      is_lane.push_back(const_bool((start(number) + i) % read_.stride == 0));
    return shuffled_condition(read_.valid,
                              [&](std::int64_t i) { return (start(number) + i) / read_.stride; }) &
           make(Op::Stack, is_lane);
  }

  // Shuffles a condition by shuffling its integer operands and computing it again, since shuffling
  // bools is expensive.
  template <class From>
  UOp shuffled_condition(const UOp& value, From from) const {
    if (value->op() == Op::Splat || value->is_const()) return value;
    std::vector<UOp> src;
    if (value->op() == Op::Stack) {
      for (std::int64_t i = 0; i < lanes_; ++i)
        src.emplace_back(value->src(static_cast<std::size_t>(from(i))));
      return make(Op::Stack, src);
    }
    if (!is_elementwise(value->op())) return shuffled(value, read_.lanes, from);
    for (const Node* source : value->src()) src.push_back(shuffled_condition(UOp(source), from));
    return with_sources(value, src);
  }

  // Takes the lanes that are in the part from it, and the others from `found`. Lanes of later parts
  // hold arbitrary values until those are merged. For part 1, `found` is part 0 as it was loaded.
  UOp with_part(const UOp& found, const UOp& part, std::int64_t number) const {
    std::vector<UOp> lanes;
    for (std::int64_t i = 0; i < lanes_; ++i) {
      const std::int64_t place = i * read_.stride;
      if (part_of(i) >= number)
        lanes.push_back(lane(part, std::clamp<std::int64_t>(place - start(number), 0, lanes_ - 1)));
      else
        lanes.push_back(lane(found, number == 1 ? place : i));
    }
    return make(Op::Stack, lanes);
  }

  const StridedRead& read_;
  std::int64_t lanes_;
};

}  // namespace

UOp load_strided(const StridedRead& read) { return Strided(read).result(); }

}  // namespace weft
