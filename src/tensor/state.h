// What a Tensor is: a view of a storage. Tensors that look at the same memory share the storage, so
// that an assignment to one is seen by all.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include <weft/dev/device/buffer.h>
#include <weft/dev/ir/graph.h>
#include <weft/tensor.h>

namespace weft {

class Storage {
  struct OnlyMake {};

 public:
  static std::shared_ptr<Storage> make(UOp graph, Symbol device, bool is_owned, bool is_tracked);
  Storage(OnlyMake, UOp graph, Symbol device, bool is_owned, bool is_tracked)
      : device_(device), current_(std::move(graph)), owned_(is_owned), tracked_(is_tracked) {}
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // Calls f with all there are, of all threads, in the order they were made.
  template <class F>
  static void for_each_alive(F f) {
    const std::lock_guard lock(counting());
    for (const auto& storage : alive()) f(storage);
  }
  // Held by who has storages only to look at them, and by who counts who has one.
  static std::recursive_mutex& counting();
  // Those with a lower number were made before.
  static std::uint64_t next_number();
  std::uint64_t number() const { return number_; }

  Symbol device() const { return device_; }

  // The present version: a graph, a BUFFER, or AFTER(BUFFER, stores) until the stores ran.
  UOp version();
  // The same, for who keeps no graph over it.
  UOp present();
  // What was asked for gives way to the BUFFER that it was computed into, unless gradients still have to
  // pass through it. Not what is computed because another tensor has the same graph: gradients of this
  // one would depend on that.
  void settle();
  bool is_tracked();

  // Puts the value in place of the elements that `view` looks at, which is movement over `root`.
  void assign(const UOp& view, const UOp& root, const UOp& value, bool is_tracked);
  // Puts the value into the memory, at the place that this makes of it.
  void store(const std::function<UOp(const UOp& memory)>& place, const UOp& value, bool is_tracked);
  // Moves it into a BUFFER that no other storage has, as equal graphs have theirs in common.
  void own();
  // Writes its values to that memory, which it lies in from now on.
  void write_to(const UOp& memory);
  // What it has been computed to stays its value where another computes the same graph anew.
  void keep_result();
  // What only looks at another storage's memory becomes a copy, to be made before that is overwritten.
  void part();
  // The memory was written by somebody else: what was computed from it is not what it would give now.
  void renew();
  // These are its values, whatever was assigned to it, in other memory.
  void put_back(std::span<const std::byte> bytes);

  // What lies in memory is constant from now on: an assignment takes other memory.
  void freeze();

  // Its values lie in other memory from now on, by its BUFFERs.
  void move(const std::vector<std::shared_ptr<Buffer>>& memory);

  // How often the program has assigned something else to it, or they were moved.
  std::uint64_t changes();
  // Notes from now on where it is assigned to; where that was the last time.
  void note_writers();
  std::optional<Origin> writer();
  bool is_owned();
  // A gradient that calls of a captured function made, which later ones may add to in place.
  void give_to_calls() { is_of_calls_ = true; }
  bool is_of_calls() const { return is_of_calls_; }
  // In memory from now on, where it is computed, even if gradients passed through.
  void rest();
  // Calls without a graph wrote the memory. Unless somebody has looked at it since the last time, there is no
  // graph to be told; otherwise other BUFFERs are to take the place of those that it lies in.
  void overwritten(Substitution& renewed);
  // The version over those, also of whoever else lies in them: equal graphs have theirs in common.
  UOp along(const Substitution& renewed);
  // Takes that one, which nobody has looked at.
  void overwrite(UOp version) noexcept;
  bool is_looked_at();

 private:
  static std::vector<std::shared_ptr<Storage>> alive();

  void keep_before_change();
  void give_way();
  void settle_stores();
  void lie_in(const UOp& memory);
  void store_in_copy(const std::function<UOp(const UOp& memory)>& place, const UOp& value);
  // The version once the value is stored there.
  UOp written(const UOp& version, const UOp& place, const UOp& value);

  const Symbol device_;
  std::uint64_t number_ = 0;
  std::mutex mutex_;
  UOp current_;
  std::uint64_t changes_ = 0;
  bool looked_at_ = true;
  bool owned_;    // in a BUFFER of its own: stores may write there
  bool tracked_;  // gradients pass through
  bool notes_writers_ = false;
  std::atomic<bool> is_of_calls_ = false;
  std::optional<Origin> writer_;
};

struct Tensor::State {
  State(std::shared_ptr<Storage> memory, UOp version, UOp view, bool is_tracked)
      : storage(std::move(memory)),
        root(std::move(version)),
        graph(std::move(view)),
        tracked(is_tracked) {}

  // Of the storage's present version.
  UOp present();

  const std::shared_ptr<Storage> storage;
  std::mutex mutex;
  // Movement over `root`, which was the storage's version when last looked at.
  UOp root, graph;
  bool tracked;
  bool detached = false;  // whatever the storage passes on ends at this view
  bool leaf = false;      // gradients end here, in `grad`
  Tensor grad;
};

}  // namespace weft
