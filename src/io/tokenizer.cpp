#include <weft/tokenizer.h>

#include <algorithm>
#include <functional>
#include <queue>

#include <fmt/format.h>
#include <weft/error.h>

namespace weft {

Tokens ByteTokenizer::encode(std::string_view text) const {
  Tokens tokens;
  for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
  return tokens;
}

std::string ByteTokenizer::decode(const Tokens& tokens) const {
  std::string text;
  for (const std::int32_t token : tokens) {
    if (token < 0 || token > 255)
      user_error(fmt::format("ByteTokenizer::decode: {} is no byte", token));
    text += static_cast<char>(token);
  }
  return text;
}

std::int64_t BytePairTokenizer::size() const {
  std::int32_t most = -1;
  for (const auto& [number, text] : texts_) most = std::max(most, number);
  return std::int64_t{most} + 1;
}

void BytePairTokenizer::add(const std::string& bytes, Token token) {
  tokens_.emplace(bytes, token);
  texts_.emplace(token.number, bytes);
}

void BytePairTokenizer::add_special(const Special& special) {
  for (const auto& [text, number] : special) {
    if (text.empty() || number < 0)
      user_error(fmt::format("a special token '{}' of number {}", text, number));
    special_[text] = number;
    texts_[number] = text;
  }
}

std::string BytePairTokenizer::decode(const Tokens& tokens) const {
  std::string text;
  for (const std::int32_t token : tokens) {
    const auto found = texts_.find(token);
    if (found == texts_.end())
      user_error(fmt::format("BytePairTokenizer::decode: there is no token {}", token));
    text += found->second;
  }
  return text;
}

Tokens BytePairTokenizer::encode(std::string_view text, bool with_special) const {
  // Of each special token its next place: the text is gone through once for each.
  struct Found {
    std::size_t at;
    const Special::value_type* token;
    bool operator<(const Found& other) const {  // the first; at one place, the longest
      return at != other.at ? at < other.at : token->first.size() > other.token->first.size();
    }
  };
  std::vector<Found> found;
  if (with_special)
    for (const auto& each : special_) found.push_back({text.find(each.first), &each});
  Tokens tokens;
  std::size_t done = 0;
  while (!found.empty()) {
    const Found next = *std::ranges::min_element(found, std::less<>());
    if (next.at == text.npos) break;
    encode_plain(text.substr(done, next.at - done), tokens);
    tokens.push_back(next.token->second);
    done = next.at + next.token->first.size();
    for (Found& each : found)
      if (each.at < done) each.at = text.find(each.token->first, done);
  }
  encode_plain(text.substr(done), tokens);
  return tokens;
}

void BytePairTokenizer::encode_plain(std::string_view text, Tokens& to) const {
  for (const std::string_view word : words(text)) encode_word(word, to);
}

namespace {

// A part of a word that may merge with the next: at each change of either it is another one.
struct Pair {
  std::int32_t rank;
  std::size_t first, end;  // bytes
  friend bool operator>(const Pair& a, const Pair& b) {
    return std::pair(a.rank, a.first) > std::pair(b.rank, b.first);
  }
};

}  // namespace

void BytePairTokenizer::encode_word(std::string_view word, Tokens& to) const {
  if (const auto whole = tokens_.find(word); whole != tokens_.end())
    return to.push_back(whole->second.number);
  // Of the part that begins at a byte, where it ends, and where the one before it began.
  std::vector<std::size_t> end(word.size()), before(word.size() + 1);
  for (std::size_t i = 0; i < word.size(); ++i) end[i] = i + 1, before[i + 1] = i;
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> pairs;
  const auto offer = [&](std::size_t first) {
    if (end[first] == word.size()) return;
    const std::size_t last = end[end[first]];
    const auto found = tokens_.find(word.substr(first, last - first));
    if (found != tokens_.end()) pairs.push({found->second.rank, first, last});
  };
  for (std::size_t i = 0; i < word.size(); ++i) offer(i);
  while (!pairs.empty()) {
    const Pair pair = pairs.top();
    pairs.pop();
    // One of both has merged with another part meanwhile.
    if (end[pair.first] == 0 || end[pair.first] == word.size() || end[end[pair.first]] != pair.end)
      continue;
    end[end[pair.first]] = 0;
    end[pair.first] = pair.end;
    before[pair.end] = pair.first;
    offer(pair.first);
    if (pair.first > 0) offer(before[pair.first]);
  }
  for (std::size_t i = 0; i < word.size(); i = end[i]) {
    const auto found = tokens_.find(word.substr(i, end[i] - i));
    if (found == tokens_.end()) user_error("BytePairTokenizer::encode: it was made of no file");
    to.push_back(found->second.number);
  }
}

}  // namespace weft
