#include "batch.h"

#include <algorithm>

#include <weft/dev/engine/call_list.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/graph.h>

#include "capture.h"
#include "state.h"

namespace weft {
namespace {

// The BUFFER, or the MULTI of such, that a version of memory or a view of one lies in; null for what is still to
// be computed.
const Node* memory_below(const Node* node) {
  while (!OpSet{Op::Buffer, Op::Multi}.contains(node->op())) {
    const bool is_same_memory = node->op() == Op::After || node->op() == Op::Detach ||
                                info(node->op()).cls == OpClass::Movement;
    if (const UOp known = computed(node); !known.is_null())
      node = known.node();
    else if (is_same_memory)
      node = node->src(0);
    else
      return nullptr;
  }
  return node;
}

}  // namespace

Batch::Batch(const std::vector<Operand>& values) {
  if (const Capture* capture = Capture::refusing(); capture != nullptr && CallList::recording())
    capture->forget_results(values);
  for (const Operand& value : values) want(value.uop(), value.device);
  for (const Operand& value : values) add_assignments(value.uop().node());
  add_all_readers();
}

Batch Batch::before_overwriting(const std::vector<std::shared_ptr<Buffer>>& memory,
                                const std::vector<std::shared_ptr<Storage>>& followers) {
  Batch batch;
  for (const auto& storage : followers) batch.followers_.insert(storage.get());
  for (const auto& each : memory) batch.overwritten_.insert(each.get());
  batch.add_readers();
  batch.add_all_readers();
  return batch;
}

void Batch::add_all_readers() {
  std::size_t assigned = 0;
  while (superseded_.size() > assigned) {  // whoever is added may assign to more, or once more
    assigned = superseded_.size();
    clean_.clear();
    add_readers();
  }
}

namespace {

// A version of memory whose values are there only on the way: what the next one is written over.
struct Passed {
  const Node* next;
  UOp version;
  std::shared_ptr<UOp> memory;
};

}  // namespace

// What is noted of nodes is made before, since there may be no memory once kernels have written over some.
void Batch::run() const {
  if (!before_.empty()) {
    const CallList::Pause pause;
    Batch(before_).run();
  }
  std::vector<Passed> all_passed;
  for (const Wanted& wanted : wanted_) {
    if (wanted.tensor->op() != Op::After) continue;
    const auto passed = superseded_.find(wanted.tensor->src(0));
    if (passed == superseded_.end() || passed->first->op() != Op::After) continue;
    shared_graph().make_room<UOp>(passed->first);
    all_passed.push_back(
        {wanted.tensor.node(), UOp(passed->first), std::make_shared<UOp>(passed->second)});
  }
  const auto tell = [&]() noexcept {
    for (const Passed& passed : all_passed)
      if (!computed(passed.next).is_null())
        shared_graph().attach(passed.version.node(), passed.memory);
  };
  try {
    realize(wanted_);
  } catch (...) {
    tell();
    throw;
  }
  tell();
  for (const auto& storage : readers_) storage->settle();
}

std::vector<ScheduleItem> Batch::schedule() const { return weft::schedule(wanted_); }

RunCost Batch::cost() const { return weft::cost(wanted_); }

void Batch::want(const UOp& tensor, Symbol device) {
  wanted_.push_back({tensor, device});
  asked_.insert(tensor.node());
}

void Batch::add_assignments(const Node* root) {
  std::vector<const Node*> open{root};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!seen_.insert(node).second || !computed(node).is_null()) continue;
    const Node* memory = node->op() == Op::After ? memory_below(node) : nullptr;
    if (memory != nullptr) {
      want(UOp(node), device_of(memory));
      for (const Node* buffer : buffers_of(memory)) overwritten_.insert(memory_of(buffer).get());
      superseded_.emplace(node->src(0), memory);
    }
    open.insert(open.end(), node->src().begin(), node->src().end());
  }
}

void Batch::add_readers() {
  const Capture* const capture = Capture::refusing();
  const bool is_recorded = CallList::recording() != nullptr;
  Storage::for_each_alive([&](const auto& storage) {
    if (!storage->is_looked_at() || followers_.contains(storage.get())) return;
    // What the function makes is no part of what the program had still to do: it is made of the results of that.
    if (capture != nullptr && !is_recorded && capture->is_new(*storage)) return;
    const UOp before = storage->version();
    looked_at_.push_back(before);
    if (!reads_overwritten(before.node())) return;
    if (memory_below(before.node()) != nullptr) storage->part();
    const UOp version = storage->version();
    if (asked_.contains(version.node())) return;
    readers_.push_back(storage);
    if (capture != nullptr && is_recorded && capture->holds_old_values(*storage)) {
      asked_.insert(version.node());
      before_.emplace_back(version, storage->device(), false);
      return;
    }
    want(version, storage->device());
    add_assignments(version.node());
  });
}

bool Batch::is_overwritten(const UOp& view) const {
  const Node* memory = memory_below(view.node());
  if (memory == nullptr) return false;
  return std::ranges::any_of(buffers_of(memory), [this](const Node* buffer) {
    return overwritten_.contains(shared_graph().attached<Buffer>(buffer).get());
  });
}

bool Batch::reads_overwritten(const Node* root) {
  std::vector<const Node*> open{root};
  std::unordered_set<const Node*> visited;
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (clean_.contains(node) || !visited.insert(node).second) continue;
    const UOp known = computed(node);
    const bool is_last =
        node->op() == Op::After && asked_.contains(node) && !superseded_.contains(node);
    if (is_last && known.is_null()) continue;  // what the memory holds afterwards
    if (known.is_null())
      open.insert(open.end(), node->src().begin(), node->src().end());
    else if (is_overwritten(known))
      return true;
  }
  clean_.merge(visited);
  return false;
}

}  // namespace weft
