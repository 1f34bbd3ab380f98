// x[{...}], read and written: numbers and slices as movement, tensors of integers as places.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

#include "places.h"
#include "slices.h"
#include "state.h"
#include "within.h"

namespace weft {
namespace {

using Form = Index::Form;

// first, first + step ... along an axis, `count` of them.
struct Run {
  UOp first = {}, count = {};
  std::int64_t step = 1;
};

// An index and the axis that it is for: the next one, for a new axis.
struct Aligned {
  Form form = Form::NewAxis;
  std::size_t axis = 0;
  UOp at = {};       // a number
  Slice slice = {};  // and the same as a run
  Run run = {};
  Tensor places = {};           // a tensor or a list, or the places of a mask along this axis
  bool is_mask_of_all = false;  // a mask of no axes: no places, or one, of a new axis
};

Run run_of(const Slice& slice, const UOp& size) {
  if (!is_symbolic(slice, size)) {
    const Steps steps = steps_of(slice, size->lo());
    return {const_int(steps.first()), const_int(steps.count), steps.step};
  }
  const UOp first = slice.start.value_or(0).uop(), stop = slice.stop.value_or(size).uop();
  return {first, first->is_const_int(0) ? stop : cast(stop, dtypes::index) - first};
}

std::size_t axes_of(const Index& index) {
  if (index.form() == Form::Ellipsis || index.form() == Form::NewAxis) return 0;
  const bool is_mask = index.tensor() != nullptr && index.tensor()->dtype().is_bool();
  return is_mask ? static_cast<std::size_t>(index.tensor()->ndim()) : 1;
}

// Each axis of a tensor with what is for it; an ellipsis becomes whole slices.
class Aligner {
 public:
  explicit Aligner(const Tensor& tensor) : x_(tensor.uop()), device_(tensor.device()) {}

  std::vector<Aligned> align(const Indices& indices) {
    std::vector<Index> list = indices.list();
    std::size_t used = 0;
    for (const Index& index : list) used += axes_of(index);
    if (used > x_->dims().size())
      user_error(fmt::format("[]: {} indices for a tensor of shape {}", used, shape_text(x_)));
    const auto is_ellipsis = [](const Index& index) { return index.form() == Form::Ellipsis; };
    const auto ellipses = std::ranges::count_if(list, is_ellipsis);
    if (ellipses > 1) user_error("[]: more than one ellipsis");
    if (ellipses == 0) list.emplace_back(ellipsis);
    for (const Index& index : list) {
      if (is_ellipsis(index))
        for (std::size_t i = used; i < x_->dims().size(); ++i) add(Slice{});
      else
        add(index);
    }
    return std::move(items_);
  }

 private:
  UOp size() const { return UOp(x_->dims()[axis_]); }

  void add(const Index& index) {
    switch (index.form()) {
      case Form::At: put({.at = number(index.at().uop())}, Form::At); break;
      case Form::Slice:
        put({.slice = index.slice(), .run = run_of(index.slice(), size())}, Form::Slice);
        break;
      case Form::Tensor: add_tensor(index); break;
      default: items_.push_back({.form = Form::NewAxis, .axis = axis_});
    }
  }

  void put(Aligned item, Form form) {
    item.form = form;
    item.axis = axis_++;
    items_.push_back(std::move(item));
  }

  void add_tensor(const Index& index) {
    if (index.tensor() == nullptr) {
      for (std::int64_t place : index.list()) number(const_int(place));
      return put({.places = Tensor(index.list(), {.device = device_})}, Form::Tensor);
    }
    const Tensor& tensor = *index.tensor();
    if (!tensor.dtype().is_bool()) {
      want_integers("[]", tensor);
      want_within("[]", tensor, size());
      return put({.places = tensor}, Form::Tensor);
    }
    if (tensor.ndim() == 0) {
      items_.push_back({.form = Form::Tensor,
                        .axis = axis_,
                        .places = tensor.reshape({1}).where()[0],
                        .is_mask_of_all = true});
      return;
    }
    want_mask(tensor.uop());
    for (const Tensor& places : tensor.where()) put({.places = places}, Form::Tensor);
  }

  // A number within its axis; what is symbolic is taken as it is.
  UOp number(const UOp& at) const {
    const UOp size = this->size();
    if (!at->is_const() || !size->is_const()) return at;
    const std::int64_t place = at->lo() < 0 ? at->lo() + size->lo() : at->lo();
    if (place < 0 || place >= size->lo())
      user_error(fmt::format("[]: index {} is outside axis {} of shape {}", at->lo(), axis_,
                             shape_text(x_)));
    return const_int(place);
  }

  void want_mask(const UOp& mask) const {
    bool fits = true;
    for (std::size_t i = 0; i < mask->dims().size(); ++i)
      fits = fits && mask->dims()[i] == x_->dims()[axis_ + i];
    if (!fits)
      user_error(fmt::format("[]: a mask of shape {} for axis {} of shape {}", shape_text(mask),
                             axis_, shape_text(x_)));
  }

  const UOp x_;
  const std::string device_;
  std::size_t axis_ = 0;
  std::vector<Aligned> items_;
};

bool has_tensors(const Indices& indices) {
  return std::ranges::any_of(indices.list(),
                             [](const Index& index) { return index.form() == Form::Tensor; });
}

// The sizes of what is read or written, and where in them the axes of the items stand.
struct Layout {
  Sizes sizes;
  Sizes block;                    // what the tensors among the items broadcast to
  std::vector<std::size_t> axes;  // of each item
};

// The block stands where its tensors stood, or in front where another axis lies between them.
Layout layout_of(const std::vector<Aligned>& items) {
  std::vector<UOp> tensors;
  int runs = 0;
  bool is_within = false;
  for (const Aligned& item : items) {
    if (item.form == Form::At) continue;
    runs += item.form == Form::Tensor && !is_within;
    is_within = item.form == Form::Tensor;
    if (is_within) tensors.push_back(item.places.uop());
  }
  Layout layout;
  layout.block = broadcast_sizes("[]", tensors);
  std::optional<std::size_t> block;
  const auto block_at = [&] {
    if (!block) {
      block = layout.sizes.size();
      layout.sizes.insert(layout.sizes.end(), layout.block.begin(), layout.block.end());
    }
    return *block;
  };
  if (runs > 1) block_at();
  for (const Aligned& item : items) {
    layout.axes.push_back(item.form == Form::Tensor ? block_at() : layout.sizes.size());
    if (item.form == Form::Slice) layout.sizes.push_back(item.run.count);
    if (item.form == Form::NewAxis) layout.sizes.push_back(const_int(1));
  }
  return layout;
}

Places places_of(const UOp& x, const std::vector<Aligned>& items) {
  const Layout layout = layout_of(items);
  Places places;
  places.sizes = layout.sizes;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Aligned& item = items[i];
    if (item.form == Form::At) {
      places.along.push_back(converted(item.at, dtypes::i32));
    } else if (item.form == Form::Slice) {
      places.along.push_back(steps(layout.sizes, layout.axes[i], item.run.first, item.run.step));
    } else if (item.form == Form::Tensor && !item.is_mask_of_all) {
      const UOp size(x->dims()[item.axis]);
      const UOp index = broadcast("[]", from_end(item.places.uop(), size), layout.block);
      places.add(spread(index, layout.sizes, layout.axes[i]), size);
    }
  }
  return places;
}

// The tensors among the indices, as operands.
std::vector<Operand> operands_of(const std::vector<Aligned>& items) {
  std::vector<Operand> operands;
  for (const Aligned& item : items)
    if (item.form == Form::Tensor) operands.emplace_back(item.places);
  return operands;
}

std::vector<const Operand*> addresses_of(const std::vector<Operand>& operands) {
  std::vector<const Operand*> addresses;
  for (const Operand& operand : operands) addresses.push_back(&operand);
  return addresses;
}

}  // namespace

struct Tensor::Indexed::Place {
  Tensor whole;
  Indices where;
};

Tensor::Indexed::Indexed(const Tensor& copy, const Tensor& whole, const Indices& where)
    : Tensor(copy), place_(std::make_shared<const Place>(Place{whole, where})) {}

Tensor::Indexed Tensor::operator[](const Indices& indices) const {
  const Called called("[]");
  const std::vector<Aligned> items = Aligner(*this).align(indices);
  if (has_tensors(indices)) {
    const Operand x(*this);
    std::vector<Operand> operands = operands_of(items);
    operands.push_back(x);
    const UOp elements = read_at(x.uop(), places_of(x.uop(), items));
    return {result("[]", elements, addresses_of(operands)), *this, indices};
  }
  Tensor part = *this;
  std::int64_t axis = 0;
  for (const Aligned& item : items) {
    if (item.form == Form::Slice) {
      part = part.slice(axis++, item.slice);
    } else if (item.form == Form::NewAxis) {
      part = part.unsqueeze(axis++);
    } else {
      const UOp view = part.uop();
      Sizes start(view->dims().size(), const_int(0)), sizes = sizes_of(view);
      start[static_cast<std::size_t>(axis)] = item.at;
      sizes[static_cast<std::size_t>(axis)] = const_int(1);
      part = part.viewed(weft::shrink(view, start, sizes)).squeeze(axis);
    }
  }
  return Indexed(part);
}

Tensor::Indexed& Tensor::Indexed::operator=(const Tensor& other) & {
  Tensor::operator=(other);
  place_ = nullptr;
  is_of_copy_ = false;
  return *this;
}

Tensor::Indexed Tensor::Indexed::operator[](const Indices& indices) const& {
  return Called("[]"), Tensor::operator[](indices);
}

Tensor::Indexed Tensor::Indexed::operator[](const Indices& indices) && {
  const Called called("[]");
  Indexed part = Tensor::operator[](indices);
  part.is_of_copy_ = is_of_copy_ || place_ != nullptr;
  return part;
}

void Tensor::Indexed::put(const Operand& value) {
  const Called called("[] =");
  if (is_of_copy_)
    user_error(
        "x[a][b] = y writes to a copy of x[a], as tensors, masks and lists in a copy: x[{a, b}] = "
        "y writes to x");
  if (place_ == nullptr) {
    set({}, value);
  } else {
    Tensor whole = place_->whole;
    whole.set(place_->where, value);
  }
}

#define WEFT_UPDATE(symbol)                                                \
  void operator symbol##=(Tensor::Indexed&& place, const Operand& other) { \
    const Called called("[] " #symbol "=");                                \
    place.put(place symbol other);                                         \
  }
WEFT_UPDATE(+)
WEFT_UPDATE(-)
WEFT_UPDATE(*)
WEFT_UPDATE(/)
WEFT_UPDATE(%)
WEFT_UPDATE(&)
WEFT_UPDATE(|)
WEFT_UPDATE(^)
WEFT_UPDATE(<<)
WEFT_UPDATE(>>)
#undef WEFT_UPDATE

Tensor Tensor::index_put(const Indices& indices, const Operand& value, bool accumulate) const {
  const Called called;
  const std::vector<Aligned> items = Aligner(*this).align(indices);
  const Operand x(*this);
  const std::vector<Operand> operands = operands_of(items);
  const auto combine = accumulate ? std::optional(Op::Add) : std::nullopt;
  return with_written("index_put", x, places_of(x.uop(), items), value, combine,
                      addresses_of(operands));
}

// Into the memory itself where the tensor is all of it; a part of it is computed and then assigned.
Tensor& Tensor::set(const Indices& indices, const Operand& value) {
  const Called called;
  want_held("set", dtype(), value.uop());
  if (!has_tensors(indices)) {
    (*this)[indices].assign(value);
    return *this;
  }
  const UOp view = uop();
  if (!view.is(state_->root)) return assign(index_put(indices, value));
  const std::vector<Aligned> items = Aligner(*this).align(indices);
  std::vector<Operand> operands = operands_of(items);
  operands.insert(operands.end(), {Operand(*this), value});
  common_device("set", addresses_of(operands));
  const Places places = places_of(view, items);
  const UOp values = fitted("set", converted(value.uop(), view->dtype()), places.sizes);
  if (has_no_elements(view)) return *this;
  const bool tracked = value.tracked && !NoGrad::is_on() && !state_->leaf;
  state_->storage->store([&](const UOp& memory) { return place(memory, places); },
                         state_->leaf ? make(Op::Detach, {values}) : values, tracked);
  return *this;
}

}  // namespace weft
