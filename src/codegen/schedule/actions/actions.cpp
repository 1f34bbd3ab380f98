#include <weft/dev/codegen/actions.h>

#include <algorithm>
#include <charconv>
#include <ranges>

#include <fmt/format.h>
#include <weft/error.h>

namespace weft {
namespace {

constexpr std::string_view tails[] = {"", "mask", "remainder", "shift"};

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view space = " \t\n";
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(space);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t size = std::min(text.find_first_of(space), text.size());
    words.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
}

// The words of one action, consumed from left to right.
class Words {
 public:
  explicit Words(std::string_view action) : action_(action), words_(words_of(action)) {}

  bool empty() const { return next_ == words_.size(); }
  std::string_view peek() const { return empty() ? std::string_view() : words_[next_]; }
  std::string take(std::string_view what) {
    if (empty()) refuse(fmt::format("{} is missing", what));
    return std::string(words_[next_++]);
  }
  bool take_if(std::string_view word) {
    if (peek() != word) return false;
    ++next_;
    return true;
  }
  std::int64_t number() {
    const std::string word = take("a number");
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 1)
      refuse(fmt::format("'{}' is not a positive number of iterations", word));
    return value;
  }
  std::vector<std::string> rest() {
    std::vector<std::string> list;
    while (!empty()) list.push_back(take(""));
    return list;
  }
  [[noreturn]] void refuse(std::string_view why) const {
    user_error(fmt::format("schedule: '{}': {}", action_, why));
  }

 private:
  std::string_view action_;
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
};

Action parse_tile(Words& words, Action::Type type) {
  Action action{.type = type, .name = words.take("a loop")};
  action.count = words.number();
  if (words.empty()) return action;
  const auto tail = std::ranges::find(tails, words.peek());
  if (tail == std::end(tails)) words.refuse("the tail must be mask, remainder or shift");
  action.tail = static_cast<Tail>(tail - std::begin(tails));
  words.take("");
  return action;
}

Action parse_stage(Words& words) {
  Action action{.type = Action::Stage, .name = words.take("a value")};
  action.decoded = words.take_if("decoded");
  action.slides = words.take_if("slide");
  action.by_region = action.slides || words.take_if("region");
  if (words.take_if("at")) action.at = words.take("a loop");
  if (words.take_if("in")) {
    const std::string space = words.take("a memory");
    const auto found = std::ranges::find(enum_names(Space()), space);
    action.space = static_cast<Space>(found - enum_names(Space()).begin());
    if (found == enum_names(Space()).end() || action.space == Space::Global)
      words.refuse("the memory must be shared, scratch, register or constant");
  }
  if (words.take_if("as")) action.loops = words.rest();
  if (action.decoded && (action.slides || action.space == Space::Constant))
    words.refuse("'decoded' cannot be combined with 'slide' or 'in constant'");
  return action;
}

Action parse_action(std::string_view text) {
  Words words(text);
  const std::string type = words.take("an action");
  const auto kinds = enum_names(LoopKind());
  const auto kind = std::ranges::find(kinds, type);
  Action action;
  if (type == "tile") {
    action = parse_tile(words, Action::Tile);
  } else if (type == "group") {
    action = parse_tile(words, Action::Group);
  } else if (type == "order") {
    action = {.type = Action::Order, .name = {}, .loops = words.rest()};
  } else if (type == "pipeline") {
    action = {.type = Action::Pipeline, .name = words.take("a value")};
    action.count = words.number();
  } else if (type == "prefetch") {
    action = {.type = Action::Prefetch, .name = words.take("a value")};
    if (!words.take_if("at")) words.refuse("'at' and a loop are missing");
    action.at = words.take("a loop");
  } else if (type == "batch") {
    action = parse_tile(words, Action::Batch);
  } else if (type == "online") {
    action = {.type = Action::Online, .name = words.take("a loop")};
    action.count = words.number();
  } else if (type == "split_parallel") {
    action = {.type = Action::SplitParallel, .name = words.take("a loop")};
    action.count = words.number();
  } else if (type == "mma") {
    action = {.type = Action::Mma, .name = {}};
    for (int i = 0; i < 2; ++i) action.loops.push_back(words.take("a loop"));
    action.name = words.take("a loop");
    action.at = words.take("an instruction");
    if (!words.empty()) action.count = words.number();
  } else if (type == "pad") {
    action = {.type = Action::Pad, .name = words.take("a loop"), .tail = Tail::Mask};
    action.count = words.number();
  } else if (type == "swap" || type == "merge") {
    action = {.type = type == "swap" ? Action::Swap : Action::Merge, .name = {}};
    for (int i = 0; i < 2; ++i) action.loops.push_back(words.take("a loop"));
  } else if (type == "stage") {
    action = parse_stage(words);
  } else if (kind != kinds.end()) {
    action = {.type = Action::Kind, .name = words.take("a loop")};
    action.kind = static_cast<LoopKind>(kind - kinds.begin());
  } else {
    words.refuse("there is no such action");
  }
  if (!words.empty()) words.refuse(fmt::format("unexpected '{}'", words.peek()));
  return action;
}

std::string text_of(const Action& action) {
  const std::string list = fmt::format("{}", fmt::join(action.loops, " "));
  const bool is_scratch = action.space == Space::Scratch;
  switch (action.type) {
    case Action::Tile:
    case Action::Group:
    case Action::Batch:
      return fmt::format("{} {} {}{}{}",
                         action.type == Action::Tile    ? "tile"
                         : action.type == Action::Group ? "group"
                                                        : "batch",
                         action.name, action.count, action.tail == Tail::None ? "" : " ",
                         tails[static_cast<std::size_t>(action.tail)]);
    case Action::Kind:
      return fmt::format("{} {}", enum_names(LoopKind())[static_cast<std::size_t>(action.kind)],
                         action.name);
    case Action::Order: return "order " + list;
    case Action::Pad: return fmt::format("pad {} {}", action.name, action.count);
    case Action::Prefetch: return fmt::format("prefetch {} at {}", action.name, action.at);
    case Action::Pipeline: return fmt::format("pipeline {} {}", action.name, action.count);
    case Action::Swap: return "swap " + list;
    case Action::Merge: return "merge " + list;
    case Action::Online: return fmt::format("online {} {}", action.name, action.count);
    case Action::SplitParallel:
      return fmt::format("split_parallel {} {}", action.name, action.count);
    case Action::Mma:
      return fmt::format("mma {} {} {}{}", list, action.name, action.at,
                         action.count == 0 ? "" : fmt::format(" {}", action.count));
    case Action::Stage:
      return fmt::format(
          "stage {}{}{}{}{}{}{}{}{}", action.name, action.decoded ? " decoded" : "",
          action.slides      ? " slide"
          : action.by_region ? " region"
                             : "",
          action.at.empty() ? "" : " at ", action.at, is_scratch ? "" : " in ",
          is_scratch ? "" : enum_names(Space())[static_cast<std::size_t>(action.space)],
          list.empty() ? "" : " as ", list);
  }
  return {};
}

}  // namespace

std::string to_string(const Schedule& schedule) {
  if (schedule.empty()) return "none";
  std::string text;
  for (const Action& action : schedule) text += (text.empty() ? "" : "; ") + text_of(action);
  return text;
}

Schedule parse_schedule(std::string_view text) {
  Schedule schedule;
  if (text == "none") return schedule;
  for (const auto part : std::views::split(text, ';')) {
    const std::string_view action(part.begin(), part.end());
    if (!words_of(action).empty()) schedule.push_back(parse_action(action));
  }
  return schedule;
}

}  // namespace weft
