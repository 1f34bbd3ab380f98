#include <weft/dev/ir/multi.h>

#include <fmt/core.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

namespace weft {

std::vector<Symbol> devices_of(const Node* node) {
  const std::string& names = node->arg<ShardArg>().devices.get();
  std::vector<Symbol> devices;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    devices.emplace_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return devices;
}

Symbol joined_names(const std::vector<Symbol>& devices) {
  std::string names;
  for (Symbol device : devices) names += (names.empty() ? "" : ",") + device.get();
  return Symbol(names);
}

Layout::Layout(std::int64_t split, std::int64_t size, std::vector<Symbol> on)
    : axis(split), devices(std::move(on)), bounds{0} {
  const auto count = std::ssize(devices);
  for (std::int64_t i = 0; i < count; ++i)
    bounds.push_back(bounds.back() + size / count + (i < size % count ? 1 : 0));
}

Layout Layout::of(const Node* multi) {
  Layout layout(devices_of(multi));
  layout.axis = multi->arg<ShardArg>().axis;
  if (!layout.is_split()) return layout;
  layout.bounds = {0};
  for (const Node* part : multi->src()) {
    const Node* size = part->dims()[static_cast<std::size_t>(layout.axis)];
    if (!size->is_const())
      user_error(fmt::format("a tensor is split along an axis of size {}, which has to be a number",
                             expression_text(size)));
    layout.bounds.push_back(layout.bounds.back() + size->lo());
  }
  return layout;
}

UOp Layout::multi(const std::vector<UOp>& parts) const {
  return make(Op::Multi, parts, {},
              ShardArg{static_cast<std::int32_t>(axis), joined_names(devices)});
}

std::vector<UOp> Layout::sizes_of_part(std::vector<UOp> whole, std::size_t part) const {
  if (is_split()) whole[static_cast<std::size_t>(axis)] = const_int(size(part));
  return whole;
}

}  // namespace weft
