#include "../../src/backends/cpu/host_processor.h"

#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

namespace weft {
namespace {

namespace fs = std::filesystem;

class HostProcessor : public testing::Test {
 protected:
  HostProcessor() {
    std::string name = (fs::temp_directory_path() / "weft-processor-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~HostProcessor() override { fs::remove_all(folder_); }
  void SetUp() override {
    if (!has_llvm()) GTEST_SKIP() << "built without LLVM";
  }

  LlvmProcessor described(const fs::path& folder, const std::string& identity) {
    return cpu::described(DiskCache(folder), identity, [&] {
      ++asked_;
      return said_;
    });
  }

  fs::path folder_;
  int asked_ = 0;
  LlvmProcessor said_{"x86_64-pc-linux-gnu", "znver4", "+avx2,-amx"};
};

TEST_F(HostProcessor, IsAskedForOnce) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(described(folder_, "one"), said_);
  EXPECT_EQ(asked_, 1);
}

// Of two that share the cache each has its own.
TEST_F(HostProcessor, IsAnotherWhereItSaysAnotherThing) {
  const LlvmProcessor one = said_;
  described(folder_, "one");
  said_.features = "";
  EXPECT_EQ(described(folder_, "another"), said_);
  EXPECT_EQ(asked_, 2);
  EXPECT_EQ(described(folder_, "one"), one);
  EXPECT_EQ(described(folder_, "another"), said_) << "without features";
  EXPECT_EQ(asked_, 2);
}

TEST_F(HostProcessor, IsAskedForWhereNothingIsKnownOrKept) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(described(folder_, ""), said_);
    EXPECT_EQ(described({}, "one"), said_);
  }
  EXPECT_EQ(asked_, 4);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(HostProcessor, IsWhatLlvmSays) { EXPECT_EQ(cpu::host_processor(), llvm_host()); }

// Else each process would ask anew.
TEST_F(HostProcessor, SaysTheSameOfItselfInEveryThread) {
  const std::string identity = cpu::processor_identity();
#if defined(__x86_64__)
  EXPECT_NE(identity, "");
#endif
  for (int i = 0; i < 4; ++i)
    std::thread([&] { EXPECT_EQ(cpu::processor_identity(), identity); }).join();
}

}  // namespace
}  // namespace weft
