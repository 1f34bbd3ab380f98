// Text as numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft {

using Tokens = std::vector<std::int32_t>;

// A token for each byte.
struct ByteTokenizer {
  std::int64_t size() const { return 256; }
  Tokens encode(std::string_view text) const;
  std::string decode(const Tokens& tokens) const;  // throws where one is no byte
};

// Byte pair encoding as GPT-2 has it: text is cut into words by its pattern, and of a word's bytes those neighbours
// become one token first whose pair was found first when the vocabulary was made.
class BytePairTokenizer {
 public:
  using Special =
      std::map<std::string, std::int32_t>;  // tokens that stand for no text of their own

  // A file of tiktoken: of each token its bytes in base64, and its number.
  static BytePairTokenizer from_ranks(const std::string& path, const Special& special = {});
  // GPT-2's vocab.bpe: pairs in order. Numbers are those of encoder.json; without it they are 256 bytes in
  // GPT-2's order, then the pairs.
  static BytePairTokenizer from_merges(const std::string& merges, const std::string& numbers = {},
                                       const Special& special = {});

  std::int64_t size() const;  // one more than the largest token
  // Special tokens are found in the text only where that is asked for: text of others should not contain them.
  Tokens encode(std::string_view text, bool with_special = false) const;
  std::string decode(const Tokens& tokens) const;

  // The words of a text, as the pattern cuts it.
  static std::vector<std::string_view> words(std::string_view text);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  struct Token {
    std::int32_t rank, number;
  };
  void add(const std::string& bytes, Token token);
  void add_special(const Special& special);
  void want_all_bytes(const std::string& path) const;
  void encode_plain(std::string_view text, Tokens& to) const;
  void encode_word(std::string_view word, Tokens& to) const;

  std::unordered_map<std::string, Token, Hash, std::equal_to<>> tokens_;
  std::unordered_map<std::int32_t, std::string> texts_;
  Special special_;
};

}  // namespace weft
