// What a tensor is and holds.

#include <weft/tensor.h>

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/device/buffer.h>
#include <weft/dev/engine/callers.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/schedule/region.h>
#include <weft/error.h>
#include <weft/limits.h>
#include <weft/settings.h>

#include "batch.h"
#include "capture.h"
#include "counts.h"
#include "ops.h"
#include "state.h"

namespace weft {

// A null one is complained of where its graph is asked for: in the name of the method that was called.
Operand::Operand(const Tensor& tensor) {
  if (tensor.is_null()) return;
  graph_ = tensor.uop();
  device = tensor.state_->storage->device();
  tracked = tensor.is_tracked();
}

namespace {

void refuse_null() { user_error("a Tensor is null: it was never given a value"); }

// What is made within a NoGrad is constant to every gradient.
UOp untracked(const UOp& graph) {
  return graph->op() == Op::Detach || !graph->dtype().is_float() ? graph
                                                                 : make(Op::Detach, {graph});
}

}  // namespace

const UOp& Operand::uop() const {
  if (graph_.is_null()) refuse_null();
  return graph_;
}

Tensor Tensor::from(const Operand& value) {
  const Symbol device = value.device.empty() ? Symbol(default_device()) : value.device;
  UOp graph = converted(value.uop(), settled(value.uop()->dtype()));
  const bool tracked = value.tracked && !NoGrad::is_on();
  if (value.tracked && !tracked) graph = untracked(graph);
  note_caller(graph);
  auto storage = Storage::make(graph, device, false, tracked);
  return Tensor(std::make_shared<State>(std::move(storage), graph, graph, tracked));
}

Tensor Tensor::owning(const UOp& buffer, Symbol device) {
  auto storage = Storage::make(buffer, device, true, false);
  return Tensor(std::make_shared<State>(std::move(storage), buffer, buffer, false));
}

Tensor Tensor::viewed(const UOp& graph) const {
  const bool is_cut = is_tracked() && NoGrad::is_on();
  const UOp own = is_cut ? untracked(graph) : graph;
  note_caller(own);
  Tensor view(std::make_shared<State>(state_->storage, state_->root, own, is_tracked() && !is_cut));
  view.state_->detached = state_->detached || is_cut;
  return view;
}

UOp Tensor::uop() const {
  const Called called;
  if (is_null()) refuse_null();
  if (Capture* capture = Capture::current()) capture->note(state_->storage);
  return state_->present();
}

UOp Tensor::State::present() {
  const std::lock_guard lock(mutex);
  UOp version = storage->version();
  if (!version.is(root)) {
    graph = rebased(graph, root, version);
    root = std::move(version);
  }
  return graph;
}

bool Tensor::is_tracked() const {
  return state_->tracked || (!state_->detached && state_->storage->is_tracked());
}

SizeList Tensor::shape() const { return Called(), constant_shape("shape", uop()); }

Views Tensor::views() const { return Called(), views_of(uop()); }

std::vector<Dim> Tensor::dims() const {
  const Called called;
  std::vector<Dim> dims;
  for (const UOp& size : sizes_of(uop())) dims.emplace_back(size);
  return dims;
}

std::int64_t Tensor::ndim() const { return Called(), std::ssize(uop()->dims()); }

std::int64_t Tensor::size(std::int64_t axis) const {
  const Called called;
  const UOp graph = uop();
  const auto i = static_cast<std::size_t>(axis_of("size", axis, std::ssize(graph->dims())));
  return constant_size("size", UOp(graph->dims()[i]));
}

namespace {

std::int64_t product_of(std::string_view op, const std::vector<std::int64_t>& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count = elements_of(op, count, size);
  return count;
}

}  // namespace

std::int64_t Tensor::numel() const { return Called(), product_of("numel", shape()); }

std::int64_t Tensor::len() const {
  const Called called;
  if (ndim() == 0) user_error("len: a tensor of shape () has no first axis");
  return size(0);
}

SizeList Tensor::max_shape() const {
  const Called called;
  std::vector<std::int64_t> shape;
  for (const Node* size : uop()->dims()) shape.push_back(size->bounds().hi);
  return shape;
}

double Tensor::item() const {
  const Called called;
  constexpr double largest = 1LL << 53;
  const auto value = item<double>();
  if (dtype().is_int() && std::abs(value) > largest)
    user_error("item: an integer beyond 2^53, which a double may not hold: item<std::int64_t>()");
  return value;
}

std::int64_t Tensor::max_numel() const { return Called(), product_of("max_numel", max_shape()); }

std::size_t Tensor::nbytes() const { return Called(), bytes_of(dtype(), uop()->dims()); }
DType Tensor::dtype() const { return Called(), uop()->dtype(); }
std::string Tensor::device() const {
  const Called called;
  if (is_null()) refuse_null();
  return state_->storage->device().get();
}

namespace {

// The BUFFER that holds the tensor in row-major order, where it lies in one.
const Node* memory_behind(const UOp& tensor) {
  const Node* node = tensor.node();
  while (node->op() == Op::Reshape || node->op() == Op::Detach) node = node->src(0);
  return node->op() == Op::Buffer ? node : nullptr;
}

Bits load(const std::byte* from, DType dtype) {
  Bits bits = 0;
  std::copy_n(from, dtype.bytes(), reinterpret_cast<std::byte*>(&bits));
  return canonical_bits(bits, dtype);
}

}  // namespace

Tensor Tensor::realize() const {
  const Called called;
  realize({*this});
  return *this;
}

// What is computed is noted on the nodes; what was asked for gives way to it.
void Tensor::realize(const std::vector<Tensor>& tensors) {
  const Called called;
  Batch({tensors.begin(), tensors.end()}).run();
  for (const Tensor& tensor : tensors) tensor.state_->storage->settle();
}

Tensor& Tensor::freeze() {
  const Called called("freeze");
  realize({*this});
  state_->storage->freeze();
  return *this;
}

std::vector<ScheduleItem> Tensor::schedule() const { return Called(), schedule({*this}); }

std::vector<ScheduleItem> Tensor::schedule(const std::vector<Tensor>& tensors) {
  return Called(), Batch({tensors.begin(), tensors.end()}).schedule();
}

RunCost Tensor::cost() const { return Called(), cost({*this}); }

RunCost Tensor::cost(const std::vector<Tensor>& tensors) {
  return Called(), Batch({tensors.begin(), tensors.end()}).cost();
}

namespace {

// Is the same in every call.
bool is_frozen(const UOp& graph) {
  const std::vector<const Node*> buffers = buffers_of(graph.node());
  return !buffers.empty() && std::ranges::all_of(buffers, [](const Node* buffer) {
    return buffer->arg<BufferArg>().space == Space::Constant;
  });
}

}  // namespace

UOp Tensor::in_memory() const {
  if (!is_frozen(uop())) Capture::refuse_reading();
  realize();
  const UOp graph = uop();
  const UOp known = computed_for(graph.node(), Operand(*this).device);
  return known.is_null() ? graph : known;
}

void Tensor::want_single() const {
  if (const std::int64_t count = numel(); count != 1)
    user_error(fmt::format("item: a tensor of shape {} has {} elements", shape_text(uop()), count));
}

void Tensor::refuse_bytes(std::size_t bytes) {
  user_error(fmt::format("there is no room for {} bytes", bytes));
}

void Tensor::read(void* values, DType wanted) const {
  const auto count = static_cast<std::size_t>(numel());
  if (!is_frozen(uop())) Capture::refuse_reading();
  if (count == 0) return;
  if (only_stores(device()) && memory_behind(uop()) == nullptr)
    return to("CPU").read(values, wanted);
  if (are_several(device())) {
    realize();
    return to(std::string(find_devices(device())[0]->name())).read(values, wanted);
  }
  const DType own = dtype();
  UOp value = in_memory();
  if (memory_behind(value) == nullptr) {  // a view of memory that is in another order
    const Operand ordered(make(Op::Contiguous, {value}), Operand(*this).device, false);
    Batch({ordered}).run();
    value = computed_for(ordered.uop().node(), ordered.device);
  }
  const auto memory = memory_of(memory_behind(value));
  if (own == wanted)
    return memory->copy_out({static_cast<std::byte*>(values), count * own.bytes()});
  std::vector<std::byte> bytes(count * own.bytes());
  memory->copy_out(bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const Bits bits = convert(load(&bytes[i * own.bytes()], own), own, wanted);
    std::copy_n(reinterpret_cast<const std::byte*>(&bits), wanted.bytes(),
                static_cast<std::byte*>(values) + i * wanted.bytes());
  }
}

const void* Tensor::address(DType wanted) const {
  if (dtype() != wanted)
    user_error(fmt::format("data: the tensor is {}, not {}", dtype().str(), wanted.str()));
  if (are_several(device()))
    user_error(fmt::format("data: the tensor is in parts on {}: move it with to()", device()));
  const UOp value = in_memory();
  const Node* buffer = memory_behind(value);
  if (buffer == nullptr)
    user_error(fmt::format("data: a view of shape {} is not in order in memory: use contiguous()",
                           shape_text(uop())));
  const auto memory = memory_of(buffer);
  if (!memory->device().allocator().uses_addresses())
    user_error(
        fmt::format("data: the memory of {} has no addresses here: use to_vector", device()));
  const Argument whole = memory->argument();
  return static_cast<const std::byte*>(whole.memory) + whole.offset;
}

Tensor Tensor::to(const std::string& device) const {
  const Called called;
  const Operand x(*this);
  const Symbol target = named_by_itself(device);
  if (x.device == target) return *this;
  if (are_several(device))
    return from({make(Op::Shard, {x.uop()}, {}, ShardArg{-1, target}), target, x.tracked});
  return from({make(Op::Copy, {x.uop()}, {}, DeviceArg{target}), target, x.tracked});
}

Tensor& Tensor::to_(const std::string& device) {
  return Called(), move([&](const Tensor& tensor) { return tensor.to(device); });
}

Tensor& Tensor::move(const std::function<Tensor(const Tensor&)>& to) {
  Tensor moved = to(*this);
  if (moved.is(*this)) return *this;
  if (state_->leaf) {
    moved = to(detach()).set_requires_grad();
    if (const Tensor gradient = grad(); !gradient.is_null()) moved.set_grad(to(gradient));
  }
  return *this = moved;
}

namespace {

// In a dtype that holds both. Integers that f32 does not hold are beyond all limits that integers exceed.
Tensor saturated(const Tensor& x, DType dtype) {
  const double most = finfo(dtype).max;
  if (x.dtype().is_int() && most > 0x1p64) return x;
  return x.cast(promote(promote(x.dtype(), dtypes::f32), dtype)).clamp(-most, most);
}

}  // namespace

Tensor Tensor::cast(DType dtype, CastOptions options) const {
  const Called called;
  if (options.saturate && dtype.is_float()) return saturated(*this, dtype).cast(dtype);
  const Operand x(*this);
  if (x.uop()->dtype() == dtype) return *this;
  return result("cast", converted(x.uop(), dtype), {&x});
}

namespace {

// Bytes that are only stored are whatever they are read as: a BUFFER of the new dtype over them.
UOp reread(const UOp& stored, DType dtype) {
  const auto region = region_of(stored.node());
  const std::vector<std::int64_t> shape = constant_shape("bitcast", stored);
  if (!region || shape.empty())
    user_error("bitcast: the bytes do not lie together: copy the tensor with to() first");
  Sizes sizes = constant_sizes(shape);
  const auto row = static_cast<std::size_t>(shape.back()) * stored->dtype().bytes();
  if (row % dtype.bytes() != 0)
    user_error(
        fmt::format("bitcast: rows of {} bytes are no whole number of {}", row, dtype.str()));
  sizes.back() = const_int(static_cast<std::int64_t>(row / dtype.bytes()));
  return new_buffer(dtype, sizes,
                    std::make_shared<Buffer>(memory_of(region->buffer), region->offset,
                                             bytes_of(stored->dtype(), stored->dims())));
}

}  // namespace

Tensor Tensor::bitcast(DType dtype) const {
  const Called called;
  const Operand x(*this);
  const DType own = x.uop()->dtype();
  const bool is_in_file = only_stores(device());
  if (own == dtype) return *this;
  if (own.bytes() != dtype.bytes() && is_in_file)
    return from({reread(x.uop(), dtype), x.device, false});
  if (own.bytes() != dtype.bytes())
    user_error(fmt::format("bitcast: {} and {} differ in width", own.str(), dtype.str()));
  // In a kernel a bool is a bit; its byte in memory is 0 or 1.
  if (own.is_bool() && !is_in_file) return cast(dtypes::u8).bitcast(dtype);
  if (dtype.is_bool() && !is_in_file) return bitcast(dtypes::u8) != 0;
  return result("bitcast", weft::bitcast(x.uop(), dtype), {&x});
}

Tensor Tensor::contiguous() const {
  const Called called;
  const Operand x(*this);
  return result("contiguous", make(Op::Contiguous, {x.uop()}), {&x});
}

Tensor Tensor::clone(const std::string& device) const {
  const Called called;
  const Tensor elsewhere = device.empty() ? *this : to(device);
  return elsewhere.is(*this) ? contiguous() : elsewhere;
}

}  // namespace weft
