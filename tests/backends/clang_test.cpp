// Kernels as C, compiled by the program clang.

#include <gtest/gtest.h>

#include <weft/dev/device/device.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "../support/errors.h"

namespace weft {
namespace {

// e2e/clang_calls.sh counts how often clang runs for it.
TEST(Clang, CompilesAPlan) {
  const Context context{{"DEV", "CLANG"}, {"CACHE_DIR", "none"}};
  std::vector<Tensor> tensors;
  for (int size = 1; size <= 5; ++size)
    tensors.push_back((Tensor::arange(size).to(dtypes::f32) + 1).square());
  Tensor::realize(tensors);
  EXPECT_EQ(tensors[2].to_vector<float>(), (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(tensors[4].to_vector<float>(), (std::vector<float>{1, 4, 9, 16, 25}));
}

TEST(Clang, GivesAnObjectForEachSource) {
  std::vector<std::string> sources;
  for (int i = 0; i < 12; ++i)
    sources.push_back("void kernel(void* const* a) { *(int*)a[0] = " + std::to_string(i) + "; }");
  Device& device = find_device("CLANG");
  const std::vector<std::string> code = device.compile_all(sources);
  ASSERT_EQ(code.size(), sources.size());
  for (int i = 0; i < 12; ++i) {
    int result = -1;
    device.load(code[static_cast<std::size_t>(i)])->run({{{&result, 0, sizeof result}}}, {});
    EXPECT_EQ(result, i);
  }
}

// No thread goes before all have come.
TEST(Clang, RunsKernelsInThreads) {
  const Context threads{{"WEFT_THREADS", 3}};
  const std::string source = R"(
const long threads = 3;
void kernel(void* const* arguments, const long* values, long thread) {
  int* here = arguments[0];
  __atomic_fetch_add(here, 1 << 8 * thread, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(here, __ATOMIC_SEQ_CST) != 0x010101) {}
})";
  Device& device = find_device("CLANG");
  int here = 0;
  device.load(device.compile(source))->run({{{&here, 0, sizeof here}}}, {});
  EXPECT_EQ(here, 0x010101);
  const std::string damaged = "const int threads = 3; void kernel(void) {}";
  EXPECT_NE(error_of([&] { device.load(device.compile(damaged)); }).find("threads is damaged"),
            std::string::npos);
}

TEST(Clang, ShowsTheSourceThatIsWrong) {
  std::vector<std::string> sources(12, "void kernel(void) {}");
  sources[1] = "// this one is fine\nvoid kernel(void) {}";
  sources[11] = "void kernel(void) { return unheard_of; }";
  const std::string error = error_of([&] { find_device("CLANG").compile_all(sources); });
  EXPECT_NE(error.find("undeclared identifier 'unheard_of'"), std::string::npos) << error;
  EXPECT_NE(error.find(sources[11]), std::string::npos) << error;
  EXPECT_EQ(error.find("this one is fine"), std::string::npos) << error;
}

}  // namespace
}  // namespace weft
