#include "draft.h"

#include <algorithm>
#include <numeric>

namespace weft {
namespace draw {

void axis(Draft& draft) { draft.with.i = draft.axis(); }

void axes(Draft& draft) {
  draft.with.n.clear();
  for (std::int64_t axis = 0; axis < draft.rank(); ++axis)
    if (draft.one_in(2)) draft.with.n.push_back(axis);
  if (draft.with.n.empty() && draft.rank() > 0) draft.with.n = {draft.axis()};
}

void permutation(Draft& draft) {
  draft.with.n.resize(draft.shape.size());
  std::iota(draft.with.n.begin(), draft.with.n.end(), 0);
  std::shuffle(draft.with.n.begin(), draft.with.n.end(), draft.random());
}

void sizes(Draft& draft) {
  std::int64_t left = 1;
  for (std::int64_t size : draft.shape) left *= size;
  if (left == 0) {
    draft.with.n = draft.shape;
    return;
  }
  draft.with.n.clear();
  while (left > 1 && draft.with.n.size() < 3) {
    std::int64_t part = 1 + draft.below(left);
    while (left % part != 0) --part;
    draft.with.n.push_back(part);
    left /= part;
  }
  if (left > 1 || draft.one_in(4)) draft.with.n.push_back(left);
}

void expanded(Draft& draft) {
  draft.with.n = draft.shape;
  for (std::int64_t& size : draft.with.n)
    if (size == 1) size = draft.one_in(30) ? 0 : 1 + draft.below(4);
  if (draft.one_in(2)) draft.with.n.insert(draft.with.n.begin(), 1 + draft.below(3));
}

void padding(Draft& draft) {
  draft.with.n.clear();
  for (std::size_t i = 0; i < 2 * draft.shape.size(); ++i) draft.with.n.push_back(draft.below(3));
}

void part(Draft& draft) {
  draft.with.n.clear();
  for (std::int64_t size : draft.shape) {
    std::int64_t start = draft.below(size + 1), stop = draft.below(size + 1);
    if (start == stop && !draft.one_in(20)) start = 0, stop = size;
    draft.with.n.insert(draft.with.n.end(), {std::min(start, stop), std::max(start, stop)});
  }
}

void slice(Draft& draft) {
  Constants& with = draft.with;
  with.i = draft.axis();
  const std::int64_t size = draft.size(with.i);
  with.j = draft.below(std::max<std::int64_t>(size, 1));
  with.k = std::min(size, with.j + 1 + draft.below(3));
}

void shift(Draft& draft) {
  draft.with.i = draft.axis();
  draft.with.j = draft.below(7) - 3;
}

namespace {

constexpr DType wide[] = {dtypes::f32,    dtypes::f32,   dtypes::i32, dtypes::i32,  dtypes::f64,
                          dtypes::i64,    dtypes::u64,   dtypes::f16, dtypes::bf16, dtypes::bool_,
                          dtypes::i8,     dtypes::i16,   dtypes::u8,  dtypes::u16,  dtypes::u32,
                          dtypes::f8e4m3, dtypes::f8e5m2};

DType any_dtype(Draft& draft) {
  return wide[draft.below(std::ssize(wide) - (draft.one_in(3) ? 0 : 2))];
}

}  // namespace

void cast(Draft& draft) { draft.with.dtype = any_dtype(draft); }

void bitcast(Draft& draft) {
  do draft.with.dtype = any_dtype(draft);
  while (draft.with.dtype.bytes() != draft.dtype.bytes() || draft.with.dtype.is_bool());
}

void few(Draft& draft) { draft.with.i = 1 + draft.below(3); }

void window(Draft& draft) {
  draft.with.i = 1 + draft.below(2);
  draft.with.j = draft.below(2);
}

void kernel(Draft& draft) {
  draft.with.n = {1 + draft.below(3)};
  if (draft.rank() > 1 && draft.one_in(2)) draft.with.n.push_back(1 + draft.below(3));
}

}  // namespace draw

namespace shape {

Numbers same(Draft& draft) { return draft.shape; }

Numbers scalar(Draft&) { return {}; }

Numbers broadcast(Draft& draft) {
  Numbers sizes = draft.shape;
  if (draft.one_in(2)) return sizes;
  for (std::int64_t& size : sizes)
    if (draft.one_in(3)) size = 1;
  const auto dropped = draft.one_in(2) ? draft.below(std::ssize(sizes) + 1) : 0;
  sizes.erase(sizes.begin(), sizes.begin() + dropped);
  return sizes;
}

Numbers sliced(Draft& draft) {
  Numbers sizes = draft.shape;
  if (!sizes.empty()) sizes[static_cast<std::size_t>(draft.with.i)] = draft.with.k - draft.with.j;
  return sizes;
}

Numbers joined(Draft& draft) {
  Numbers sizes = draft.shape;
  if (!sizes.empty()) sizes[static_cast<std::size_t>(draft.with.i)] = draft.below(4);
  return sizes;
}

Numbers factor(Draft& draft) {
  const std::int64_t inner = draft.shape.empty() ? 1 : draft.shape.back();
  if (draft.one_in(4)) return {inner};
  Numbers sizes{inner, 1 + draft.below(5)};
  if (draft.rank() > 2 && draft.one_in(2))
    sizes.insert(sizes.begin(), draft.shape[draft.shape.size() - 3]);
  return sizes;
}

Numbers weight(Draft& draft) {
  const auto least = [&](std::size_t axis) {
    return 1 + draft.below(std::max<std::int64_t>(1, std::min<std::int64_t>(3, draft.shape[axis])));
  };
  return {1 + draft.below(3), draft.shape[1], least(2), least(3)};
}

Numbers any(Draft& draft) {
  Numbers sizes(static_cast<std::size_t>(draft.one_in(8) ? 0 : 1 + draft.below(3)));
  for (std::int64_t& size : sizes)
    size = draft.one_in(40) ? 0 : 1 + draft.below(draft.one_in(4) ? 20 : 5);
  return sizes;
}

Numbers inside(Draft& draft) {
  Numbers sizes = draft.shape;
  for (std::int64_t& size : sizes)
    if (size > 1) size = 1 + draft.below(size);
  return sizes;
}

}  // namespace shape
}  // namespace weft
