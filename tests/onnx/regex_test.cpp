// Regular expressions of RegexFullMatch.
#include <gtest/gtest.h>
#include <weft/weft.h>

#include "../support/errors.h"
#include "onnx_file.h"

namespace weft {
namespace {

using namespace onnx_file;  // NOLINT: what it writes reads as it is
using onnx::Text;
using onnx::Type;

bool matches(std::string_view pattern, const std::string& text) {
  Graph graph;
  graph.nodes = {node("RegexFullMatch", {"x"}, {"y"}, {attribute("pattern", pattern)})};
  graph.inputs = {port("x", Type::String, {1})};
  graph.outputs = {port("y", Type::Bool, {1})};
  return load(graph, 20)({{"x", Text{{1}, {text}}}}).at("y").tensor().item<bool>();
}

struct PatternCase {
  const char *pattern, *text;
  bool matches;
};

// What RE2's syntax says, and Python's re agrees with.
const PatternCase patterns[] = {
    {"abc", "abc", true},
    {"abc", "abcd", false},
    {"", "", true},
    {"", "a", false},
    {"a|bc", "bc", true},
    {"a|bc", "ac", false},
    {"(a|b)*c", "ababc", true},
    {"(a*)*", "aaa", true},
    {"(a*)*b", "aaac", false},
    {"(a|b|)c", "c", true},
    {"a+?b?", "aab", true},
    {"a{2,3}", "a", false},
    {"a{2,3}", "aaa", true},
    {"a{2,3}", "aaaa", false},
    {"a{2}", "aa", true},
    {"a{2,}", "aaaaa", true},
    {"(ab){2}", "abab", true},
    {"a{,2}", "a{,2}", true},
    {".", "\n", false},
    {"(?s).", "\n", true},
    {".", "\xc3\xa4", true},
    {"[a-c]+", "abcabc", true},
    {"[^a-c]+", "xyz", true},
    {"[^a-c]+", "xbz", false},
    {"[]a]+", "]a", true},
    {"[a-]+", "a-a", true},
    {"[\\d_]+", "1_2", true},
    {"[[:alpha:]]+", "Ab", true},
    {"[[:^alpha:]]+", "12", true},
    {"\\d+\\.\\d{2}", "12.34", true},
    {"\\w+@\\w+\\.com", "someone@example.com", true},
    {"\\S+\\s\\S+", "one two", true},
    {"\\bfoo\\b.*", "foo bar", true},
    {"\\bfoo\\b.*", "foobar", false},
    {"foo\\B.*", "foobar", true},
    {"(?i)AbC", "aBc", true},
    {"(?i:a)b", "AB", false},
    {"^a$", "a", true},
    {"a^b", "ab", false},
    {"(?m)a$\n^b", "a\nb", true},
    {"\\Aa\\z", "a", true},
    {"\\x41\\x{1F600}", "A\xf0\x9f\x98\x80", true},
    {"\\Qa.b\\E+", "a.bb", true},
    {"(?P<name>a)(?<other>b)", "ab", true},
    {"\\.\\*\\\\", ".*\\", true},
};

TEST(OnnxRegex, MatchesWholeTexts) {
  for (const PatternCase& each : patterns)
    EXPECT_EQ(matches(each.pattern, each.text), each.matches)
        << each.pattern << " and " << each.text;
}

// What takes other matchers years.
TEST(OnnxRegex, TakesTimeByTheText) {
  EXPECT_FALSE(matches("(a+)+b|(a|a)*c", std::string(10'000, 'a')));
}

TEST(OnnxRegex, WrongPatternsAreRefused) {
  const std::string deep = std::string(10'000, '(') + std::string(10'000, ')');
  for (const std::string& pattern :
       {std::string("(a"), std::string("a)"), std::string("[a"), std::string("*a"),
        std::string("a{3,2}"), std::string("a{1001}"), std::string("((a{999}){999}){999}"),
        std::string("[b-a]"), std::string("\\x{110000}"), std::string("\\p{L}"), deep}) {
    const std::string why = error_of([&] { matches(pattern, "a"); });
    EXPECT_NE(why.find("the pattern"), std::string::npos) << pattern.substr(0, 40) << ": " << why;
  }
}

}  // namespace
}  // namespace weft
