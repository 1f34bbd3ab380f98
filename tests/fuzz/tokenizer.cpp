// Any text as a vocabulary of either format, and as what it encodes. What is decoded is what was encoded.
#include "as_file.h"

namespace weft {
namespace {

void check(const BytePairTokenizer& tokenizer, std::string_view text) {
  std::string again;
  for (const std::string_view word : BytePairTokenizer::words(text)) again += word;
  if (again != text || tokenizer.decode(tokenizer.encode(text)) != text) std::abort();
}

// Every byte, in base64: the least that a file of ranks has to have.
std::string all_bytes() {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string lines;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    lines += digits[byte >> 2];
    lines += digits[(byte & 3) << 4];
    lines += "== " + std::to_string(byte) + "\n";
  }
  return lines;
}

void run(std::string_view text) {
  const AsFile ranks(all_bytes() + std::string(text)), merges(text), none("");
  refused_or([&] { check(BytePairTokenizer::from_ranks(ranks.path()), text); });
  refused_or([&] { check(BytePairTokenizer::from_merges(merges.path()), text); });
  refused_or([&] { BytePairTokenizer::from_merges(none.path(), merges.path()); });
}

}  // namespace
}  // namespace weft

WEFT_FUZZ(weft::run)
