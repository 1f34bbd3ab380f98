#include <weft/dev/io/utf8.h>

#include <algorithm>

namespace weft {
namespace {

// How a sequence of so many bytes begins, how many bits of its first byte count, and the least that needs so many.
struct Form {
  unsigned char mask, lead;
  char32_t least;
};
constexpr Form forms[] = {
    {0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

constexpr char32_t replacement = 0xfffd, largest = 0x10ffff;

bool is_half(char32_t point) { return point >= 0xd800 && point <= 0xdfff; }

}  // namespace

void append_utf8(std::string& to, char32_t point) {
  std::size_t more = std::size(forms) - 1;
  while (point < forms[more].least) --more;
  to += static_cast<char>(forms[more].lead | point >> (6 * more));
  while (more-- > 0) to += static_cast<char>(0x80 | (point >> (6 * more) & 0x3f));
}

CodePoint first_code_point(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const auto* form = std::ranges::find_if(
      forms, [&](const Form& each) { return (first & each.mask) == each.lead; });
  const auto size = static_cast<std::size_t>(form - forms) + 1;
  if (form == std::end(forms) || size > text.size()) return {replacement, 1};
  char32_t point = first & static_cast<unsigned char>(~form->mask);
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {replacement, 1};
    point = point << 6 | (next & 0x3f);
  }
  if (point < form->least || point > largest || is_half(point)) return {replacement, 1};
  return {point, size};
}

}  // namespace weft
