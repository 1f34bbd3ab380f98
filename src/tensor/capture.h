// What a function of tensors does besides running kernels, noted while jit() runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include <weft/dev/ir/uop.h>
#include <weft/tensor.h>

namespace weft {

class Storage;

// Random numbers that were drawn: their key and first counter are this memory.
struct Drawing {
  UOp memory;
  std::int64_t blocks;
};

// What was in storages, by their numbers, before they were assigned to for the first time.
using ValuesBefore = std::map<std::uint64_t, std::vector<std::byte>>;

class Capture {
 public:
  enum Reading : std::uint8_t { Allowed, Refused };

  // What was there and is assigned to while it lives is kept in `before`, as it was.
  explicit Capture(Reading reading, ValuesBefore* before = nullptr);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  static Capture* current();   // of this thread; null without one
  static Capture* refusing();  // the same, if values may not be read

  // Tensors that are looked at or assigned to, if they were there before.
  void note(const std::shared_ptr<Storage>& storage);
  void note(const Drawing& drawing) { drawings.push_back(drawing); }
  // The gradient of the tensor, which is that one or none, is read or set.
  void note_gradient(const std::shared_ptr<Tensor::State>& leaf,
                     const std::shared_ptr<Tensor::State>& now, bool is_set);
  // Puts it into memory of its own, as a part of no call, if it was there before: the function will assign to it.
  bool prepare_to_assign(const std::shared_ptr<Storage>& storage);
  // Before the values are computed by what is recorded: what the program had computed of the same graphs, from memory that
  // may be assigned to, is no result for later calls. Tensors that hold it keep it.
  void forget_results(const std::vector<Operand>& values) const;
  void keep_before_change(Storage& storage);
  bool is_new(const Storage& storage) const;  // whether it was not there before
  // Whether it was there before, and the function has not assigned to it.
  bool holds_old_values(const Storage& storage) const;
  // What the program reads now would be as old in every later call.
  static void refuse_reading();

  // What was assigned to is in memory of its own from now on, so that later calls find it there.
  void own_assigned() const;
  // What had memory of its own, and was assigned to in a copy for the sake of gradients, is written there.
  void write_back() const;
  // Whether one was assigned to that had none.
  bool has_moved() const;

  struct Noted {
    std::shared_ptr<Storage> storage;
    UOp version;  // as of all that follows: before
    std::uint64_t changes;
    bool was_owned;
  };
  std::vector<Noted> storages;
  std::vector<Drawing> drawings;
  // Of tensors that were there before.
  struct Gradient {
    std::weak_ptr<Tensor::State> leaf;
    std::optional<std::weak_ptr<Tensor::State>> before;  // the one that was there, if any
    bool is_read, is_set;                                // is_read: before it was set
  };
  std::vector<Gradient> gradients;

 private:
  void run_pending(const std::shared_ptr<Storage>& storage);

  Capture* const outer_;
  const Reading reading_;
  ValuesBefore* const before_;
  const std::uint64_t first_;  // number of a storage that was not there
  std::unordered_set<const Storage*> known_;
  std::unordered_set<std::uint64_t> changed_;   // numbers of what was not there, and is assigned to
  std::unordered_set<std::uint64_t> assigned_;  // and of what was there
};

}  // namespace weft
