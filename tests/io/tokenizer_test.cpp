// Against tiktoken and the package regex (data/make_tokens.py).

#include <sstream>

#include <weft/tokenizer.h>

#include "files.h"

namespace weft {
namespace {

using Tokenizers = InFolder;

struct Row {
  std::string text;
  Tokens tokens;
  std::vector<std::size_t> words;  // their lengths
};

std::vector<Row> rows() {
  std::vector<Row> rows;
  std::ifstream in(data("tokens.txt"));
  for (std::string line; std::getline(in, line);) {
    Row row;
    const std::size_t first = line.find('|'), second = line.find('|', first + 1);
    for (std::size_t i = 0; i < first; i += 2)
      row.text += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
    std::istringstream tokens(line.substr(first + 1, second - first - 1)),
        words(line.substr(second + 1));
    for (std::int32_t token = 0; tokens >> token;) row.tokens.push_back(token);
    for (std::size_t length = 0; words >> length;) row.words.push_back(length);
    rows.push_back(row);
  }
  return rows;
}

TEST_F(Tokenizers, CutWordsAsThePatternDoes) {
  ASSERT_GT(rows().size(), 150u);
  for (const Row& row : rows()) {
    std::vector<std::size_t> lengths;
    for (const std::string_view word : BytePairTokenizer::words(row.text))
      lengths.push_back(word.size());
    EXPECT_EQ(lengths, row.words) << row.text;
  }
}

TEST_F(Tokenizers, EncodeAsTiktokenDoes) {
  const auto ranks = BytePairTokenizer::from_ranks(data("small.tiktoken"));
  const auto merges = BytePairTokenizer::from_merges(data("small.bpe"));
  const auto numbered = BytePairTokenizer::from_merges(data("small.bpe"), data("small.json"));
  EXPECT_EQ(ranks.size(), 1000);
  EXPECT_EQ(merges.size(), 1000);
  EXPECT_EQ(numbered.size(), 1007);
  for (const Row& row : rows()) {
    EXPECT_EQ(ranks.encode(row.text), row.tokens) << row.text;
    EXPECT_EQ(merges.encode(row.text), row.tokens) << row.text;
    Tokens moved = row.tokens;
    for (std::int32_t& token : moved) token += 7;
    EXPECT_EQ(numbered.encode(row.text), moved) << row.text;
    EXPECT_EQ(ranks.decode(row.tokens), row.text);
    EXPECT_EQ(numbered.decode(moved), row.text);
  }
}

TEST_F(Tokenizers, LongWordsTakeNoLonger) {
  const auto tokenizer = BytePairTokenizer::from_ranks(data("small.tiktoken"));
  const std::string word(1 << 20, 'e');
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(word)), word);
}

TEST_F(Tokenizers, AnyBytesComeBack) {
  const auto tokenizer = BytePairTokenizer::from_ranks(data("small.tiktoken"));
  std::string bytes;
  for (int i = 0; i < 3 * 256; ++i) bytes += static_cast<char>(i * 37);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(bytes)), bytes);
  EXPECT_EQ(ByteTokenizer().decode(ByteTokenizer().encode(bytes)), bytes);
}

TEST_F(Tokenizers, SpecialTokens) {
  const auto tokenizer = BytePairTokenizer::from_ranks(data("small.tiktoken"),
                                                       {{"<|end|>", 1000}, {"<|end|>!", 1001}});
  EXPECT_EQ(tokenizer.size(), 1002);
  Tokens expected = tokenizer.encode("a b");
  expected.push_back(1001);
  expected.push_back(1000);
  for (const std::int32_t token : tokenizer.encode(" c")) expected.push_back(token);
  EXPECT_EQ(tokenizer.encode("a b<|end|>!<|end|> c", true), expected);
  EXPECT_GT(tokenizer.encode("<|end|>").size(), 1u);
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "<|end|>";
  EXPECT_EQ(tokenizer.encode(many, true), Tokens(100'000, 1000));
  EXPECT_EQ(tokenizer.decode({1000}), "<|end|>");
  const auto numbered = BytePairTokenizer::from_merges(data("small.bpe"), data("small.json"));
  EXPECT_EQ(numbered.encode("<|endoftext|>", true), Tokens{0});
}

TEST_F(Tokenizers, Errors) {
  const auto ranks = [&](const std::string& text) {
    return error_of([&] { return BytePairTokenizer::from_ranks(file("x", text)).size(); });
  };
  const auto message = [&](const char* method, const std::string& what) {
    return fmt::format("{}: '{}': {}", method, file("x"), what);
  };
  EXPECT_EQ(ranks("IQ==\n"), message("from_ranks", "'IQ==' is no pair"));
  EXPECT_EQ(ranks("I! 0\n"), message("from_ranks", "'I!' is no base64"));
  EXPECT_EQ(ranks("IQ== x\n"), message("from_ranks", "'x' is no number of a token"));
  EXPECT_EQ(ranks("IQ== 99999999999\n"),
            message("from_ranks", "'99999999999' is no number of a token"));
  EXPECT_EQ(ranks("IQ== 0\n"), message("from_ranks", "it has no token for the byte 0x00"));
  const auto merges = [&](const std::string& text, const std::string& numbers = {}) {
    return error_of(
        [&] { return BytePairTokenizer::from_merges(file("x", text), numbers).size(); });
  };
  EXPECT_EQ(merges("a b c\n"), message("from_merges", "'a b c' is no pair"));
  EXPECT_EQ(merges("\t a\n"),
            message("from_merges", "'\t a' is not spelled as vocab.bpe spells bytes"));
  EXPECT_EQ(merges("a b\n", file("n", std::string("{\"!\":0}"))),
            message("from_merges", fmt::format("'\"' is not in '{}'", file("n"))));
  EXPECT_EQ(merges("", file("n", std::string("{\"!\":-1}"))),
            fmt::format("from_merges: '{}': the number of '!' is none of a token", file("n")));
  EXPECT_EQ(error_of([] { return ByteTokenizer().decode({256}); }),
            "ByteTokenizer::decode: 256 is no byte");
  const auto tokenizer = BytePairTokenizer::from_ranks(data("small.tiktoken"));
  EXPECT_EQ(error_of([&] { return tokenizer.decode({1000}); }),
            "BytePairTokenizer::decode: there is no token 1000");
  EXPECT_EQ(error_of([] { return BytePairTokenizer().encode("a"); }),
            "BytePairTokenizer::encode: it was made of no file");
}

}  // namespace
}  // namespace weft
