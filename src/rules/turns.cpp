#include <weft/dev/rules/turns.h>

#include <algorithm>
#include <optional>

namespace weft {
namespace {

// By how much a value is above the range.
std::optional<std::int64_t> distance(const Node* value, const Node* range) {
  if (value == range) return 0;
  if (value->op() != Op::Add || value->src(0) != range || !value->src(1)->is_const()) return {};
  return value->src(1)->lo();
}

}  // namespace

void add_turns(const Node* condition, const Node* range, std::vector<std::int64_t>& turns) {
  if (condition->op() != Op::CmpLt && condition->op() != Op::CmpEq) return;
  const bool is_left = condition->src(1)->is_const();
  const Node *limit = condition->src(is_left ? 1 : 0), *value = condition->src(is_left ? 0 : 1);
  const auto above = distance(value, range);
  if (!above || !limit->is_const()) return;
  const std::int64_t equal = limit->lo() - *above;
  if (condition->op() == Op::CmpEq || is_left) turns.push_back(equal);
  if (condition->op() == Op::CmpEq || !is_left) turns.push_back(equal + 1);
}

std::vector<std::int64_t> section_ends(std::vector<std::int64_t> turns, std::int64_t size) {
  std::erase_if(turns, [=](std::int64_t turn) { return turn <= 0 || turn >= size; });
  turns.insert(turns.end(), {0, size});
  std::ranges::sort(turns);
  const auto [first, last] = std::ranges::unique(turns);
  turns.erase(first, last);
  return turns;
}

}  // namespace weft
