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
  std::string name, elsewhere;  // the test that it has instead of cases
  bool is_missing = false;
};

std::vector<Name> all_names() {
  std::ifstream file(folder() + "/names.txt");
  std::vector<Name> names;
  bool is_missing = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "[missing]") is_missing = true;
    if (line.empty() || line.starts_with('#') || line.starts_with('[')) continue;
    const auto colon = line.find(": ");
    names.push_back({line.substr(0, colon),
                     colon == std::string::npos ? "" : line.substr(colon + 2), is_missing});
  }
  return names;
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
    if (name.is_missing) {
      EXPECT_EQ(count, 0) << name.name << " is no longer missing";
    } else if (!name.elsewhere.empty()) {
      EXPECT_TRUE(std::filesystem::exists(fmt::format("{}/../{}", folder(), name.elsewhere)))
          << name.name << " is said to be tested in " << name.elsewhere;
    } else {
      EXPECT_GE(count, fewest) << name.name;
      EXPECT_TRUE(has_odd) << name.name << " has no case of one element, of none, or of a view";
    }
  }
}

TEST(GoldenNames, EveryFileHasItsGroup) {
  std::set<std::string> known;
  for (const Group* group : groups()) known.insert(group->name);
  for (const auto& entry : std::filesystem::directory_iterator(folder() + "/data"))
    EXPECT_TRUE(known.contains(entry.path().stem())) << entry.path();
}

}  // namespace
}  // namespace weft::golden
