#include "batch.h"

#include "state.h"

namespace weft {
namespace {

// The BUFFER that a version of memory, or a view of one, lies in; null for what is computed.
const Node* memory_below(const Node* node) {
  while (node->op() == Op::After || node->op() == Op::Detach ||
         info(node->op()).cls == OpClass::Movement)
    node = node->src(0);
  return node->op() == Op::Buffer ? node : nullptr;
}

}  // namespace

Batch::Batch(const std::vector<Operand>& values) {
  for (const Operand& value : values) want(value.uop, value.device);
  for (const Operand& value : values) add_assignments(value.uop.node());
  std::size_t overwritten = 0;
  while (overwritten_.size() > overwritten) {  // whoever is added may assign to more
    overwritten = overwritten_.size();
    clean_.clear();
    add_readers();
  }
}

std::vector<UOp> Batch::run() const { return realize(wanted_); }

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
      want(UOp(node), memory->arg<BufferArg>().device);
      overwritten_.insert(memory);
      superseded_.insert(node->src(0));
    }
    open.insert(open.end(), node->src().begin(), node->src().end());
  }
}

void Batch::add_readers() {
  for (const auto& storage : Storage::alive()) {
    const UOp version = storage->version();
    if (asked_.contains(version.node()) || !computed(version.node()).is_null() ||
        !reads_overwritten(version.node()))
      continue;
    want(version, storage->device());
    add_assignments(version.node());
  }
}

bool Batch::is_overwritten(const UOp& view) const {
  const Node* memory = memory_below(view.node());
  return memory != nullptr && overwritten_.contains(memory);
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
        node->op() == Op::After && seen_.contains(node) && !superseded_.contains(node);
    if (is_last && known.is_null()) continue;  // what the memory holds afterwards
    if (is_overwritten(known.is_null() ? UOp(node) : known)) return true;
    if (known.is_null()) open.insert(open.end(), node->src().begin(), node->src().end());
  }
  clean_.merge(visited);
  return false;
}

}  // namespace weft
