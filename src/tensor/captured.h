// A function whose kernels are known. What a call needs besides them is found when it is captured:
//
//   - memory that was there before and is read or written: storages, whose memory may be another one by the next call;
//   - memory of the arguments, which is another one in each call;
//   - memory of the results, which is new where somebody still holds the last;
//   - everything else is the list's own, and what calls make anew and the program holds between them: gradients.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <weft/dev/engine/call_list.h>
#include <weft/jit.h>

#include "call_forms.h"
#include "capture.h"

namespace weft {

// A tensor's memory, in order and in one piece; it is computed and put there if need be.
std::shared_ptr<Buffer> memory_in_order(const Tensor& tensor);
// None of what is still to be computed.
std::vector<std::shared_ptr<Buffer>> memory_below(const UOp& version);

class Replay::Captured {
 public:
  Captured(const JitArguments& arguments, const Body& body);
  // The same kernels on other memory of their own.
  std::unique_ptr<Captured> another() const;
  // What somebody else still holds leaves the block.
  ~Captured();
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  // Whether something that it reads was assigned to since it looked.
  bool is_stale() const;
  // Whether the gradients that it goes on from are there, and no others.
  bool finds_gradients() const;
  // Whether the function has to be captured again: what had no memory has some now, or no longer has the same as another.
  bool is_outdated() const;
  // Finds again what was assigned to, while nothing runs that reads it. Who is not pure does so in each call.
  void refresh();
  // Whether calls leave nothing behind but their results, so that several may run at the same time.
  bool is_pure() const { return is_pure_; }

  JitResults call(const JitArguments& arguments);
  // Of the last call.
  JitResults results() const;
  JitReport report() const { return {list_.size(), list_.own_bytes(), list_.least_bytes()}; }

  // Copies new results that share memory with each other or look at memory of others, as a padded tensor does: calls could
  // not give memory to them. With a list also those that it does not fill, which would be the same memory in each call.
  static void copy_what_shares(std::vector<Tensor>& returned, std::uint64_t first_new,
                               const CallList* list);

 private:
  using Place = CallList::Place;

  // Memory of the program that calls read or write, and where in the list it is.
  struct Known {
    std::shared_ptr<Storage> storage;
    std::vector<std::optional<Place>> places;  // of its BUFFERs; empty where it was a graph
    std::uint64_t changes;                     // of the storage, when it was looked at last
    bool is_written;
    std::vector<Place> in_block = {};  // the same, where they lie in the list's
  };

  // A result: a view of memory that is new in each call, or the tensor that was returned.
  struct Result {
    struct Part {
      UOp buffer;  // that stands for the memory in `view`
      Place place;
      std::vector<std::shared_ptr<Buffer>> memory;  // of this call and earlier ones
    };
    Tensor tensor;  // null where the memory is new
    UOp view;
    Symbol device;
    std::vector<Part> parts;
  };

  // What grad() of a tensor is afterwards.
  struct Gradient {
    Capture::Gradient of;
    Tensor after;
  };

  Captured(const Captured& of, CallList list);

  static const std::shared_ptr<Storage>& storage_behind(const Tensor& tensor);
  static bool is_held_once(const Tensor& tensor);

  JitResults recorded(const JitArguments& arguments, const Body& body);
  void find_gradients(const Capture& capture, std::uint64_t first_new);
  void set_gradients() const;
  void find_known(const Capture& capture, const std::vector<Tensor>& returned);
  void find_results(std::vector<Tensor> returned);
  void settle();
  bool is_remade(const Known& known) const;
  bool lies_in_block(const Known& known) const;
  static void move_out(const Known& known);
  Result result_of(Tensor&& tensor) const;
  std::shared_ptr<Buffer> argument(const NamedTensor& given) const;
  void bind(const std::vector<UOp>& sizes);
  bool finds_pure() const;
  void find_again(Known& known);
  void tell_of_overwriting() const;
  std::shared_ptr<Buffer> free_memory(Result::Part& part) const;

  Forms forms_;
  std::vector<UOp> sizes_, captured_sizes_ = sizes_;
  CallList list_;
  std::vector<std::optional<Place>> arguments_;  // none where no call reads them
  std::vector<Known> known_;
  std::vector<Result> results_;
  std::vector<Drawing> drawings_;
  std::vector<Gradient> gradients_;
  std::shared_ptr<const void> form_;  // that the results stand in
  bool is_pure_ = false;
};

}  // namespace weft
