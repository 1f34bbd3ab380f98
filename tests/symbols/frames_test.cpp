#include <weft/dev/symbols/frames.h>

#include <dlfcn.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "shared.h"

constexpr bool has_lines = WEFT_TEST_HAS_LINES;

// Outside of the library's namespace, like the functions of a program.
namespace program {

[[gnu::noinline]] const void* here() { return __builtin_return_address(0); }

[[gnu::always_inline]] inline const void* inlined(std::uint32_t& line) {
  const void* address = (line = __LINE__, here());
  return address;
}

}  // namespace program

namespace weft {
namespace {

TEST(Frames, OfTheProgram) {
  if (!has_lines) GTEST_SKIP() << "built without LLVM";
  const void* address = program::here();
  const std::uint32_t line = __LINE__ - 1;
  const Frame& frame = frames_at(address)[0];
  EXPECT_EQ(frame.str(), "frames_test.cpp:" + std::to_string(line));
  EXPECT_TRUE(frame.file.ends_with("tests/symbols/frames_test.cpp")) << frame.file;
  EXPECT_TRUE(frame.module.ends_with("weft_line_tests")) << frame.module;
  EXPECT_NE(frame.function.find("OfTheProgram"), std::string::npos) << frame.function;
  EXPECT_EQ(&frames_at(address)[0], &frame) << "found once";
}

TEST(Frames, OfInlinedFunctions) {
  if (!has_lines) GTEST_SKIP() << "built without LLVM";
  std::uint32_t line = 0, own_line = __LINE__ + 1;
  const std::vector<Frame>& frames = frames_at(program::inlined(line));
  ASSERT_GE(frames.size(), 2u);
  EXPECT_EQ(frames[0].line, line);
  EXPECT_EQ(frames[1].line, own_line);
  EXPECT_NE(frames[1].function.find("OfInlinedFunctions"), std::string::npos);
}

TEST(Frames, OfASharedObject) {
  std::uint32_t line = 0;
  const Frame& frame = frames_at(call_from_shared(program::here, line))[0];
  EXPECT_TRUE(frame.module.ends_with("libweft_line_tests_shared.so")) << frame.module;
  EXPECT_NE(frame.function.find("call_from_shared"), std::string::npos) << frame.function;
  if (has_lines) {
    EXPECT_EQ(frame.str(), "shared.cpp:" + std::to_string(line));
  }
}

TEST(Frames, WithoutLines) {
  void* shared = dlopen(WEFT_TEST_WITHOUT_LINES, RTLD_NOW);
  ASSERT_NE(shared, nullptr) << dlerror();
  const auto call =
      reinterpret_cast<decltype(&call_from_shared)>(dlsym(shared, "call_from_shared"));
  std::uint32_t line = 0;
  const void* address = call(program::here, line);
  const auto offset = static_cast<const char*>(address) - reinterpret_cast<const char*>(call) - 1;
  const Frame& frame = frames_at(address)[0];
  EXPECT_EQ(frame.str(), fmt::format("call_from_shared+{:#x}", offset));
  EXPECT_EQ(frame.line, 0u);
  EXPECT_EQ(frame.module, WEFT_TEST_WITHOUT_LINES);
}

TEST(Frames, OfNoCode) {
  const Frame& frame = frames_at(reinterpret_cast<const void*>(0x11))[0];
  EXPECT_EQ(frame.file + frame.function + frame.module, "");
  EXPECT_EQ(frame.address, 0x10u);
}

TEST(Frames, AsText) {
  Frame frame{.module = "/bin/program", .address = 0x1234};
  EXPECT_EQ(frame.str(), "program+0x1234");
  frame.function = "_ZN5model4stepEi";
  frame.offset = 0x1f;
  EXPECT_EQ(frame.str(), "model::step(int)+0x1f");
  frame.function = "main";
  EXPECT_EQ(frame.str(), "main+0x1f");
  frame.file = "/home/user/model.cpp";
  frame.line = 42;
  EXPECT_EQ(frame.str(), "model.cpp:42");
}

TEST(Library, OwnsItsFilesAndTheStandardsFunctions) {
  const auto in_file = [](std::string file) {
    return is_of_library({.function = "_Z4stepv", .file = std::move(file), .line = 1});
  };
  EXPECT_TRUE(in_file(WEFT_TEST_ROOT "/src/tensor/ops.cpp"));
  EXPECT_TRUE(in_file(WEFT_TEST_ROOT "/build/default/../../src/tensor/ops.cpp"));
  EXPECT_TRUE(in_file(WEFT_TEST_ROOT "/include/weft/tensor.h"));
  EXPECT_TRUE(in_file("/usr/local/include/weft/tensor.h"));
  EXPECT_FALSE(in_file(WEFT_TEST_ROOT "/tests/symbols/frames_test.cpp"));
  EXPECT_FALSE(in_file(WEFT_TEST_ROOT "/src_of_mine/model.cpp"));
  EXPECT_FALSE(in_file("/home/user/src/model.cpp"));
  const auto is_own = [](std::string function, std::string file = "") {
    return is_of_library({.function = std::move(function), .file = std::move(file), .line = 1});
  };
  EXPECT_TRUE(is_own("_ZNK4weft6Tensor4reluEv"));
  EXPECT_TRUE(is_own("_ZZN4weft6Tensor6customEvENKUlvE_clEv")) << "a lambda";
  EXPECT_TRUE(is_own("_ZSt10accumulateIPfEvT_", "/usr/include/c++/12/bits/stl_numeric.h"));
  EXPECT_TRUE(is_own("_ZNKSt8functionIFvvEEclEv"));
  EXPECT_FALSE(is_own("_ZN4weft6Tensor4reluEv", "/home/user/src/model.cpp")) << "files decide";
  EXPECT_FALSE(is_own("_ZN5wefts4stepEv"));
  EXPECT_FALSE(is_own("main"));
  EXPECT_FALSE(is_own(""));
}

TEST(Library, IsLeftOutOfCallers) {
  std::uint32_t line = 0;
  const auto* weft = reinterpret_cast<const char*>(&caller_of_library) + 1;
  const void* address = call_from_shared(program::here, line);
  EXPECT_EQ(caller_of_library({}), "");
  if (has_lines) {
    EXPECT_EQ(caller_of_library({weft, address, program::here()}),
              "shared.cpp:" + std::to_string(line));
  }
  EXPECT_EQ(caller_of_library({reinterpret_cast<void*>(0x11), reinterpret_cast<void*>(0x21)}),
            "+0x10 0x20")
      << "somebody may know";
}

}  // namespace
}  // namespace weft
