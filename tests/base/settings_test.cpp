#include <weft/settings.h>

#include <cstdlib>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include <weft/error.h>

#include "../support/errors.h"

namespace weft {
namespace {

// Sets a variable of the environment until the end of the scope.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* now = std::getenv(name)) before_ = now;
    setenv(name, value, 1);
  }
  ~Environment() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(Settings, TableHasUniqueNamesAndMeanings) {
  const auto& table = all_settings();
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_FALSE(table[i].meaning.empty()) << table[i].name;
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(table[i].name, table[j].name);
  }
}

TEST(Settings, InnermostContextThenEnvironmentThenFallback) {
  unsetenv("DUMP");
  EXPECT_EQ(setting("DUMP"), "");
  const Environment environment("DUMP", "outside");
  EXPECT_EQ(setting("DUMP"), "outside");
  {
    const Context outer{{"DUMP", "outer"}, {"DEBUG", "3"}};
    {
      const Context inner{{"DUMP", "inner"}};
      EXPECT_EQ(setting("DUMP"), "inner");
      EXPECT_EQ(setting_int("DEBUG"), 3);
    }
    EXPECT_EQ(setting("DUMP"), "outer");
  }
  EXPECT_EQ(setting("DUMP"), "outside");
}

TEST(Settings, LastOfTwoValuesInOneContextWins) {
  const Context both{{"DEBUG", "1"}, {"DEBUG", "2"}};
  EXPECT_EQ(setting_int("DEBUG"), 2);
}

TEST(Settings, ContextsAreOfOneThread) {
  const Environment environment("DEBUG", "1");
  const Context context{{"DEBUG", "2"}};
  std::string there;
  std::thread([&] { there = setting("DEBUG"); }).join();
  EXPECT_EQ(there, "1");
  EXPECT_EQ(setting("DEBUG"), "2");
}

TEST(Settings, DebugLevelFollowsContextsAndWhatIsSet) {
  {
    const Context outer{{"DEBUG", 2}};
    EXPECT_EQ(debug_level(), 2);
    {
      const Context inner{{"DEBUG", 3}, {"SPEC", 1}};
      EXPECT_EQ(debug_level(), 3);
      std::thread([] {
        const Context other{{"DEBUG", 4}};
        EXPECT_EQ(debug_level(), 4);
      }).join();
      EXPECT_EQ(debug_level(), 3);
    }
    EXPECT_EQ(debug_level(), 2);
  }
  const auto set = [] {  // in another process, as nothing takes it back
    debug_level();
    std::thread([] { set_setting("DEBUG", 5); }).join();
    std::exit(static_cast<int>(debug_level()));
  };
  EXPECT_EXIT(set(), testing::ExitedWithCode(5), "");
  const Context wrong{{"DEBUG", "high"}};
  EXPECT_EQ(error_of([] { debug_level(); }), "DEBUG=high: expected an integer");
}

TEST(Settings, SomeHaveTwoSpellings) {
  const Environment environment("DEVICE", "ONE");
  EXPECT_EQ(setting("DEV"), "ONE");
  const Environment first("DEV", "TWO");
  EXPECT_EQ(setting("DEVICE"), "TWO");
  const Context context{{"DEVICE", "THREE"}};
  EXPECT_EQ(setting("DEV"), "THREE");
}

TEST(Settings, UnknownNamesThrow) {
  EXPECT_EQ(error_of([] { setting("DEBUGG"); }), "there is no setting DEBUGG");
  EXPECT_EQ(error_of([] { const Context context{{"DEBUG", "4"}, {"NO", "1"}}; }),
            "there is no setting NO");
  const Environment environment("DEBUG", "1");
  EXPECT_EQ(setting("DEBUG"), "1") << "the failed context left something behind";
}

TEST(Settings, IntegersAreChecked) {
  {
    const Context context{{"DEBUG", "-12"}};
    EXPECT_EQ(setting_int("DEBUG"), -12);
  }
  for (std::string_view text : {"", "two", "1x", " 1", "1.0", "99999999999999999999"}) {
    const Context context{{"DEBUG", text}};
    EXPECT_EQ(error_of([] { setting_int("DEBUG"); }),
              "DEBUG=" + std::string(text) + ": expected an integer");
  }
}

}  // namespace
}  // namespace weft
