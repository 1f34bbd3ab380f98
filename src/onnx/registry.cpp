#include <algorithm>
#include <map>
#include <vector>

#include "plan.h"

namespace weft::onnx {

std::vector<OpTable> all_tables();  // written by CMake: a table for each file

namespace {

using Key = std::pair<std::string_view, std::string_view>;

const std::map<Key, std::vector<const Op*>>& lines() {
  static const auto all = [] {
    std::map<Key, std::vector<const Op*>> found;
    for (const OpTable& table : all_tables())
      for (const Op& op : table.ops) found[{table.domain, op.name}].push_back(&op);
    for (auto& [key, ops] : found) std::ranges::sort(ops, {}, &Op::since);
    return found;
  }();
  return all;
}

}  // namespace

const Op* find_op(std::string_view domain, std::string_view name, std::int64_t opset) {
  const auto found = lines().find({domain, name});
  if (found == lines().end()) return nullptr;
  const Op* best = nullptr;
  for (const Op* op : found->second)
    if (op->since <= opset) best = op;
  return best;
}

std::int64_t first_opset_of(std::string_view domain, std::string_view name) {
  const auto found = lines().find({domain, name});
  return found == lines().end() ? 0 : found->second.front()->since;
}

std::vector<SupportedOp> supported_ops() {
  std::vector<SupportedOp> result;
  for (const auto& [key, ops] : lines()) {
    if (key.first == "weft") continue;  // what the clean-up makes
    std::vector<int> since;
    for (const Op* op : ops) since.push_back(op->since);
    result.push_back({key.first, key.second, std::move(since)});
  }
  return result;
}

}  // namespace weft::onnx
