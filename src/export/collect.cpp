#include "collect.h"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <weft/dev/base/hash.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/schedule/memory_layout.h>
#include <weft/error.h>

#include "weights.h"

namespace weft::exported {
namespace {

using Outline = CallList::Outline;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte(); });
}

// One list of calls.
class RoutineMaker {
 public:
  RoutineMaker(Collection& all, const Recorded& recorded, const std::vector<Size>& sizes)
      : all_(all), recorded_(recorded), list_(recorded.list), sizes_(sizes) {}

  Routine made() {
    for (std::size_t call = 0; call < list_.size(); ++call)
      outlines_.push_back(list_.outline(call));
    place_results();
    place_own();
    for (std::size_t call = 0; call < outlines_.size(); ++call)
      if (const auto& outline = outlines_[call]) add(call, *outline);
    for (const auto& [output, elements] : copied_) add_copy(output, elements);
    return std::move(routine_);
  }

 private:
  // Results that calls write in place; what else is returned is copied at the end.
  void place_results() {
    const std::size_t inputs = recorded_.arguments.size();
    for (std::size_t i = 0; i < recorded_.elements.size(); ++i) {
      const Elements& elements = recorded_.elements[i];
      const auto place = list_.place_of(elements.memory);
      const bool is_own =
          all_.state_of(*elements.memory) == nullptr && elements.bytes == elements.memory->bytes();
      const bool is_in_place =
          is_own && place && list_.is_written(*place) &&
          places_.try_emplace(*place, Place{Place::In::Port, inputs + i}).second;
      if (!is_in_place) copied_.emplace_back(inputs + i, &elements);
    }
  }

  // What is made in a call and gone after it: parts of the workspace.
  void place_own() {
    std::map<CallList::Place, Lifetime> lifetimes;
    const auto use = [&](CallList::Place place, std::size_t call) {
      const auto& memory = list_.memory(place);
      if (places_.contains(place) || !list_.is_written(place) || all_.state_of(*memory) != nullptr)
        return;
      if (list_.is_read_first(place))
        internal_error("export: a call reads what the one before it left");
      const auto [known, is_new] =
          lifetimes.try_emplace(place, Lifetime{memory->bytes(), call, call});
      known->second.last = call;
    };
    for (std::size_t call = 0; call < outlines_.size(); ++call)
      if (const auto& outline = outlines_[call])
        for (const Outline::Memory& memory : outline->memory)
          if (memory.place) use(*memory.place, call);
    for (const auto& [output, elements] : copied_)
      if (const auto place = list_.place_of(elements->memory)) use(*place, list_.size());
    std::vector<Lifetime> parts;
    for (const auto& [place, lifetime] : lifetimes) parts.push_back(lifetime);
    const MemoryLayout layout = lay_out(parts);
    routine_.workspace_bytes = layout.bytes;
    std::size_t part = 0;
    for (const auto& [place, lifetime] : lifetimes)
      places_[place] = {Place::In::Workspace, 0, layout.offsets[part++]};
  }

  Place place_of(const Outline::Memory& memory) {
    if (memory.made != nullptr) return all_.weights(*memory.made);
    return memory.place ? place_of(list_.memory(*memory.place)) : Place();
  }

  Place place_of(const std::shared_ptr<Buffer>& memory) {
    const auto argument = std::ranges::find(recorded_.arguments, memory);
    if (argument != recorded_.arguments.end())
      return {Place::In::Port, static_cast<std::size_t>(argument - recorded_.arguments.begin())};
    if (const Place* state = all_.state_of(*memory)) return *state;
    const auto place = list_.place_of(memory);
    const auto known = place ? places_.find(*place) : places_.end();
    return known != places_.end() ? known->second : all_.weights(*memory);
  }

  Number number(std::int64_t value, std::uint64_t variable) const {
    const auto size = std::ranges::find(sizes_, variable, &Size::variable);
    if (size == sizes_.end()) return {value, {}};
    return {value, static_cast<std::size_t>(size - sizes_.begin())};
  }

  void add(std::size_t number_of_call, const Outline& outline) {
    Call call;
    for (const Outline::Memory& memory : outline.memory) call.places.push_back(place_of(memory));
    for (std::size_t i = 0; i < outline.values.size(); ++i)
      call.values.push_back(number(outline.values[i], outline.variables[i]));
    if (outline.is_copy) {
      const auto& to = outline.memory[0].place;
      if (!to) internal_error("export: a copy goes nowhere");
      call.bytes = list_.memory(*to)->bytes();
      call.places[1].offset += outline.offset;
    } else {
      call.function = all_.function_of(list_, number_of_call);
    }
    routine_.calls.push_back(std::move(call));
  }

  void add_copy(std::size_t output, const Elements* from) {
    Place source = place_of(from->memory);
    source.offset += from->offset;
    if (from->bytes > 0)
      routine_.calls.push_back(
          {.bytes = from->bytes, .places = {{Place::In::Port, output}, source}});
  }

  Collection& all_;
  const Recorded& recorded_;
  const CallList& list_;
  const std::vector<Size>& sizes_;
  Routine routine_;
  std::vector<std::optional<Outline>> outlines_;
  std::map<CallList::Place, Place> places_;
  std::vector<std::pair<std::size_t, const Elements*>> copied_;  // outputs, and what they are
};

}  // namespace

Collection::Collection(const std::vector<const Recorded*>& all, RenderFunction render,
                       Library& library)
    : render_(std::move(render)), library_(library) {
  State& state = library.state;
  for (const bool of_zeros : {false, true}) {
    for (const Recorded* recorded : all)
      for (const Assigned& each : recorded->assigned) {
        if (is_zero(each.before) != of_zeros || state_of(*each.memory) != nullptr) continue;
        state_[each.memory.get()] = {Place::In::State, 0, state.bytes};
        state.parts.push_back({"", each.dtype, each.shape, state.bytes});
        state.bytes += aligned(each.before.size());
        if (of_zeros) continue;
        state_bytes_.append(reinterpret_cast<const char*>(each.before.data()), each.before.size());
        state_bytes_.resize(state.bytes);
      }
    if (!of_zeros) state.kept_bytes = state.bytes;
  }
}

Routine Collection::routine(const Recorded& recorded, const std::vector<Size>& sizes) {
  return RoutineMaker(*this, recorded, sizes).made();
}

void Collection::keep_state() {
  library_.state.kept_at = library_.weights.size();
  library_.weights += state_bytes_;
}

const Place* Collection::state_of(const Buffer& memory) const {
  const auto found = state_.find(&memory);
  return found == state_.end() ? nullptr : &found->second;
}

// What nobody writes is written to the file when it is first used.
Place Collection::weights(Buffer& buffer) {
  const auto [known, is_new] =
      weights_.try_emplace(&buffer, Place{Place::In::Weights, 0, library_.weights.size()});
  if (is_new) {
    const std::size_t begin = library_.weights.size(), bytes = buffer.bytes();
    library_.weights.resize(begin + aligned(bytes));
    buffer.copy_out(std::as_writable_bytes(std::span(library_.weights).subspan(begin, bytes)));
  }
  return known->second;
}

// Calls of equal kernels have theirs in common.
std::size_t Collection::function_of(const CallList& list, std::size_t call) {
  const UOp kernel = list.planned(call).kernel;
  const StructuralHash hash = structural_hash(nodes_of({&kernel, 1}));
  const auto [known, is_new] =
      functions_.try_emplace({hash.high, hash.low}, library_.functions.size());
  if (is_new)
    list.lower(call, [&](const Node* program) {
      library_.functions.push_back(
          render_(program, fmt::format("{}_kernel{}", library_.name, known->second)));
    });
  return known->second;
}

}  // namespace weft::exported
