#include "names.h"

#include <algorithm>

#include <fmt/format.h>

#include "text.h"

namespace weft::exported {
namespace {

// Of C and C++, in small letters: members of a struct that both read.
constexpr std::string_view keywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
    "char32_t char8_t class co_await co_return co_yield compl concept const const_cast "
    "consteval constexpr constinit continue decltype default delete do double dynamic_cast "
    "else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
    "xor_eq ";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, [](char c) {
    return is_letter(c) || is_digit(c) || c == '_';
  }) && keywords.find(fmt::format(" {} ", name)) == keywords.npos;
}

std::string Identifiers::of(std::string_view name) {
  std::string plain(name);
  for (char& c : plain)
    if (!is_letter(c) && !is_digit(c)) c = '_';
  if (!is_identifier(plain)) plain = "x_" + plain;
  std::string result = plain;
  for (int number = 2; !taken_.insert(upper(result)).second; ++number)
    result = fmt::format("{}_{}", plain, number);
  return result;
}

}  // namespace weft::exported
