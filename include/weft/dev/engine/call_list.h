// The kernels that realize() ran, on the memory that they had: to be run again, without their graphs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <weft/dev/cost/work.h>
#include <weft/dev/device/buffer.h>
#include <weft/dev/ir/uop.h>

namespace weft {

struct LoadedKernel;
struct RunnablePlan;

class CallList {
 public:
  // While one lives, what this thread realizes is added to the list as it runs.
  class Recording {
   public:
    explicit Recording(CallList& list);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
  };
  static CallList* recording();  // of this thread; null without one
  // While one lives, what this thread realizes is not recorded.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    CallList* const paused_;
  };

  // Memory by slot, null for what the run alone needs, values by variable, and callers by step, if they are noted.
  void add(const std::shared_ptr<RunnablePlan>& runnable,
           const std::vector<std::shared_ptr<Buffer>>& memory, const std::vector<UOp>& variables,
           const std::vector<std::int64_t>& values, const std::vector<std::string>& callers = {});

  // Memory that calls use has a place in the list.
  using Place = std::size_t;
  std::optional<Place> place_of(const std::shared_ptr<Buffer>& memory) const;
  bool is_written(Place place) const { return places_[place].is_written; }
  const std::shared_ptr<Buffer>& memory(Place place) const { return places_[place].memory; }
  // From now on calls use other memory there, of as many bytes on the same device. A list that is settled
  // does not look for places any more.
  void put(Place place, std::shared_ptr<Buffer> memory);

  // Whether each run makes what lies there anew before it reads any of it.
  bool is_remade(Place place) const {
    return places_[place].is_made && places_[place].is_written && !places_[place].is_read_first;
  }
  // Nothing is added any more. What nobody else holds, and is written before it is read, are parts of
  // one block from now on; and so are `held`, which are remade, and stay until the next run makes them again:
  // before that their memory is for others.
  void settle(const std::vector<Place>& held = {});
  // The same calls, once settled, with blocks of their own: the two may run at the same time where what is written in none of
  // them gets other memory too. Nothing must be held.
  CallList another() const;
  std::vector<Place> written_outside_of_blocks() const;
  std::size_t own_bytes() const { return own_bytes_; }      // of those blocks
  std::size_t least_bytes() const { return least_bytes_; }  // that are needed of them at one time

  // Whether a kernel keeps what it makes of memory that is no constant.
  bool keeps_what_changes() const;

  std::size_t size() const { return calls_.size(); }
  bool has_variable(std::uint64_t variable) const { return variables_.contains(variable); }
  void set_variable(std::uint64_t variable, std::int64_t value);
  void run();
  std::vector<double> run_timed();  // and the seconds that each call took

  // What a call runs, for as long as the list lives.
  struct Planned {
    UOp kernel;  // over PARAMs; null for a copy
    std::string device;
    Work work;
    std::string caller;  // empty where none was noted
  };
  Planned planned(std::size_t call) const;

  // A call, for code that is to make it without the list: what the program is given, by its arguments. Of a list
  // that is not settled.
  struct Outline {
    // Of a place, or made of a constant for this program alone; neither where it reads nothing there.
    struct Memory {
      std::optional<Place> place = {};
      std::shared_ptr<Buffer> made = {};
    };
    std::vector<Memory> memory;  // of a copy: where to, and where from
    std::vector<std::int64_t> values;
    std::vector<std::uint64_t> variables;  // that have them
    bool is_copy;
    std::size_t offset;  // from which a copy reads
  };
  // None of a call that makes something of a constant: that lies in its place already.
  std::optional<Outline> outline(std::size_t call) const;
  // The program, as nodes that are gone after `use`.
  void lower(std::size_t call, const std::function<void(const Node*)>& use) const;
  bool is_read_first(Place place) const { return places_[place].is_read_first; }

 private:
  struct Call {
    std::shared_ptr<const RunnablePlan> runnable;
    std::size_t step;
    std::shared_ptr<LoadedKernel> kernel;  // null for a copy from places[1] to places[0]
    std::vector<Argument> arguments;
    std::vector<std::int64_t> values;
    std::vector<Place> places;
    std::size_t offset = 0;
    bool is_once = false,
         keeps_constants = false;  // it makes something of constants, or reads what was made
    std::string caller = {};
  };
  struct Memory {
    std::shared_ptr<Buffer> memory;
    bool is_made = false;  // by a plan, all of it
    bool is_written = false, is_read_first = false;
    std::vector<std::size_t> calls = {};
  };
  struct Use {
    std::size_t call, value;
  };
  struct OwnBlock {
    std::shared_ptr<Buffer> memory;
    std::vector<Place> places;
    std::vector<std::size_t> offsets;  // of these in it
  };

  Place place_for(const std::shared_ptr<Buffer>& memory, bool is_made);
  void note(Place place, bool reads, bool writes);
  void put_in_block(Device& device, const std::vector<Place>& places,
                    const std::vector<bool>& is_held);
  void set_arguments(std::size_t number);
  std::vector<std::uint64_t> variables_of(std::size_t call) const;
  bool reads_constants_alone(const Call& call) const;
  void run(std::size_t number);

  std::vector<Call> calls_;
  std::vector<Memory> places_;
  std::unordered_map<const Buffer*, Place> place_of_;
  std::unordered_map<std::uint64_t, std::vector<Use>> variables_;
  std::vector<OwnBlock> blocks_;
  std::size_t own_bytes_ = 0, least_bytes_ = 0;
};

}  // namespace weft
