#include "state.h"

#include <map>

#include <weft/dev/engine/callers.h>
#include <weft/dev/engine/lineage.h>
#include <weft/dev/engine/realize.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/grad/gradient.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/schedule/shards.h>
#include <weft/error.h>

#include "capture.h"

namespace weft {

namespace {

struct Registry {
  std::mutex mutex;
  std::uint64_t count = 0;
  std::map<std::uint64_t, std::weak_ptr<Storage>> storages;  // in the order they were made
};

Registry& registry() {
  static auto& all = *new Registry;  // leaked on purpose: tensors may be static
  return all;
}

}  // namespace

// Known to others only when complete: they may look at it at once.
std::shared_ptr<Storage> Storage::make(UOp graph, Symbol device, bool is_owned, bool is_tracked) {
  auto storage =
      std::make_shared<Storage>(OnlyMake(), std::move(graph), device, is_owned, is_tracked);
  const std::lock_guard lock(registry().mutex);
  storage->number_ = registry().count++;
  registry().storages.emplace(storage->number_, storage);
  return storage;
}

std::uint64_t Storage::next_number() {
  const std::lock_guard lock(registry().mutex);
  return registry().count;
}

Storage::~Storage() {
  const std::lock_guard lock(registry().mutex);
  registry().storages.erase(number_);
}

std::recursive_mutex& Storage::counting() {
  static auto& mutex = *new std::recursive_mutex;  // leaked on purpose, like the registry
  return mutex;
}

std::vector<std::shared_ptr<Storage>> Storage::alive() {
  std::vector<std::shared_ptr<Storage>> result;
  const std::lock_guard lock(registry().mutex);
  for (const auto& [number, storage] : registry().storages)
    if (auto owner = storage.lock()) result.push_back(std::move(owner));
  return result;
}

// What gradients pass through stays a graph; it is not computed again, since whoever reads it finds
// the BUFFER that it was computed into.
void Storage::settle() {
  const std::lock_guard lock(mutex_);
  give_way();
}

void Storage::give_way() {
  if (tracked_) return;
  UOp memory = computed_for(current_.node(), device());
  if (memory.is_null() || memory.is(current_)) return;
  if (memory->dtype().is_float()) note_computation(memory, current_);
  current_ = std::move(memory);
}

void Storage::settle_stores() {
  if (current_->op() == Op::After) give_way();
}

UOp Storage::version() {
  const std::lock_guard lock(mutex_);
  settle_stores();
  looked_at_ = true;
  return current_;
}

UOp Storage::present() {
  const std::lock_guard lock(mutex_);
  settle_stores();
  return current_;
}

bool Storage::is_tracked() {
  const std::lock_guard lock(mutex_);
  return tracked_;
}

void Storage::note_writers() {
  const std::lock_guard lock(mutex_);
  notes_writers_ = true;
}

std::optional<Origin> Storage::writer() {
  const std::lock_guard lock(mutex_);
  return writer_;
}

UOp Storage::written(const UOp& version, const UOp& place, const UOp& value) {
  const UOp after =
      weft::make(Op::After, {version, weft::make(Op::Store, {place, value}, {}, StoreArg{})});
  std::optional<NotingCallers> always;
  if (notes_writers_) always.emplace();
  note_caller(after);
  writer_ = Interner::current().origin(after.node());
  return after;
}

namespace {

// In parts where the tensor is.
UOp memory_like(const UOp& tensor, Symbol device) {
  const Layout layout = are_several(device.get()) ? layout_of(tensor) : Layout({});
  if (!layout.is_split()) return new_memory(tensor->dtype(), sizes_of(tensor), device);
  std::vector<UOp> parts;
  for (std::size_t i = 0; i < layout.devices.size(); ++i)
    parts.push_back(
        new_memory(tensor->dtype(), layout.sizes_of_part(sizes_of(tensor), i), layout.devices[i]));
  return layout.multi(parts);
}

// A value like no other, that gradients pass through.
UOp distinct(const UOp& version) {
  return weft::make(Op::Contiguous, {weft::make(Op::Remat, {version}, {}, IdArg{fresh_id()})});
}

bool is_memory(const UOp& version) { return OpSet{Op::Buffer, Op::Multi}.contains(version->op()); }

}  // namespace

void Storage::own() {
  const std::lock_guard lock(mutex_);
  settle_stores();
  if (!owned_) lie_in(memory_like(current_, device_));
}

void Storage::write_to(const UOp& memory) {
  const std::lock_guard lock(mutex_);
  lie_in(memory);
}

void Storage::lie_in(const UOp& memory) {
  current_ = written(memory, memory, current_);
  owned_ = true;
  ++changes_;
}

void Storage::keep_result() {
  const std::lock_guard lock(mutex_);
  give_way();
  const UOp memory = computed_for(current_.node(), device());
  if (memory.is_null() || memory.is(current_)) return;
  current_ = distinct(current_);
  shared_graph().attach(current_.node(), std::make_shared<UOp>(memory));
}

void Storage::part() {
  const std::lock_guard lock(mutex_);
  if (owned_) return;
  current_ = weft::make(Op::Contiguous, {current_});
  ++changes_;
}

void Storage::renew() {
  const std::lock_guard lock(mutex_);
  settle_stores();
  if (current_->op() == Op::Buffer)
    current_ = new_buffer(current_->dtype(), sizes_of(current_), memory_of(current_.node()));
}

void Storage::put_back(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  current_ = new_memory(current_->dtype(), sizes_of(current_), device_);
  fill_memory(current_, bytes);
  owned_ = true;
  tracked_ = false;
  looked_at_ = true;
  ++changes_;
}

void Storage::freeze() {
  const std::lock_guard lock(mutex_);
  tracked_ = false;
  give_way();
  Substitution constants;
  for (const Node* buffer : buffers_of(current_.node()))
    if (buffer->arg<BufferArg>().space != Space::Constant)
      constants.emplace(buffer, constant_buffer(buffer));
  current_ = substitute(current_, constants);
  owned_ = false;
  looked_at_ = true;
}

void Storage::move(const std::vector<std::shared_ptr<Buffer>>& memory) {
  const std::lock_guard lock(mutex_);
  const UOp known = computed(current_.node());
  const std::vector<const Node*> buffers =
      buffers_of(known.is_null() ? current_.node() : known.node());
  for (std::size_t i = 0; i < buffers.size(); ++i) shared_graph().attach(buffers[i], memory[i]);
  ++changes_;
}

std::uint64_t Storage::changes() {
  const std::lock_guard lock(mutex_);
  return changes_;
}

bool Storage::is_owned() {
  const std::lock_guard lock(mutex_);
  return owned_;
}

bool Storage::is_looked_at() {
  const std::lock_guard lock(mutex_);
  return looked_at_;
}

void Storage::rest() {
  const std::lock_guard lock(mutex_);
  tracked_ = false;
  give_way();
}

void Storage::overwritten(Substitution& renewed) {
  const std::lock_guard lock(mutex_);
  if (!looked_at_) return;
  for (const Node* buffer : buffers_of(current_.node())) {
    memory_of(buffer)->set_constant(false);
    if (!renewed.contains(buffer))
      renewed.emplace(buffer,
                      new_buffer(buffer->dtype(), sizes_of(UOp(buffer)), memory_of(buffer)));
  }
}

UOp Storage::along(const Substitution& renewed) {
  const std::lock_guard lock(mutex_);
  return with_call_gradients(substitute(current_, renewed));
}

void Storage::overwrite(UOp version) noexcept {
  const std::lock_guard lock(mutex_);
  current_ = std::move(version);
  looked_at_ = false;
}

void Storage::keep_before_change() {
  Capture* const capture = Capture::current();
  if (capture == nullptr) return;
  capture->keep_before_change(*this);
  // Values that a captured function makes are there anew in each call: what is written is a copy of them.
  const std::lock_guard lock(mutex_);
  if (capture->is_new(*this) && changes_ == 0) owned_ = false;
}

void Storage::store(const std::function<UOp(const UOp& memory)>& place, const UOp& value,
                    bool is_tracked) {
  keep_before_change();
  if (is_tracked || this->is_tracked()) return store_in_copy(place, value);
  own();
  const std::lock_guard lock(mutex_);
  settle_stores();
  current_ = written(current_, place(current_), value);
  ++changes_;
}

// Gradients may need what was there.
void Storage::store_in_copy(const std::function<UOp(const UOp& memory)>& place, const UOp& value) {
  const std::lock_guard lock(mutex_);
  settle_stores();
  const UOp copy = distinct(current_);
  current_ = written(copy, place(copy), value);
  owned_ = false;
  tracked_ = true;
  ++changes_;
}

void Storage::assign(const UOp& view, const UOp& root, const UOp& value, bool is_tracked) {
  if (!view.is(root))
    return store([&](const UOp& memory) { return rebased(view, root, memory); }, value, is_tracked);
  keep_before_change();
  const std::lock_guard lock(mutex_);
  settle_stores();
  if (!owned_ && !is_memory(current_)) {  // nothing is in memory yet
    current_ = value;
  } else {
    const UOp memory = owned_ ? current_ : memory_like(current_, device_);
    current_ = written(memory, memory, value);
    owned_ = true;
  }
  tracked_ = tracked_ || is_tracked;
  ++changes_;
}

}  // namespace weft
