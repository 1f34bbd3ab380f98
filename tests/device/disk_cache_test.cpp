#include <weft/dev/device/disk_cache.h>

#include <unistd.h>

#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include <weft/dev/device/host_memory.h>
#include <weft/settings.h>

#include "../support/files_in.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

class DiskCaches : public testing::Test {
 protected:
  DiskCaches() {
    std::string name = (fs::temp_directory_path() / "weft-cache-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~DiskCaches() override { fs::remove_all(folder_); }

  std::string get(const DiskCache& cache, const std::string& key, const std::string& content) {
    if (const auto found = cache.find(key)) return *found;
    ++made_;
    cache.keep(key, content);
    return content;
  }
  fs::path only_file() const { return files_in(folder_).at(0); }

  fs::path folder_;
  int made_ = 0;
};

TEST_F(DiskCaches, KeepWhatWasMade) {
  const DiskCache cache(folder_ / "deep" / "er");
  const std::string binary("a\0\n\xff", 4);
  EXPECT_EQ(get(cache, "key", binary), binary);
  EXPECT_EQ(get(DiskCache(folder_ / "deep" / "er"), "key", "other"), binary);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(get(cache, "key 2", "other"), "other");
  EXPECT_EQ(get(cache, "", ""), "");
  EXPECT_EQ(get(cache, "", "x"), "");
  EXPECT_EQ(made_, 3);
}

// Cut anywhere, or with any byte changed, an entry is made anew.
TEST_F(DiskCaches, IgnoreWhatIsDamaged) {
  const DiskCache cache(folder_);
  get(cache, "key", "content");
  const fs::path file = only_file();
  std::ifstream in(file, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> damaged{whole + "x", ""};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    damaged.push_back(whole.substr(0, i));
    damaged.push_back(whole);
    damaged.back()[i] ^= 1;
  }
  for (const std::string& text : damaged) {
    std::ofstream(file, std::ios::binary) << text;
    made_ = 0;
    EXPECT_EQ(get(cache, "key", "content"), "content");
    EXPECT_EQ(made_, 1) << text;
  }
}

TEST_F(DiskCaches, AreShared) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const DiskCache cache(folder_);
      for (int i = 0; i < 50; ++i) {
        const std::string key = std::to_string(i), content(1000, static_cast<char>('a' + i % 26));
        EXPECT_EQ(cache.find(key).value_or(content), content);
        cache.keep(key, content);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files_in(folder_).size(), 50U);  // and nothing half written
}

// A folder of all entries would be long to look through.
TEST_F(DiskCaches, AreFoldersByTheFirstTwoDigits) {
  const DiskCache cache(folder_);
  for (int i = 0; i < 40; ++i) cache.keep(std::to_string(i), "content");
  EXPECT_GT(std::distance(fs::directory_iterator(folder_), {}), 20);
  for (const fs::path& file : files_in(folder_)) {
    const std::string name = file.filename().string();
    EXPECT_EQ(name.size(), 16U);
    EXPECT_EQ(file, folder_ / name.substr(0, 2) / name);
  }
}

TEST_F(DiskCaches, DoWithoutAFolder) {
  std::ofstream(folder_ / "file") << "in the way";
  for (const fs::path& folder : {fs::path(), folder_ / "file" / "below"}) {
    made_ = 0;
    EXPECT_EQ(get(DiskCache(folder), "key", "content"), "content");
    EXPECT_EQ(get(DiskCache(folder), "key", "content"), "content");
    EXPECT_EQ(made_, 2);
  }
}

TEST_F(DiskCaches, AreWhereTheSettingSays) {
  const Context here{{"CACHE_DIR", folder_.c_str()}};
  EXPECT_EQ(get(disk_cache(), "key", "content"), "content");
  EXPECT_EQ(get(DiskCache(folder_), "key", "other"), "content");
  const Context nowhere{{"CACHE_DIR", "none"}};
  EXPECT_EQ(get(disk_cache(), "key", "other"), "other");
}

// Another compiler, another entry.
TEST_F(DiskCaches, KeepCompiledCode) {
  class Counting final : public Device {
   public:
    std::string_view name() const override { return "COUNTING"; }
    Allocator& allocator() override { return memory_; }
    std::string render(const Node*) override { return {}; }
    std::string compile(std::string_view source) override {
      ++compiled;
      return "code of " + std::string(source);
    }
    std::string compiler_key() const override { return key; }
    std::unique_ptr<Program> load(std::string_view) override { return nullptr; }
    std::string key = "1";
    int compiled = 0;

   private:
    HostMemory memory_;
  } device;
  const Context here{{"CACHE_DIR", folder_.c_str()}};
  using Texts = std::vector<std::string>;
  const auto compile = [&](const Texts& sources) { return compile_cached(device, sources); };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(compile({"x"}), Texts{"code of x"});
  EXPECT_EQ(device.compiled, 1);
  device.key = "2";
  EXPECT_EQ(compile({"x"}), Texts{"code of x"});
  EXPECT_EQ(compile({"y"}), Texts{"code of y"});
  EXPECT_EQ(device.compiled, 3);
  EXPECT_EQ(compile({"z", "y", "w", "x"}),
            (Texts{"code of z", "code of y", "code of w", "code of x"}));
  EXPECT_EQ(device.compiled, 5);
  EXPECT_EQ(compile({}), Texts{});
}

}  // namespace
}  // namespace weft
