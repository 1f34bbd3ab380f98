#include <weft/dtype.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <deque>
#include <mutex>
#include <unordered_map>

#include <fmt/core.h>

#include <weft/error.h>

namespace weft {
namespace {

struct KindInfo {
  std::string_view name;
  int bits;
};

constexpr KindInfo kinds[kind_count] = {
    {"void", 0},  {"bool", 1},  {"index", 64}, {"i8", 8},       {"i16", 16},
    {"i32", 32},  {"i64", 64},  {"u8", 8},     {"u16", 16},     {"u32", 32},
    {"u64", 64},  {"weak", 64}, {"f8e4m3", 8}, {"f8e5m2", 8},   {"f16", 16},
    {"bf16", 16}, {"f32", 32},  {"f64", 64},   {"fragment", 0},
};

constexpr std::string_view fragment_open = "fragment<", fragment_close = ">";
constexpr std::uint32_t last_name = (1u << 24) - 1;  // that the bits of a DType can number

constexpr int number(Kind kind) { return static_cast<int>(kind); }

// The names of fragments, each with a number for good: a DType may outlive everything else.
class FragmentNames {
 public:
  std::uint32_t number(std::string_view name) {
    const std::lock_guard lock(mutex_);
    if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
    const auto next = static_cast<std::uint32_t>(names_.size());
    if (next > last_name) user_error("fragment: too many names");
    numbers_.emplace(names_.emplace_back(name), next);
    return next;
  }

  std::string_view name(std::uint32_t number) {
    const std::lock_guard lock(mutex_);
    return names_[number];
  }

 private:
  std::mutex mutex_;
  std::deque<std::string> names_;  // a deque never moves its strings
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

FragmentNames& fragment_names() {
  static auto& names = *new FragmentNames;
  return names;
}

// What str() prints and parse_dtype() reads back: no brackets, blanks or control characters.
bool is_fragment_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c != '<' && c != '>' && c < 127;
  });
}

std::optional<Kind> parse_kind(std::string_view text) {
  for (int i = number(Kind::Void); i < number(Kind::Fragment); ++i)
    if (kinds[i].name == text) return static_cast<Kind>(i);
  return std::nullopt;
}

std::optional<std::uint32_t> parse_lanes(std::string_view text) {
  std::uint32_t lanes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), lanes);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || text.front() == '0' || lanes < 2 || lanes > DType::most_lanes) return std::nullopt;
  return lanes;
}

// Promotion. Each step leads from a kind to one of the next above it.
struct Step {
  Kind from, to;
};

constexpr Step steps[] = {
    {Kind::Bool, Kind::Index},  {Kind::Index, Kind::I8},    {Kind::Index, Kind::U8},
    {Kind::I8, Kind::I16},      {Kind::I16, Kind::I32},     {Kind::I32, Kind::I64},
    {Kind::U8, Kind::U16},      {Kind::U16, Kind::U32},     {Kind::U32, Kind::U64},
    {Kind::U8, Kind::I16},      {Kind::U16, Kind::I32},     {Kind::U32, Kind::I64},
    {Kind::I64, Kind::Weak},    {Kind::U64, Kind::Weak},    {Kind::Weak, Kind::F8E4M3},
    {Kind::Weak, Kind::F8E5M2}, {Kind::F8E4M3, Kind::F16},  {Kind::F8E4M3, Kind::BF16},
    {Kind::F8E5M2, Kind::F16},  {Kind::F8E5M2, Kind::BF16}, {Kind::F16, Kind::F32},
    {Kind::BF16, Kind::F32},    {Kind::F32, Kind::F64},
};

using Kinds = std::uint32_t;  // a set, one bit each

// For each kind, itself and all kinds above it.
constexpr std::array<Kinds, kind_count> above = [] {
  std::array<Kinds, kind_count> sets{};
  for (int i = 0; i < kind_count; ++i) sets[i] = Kinds{1} << i;
  for (int round = 0; round < kind_count; ++round)
    for (const auto [from, to] : steps) sets[number(from)] |= sets[number(to)];
  return sets;
}();

// The member with the most kinds above it; of two such, the first. Void for the empty set.
Kind least(Kinds members) {
  int best = number(Kind::Void), most = 0;
  for (int i = 0; i < kind_count; ++i) {
    const int count = std::popcount(above[i]);
    if ((members >> i & 1) == 0 || count <= most) continue;
    best = i;
    most = count;
  }
  return static_cast<Kind>(best);
}

Kind join(Kind a, Kind b) {
  const Kind kind = least(above[number(a)] & above[number(b)]);
  // Only a literal makes a literal: u64 with a signed integer is left with no integer for both.
  const bool weak_operand = a == Kind::Weak || b == Kind::Weak;
  return kind == Kind::Weak && !weak_operand ? Kind::F32 : kind;
}

}  // namespace

DType DType::fragment(std::string_view name) {
  if (!is_fragment_name(name)) user_error(fmt::format("fragment: '{}' is not a name", name));
  return DType(Kind::Fragment, fragment_names().number(name));
}

void DType::refuse_unnamed() { user_error("fragment: a tile has a name: use DType::fragment"); }

void DType::refuse_lanes(std::uint32_t lanes) const {
  if (bits() == 0) user_error(fmt::format("{} lanes of {}, which has no vectors", lanes, str()));
  user_error(fmt::format("{} lanes of {}, but a vector has 1 to {}", lanes, str(), most_lanes));
}

int DType::bits() const { return kinds[kind_].bits; }

std::size_t DType::bytes() const { return static_cast<std::size_t>(bits() + 7) / 8 * lanes(); }

std::string_view DType::fragment_name() const {
  return kind() == Kind::Fragment ? fragment_names().name(lanes_) : std::string_view();
}

std::string DType::str() const {
  const std::string_view name = kinds[kind_].name;
  if (kind() == Kind::Fragment)
    return fmt::format("{}{}{}", fragment_open, fragment_name(), fragment_close);
  return lanes() == 1 ? std::string(name) : fmt::format("{}x{}", name, lanes());
}

std::optional<DType> parse_dtype(std::string_view text) {
  if (const auto kind = parse_kind(text)) return DType(*kind);
  if (text.starts_with(fragment_open) && text.ends_with(fragment_close)) {
    text.remove_prefix(fragment_open.size());
    text.remove_suffix(fragment_close.size());
    return is_fragment_name(text) ? std::optional(DType::fragment(text)) : std::nullopt;
  }
  const auto x = text.rfind('x');
  if (x == std::string_view::npos) return std::nullopt;
  const auto kind = parse_kind(text.substr(0, x));
  const auto lanes = parse_lanes(text.substr(x + 1));
  if (!kind || *kind == Kind::Void || !lanes) return std::nullopt;
  return DType(*kind).vec(*lanes);
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a.lanes() != b.lanes())
    user_error(fmt::format("promote: {} and {} differ in lanes", a.str(), b.str()));
  const Kind kind = join(a.kind(), b.kind());
  if (kind == Kind::Void || kind == Kind::Fragment)
    user_error(fmt::format("promote: no dtype holds both {} and {}", a.str(), b.str()));
  return DType(kind).vec(a.lanes());
}

}  // namespace weft
