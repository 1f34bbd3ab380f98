#include "within.h"

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "capture.h"
#include "ops.h"

namespace weft {
namespace {

thread_local int unchecked = 0;

bool is_checking() {
  thread_local KnownSetting<bool> known;
  return known.value([] { return setting_int("CHECK") != 0; }) && unchecked == 0 &&
         Capture::current() == nullptr;
}

bool is_known(const UOp& numbers) {
  const auto is_open = [](const Node* node) {
    return OpSet{Op::Param, Op::Variable}.contains(node->op());
  };
  return std::ranges::none_of(toposort(numbers.node()), is_open);
}

}  // namespace

Unchecked::Unchecked() { ++unchecked; }
Unchecked::~Unchecked() { --unchecked; }

void want_within(std::string_view op, const Operand& numbers, const UOp& count, Negative negative,
                 std::optional<std::int64_t> ignored) {
  if (!is_checking() || !is_known(numbers.uop()) || !count->is_const()) return;
  Tensor all = Tensor::from({numbers.uop(), numbers.device, false});
  if (only_stores(numbers.device.get()) || all.numel() == 0) return;
  if (ignored && can_be(all.dtype(), *ignored)) all = (all == *ignored).where(0, all);
  const Tensor least = all.min(), most = all.max();
  Tensor::realize({least, most});
  const std::int64_t size = count->lo(), from = negative == Negative::Refused ? 0 : -size;
  for (const std::int64_t number : {least.item<std::int64_t>(), most.item<std::int64_t>()})
    if (number < from || number >= size)
      user_error(fmt::format("{}: {} is not one of {} to {}", op, number, from, size - 1));
}

}  // namespace weft
