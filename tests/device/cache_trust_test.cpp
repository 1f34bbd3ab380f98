// Code from the cache is run: what another user may have written is none of it.

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include <weft/dev/base/temporary_folder.h>
#include <weft/dev/device/disk_cache.h>
#include <weft/settings.h>

#include "../support/files_in.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

class CacheTrust : public testing::Test {
 protected:
  static constexpr uid_t another_user = 12345;

  static unsigned mode_of(const fs::path& file) {
    struct stat info{};
    EXPECT_EQ(stat(file.c_str(), &info), 0) << file;
    return info.st_mode & 07777U;
  }
  // What is wrong with the folder, if anything; and none of it is used then.
  static std::string problem_of(const fs::path& folder) {
    const Context here{{"CACHE_DIR", folder.c_str()}};
    std::string problem = cache_place().problem;
    EXPECT_EQ(disk_cache().folder().empty(), !problem.empty());
    return problem;
  }
  static void give_away(const fs::path& file) {
    ASSERT_EQ(lchown(file.c_str(), another_user, static_cast<gid_t>(-1)), 0);
  }

  TemporaryFolder folder_;
};

TEST_F(CacheTrust, WhatIsMadeIsForThisUserAlone) {
  const mode_t before = umask(0);
  const fs::path folder = folder_ / "a" / "b";
  DiskCache(folder).keep("key", "content");
  DiskCache(folder).set_limit(1000);
  umask(before);
  for (const char* made : {"a", "a/b"}) EXPECT_EQ(mode_of(folder_ / made), 0700U) << made;
  for (const fs::path& file : files_in(folder)) EXPECT_EQ(mode_of(file), 0600U) << file;
  EXPECT_EQ(mode_of(files_in(folder)[0].parent_path()), 0700U);
}

TEST_F(CacheTrust, AFolderThatOthersMayWriteIsRefused) {
  const std::string name = folder_.path().string();
  for (const unsigned mode : {0700U, 0750U, 0755U, 0500U}) {
    ASSERT_EQ(chmod(name.c_str(), mode), 0);
    EXPECT_EQ(problem_of(name), "") << mode;
  }
  for (const unsigned mode : {0770U, 0702U, 0777U}) {
    ASSERT_EQ(chmod(name.c_str(), mode), 0);
    EXPECT_EQ(problem_of(name), "the cache in " + name +
                                    " is not used, since code from it would run: other users may "
                                    "write to " +
                                    name + ". Run chmod go-w '" + name +
                                    "', or set CACHE_DIR to another folder, or to none");
    EXPECT_NE(problem_of(name + "/"), "");
  }
  ASSERT_EQ(chmod(name.c_str(), 01777), 0);  // as /tmp, which should stay so
  EXPECT_EQ(problem_of(name).find("chmod"), std::string::npos);
  EXPECT_NE(problem_of(name), "");
  fs::create_symlink(name, folder_ / "link");
  EXPECT_NE(problem_of(folder_ / "link"), "");
}

TEST_F(CacheTrust, AFolderOfRootMayBeRead) { EXPECT_EQ(problem_of("/"), ""); }

TEST_F(CacheTrust, WhatIsNoFolderIsNoProblem) {
  EXPECT_EQ(problem_of(folder_ / "none"), "");
  fs::create_symlink(folder_ / "none", folder_ / "link");
  EXPECT_EQ(problem_of(folder_ / "link"), "");
  const Context none{{"CACHE_DIR", "none"}};
  EXPECT_EQ(cache_place().folder, "");
  EXPECT_EQ(cache_place().problem, "");
}

// Also where the folder was not looked at before.
TEST_F(CacheTrust, AnEntryThatOthersMayWriteIsNone) {
  const DiskCache cache(folder_.path());
  cache.keep("key", "content");
  const fs::path file = files_in(folder_.path()).at(0);
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_TRUE(cache.find("key"));
  for (const unsigned mode : {0660U, 0602U}) {
    ASSERT_EQ(chmod(file.c_str(), mode), 0);
    EXPECT_FALSE(cache.find("key"));
  }
  cache.keep("key", "content");
  EXPECT_TRUE(cache.find("key"));
  fs::rename(file, folder_ / "moved");
  fs::create_symlink(folder_ / "moved", file);
  EXPECT_FALSE(cache.find("key"));
  cache.keep("key", "content");
  EXPECT_TRUE(cache.find("key"));
  EXPECT_FALSE(fs::is_symlink(file));
}

TEST_F(CacheTrust, AFileIsThisUsersAlone) {
  const fs::path file = folder_ / "file", link = folder_ / "link";
  std::ofstream(file) << "text";
  fs::create_symlink(file, link);
  for (const auto& [mode, expected] :
       {std::pair(0644U, true), {0600U, true}, {0664U, false}, {0602U, false}}) {
    ASSERT_EQ(chmod(file.c_str(), mode), 0);
    EXPECT_EQ(is_trusted(file), expected) << mode;
  }
  ASSERT_EQ(chmod(file.c_str(), 0600U), 0);
  EXPECT_FALSE(is_trusted(link));
  EXPECT_FALSE(is_trusted(folder_ / "none"));
}

// Only root can give files away, and so it is root for whom they are another user's.
class CacheTrustOfRoot : public CacheTrust {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  }
};

TEST_F(CacheTrustOfRoot, AFolderOfAnotherUserIsRefused) {
  const fs::path folder = folder_ / "cache", link = folder_ / "link";
  DiskCache(folder).keep("key", "content");
  fs::create_directory_symlink(folder, link);
  EXPECT_EQ(problem_of(link), "");
  give_away(link);
  EXPECT_NE(problem_of(link), "");
  EXPECT_EQ(problem_of(folder), "");
  give_away(folder);
  EXPECT_EQ(problem_of(folder),
            "the cache in " + folder.string() +
                " is not used, since code from it would run: " + folder.string() +
                " belongs to user 12345, and this process to user 0. Set "
                "CACHE_DIR to another folder, or to none");
}

TEST_F(CacheTrustOfRoot, AnEntryOfAnotherUserIsNone) {
  const DiskCache cache(folder_.path());
  cache.keep("key", "content");
  give_away(files_in(folder_.path()).at(0));
  EXPECT_FALSE(cache.find("key"));
  cache.keep("key", "content");
  EXPECT_TRUE(cache.find("key"));
}

}  // namespace
}  // namespace weft
