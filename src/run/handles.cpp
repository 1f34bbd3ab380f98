#include <pthread.h>

#include <cstdlib>

#include <weft/dev/run/handles.h>

#include "lock.h"

namespace weft::capi {
namespace {

// A number is, from its high end: a bit that no address of a program has alone, how often its slot was taken before, and
// which slot it is.
constexpr int slot_bits = 24;
constexpr std::uint64_t mark = std::uint64_t{1} << 63, most_slots = std::uint64_t{1} << slot_bits;

struct Slot {
  Held* held;
  std::uint64_t generation;
  std::uint64_t next_free;
  HandleKind kind;
};

constexpr std::uint64_t none = ~std::uint64_t{0};
pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
Slot* slots = nullptr;
std::uint64_t slot_count = 0, capacity = 0, first_free = none;

std::uint64_t number_of(std::uint64_t slot) {
  return mark | slots[slot].generation << slot_bits | slot;
}

Slot* slot_of(HandleKind kind, std::uintptr_t number) {
  const std::uint64_t index = number % most_slots;
  if (index >= slot_count || number_of(index) != number) return nullptr;
  Slot& slot = slots[index];
  return slot.held != nullptr && slot.kind == kind ? &slot : nullptr;
}

bool has_room() {
  if (first_free != none) return true;
  if (slot_count == capacity) {
    const std::uint64_t more = capacity == 0 ? 16 : capacity * 2;
    if (more > most_slots) return false;
    void* grown = std::realloc(slots, more * sizeof(Slot));
    if (grown == nullptr) return false;
    slots = static_cast<Slot*>(grown);
    capacity = more;
  }
  slots[slot_count] = {nullptr, 0, first_free, HandleKind::Model};
  first_free = slot_count++;
  return true;
}

int closed(HandleKind kind, std::uintptr_t number) {
  const char* const what = kind == HandleKind::Model ? "model" : "session";
  if (number == 0) return fail(WEFT_INVALID_ARGUMENT, "the %s is NULL", what);
  return fail(WEFT_CLOSED, "the %s was closed, or never was one", what);
}

}  // namespace

int add_handle(HandleKind kind, Held* held, std::uintptr_t& number) {
  const Lock lock(table_mutex);
  if (!has_room()) return fail(WEFT_NO_MEMORY, "there is no memory for another handle");
  const std::uint64_t index = first_free;
  Slot& slot = slots[index];
  first_free = slot.next_free;
  slot.held = held;
  slot.kind = kind;
  number = number_of(index);
  return WEFT_OK;
}

Held* used_handle(HandleKind kind, std::uintptr_t number) {
  {
    const Lock lock(table_mutex);
    if (const Slot* slot = slot_of(kind, number)) {
      use(slot->held);
      return slot->held;
    }
  }
  closed(kind, number);
  return nullptr;
}

void use(Held* held) { __atomic_add_fetch(&held->users, 1, __ATOMIC_RELAXED); }

void release(Held* held) {
  if (__atomic_sub_fetch(&held->users, 1, __ATOMIC_ACQ_REL) == 0) held->destroy(held);
}

int close_handle(HandleKind kind, std::uintptr_t number) {
  Held* held = nullptr;
  {
    const Lock lock(table_mutex);
    if (Slot* slot = slot_of(kind, number)) {
      held = slot->held;
      slot->held = nullptr;
      slot->generation = (slot->generation + 1) % (std::uint64_t{1} << (63 - slot_bits));
      slot->next_free = first_free;
      first_free = static_cast<std::uint64_t>(slot - slots);
    }
  }
  if (held == nullptr) return closed(kind, number);
  release(held);
  return WEFT_OK;
}

}  // namespace weft::capi
