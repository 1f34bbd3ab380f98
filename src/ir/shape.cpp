// The shape of a node, from its sources: null for a scalar, else a TUPLE of sizes, at least one.
//
// A scalar fits every shape, so constants need no EXPAND. Sizes are integer nodes; two sizes are
// equal when they are the same node.

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

#include "analysis.h"

namespace weft {
namespace {

// Sizes under construction, each owned (counted interners) until released.
class Sizes {
 public:
  explicit Sizes(Interner& interner) : interner_(interner) {}
  Sizes(const Sizes&) = delete;
  Sizes& operator=(const Sizes&) = delete;
  ~Sizes() {
    for (const Node* node : owned_) interner_.release(node);
  }

  void push(const Node* size) { list_.push_back(size); }
  void push_one() { list_.push_back(constant(1)); }

  const Node* finish() { return interner_.intern({Op::Tuple, dtypes::void_, list_}); }

  const Node* constant(std::int64_t value) {
    const ConstArg arg{static_cast<std::uint64_t>(value)};
    return own(interner_.intern({Op::Const, dtypes::index, {}, &arg}));
  }

  // Folds constants, also into a sum that ends in one, and puts one last; anything harder is for the
  // rules.
  const Node* sum(const Node* a, const Node* b) {
    if (a->is_const()) std::swap(a, b);
    if (b->is_const_int(0)) return a;
    if (const Node* total = folded(a, b)) return total;
    if (a->op() == Op::Add)
      if (const Node* number = folded(a->src(1), b)) return sum(a->src(0), number);
    const Node* sources[] = {as_index(a), as_index(b)};
    return own(interner_.intern({Op::Add, dtypes::index, sources}));
  }

 private:
  const Node* folded(const Node* a, const Node* b) {
    std::int64_t total;
    if (!a->is_const() || !b->is_const() || __builtin_add_overflow(a->lo(), b->lo(), &total))
      return nullptr;
    return constant(total);
  }
  const Node* as_index(const Node* size) {
    if (size->dtype().is_index()) return size;
    return own(interner_.intern({Op::Cast, dtypes::index, NodeList(&size, 1)}));
  }
  const Node* own(const Node* node) {
    owned_.push_back(node);
    return node;
  }
  Interner& interner_;
  std::vector<const Node*> list_, owned_;
};

[[noreturn]] void shape_error(const NodeFields& f, const std::string& what) {
  user_error(fmt::format("{}: {}", info(f.op).name, what));
}

bool is_size(const Node* node) { return node->dtype().is_int() && node->dtype().lanes() == 1; }

bool can_be_size(const Node* node) { return is_size(node) && node->bounds().hi >= 0; }

NodeList dims_of(const NodeFields& f, std::size_t i) {
  const Node* tuple = f.src[i];
  if (tuple->op() != Op::Tuple || !std::ranges::all_of(tuple->src(), is_size))
    shape_error(f, fmt::format("source {} is not a tuple of sizes", i));
  return tuple->src();
}

void want_no_negative(const NodeFields& f, NodeList dims) {
  for (const Node* size : dims)
    if (size->bounds().hi < 0)
      shape_error(f, fmt::format("the shape {} has a negative size", sizes_text(dims)));
}

void want_rank(const NodeFields& f, NodeList dims, std::size_t rank) {
  if (dims.size() != rank)
    shape_error(f, fmt::format("{} sizes for a tensor of shape {}", dims.size(),
                               sizes_text(f.src[0]->dims())));
}

// Symbolic sizes may be written in several ways: only what cannot be equal differs.
bool can_agree(const Node* x, const Node* y) {
  const Interval i = x->bounds(), j = y->bounds();
  return x == y || (i.lo <= j.hi && j.lo <= i.hi);
}

const Node* agreeing_shape(const NodeFields& f, NodeList sources) {
  const Node* shape = nullptr;
  for (const Node* source : sources) {
    if (source->shape() == nullptr || source->shape() == shape) continue;
    if (shape == nullptr)
      shape = source->shape();
    else if (!std::ranges::equal(shape->src(), source->dims(), can_agree))
      shape_error(f, fmt::format("shapes {} and {} differ", sizes_text(shape->src()),
                                 sizes_text(source->dims())));
  }
  return shape;
}

// The number of elements, where all sizes are constant and it fits in 64 bits.
std::optional<std::int64_t> element_count(NodeList dims) {
  std::int64_t count = 1;
  for (const Node* size : dims)
    if (!size->is_const() || __builtin_mul_overflow(count, size->lo(), &count)) return std::nullopt;
  return count;
}

void check_reshape(const NodeFields& f) {
  const NodeList from = f.src[0]->dims(), to = dims_of(f, 1);
  want_no_negative(f, to);
  const auto before = element_count(from), after = element_count(to);
  if (before && after && *before != *after)
    shape_error(f, fmt::format("shape {} has {} elements, {} has {}", sizes_text(from), *before,
                               sizes_text(to), *after));
}

void check_expand(const NodeFields& f) {
  const NodeList from = f.src[0]->dims(), to = dims_of(f, 1);
  want_rank(f, to, from.size());
  want_no_negative(f, to);
  for (std::size_t i = 0; i < to.size(); ++i)
    if (!can_agree(from[i], to[i]) && !from[i]->bounds().contains(1))
      shape_error(f, fmt::format("axis {} of shape {} cannot become {}", i, sizes_text(from),
                                 expression_text(to[i])));
}

void check_axes(const NodeFields& f, const std::vector<std::int64_t>& axes) {
  const auto rank = static_cast<std::int64_t>(f.src[0]->dims().size());
  std::vector<bool> seen(static_cast<std::size_t>(rank));
  for (std::int64_t axis : axes) {
    if (axis < 0 || axis >= rank || seen[static_cast<std::size_t>(axis)])
      shape_error(f, fmt::format("axis {} is repeated or not an axis of shape {}", axis,
                                 sizes_text(f.src[0]->dims())));
    seen[static_cast<std::size_t>(axis)] = true;
  }
}

const Node* permuted(const NodeFields& f, Sizes& sizes) {
  const auto& axes = static_cast<const AxesArg*>(f.arg)->axes.get();
  const NodeList dims = f.src[0]->dims();
  check_axes(f, axes);
  if (axes.size() != dims.size())
    shape_error(f, fmt::format("{} axes for a tensor of shape {}", axes.size(), sizes_text(dims)));
  for (std::int64_t axis : axes) sizes.push(dims[static_cast<std::size_t>(axis)]);
  return sizes.finish();
}

const Node* padded(const NodeFields& f, Sizes& sizes) {
  const NodeList dims = f.src[0]->dims(), before = dims_of(f, 1), after = dims_of(f, 2);
  want_rank(f, before, dims.size());
  want_rank(f, after, dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (before[i]->bounds().hi < 0 || after[i]->bounds().hi < 0)
      shape_error(f, fmt::format("negative padding on axis {}: shrink instead", i));
    // In the order of the elements: what is joined of parts has one size, by whichever it is padded from.
    sizes.push(sizes.sum(sizes.sum(before[i], dims[i]), after[i]));
  }
  return sizes.finish();
}

const Node* shrunk(const NodeFields& f) {
  const NodeList dims = f.src[0]->dims(), start = dims_of(f, 1), size = dims_of(f, 2);
  want_rank(f, start, dims.size());
  want_rank(f, size, dims.size());
  want_no_negative(f, size);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (start[i]->bounds().hi < 0 ||
        start[i]->bounds().lo + size[i]->bounds().lo > dims[i]->bounds().hi)
      shape_error(f, fmt::format("axis {}: {} elements from {} are not inside {}", i,
                                 expression_text(size[i]), expression_text(start[i]),
                                 expression_text(dims[i])));
  return f.src[2];
}

const Node* reduced(const NodeFields& f, Sizes& sizes) {
  const auto& axes = static_cast<const ReduceArg*>(f.arg)->axes.get();
  const NodeList dims = f.src[0]->dims();
  check_axes(f, axes);
  if (axes.empty()) return nullptr;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (std::ranges::find(axes, static_cast<std::int64_t>(i)) != axes.end())
      sizes.push_one();
    else
      sizes.push(dims[i]);
  }
  return sizes.finish();
}

// Of parts that lie one after another; null where they are all the same.
const Node* joined(const NodeFields& f, Sizes& sizes) {
  const auto axis = static_cast<const ShardArg*>(f.arg)->axis;
  const NodeList first = f.src[0]->dims();
  if (axis < -1 || axis >= std::ssize(first))
    shape_error(f, fmt::format("axis {} of parts of shape {}", axis, sizes_text(first)));
  for (const Node* part : f.src) want_rank(f, part->dims(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const bool is_split = static_cast<std::int64_t>(i) == axis;
    const Node* size = first[i];
    for (const Node* part : f.src.subspan(1)) {
      if (!is_split && !can_agree(size, part->dims()[i]))
        shape_error(f, fmt::format("the parts' shapes {} and {} differ", sizes_text(first),
                                   sizes_text(part->dims())));
      if (is_split) size = sizes.sum(size, part->dims()[i]);
    }
    sizes.push(size);
  }
  return axis < 0 ? nullptr : sizes.finish();
}

// A list, with its members' shapes.
bool hands_list_on(Op op) {
  return OpSet{Op::Call, Op::After, Op::Copy, Op::Contiguous, Op::Detach, Op::Remat}.contains(op);
}

const Node* shape_of(const NodeFields& f, Interner& interner) {
  const auto keep = [&](const Node* shape) {
    if (interner.counted() && shape != nullptr)
      return interner.intern({shape->op(), shape->dtype(), shape->src()});
    return shape;
  };
  Sizes sizes(interner);
  const auto& op = info(f.op);
  if (op.cls == OpClass::Unary || op.cls == OpClass::Binary || op.cls == OpClass::Ternary)
    return keep(agreeing_shape(f, f.src));
  switch (f.op) {
    case Op::Buffer:
    case Op::Param:
      if (f.src.empty()) return nullptr;
      if (!std::ranges::all_of(f.src, is_size)) shape_error(f, "a dimension is not an integer");
      want_no_negative(f, f.src);
      for (const Node* size : f.src) sizes.push(size);
      return sizes.finish();
    case Op::Reshape: check_reshape(f); return keep(f.src[1]);
    case Op::Expand: check_expand(f); return keep(f.src[1]);
    case Op::Permute: return permuted(f, sizes);
    case Op::Pad: return padded(f, sizes);
    case Op::Shrink: return keep(shrunk(f));
    case Op::Flip:
      check_axes(f, static_cast<const AxesArg*>(f.arg)->axes.get());
      return keep(f.src[0]->shape());
    case Op::Multi:
    case Op::AllReduce:
    case Op::Reduce: {
      const Node* shape = f.op == Op::Multi ? joined(f, sizes) : reduced(f, sizes);
      return shape != nullptr ? shape : keep(f.src[0]->shape());
    }
    case Op::GetTuple: {
      const auto at = static_cast<std::size_t>(static_cast<const PositionArg*>(f.arg)->at);
      const Node* list = f.src[0];
      while (hands_list_on(list->op())) list = list->src(0);
      return list->op() == Op::Tuple && at < list->size() ? keep(list->src(at)->shape()) : nullptr;
    }
    case Op::Call: return keep(f.src[0]->shape());
    case Op::Custom: {
      const bool is_tensor = !f.dtype.is_void() && !f.src.empty() && f.src[0]->op() == Op::Tuple &&
                             std::ranges::all_of(f.src[0]->src(), can_be_size);
      return is_tensor ? keep(f.src[0]) : nullptr;
    }
    case Op::Stage:  // a dimension for each range, and for each 0 that a range of one iteration was
      for (const Node* source : f.src.subspan(1)) {
        // A range whose width is being chosen stands under a CAST for a moment.
        const Node* range = source->op() == Op::Cast ? source->src(0) : source;
        if (range->op() == Op::Range)
          sizes.push(range->src(0));
        else
          sizes.push_one();
      }
      return sizes.finish();
    case Op::Index: return keep(agreeing_shape(f, f.src.subspan(1)));  // a gather's
    default:
      return f.src.empty() || op.dtype != DTypeRule::First ? nullptr : keep(f.src[0]->shape());
  }
}

}  // namespace

const Node* compute_shape(const NodeFields& f, Interner& interner) {
  const Node* shape = shape_of(f, interner);
  if (shape == nullptr || shape->size() > 0) return shape;
  interner.release(shape);
  return nullptr;
}

}  // namespace weft
