// names.txt: every name of the API is tested somewhere.

#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "golden.h"

namespace weft::golden {
namespace {

constexpr int fewest = 5;

struct Name {
  std::string name, note;  // the test that it has instead of cases, or the reason
  std::string section;     // empty in the first one
};

std::vector<Name> all_names() {
  std::ifstream file(folder() + "/names.txt");
  std::vector<Name> names;
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('[')) section = line;
    if (line.empty() || line.starts_with('#') || line.starts_with('[')) continue;
    const auto colon = line.find(": ");
    names.push_back(
        {line.substr(0, colon), colon == std::string::npos ? "" : line.substr(colon + 2), section});
  }
  return names;
}

// What is wrong with a name that has so many cases; empty where nothing is.
std::string fault_of(const Name& name, int count, bool has_odd) {
  if (name.section == "[missing]") return count > 0 ? "is no longer missing" : "";
  if (name.section == "[not in weft]") {
    if (count > 0) return "is in weft";
    return name.note.empty() ? "is not in weft, but nothing says why" : "";
  }
  if (!name.section.empty()) return "is in no known section: " + name.section;
  if (!name.note.empty()) {
    const bool exists = std::filesystem::exists(fmt::format("{}/../{}", folder(), name.note));
    return exists ? "" : "is said to be tested in " + name.note;
  }
  if (count < fewest) return fmt::format("has {} cases, not {}", count, fewest);
  return has_odd ? "" : "has no case of one element, of none, or of a view";
}

struct Cases {
  int count = 0;
  bool has_odd = false;
};

std::map<std::string, Cases> counted_cases() {
  std::map<std::string, Cases> all;
  for (const Group* group : groups()) {
    const Data data(group->name);
    for (const auto& [name, lines] : data.lines)
      for (const Data::Line& line : lines) {
        Cases& cases = all[name];
        ++cases.count;
        cases.has_odd = cases.has_odd || Case(line.text, data.bytes).is_odd;
      }
  }
  return all;
}

TEST(GoldenNames, AreTestedSomewhere) {
  auto cases = counted_cases();
  const std::vector<Name> names = all_names();
  EXPECT_EQ(names.size(), 305U) << "251 names and 54 operators";
  for (const Name& name : names) {
    const auto& [count, has_odd] = cases[name.name];
    EXPECT_EQ(fault_of(name, count, has_odd), "") << name.name;
  }
}

TEST(GoldenNames, AreFaultyWithoutCasesTestOrReason) {
  EXPECT_EQ(fault_of({"f", "", ""}, 4, true), "has 4 cases, not 5");
  EXPECT_EQ(fault_of({"f", "", ""}, 5, false), "has no case of one element, of none, or of a view");
  EXPECT_EQ(fault_of({"f", "none_test.cpp", ""}, 0, false),
            "is said to be tested in none_test.cpp");
  EXPECT_EQ(fault_of({"f", "", "[missing]"}, 1, true), "is no longer missing");
  EXPECT_EQ(fault_of({"f", "why", "[not in weft]"}, 1, true), "is in weft");
  EXPECT_EQ(fault_of({"f", "", "[not in weft]"}, 0, false), "is not in weft, but nothing says why");
  EXPECT_EQ(fault_of({"f", "why", "[not in weft]"}, 0, false), "");
  EXPECT_EQ(fault_of({"f", "", "[typo]"}, 0, false), "is in no known section: [typo]");
}

TEST(GoldenNames, EveryFileHasItsGroup) {
  std::set<std::string> known;
  for (const Group* group : groups()) known.insert(group->name);
  for (const auto& entry : std::filesystem::directory_iterator(folder() + "/data"))
    EXPECT_TRUE(known.contains(entry.path().stem())) << entry.path();
}

}  // namespace
}  // namespace weft::golden
