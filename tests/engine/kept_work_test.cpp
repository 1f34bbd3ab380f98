// What a process keeps on disk of the way to its kernels.

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <weft/dev/base/build_id.h>
#include <weft/dev/base/temporary_folder.h>
#include <weft/settings.h>

#include "../../src/engine/kept_work.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

class KeptWork : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string name_ = folder_.path().string();
  Context context_ = Context({{"CACHE_DIR", SettingValue(name_)}});

  void cut_files() const {
    for (const auto& file : fs::directory_iterator(folder_.path()))
      fs::resize_file(file.path(), fs::file_size(file.path()) - 3);
  }
};

Rendered example() {
  Rendered rendered;
  rendered.source = std::string("a source\nwith 2 lines, ") + '\0' + " and more";
  rendered.variables = {2, 0};
  rendered.is_read = {true, false, true};
  rendered.kept.push_back(
      {.constant = 1, .argument = 3, .bytes = 4096, .source = "", .name = "n 1"});
  rendered.kept.push_back({.constant = 2, .argument = 4, .bytes = 1, .source = "x y", .name = ""});
  return rendered;
}

TEST_F(KeptWork, RenderedKernelsComeBack) {
  EXPECT_FALSE(known_rendered("key"));
  const Rendered kept = example();
  keep_rendered("key", kept);
  auto found = known_rendered("key");
  ASSERT_TRUE(found);
  const Rendered known = found ? std::move(*found) : Rendered();
  EXPECT_EQ(known.source, kept.source);
  EXPECT_EQ(known.variables, kept.variables);
  EXPECT_EQ(known.is_read, kept.is_read);
  ASSERT_EQ(known.kept.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(known.kept[i].constant, kept.kept[i].constant);
    EXPECT_EQ(known.kept[i].argument, kept.kept[i].argument);
    EXPECT_EQ(known.kept[i].bytes, kept.kept[i].bytes);
    EXPECT_EQ(known.kept[i].source, kept.kept[i].source);
    EXPECT_EQ(known.kept[i].name, kept.kept[i].name);
  }
  EXPECT_FALSE(known_rendered("another"));
}

TEST_F(KeptWork, ChoicesComeBack) {
  keep_choices("key", {{2, 0}, {-1, 2}, {0, -1, -1}, {0, 12}, {0, 34}});
  const auto found = known_choices("key");
  ASSERT_TRUE(found);
  const Choices known = found.value_or(Choices());
  EXPECT_EQ(known.apart, (std::vector<int>{2, 0}));
  EXPECT_EQ(known.last, (std::vector<int>{-1, 2}));
  EXPECT_EQ(known.forms, (std::vector<int>{0, -1, -1}));
  EXPECT_EQ(known.nanoseconds, (std::vector<std::int64_t>{0, 12}));
  EXPECT_EQ(known.nanoseconds_as_made, (std::vector<std::int64_t>{0, 34}));
  EXPECT_FALSE(known_rendered("key"));  // the two are kept apart
}

TEST_F(KeptWork, WhatIsDamagedIsNotThere) {
  keep_rendered("key", example());
  keep_choices("key", {{1}, {1}, {1}, {1}, {1}});
  cut_files();
  EXPECT_FALSE(known_rendered("key"));
  EXPECT_FALSE(known_choices("key"));
}

TEST_F(KeptWork, IsMadeAgainWhereSomebodyLooks) {
  const ExtraRuleList none;
  const auto may = [&](const char* name, const char* value) {
    const Context context({{"SPEC", 0}, {"VALIDATE", 0}, {"DEBUG", 0}, {"DUMP", ""}});
    const Context other({{name, value}});
    return may_keep_work(none);
  };
  EXPECT_EQ(may("NOOPT", "0"), !build_id().empty());
  EXPECT_FALSE(may("SPEC", "1"));
  EXPECT_FALSE(may("VALIDATE", "1"));
  EXPECT_FALSE(may("DEBUG", "3"));
  EXPECT_FALSE(may("DUMP", "ranges"));
}

}  // namespace
}  // namespace weft
