#include "library.h"

#include <algorithm>

namespace weft::exported {

namespace {

std::int64_t elements_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

}  // namespace

std::int64_t Port::elements() const { return elements_of(shape); }
std::size_t Port::bytes() const { return static_cast<std::size_t>(elements()) * dtype.bytes(); }

std::size_t StatePart::bytes() const {
  return static_cast<std::size_t>(elements_of(shape)) * dtype.bytes();
}

bool Call::has_sizes() const {
  return std::ranges::any_of(values, [](const Number& value) { return value.size.has_value(); });
}

bool Call::only_writes_ports() const {
  return !is_copy() && std::ranges::all_of(places, [](const Place& place) {
    return place.in == Place::In::Port || place.in == Place::In::Nothing;
  });
}

std::size_t Routine::most_places() const {
  std::size_t most = 0;
  for (const Call& call : calls) most = std::max(most, call.places.size());
  return most;
}

std::size_t Routine::most_values() const {
  std::size_t most = 0;
  for (const Call& call : calls) most = std::max(most, call.values.size());
  return most;
}

const Place* Entry::open_port(const Call& copy) const {
  for (const Place& place : copy.places)
    if (place.in == Place::In::Port && ports[place.port].is_open) return &place;
  return nullptr;
}

bool Entry::copies_open() const {
  return std::ranges::any_of(
      run.calls, [&](const Call& call) { return call.is_copy() && open_port(call) != nullptr; });
}

std::size_t Entry::inputs() const {
  return static_cast<std::size_t>(std::ranges::count(ports, false, &Port::is_output));
}

std::size_t Entry::ranks_before(std::size_t port) const {
  std::size_t ranks = 0;
  for (std::size_t i = 0; i < port; ++i) ranks += ports[i].shape.size();
  return ranks;
}

std::size_t Entry::ranks() const { return ranks_before(ports.size()); }

std::int64_t Library::threads() const {
  std::int64_t most = 1;
  for (const Function& function : functions) most = std::max(most, function.threads);
  return most;
}

std::size_t Library::workspace_bytes() const {
  std::size_t most = 0;
  for (const Entry& entry : entries) most = std::max(most, entry.run.workspace_bytes);
  return most;
}

std::vector<std::string> Library::symbols() const {
  std::vector<std::string> names{name + "_verify"};
  if (state.bytes > 0) names.push_back(name + "_start");
  for (const Entry& entry : entries) {
    names.push_back(entry.prefix + "_run");
    names.push_back(entry.prefix + "_description");
    if (!entry.sizes.empty()) names.push_back(entry.prefix + "_shapes");
  }
  return names;
}

}  // namespace weft::exported
