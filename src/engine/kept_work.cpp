#include "kept_work.h"

#include <locale>
#include <sstream>
#include <type_traits>

#include <fmt/format.h>
#include <weft/dev/base/build_id.h>
#include <weft/dev/device/disk_cache.h>
#include <weft/dev/ir/text.h>
#include <weft/settings.h>

namespace weft {
namespace {

std::string key_for(const char* what, const std::string& key) {
  return fmt::format("{} by {}\n{}", what, build_id(), key);
}

// Lists as their lengths and numbers, texts as their lengths and bytes. What is not as written is nothing.
class Reader {
 public:
  explicit Reader(const std::string& text) : in_(text) { in_.imbue(std::locale::classic()); }

  template <class T>
  T number() {
    std::conditional_t<std::is_floating_point_v<T>, T, long long> number{};
    in_ >> number;
    return static_cast<T>(number);
  }
  template <class T>
  std::vector<T> numbers() {
    const auto count = length();
    std::vector<T> list;
    for (std::size_t i = 0; i < count && in_; ++i) list.push_back(number<T>());
    return list;
  }
  std::string text() {
    const auto count = length();
    in_.get();
    std::string bytes(count, '\0');
    in_.read(bytes.data(), static_cast<std::streamsize>(count));
    return bytes;
  }
  std::size_t length() {
    constexpr std::size_t most = std::size_t{1} << 28;
    const auto count = number<std::size_t>();
    if (count > most) in_.setstate(std::ios::failbit);
    return in_ ? count : 0;
  }
  bool is_good() const { return static_cast<bool>(in_); }

 private:
  std::istringstream in_;
};

template <class T>
std::string listed(const std::vector<T>& list) {
  std::string text = fmt::format("{} ", list.size());
  for (const auto each : list) text += fmt::format("{} ", static_cast<long long>(each));
  return text;
}

std::string counted(const std::string& text) { return fmt::format("{} {}", text.size(), text); }

}  // namespace

bool may_keep_work(const ExtraRuleList& extra) {
  return extra.empty() && !build_id().empty() && debug_level() < 3 && setting("DUMP").empty() &&
         setting_int("SPEC") == 0 && setting_int("VALIDATE") == 0;
}

std::optional<Rendered> known_compiled(const std::string& key) {
  const auto found = disk_cache().find(key_for("a kernel", key));
  if (!found) return std::nullopt;
  Reader in(*found);
  Rendered rendered;
  rendered.variables = in.numbers<std::size_t>();
  rendered.is_read = in.numbers<bool>();
  const std::size_t count = in.length();
  for (std::size_t i = 0; i < count && in.is_good(); ++i) {
    Kept kept;
    kept.constant = in.number<std::size_t>();
    kept.argument = in.number<std::size_t>();
    kept.bytes = in.number<std::size_t>();
    kept.name = in.text();
    kept.code = in.text();
    rendered.kept.push_back(std::move(kept));
  }
  rendered.code = in.text();
  if (!in.is_good()) return std::nullopt;
  return rendered;
}

void keep_compiled(const std::string& key, const Rendered& rendered) {
  std::string text = listed(rendered.variables) + listed(rendered.is_read);
  text += fmt::format("{} ", rendered.kept.size());
  for (const Kept& kept : rendered.kept)
    text += fmt::format("{} {} {} {} {} ", kept.constant, kept.argument, kept.bytes,
                        counted(kept.name), counted(kept.code));
  disk_cache().keep(key_for("a kernel", key), text + counted(rendered.code));
}

namespace {

// A plan without the nodes that it names: which of its names have one comes at the end.
std::string outline_of(const Plan& plan) {
  std::string text = fmt::format("{} ", plan.slots.size());
  for (const Slot& slot : plan.slots) text += slot.input ? fmt::format("1 {} ", *slot.input) : "0 ";
  text += fmt::format("{} ", plan.steps.size());
  for (const Step& step : plan.steps)
    text +=
        fmt::format("{} {}{} {} {} {} {:d} {}{}", counted(std::string(step.device.get())),
                    listed(step.slots), step.offset, step.work.flops, step.work.bytes,
                    step.work.parallel, step.is_once, listed(step.values), listed(step.origins));
  text += fmt::format("{} {} {} ", plan.roots.size(), plan.variables.size(), plan.layouts.size());
  for (const BufferLayout& layout : plan.layouts)
    text += fmt::format("{} {}{}{} {} ", counted(std::string(layout.kernel.get())),
                        listed(layout.sizes), listed(layout.order), layout.seconds,
                        layout.seconds_as_made);
  std::vector<bool> has_node;
  for (const UOp* name : names_of(plan)) has_node.push_back(!name->is_null());
  return text + listed(has_node);
}

// Which names have a node.
std::vector<bool> read_outline(Reader& in, Plan& plan) {
  plan.slots.resize(in.length());
  for (Slot& slot : plan.slots)
    if (in.number<bool>()) slot.input = in.number<std::size_t>();
  plan.steps.resize(in.length());
  for (Step& step : plan.steps) {
    step.device = Symbol(in.text());
    step.slots = in.numbers<std::uint32_t>();
    step.offset = in.number<std::size_t>();
    step.work.flops = in.number<double>();
    step.work.bytes = in.number<double>();
    step.work.parallel = in.number<double>();
    step.is_once = in.number<bool>();
    step.values = in.numbers<std::int64_t>();
    step.origins = in.numbers<Origin>();
  }
  plan.roots.resize(in.length());
  plan.variables.resize(in.length());
  plan.layouts.resize(in.length());
  for (BufferLayout& layout : plan.layouts) {
    layout.kernel = Symbol(in.text());
    layout.sizes = in.numbers<std::int64_t>();
    layout.order = in.numbers<int>();
    layout.seconds = in.number<double>();
    layout.seconds_as_made = in.number<double>();
  }
  return in.numbers<bool>();
}

}  // namespace

std::optional<Plan> known_plan(const std::string& key) {
  const auto found = disk_cache().find(key_for("a plan", key));
  if (!found) return std::nullopt;
  Reader in(*found);
  Plan plan;
  const std::vector<bool> has_node = read_outline(in, plan);
  const std::string graph = in.text();
  const std::vector<UOp*> all = names_of(plan);
  if (!in.is_good() || all.size() != has_node.size()) return std::nullopt;
  std::vector<UOp*> names;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (has_node[i]) names.push_back(all[i]);
  plan.arena = std::make_unique<Arena>();
  const InternerScope scope(*plan.arena);
  const std::vector<Graph> graphs = parse_graphs(graph);
  if (graphs.size() != 1 || graphs[0].roots.size() != names.size()) return std::nullopt;
  for (std::size_t i = 0; i < names.size(); ++i) *names[i] = graphs[0].roots[i];
  return plan;
}

// Ids stay as they are: loops without an order of their own are in that of their ids.
void keep_plan(const std::string& key, const Plan& plan) {
  std::vector<const Node*> nodes;
  for (const UOp* name : names_of(plan))
    if (!name->is_null()) nodes.push_back(name->node());
  disk_cache().keep(key_for("a plan", key), outline_of(plan) + counted(print_graph("plan", nodes)));
}

}  // namespace weft
