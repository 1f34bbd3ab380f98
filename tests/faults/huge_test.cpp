// Tensors that no memory holds, where the system gives no more than there is.

#include <sys/resource.h>

#include <fstream>

#include <weft/settings.h>

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

// While it lives, the process gets so many more bytes of addresses.
class LittleMemory {
 public:
  explicit LittleMemory(std::size_t bytes) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit now = before_;
    now.rlim_cur = pages * 4096 + bytes;
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~LittleMemory() { ::setrlimit(RLIMIT_AS, &before_); }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;

 private:
  rlimit before_{};
};

constexpr std::int64_t huge = std::int64_t{1} << 30;  // elements: 4 GB

class HugeTensors : public testing::TestWithParam<const char*> {
 protected:
  void expect_small_ones() const {
    EXPECT_TRUE(holds<float>(Tensor::full({3}, 2, here_).contiguous() * 2.0, {4, 4, 4}, {3}));
  }

  const Options here_{.dtype = dtypes::f32, .device = GetParam()};
};

TEST_P(HugeTensors, AreAnErrorWithTheirSize) {
  expect_small_ones();  // what this needs is loaded by now
  const LittleMemory little(std::size_t{1} << 30);
  const Tensor x = Tensor::full({huge}, 1, here_);
  EXPECT_EQ(error_of([&] { return x.contiguous().realize(); }),
            "realize: there is no room for 4294967296 bytes");
  EXPECT_EQ(error_of([&] { return x.to_vector<float>(); }),
            "to_vector: there is no room for 4294967296 bytes");
  EXPECT_EQ(error_of([&] { return Tensor::full({huge, huge, huge}, 1, here_).realize(); }),
            "realize: a tensor of 3 axes is larger than any memory");
  expect_small_ones();
}

// Where the sum of one is asked for, nobody needs all of its elements.
TEST_P(HugeTensors, AreNoneUntilTheyAreNeeded) {
  const LittleMemory little(std::size_t{1} << 30);
  const Tensor x = Tensor::full({huge}, 1, here_);
  EXPECT_EQ(x.shrink({{5, 7}}).sum().item<float>(), 2);
}

INSTANTIATE_TEST_SUITE_P(Devices, HugeTensors, testing::Values("CPU", "INTERP"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace weft
