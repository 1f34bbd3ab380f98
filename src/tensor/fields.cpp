// What models say of their tensors, and how these get other values.

#include <weft/fields.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include "ops.h"

namespace weft::fields {
namespace {

struct SameHandle {
  bool operator()(const Tensor& a, const Tensor& b) const { return a.is(b); }
};
using Handles = std::unordered_set<Tensor, std::hash<Tensor>, SameHandle>;

bool is_single(const std::vector<std::int64_t>& shape) {
  return shape.empty() || (shape.size() == 1 && shape[0] == 1);
}

// What keeps the value out of the tensor; nothing where it fits.
std::string misfit(const std::string& name, const Tensor& own, const Tensor& value, bool convert) {
  const std::vector<std::int64_t> shape = own.shape(), given = value.shape();
  if (shape != given && !(is_single(shape) && is_single(given)))
    return fmt::format("{} has shape {}, not {}", name, shape_text(value.uop()),
                       shape_text(own.uop()));
  if (!convert && own.dtype() != value.dtype())
    return fmt::format("{} is {}, not {}", name, value.dtype().str(), own.dtype().str());
  return {};
}

// "missing a, b", behind what was said before.
void say(std::string& all, std::string_view what, const std::vector<std::string>& parts) {
  if (!parts.empty())
    all += fmt::format("{}{}{}", all.empty() ? "" : "; ", what, fmt::join(parts, ", "));
}

}  // namespace

std::vector<Tensor> each_once(const std::vector<NamedTensor>& tensors, bool requires_grad) {
  std::vector<Tensor> result;
  Handles known;
  for (const auto& [name, tensor] : tensors)
    if (tensor.requires_grad() == requires_grad && known.insert(tensor).second)
      result.push_back(tensor);
  return result;
}

std::int64_t elements_of(const std::vector<Tensor>& tensors) {
  return std::accumulate(
      tensors.begin(), tensors.end(), std::int64_t{0},
      [](std::int64_t sum, const Tensor& tensor) { return sum + tensor.numel(); });
}

Unmatched load(const std::vector<NamedTensor>& places, const StateDict& dict,
               const LoadOptions& options) {
  Unmatched unmatched;
  std::vector<std::string> misfits;
  std::vector<std::pair<Tensor, Tensor>> values;
  Handles given;
  std::set<std::string_view> known;
  for (const auto& [name, tensor] : places) {
    known.insert(name);
    const auto found = dict.find(name);
    if (found == dict.end()) continue;
    if (std::string wrong = misfit(name, tensor, found->second, options.convert); !wrong.empty())
      misfits.push_back(std::move(wrong));
    if (given.insert(tensor).second) values.emplace_back(tensor, found->second);
  }
  for (const auto& [name, tensor] : places)
    if (!given.contains(tensor)) unmatched.missing.push_back(name);
  for (const auto& [name, value] : dict)
    if (!known.contains(name)) unmatched.unexpected.push_back(name);

  std::string wrong;
  if (options.strict) say(wrong, "missing: ", unmatched.missing);
  if (options.strict) say(wrong, "unexpected: ", unmatched.unexpected);
  say(wrong, "", misfits);
  if (!wrong.empty()) user_error("load_state_dict: " + wrong);

  const NoGrad constant;
  std::vector<Tensor> loaded;
  for (auto& [place, value] : values) {
    place.assign(value.shard_like(place).reshape(Shape(place.dims())));
    loaded.push_back(place);
  }
  Tensor::realize(loaded);
  return unmatched;
}

}  // namespace weft::fields
