// What inventory.txt and op_suite.txt list is tested: by golden cases, or by a test that is there.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "golden.h"

namespace weft::golden {
namespace {

constexpr std::size_t fewest = 5;

struct Entry {
  std::string name, where;
};

// The lines `name: where` of a file beside this one, or `name` alone.
std::vector<Entry> entries_of(const std::string& file) {
  std::ifstream stream(fmt::format("{}/{}", folder(), file));
  std::vector<Entry> entries;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const auto colon = line.find(": ");
    entries.push_back(
        {line.substr(0, colon), colon == std::string::npos ? "" : line.substr(colon + 2)});
  }
  return entries;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

struct Golden {
  std::string line;  // without what came out
  bool is_odd = false;
};
using Cases =
    std::map<std::string, std::map<std::string, std::vector<Golden>>>;  // by name and group

const Cases& all_cases() {
  static const Cases all = [] {
    Cases cases;
    for (const Group* group : groups()) {
      const Data data(group->name);
      for (const auto& [name, lines] : data.lines)
        for (const Data::Line& line : lines)
          cases[name][group->name].push_back(
              {line.text.substr(0, line.text.find(" out ")), Case(line.text, data.bytes).is_odd});
    }
    return cases;
  }();
  return all;
}

// tensor/print_test.cpp:TensorPrint.LikeNumpy, below the folder of all tests.
std::string fault_of_test(const std::string& where) {
  const auto colon = where.find(':'), dot = where.rfind('.');
  std::ifstream file(fmt::format("{}/../{}", folder(), where.substr(0, colon)));
  if (colon == std::string::npos || dot < colon || !file) return "there is no file of " + where;
  const std::string wanted =
      fmt::format("({}, {})", where.substr(colon + 1, dot - colon - 1), where.substr(dot + 1));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("TEST") && line.find(wanted) != std::string::npos) return "";
  return "there is no test " + where;
}

std::string fault_of_cases(const std::string& name, const std::vector<std::string>& expected) {
  const auto found = all_cases().find(name);
  if (found == all_cases().end()) return "has no cases";
  std::vector<std::string> in;
  std::size_t count = 0, odd = 0;
  for (const auto& [group, cases] : found->second) {
    in.push_back(group);
    count += cases.size();
    odd += static_cast<std::size_t>(std::ranges::count_if(cases, &Golden::is_odd));
  }
  if (in != expected) return "has cases in other groups: run names.py";
  if (count < fewest) return fmt::format("has {} cases, not {}", count, fewest);
  return odd > 0 ? "" : "has no case of one element, of none, or of a view";
}

std::string fault_of_name(const Entry& name) {
  std::vector<std::string> words = words_of(name.where);
  if (words.empty()) return "is nowhere";
  if (words[0] == "golden") {
    words.erase(words.begin());
    return fault_of_cases(name.name, words);
  }
  if (all_cases().contains(name.name)) return "has cases: run names.py";
  constexpr std::string_view none = "not in weft: ";
  if (name.where.starts_with(none))
    return name.where.size() > none.size() ? "" : "is not in weft, but nothing says why";
  return fault_of_test(name.where);
}

// GROUP.METHOD and words that one case has all of, or FILE:TEST.
std::string fault_of_target(const std::string& where) {
  const std::vector<std::string> words = words_of(where);
  if (words.empty()) return "is nowhere";
  if (words[0].find(".cpp:") != std::string::npos) return fault_of_test(where);
  const auto dot = words[0].find('.');
  const auto name = all_cases().find(words[0].substr(dot + 1));
  if (name == all_cases().end()) return "there are no cases of " + words[0];
  const auto group = name->second.find(words[0].substr(0, dot));
  if (group == name->second.end()) return "there are no cases of " + words[0];
  const auto has_all = [&](const Golden& golden) {
    return std::all_of(words.begin() + 1, words.end(), [&](const std::string& word) {
      return golden.line.find(word) != std::string::npos;
    });
  };
  return std::ranges::any_of(group->second, has_all) ? "" : "there is no case of " + where;
}

TEST(GoldenNames, AreTestedSomewhere) {
  const std::vector<Entry> names = entries_of("names.txt"), inventory = entries_of("inventory.txt");
  EXPECT_EQ(inventory.size(), 305U) << "251 names and 54 operators";
  ASSERT_EQ(names.size(), inventory.size()) << "run names.py";
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(names[i].name, inventory[i].name) << "run names.py";
    EXPECT_EQ(fault_of_name(names[i]), "") << names[i].name;
  }
}

TEST(GoldenNames, AreFaultyWithoutCasesTestOrReason) {
  EXPECT_EQ(fault_of_name({"no_such", "golden math"}), "has no cases");
  EXPECT_EQ(fault_of_name({"abs", "golden elementwise"}), "");
  EXPECT_EQ(fault_of_name({"abs", "golden math"}), "has cases in other groups: run names.py");
  EXPECT_EQ(fault_of_name({"qr_complete", "golden linalg"}), "has 2 cases, not 5");
  EXPECT_EQ(fault_of_name({"abs", "tensor/print_test.cpp:TensorPrint.LikeNumpy"}),
            "has cases: run names.py");
  EXPECT_EQ(fault_of_name({"f", "tensor/print_test.cpp:TensorPrint.LikeNumpy"}), "");
  EXPECT_EQ(fault_of_name({"f", "tensor/print_test.cpp:TensorPrint.Like"}),
            "there is no test tensor/print_test.cpp:TensorPrint.Like");
  EXPECT_EQ(fault_of_name({"f", "none_test.cpp:A.B"}), "there is no file of none_test.cpp:A.B");
  EXPECT_EQ(fault_of_name({"f", "not in weft: why"}), "");
  EXPECT_EQ(fault_of_name({"f", "not in weft: "}), "is not in weft, but nothing says why");
  EXPECT_EQ(fault_of_name({"f", "nowhere"}), "there is no file of nowhere");
}

TEST(GoldenOpSuite, IsTestedHereToo) {
  const std::vector<Entry> tests = entries_of("op_suite.txt");
  std::set<std::string> names;
  for (const Entry& test : tests) {
    EXPECT_TRUE(names.insert(test.name).second) << test.name << " is there twice";
    EXPECT_EQ(fault_of_target(test.where), "") << test.name;
  }
  EXPECT_EQ(names.size(), 427U) << "421 of TestOps, 6 of TestOpsUint8";
}

TEST(GoldenOpSuite, IsFaultyWithoutATarget) {
  EXPECT_EQ(fault_of_target("elementwise.abs"), "");
  EXPECT_EQ(fault_of_target("elementwise.abs f32[2,3]"), "");
  EXPECT_EQ(fault_of_target("elementwise.abs f32[2,3] f64["),
            "there is no case of elementwise.abs f32[2,3] f64[");
  EXPECT_EQ(fault_of_target("math.abs"), "there are no cases of math.abs");
  EXPECT_EQ(fault_of_target("math.none"), "there are no cases of math.none");
  EXPECT_EQ(fault_of_target("tensor/print_test.cpp:TensorPrint.LikeNumpy"), "");
  EXPECT_EQ(fault_of_target(""), "is nowhere");
}

TEST(GoldenNames, EveryFileHasItsGroup) {
  std::set<std::string> known;
  for (const Group* group : groups()) known.insert(group->name);
  for (const auto& entry : std::filesystem::directory_iterator(folder() + "/data"))
    EXPECT_TRUE(known.contains(entry.path().stem())) << entry.path();
}

}  // namespace
}  // namespace weft::golden
