// How much the cache on disk takes, and what goes first.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include <weft/dev/base/temporary_folder.h>
#include <weft/dev/device/disk_cache.h>
#include <weft/settings.h>

#include "../support/errors.h"
#include "../support/files_in.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

class CacheLimit : public testing::Test {
 protected:
  using hours = std::chrono::hours;
  static constexpr std::uint64_t block = 4096;  // what a small entry takes

  DiskCache cache(std::uint64_t limit) const { return DiskCache(folder_.path(), limit); }
  fs::path write(const fs::path& name, const std::string& text) const {
    fs::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
    return folder_.path() / name;
  }
  // The file of an entry, by its content.
  fs::path file_with(std::string_view content) const {
    for (const fs::path& file : files_in(folder_.path())) {
      std::ifstream in(file, std::ios::binary);
      if (std::string{std::istreambuf_iterator<char>(in), {}}.ends_with(content)) return file;
    }
    return {};
  }
  void make_older(const fs::path& file, hours age) const {
    fs::last_write_time(file, fs::last_write_time(file) - age);
  }
  // Six entries, each of which was used after those before it.
  void keep_six(const DiskCache& cache) const {
    for (int i = 0; i < 6; ++i) {
      const std::string name = "entry " + std::to_string(i);
      cache.keep(name, name);
      make_older(file_with(name), hours(100 - 10 * i));
    }
  }
  std::string found(const DiskCache& cache) const {
    std::string all;
    for (int i = 0; i < 6; ++i)
      if (cache.find("entry " + std::to_string(i))) all += std::to_string(i);
    return all;
  }

  TemporaryFolder folder_;
};

TEST_F(CacheLimit, WhatWasUsedLeastRecentlyGoesFirst) {
  const DiskCache all = cache(DiskCache::no_limit);
  keep_six(all);
  EXPECT_EQ(all.size().entries, 6U);
  EXPECT_EQ(all.size().bytes, 6 * block);
  EXPECT_TRUE(all.find("entry 1"));  // which is a use
  const DiskCache::Size removed = all.trim(4 * block);
  EXPECT_EQ(removed.entries, 2U);
  EXPECT_EQ(removed.bytes, 2 * block);
  EXPECT_EQ(found(all), "1345");
  EXPECT_EQ(all.trim(4 * block).entries, 0U);
  all.trim(0);
  EXPECT_EQ(found(all), "");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(CacheLimit, OneMoreEntryRemovesTheOldest) {
  keep_six(cache(DiskCache::no_limit));
  cache(7 * block).keep("another", "another");  // leaves a step of a 16th as well
  EXPECT_EQ(found(cache(7 * block)), "12345");
  EXPECT_TRUE(cache(7 * block).find("another"));
}

// Reading would write otherwise, each time.
TEST_F(CacheLimit, UsesWithinAnHourAreOne) {
  const DiskCache all = cache(DiskCache::no_limit);
  all.keep("key", "content");
  const fs::path file = file_with("content");
  const auto time_after = [&](std::chrono::minutes age) {
    const auto before = fs::file_time_type::clock::now() - age;
    fs::last_write_time(file, before);
    EXPECT_TRUE(all.find("key"));
    return fs::last_write_time(file) - before;
  };
  EXPECT_EQ(time_after(std::chrono::minutes(50)).count(), 0);
  EXPECT_GT(time_after(std::chrono::minutes(70)), std::chrono::minutes(60));
}

TEST_F(CacheLimit, IsKeptWhileEntriesAreWritten) {
  constexpr std::uint64_t limit = 100 * block;
  std::size_t most = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string content(static_cast<std::size_t>(i % 3) * block, 'x');
    cache(limit).keep(std::to_string(i), content);
    if (i % 10 == 0) {
      EXPECT_LE(cache(limit).size().bytes, limit);
      most = std::max(most, cache(limit).size().bytes);
    }
  }
  EXPECT_GT(most, limit * 3 / 4);
  EXPECT_TRUE(cache(limit).find("399"));
}

TEST_F(CacheLimit, WhatIsTooLargeRemovesNothing) {
  const std::uint64_t limit = 20 * block;
  keep_six(cache(limit));
  cache(limit).keep("large", std::string(limit, 'x'));
  EXPECT_FALSE(cache(limit).find("large"));
  EXPECT_EQ(found(cache(limit)), "012345");
}

TEST_F(CacheLimit, EntriesOfEarlierVersionsGo) {
  const DiskCache all = cache(DiskCache::no_limit);
  keep_six(all);
  write("0123456789abcdef", "weft 1 3 7 0123456789abcdef\nkeycontent");
  write("0123456789abcde0.12.1", "weft 1");
  EXPECT_EQ(all.size().entries, 8U);
  EXPECT_EQ(all.trim(DiskCache::no_limit).entries, 2U);
  EXPECT_EQ(found(all), "012345");
}

TEST_F(CacheLimit, OtherFilesStay) {
  cache(DiskCache::no_limit).keep("key", "content");
  const fs::path prefix = file_with("content").parent_path();
  const std::string digits = prefix.filename().string();
  const std::string weft = "weft 1 3 7 0123456789abcdef\nkeycontent",
                    name = digits + "0123456789abcd";
  std::vector<fs::path> others{
      write("notes.txt", weft),                 // not by its name
      write(prefix / "notes.txt", weft),        //
      write(prefix / (name + ".c"), weft),      //
      write(prefix / (name + "00"), weft),      //
      write("0123456789abcdef", "of another"),  // not by its content
      write(prefix / name, "of another"),       //
      write(prefix / "x" / name, weft),         // not by its folder
      write("peers" + fs::path("/" + name).string(), weft),
      write(digits == "01" ? "02/0123456789abcdef" : "01/f123456789abcdef", weft),
  };
  const TemporaryFolder elsewhere;
  std::ofstream(elsewhere / name) << weft;
  const fs::path link = prefix / (digits + "0000000000000b");
  fs::create_symlink(elsewhere / name, link);  // no file
  fs::create_directory_symlink(elsewhere.path(), folder_ / (digits == "fe" ? "fd" : "fe"));
  others.insert(others.end(), {link, elsewhere / name});
  EXPECT_EQ(cache(DiskCache::no_limit).trim(0).entries, 1U);
  EXPECT_FALSE(cache(DiskCache::no_limit).find("key"));
  for (const fs::path& file : others) EXPECT_TRUE(fs::exists(file)) << file;
}

// What stays counts, so others go for it; and an empty part of an entry goes as well.
TEST_F(CacheLimit, WhatCannotBeRemovedTakesRoom) {
  const DiskCache all = cache(DiskCache::no_limit);
  keep_six(all);
  const fs::path stays = write("01/0123456789abcd", std::string(block, 'x'));
  fs::rename(stays, stays.parent_path() / "0123456789abcdef");
  make_older(stays.parent_path() / "0123456789abcdef", hours(1000));
  EXPECT_EQ(all.trim(4 * block).entries, 3U);
  EXPECT_EQ(found(all), "345");
  const fs::path empty = write(
      file_with("entry 5").parent_path() / (file_with("entry 5").filename().string() + ".0.part"),
      "");
  all.trim(0);
  EXPECT_EQ(all.size().entries, 1U);
}

TEST_F(CacheLimit, HoldsForThreadsAndProcessesTogether) {
  constexpr std::uint64_t limit = 64 * block;
  const auto work = [&] {
    bool is_right = true;
    for (int i = 0; i < 120; ++i) {
      const std::string key = std::to_string(i % 60), content(2 * block, static_cast<char>(i % 60));
      is_right = is_right && cache(limit).find(key).value_or(content) == content;
      cache(limit).keep(key, content);
    }
    return is_right;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(work() ? 0 : 1);
    children.push_back(child);
  }
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 3; ++t) threads.emplace_back([&] { wrong += work() ? 0 : 1; });
  for (std::thread& thread : threads) thread.join();
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(cache(limit).size().bytes, limit + 3 * (limit / 16 + 3 * block));  // each its step
  EXPECT_GT(cache(limit).size().bytes, limit / 2);
  for (const fs::path& file : files_in(folder_.path()))
    EXPECT_EQ(file.filename().string().size(), 16U) << file << ": half written";
}

TEST_F(CacheLimit, IsTheSettingsThenTheFoldersThenTheDefault) {
  const std::string name = folder_.path().string();
  const Context here{{"CACHE_DIR", std::string_view(name)}, {"CACHE_LIMIT", ""}};
  EXPECT_EQ(disk_cache().limit(), 1'000'000'000U);
  disk_cache().set_limit(12345);
  EXPECT_EQ(disk_cache().limit(), 12345U);
  disk_cache().trim(0);
  EXPECT_EQ(disk_cache().limit(), 12345U);
  {
    const Context set{{"CACHE_LIMIT", "2 GB"}};
    EXPECT_EQ(disk_cache().limit(), 2'000'000'000U);
  }
  disk_cache().set_limit(DiskCache::no_limit);
  EXPECT_EQ(disk_cache().limit(), DiskCache::no_limit);
  write("limit", "nonsense");
  EXPECT_EQ(disk_cache().limit(), 1'000'000'000U);
  const Context wrong{{"CACHE_LIMIT", "large"}};
  EXPECT_EQ(error_of([] { return disk_cache(); }),
            "CACHE_LIMIT=large: expected a size, such as 500MB or 2GB, or none");
}

TEST_F(CacheLimit, IsASizeInWords) {
  const std::pair<const char*, std::uint64_t> sizes[] = {{"1B", 1},
                                                         {"12kB", 12'000},
                                                         {"500MB", 500'000'000},
                                                         {"1.5 GB", 1'500'000'000},
                                                         {"2gb", 2'000'000'000},
                                                         {"1TB", 1'000'000'000'000},
                                                         {"none", DiskCache::no_limit}};
  for (const auto& [text, bytes] : sizes) EXPECT_EQ(parse_cache_limit(text), bytes) << text;
  for (const char* text : {"", "1", "MB", "0MB", "-1MB", "1MiB", "1  MB", "1MB ", "nan GB",
                           "inf GB", "1e30GB", "0.5B", "no"})
    EXPECT_EQ(parse_cache_limit(text), std::nullopt) << text;
}

}  // namespace
}  // namespace weft
