#include "collect.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <weft/dev/base/hash.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/schedule/layout.h>
#include <weft/error.h>

#include "weights.h"

namespace weft::exported {
namespace {

using Outline = CallList::Outline;

class Collection {
 public:
  Collection(const Recorded& recorded, const RenderFunction& render, Library& library)
      : recorded_(recorded), list_(recorded.list), render_(render), library_(library) {}

  void run() {
    for (std::size_t call = 0; call < list_.size(); ++call)
      outlines_.push_back(list_.outline(call));
    place_results();
    place_own();
    for (std::size_t call = 0; call < outlines_.size(); ++call)
      if (const auto& outline = outlines_[call]) add(call, *outline);
    for (const auto& [output, elements] : copied_) add_copy(output, elements);
  }

 private:
  // Results that calls write in place; what else is returned is copied at the end.
  void place_results() {
    const std::size_t inputs = recorded_.arguments.size();
    for (std::size_t i = 0; i < recorded_.elements.size(); ++i) {
      const Elements& elements = recorded_.elements[i];
      const auto place = list_.place_of(elements.memory);
      const bool is_whole = elements.bytes == elements.memory->bytes();
      const bool is_in_place =
          is_whole && place && list_.is_written(*place) &&
          places_.try_emplace(*place, Place{Place::In::Port, inputs + i}).second;
      if (!is_in_place) copied_.emplace_back(inputs + i, &elements);
    }
  }

  // What is made in a call and gone after it: parts of the workspace.
  void place_own() {
    std::map<CallList::Place, Lifetime> lifetimes;
    const auto use = [&](CallList::Place place, std::size_t call) {
      if (places_.contains(place) || !list_.is_written(place)) return;
      if (list_.is_read_first(place))
        internal_error("export: a call reads what the one before it left");
      const auto [known, is_new] =
          lifetimes.try_emplace(place, Lifetime{list_.memory(place)->bytes(), call, call});
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
    library_.workspace_bytes = layout.bytes;
    std::size_t part = 0;
    for (const auto& [place, lifetime] : lifetimes)
      places_[place] = {Place::In::Workspace, 0, layout.offsets[part++]};
  }

  Place place_of(const Outline::Memory& memory) {
    if (memory.made != nullptr) return weights(*memory.made);
    return memory.place ? place_of(list_.memory(*memory.place)) : Place();
  }

  Place place_of(const std::shared_ptr<Buffer>& memory) {
    const auto argument = std::ranges::find(recorded_.arguments, memory);
    if (argument != recorded_.arguments.end())
      return {Place::In::Port, static_cast<std::size_t>(argument - recorded_.arguments.begin())};
    const auto place = list_.place_of(memory);
    const auto known = place ? places_.find(*place) : places_.end();
    return known != places_.end() ? known->second : weights(*memory);
  }

  // What nobody writes is written to the file when it is first used.
  Place weights(Buffer& buffer) {
    const auto [known, is_new] =
        weights_.try_emplace(&buffer, Place{Place::In::Weights, 0, library_.weights.size()});
    if (is_new) {
      const std::size_t begin = library_.weights.size(), bytes = buffer.bytes();
      library_.weights.resize(begin + (bytes + alignment - 1) / alignment * alignment);
      buffer.copy_out(std::as_writable_bytes(std::span(library_.weights).subspan(begin, bytes)));
    }
    return known->second;
  }

  void add(std::size_t number, const Outline& outline) {
    Call call;
    for (const Outline::Memory& memory : outline.memory) call.places.push_back(place_of(memory));
    call.values = outline.values;
    if (outline.is_copy) {
      const auto& to = outline.memory[0].place;
      if (!to) internal_error("export: a copy goes nowhere");
      call.bytes = list_.memory(*to)->bytes();
      call.places[1].offset += outline.offset;
    } else {
      call.function = function_of(number);
    }
    library_.calls.push_back(std::move(call));
  }

  void add_copy(std::size_t output, const Elements* from) {
    Place source = place_of(from->memory);
    source.offset += from->offset;
    if (from->bytes > 0)
      library_.calls.push_back(
          {.bytes = from->bytes, .places = {{Place::In::Port, output}, source}});
  }

  // Calls of equal kernels have theirs in common.
  std::size_t function_of(std::size_t call) {
    const UOp kernel = list_.planned(call).kernel;
    const StructuralHash hash = structural_hash(nodes_of({&kernel, 1}));
    const auto [known, is_new] =
        functions_.try_emplace({hash.high, hash.low}, library_.functions.size());
    if (is_new)
      list_.lower(call, [&](const Node* program) {
        library_.functions.push_back(
            render_(program, fmt::format("{}_kernel{}", library_.name, known->second)));
      });
    return known->second;
  }

  const Recorded& recorded_;
  const CallList& list_;
  const RenderFunction& render_;
  Library& library_;
  std::vector<std::optional<Outline>> outlines_;
  std::map<CallList::Place, Place> places_;
  std::vector<std::pair<std::size_t, const Elements*>> copied_;  // outputs, and what they are
  std::map<const Buffer*, Place> weights_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> functions_;
};

}  // namespace

void collect(const Recorded& recorded, const RenderFunction& render, Library& library) {
  Collection(recorded, render, library).run();
}

}  // namespace weft::exported
