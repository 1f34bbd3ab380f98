// Runs graphs: nodes become tensors, one after the other.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plan.h"
#include "tensors.h"

namespace weft::onnx {

// When a value is another one.
enum class Changes : std::uint8_t {
  Never,
  WithShapes,  // in calls of other shapes
  InEachCall,
};

struct Slot {
  Value value;
  Changes changes = Changes::InEachCall;
  std::optional<double> number = {};  // of a tensor of one float that nobody can change
};

// Values by their names, with those around a graph.
class Scope {
 public:
  explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}
  const Slot* find(std::string_view name) const;  // null where there is none
  void set(std::string_view name, Slot slot);
  void keep_only(const std::unordered_set<std::string_view>& names);
  const std::unordered_map<std::string_view, Slot>& own() const { return slots_; }

 private:
  const Scope* outer_;
  std::unordered_map<std::string_view, Slot> slots_;
};

// What attributes that refer to those of a function stand for.
struct Within {
  const FunctionProto* function;
  const NodeProto* node;  // that calls it
  const Within* outer;    // where that node is
};

// Elements that operators asked for, where they are the same in all calls of the same shapes: a later call finds
// them here, in the order in which the first asked. While jit() captures there is no other way to know them.
class Readings {
 public:
  void start() { next_ = 0; }
  const std::vector<double>* next_reals();  // null where the call before did not come so far
  const std::vector<std::int64_t>* next_ints();
  void add(std::vector<double> reals) { all_.push_back({std::move(reals), {}}), ++next_; }
  void add(std::vector<std::int64_t> ints) { all_.push_back({{}, std::move(ints)}), ++next_; }

 private:
  struct Reading {
    std::vector<double> reals;
    std::vector<std::int64_t> ints;
  };
  std::vector<Reading> all_;
  std::size_t next_ = 0;
};

// Thrown for elements that differ between calls, where they are to decide which trace follows.
struct Guard {
  Tensor value;
  bool has_reals;  // else integers
};
// Thrown where a run with guards comes to what is better done once, and not anew behind each guard.
struct NotTraced {};

class Runner {
 public:
  struct Rules {
    bool trainable = false;  // initialisers of floats are no constants
  };
  Runner(const ModelProto& model, const Weights& weights, Rules rules)
      : model_(model), weights_(weights), rules_(rules), plans_(model) {}

  // The model's own graph: first what is the same in all calls, which also finds what is not supported; then the
  // rest, for these inputs.
  void run_constants();
  // Constants that the rest does not read go, with the memory of what they were computed from. Nobody has been
  // given one.
  void forget_constants();
  void freeze_constants();
  Values run(const std::vector<std::pair<std::string_view, Value>>& inputs);

  // A graph in a node, in the scope around it.
  std::vector<Slot> run(const GraphProto& graph, const Scope& around, const Within* within,
                        const std::vector<OpsetId>& opsets, const std::vector<Slot>& inputs);

  // Of what a node reads, and of what it draws.
  static Changes changes_of(const Step& step, const Scope& scope);

  std::vector<OpUse> uses();
  const Scope& constants() const { return constants_; }
  const Weights& weights() const { return weights_; }
  const Value& constant(const TensorProto& tensor);  // the same object each time
  Value constant(const SparseTensorProto& tensor) const { return weights_.dense(tensor); }

  // Whether the last run asked for elements that are others in each call.
  bool has_read() const { return has_read_; }
  void note_reading() { has_read_ = true; }
  // Where readings of this run are kept; null where they are not.
  void keep_readings(Readings* readings) { readings_ = readings; }
  Readings* readings() const { return readings_; }
  // What is known of elements that differ between calls; a run throws a Guard for the first that is not. Null
  // where they are read.
  void keep_guards(Readings* guards) { guards_ = guards; }
  Readings* guards() const { return guards_; }
  bool has_drawn() const { return has_drawn_; }  // random numbers, in the last run

 private:
  struct Frame {
    Scope& scope;
    const Within* within;
    const std::vector<OpsetId>& opsets;
  };
  void add_initialisers(const GraphProto& graph, Scope& scope);
  void run(const Step& step, const Frame& frame);
  std::vector<Slot> outputs_of(const Step& step, const Frame& frame);
  std::vector<Slot> outputs_of_function(const Step& step, const Frame& frame);
  void refuse_unsupported();
  void realize_constants();

  const ModelProto& model_;
  const Weights& weights_;
  const Rules rules_;
  Plans plans_;
  Scope constants_;
  std::vector<const Step*> rest_;  // of the model's own graph, without what is constant
  std::unordered_map<const TensorProto*, Value> tensors_;
  bool has_read_ = false, has_drawn_ = false;
  std::size_t steps_ = 0;
  Readings *readings_ = nullptr, *guards_ = nullptr;
};

struct Call::State {
  Runner& runner;
  const Step& step;
  const Scope& scope;
  const Within* within;
  const std::vector<OpsetId>& opsets;
  std::vector<const Slot*> inputs;  // null where one is left out

  const AttributeProto* find(std::string_view name) const;  // null where there is none
};

}  // namespace weft::onnx
