// Finding devices, adding one, and buffers.

#include <weft/dev/device/buffer.h>

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/dev/device/host_memory.h>
#include <weft/error.h>

#include "../../src/device/large_pages.h"
#include "../support/errors.h"

namespace weft {
namespace {

// Memory that the program cannot reach itself, as on a card: handles are not addresses.
class FarMemory final : public Allocator {
 public:
  void* allocate(std::size_t bytes) override {
    ++live;
    return new std::vector<std::byte>(bytes);
  }
  void release(void* memory, std::size_t) override {
    --live;
    delete &bytes_of(memory);
  }
  void copy_in(void* to, std::size_t offset, std::span<const std::byte> from) override {
    std::ranges::copy(from, bytes_of(to).begin() + static_cast<std::ptrdiff_t>(offset));
  }
  void copy_out(std::span<std::byte> to, const void* from, std::size_t offset) override {
    const auto& bytes = *static_cast<const std::vector<std::byte>*>(from);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
  }
  bool uses_addresses() const override { return false; }

  int live = 0;

 private:
  static std::vector<std::byte>& bytes_of(void* memory) {
    return *static_cast<std::vector<std::byte>*>(memory);
  }
};

class Far final : public Device {
 public:
  explicit Far(int index) : name_("FAR:" + std::to_string(index)) {}
  std::string_view name() const override { return name_; }
  FarMemory& allocator() override { return memory_; }
  std::string render(const Node*) override { return ""; }
  std::string compile(std::string_view) override { return ""; }
  std::string compiler_key() const override { return ""; }
  std::unique_ptr<Program> load(std::string_view) override { return nullptr; }

 private:
  std::string name_;
  FarMemory memory_;
};

Far& far() {
  static const bool added = [] {
    add_device("FAR", "a device of a test", [](int index) -> std::unique_ptr<Device> {
      if (index > 1) user_error("there are two of FAR");
      return std::make_unique<Far>(index);
    });
    return true;
  }();
  static_cast<void>(added);
  return dynamic_cast<Far&>(find_device("FAR"));
}

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

std::vector<std::byte> contents(Buffer& buffer) {
  std::vector<std::byte> result(buffer.bytes());
  buffer.copy_out(result);
  return result;
}

TEST(Devices, AreFoundByName) {
  EXPECT_EQ(find_device("INTERP").name(), "INTERP");
  EXPECT_EQ(&find_device("INTERP:0"), &find_device("INTERP"));
  EXPECT_NE(&find_device("INTERP:1"), &find_device("INTERP"));
  EXPECT_EQ(find_device("INTERP:1").name(), "INTERP:1");
  EXPECT_EQ(far().name(), "FAR:0");
  EXPECT_EQ(error_of([] { find_device("FAR:2"); }), "there are two of FAR");
  EXPECT_EQ(error_of([] { find_device("FAR:2"); }), "there are two of FAR");  // and again
  EXPECT_NE(error_of([] { find_device("TPU"); }).find("there is no device 'TPU'; there are"),
            std::string::npos);
  for (const char* name : {"FAR:", "FAR:x", "FAR:-1", "FAR:1x"})
    EXPECT_NE(error_of([&] { find_device(name); }).find("is not the name of a device"),
              std::string::npos)
        << name;
  EXPECT_EQ(error_of([] { add_device("FAR", "", nullptr); }), "there is a device FAR already");
}

TEST(Buffers, HoldBytes) {
  for (Device* device : {&find_device("INTERP"), static_cast<Device*>(&far())}) {
    Buffer buffer(*device, 4);
    EXPECT_FALSE(buffer.is_allocated());
    buffer.copy_in(bytes({1, 2, 3, 4}));
    buffer.copy_in(bytes({9}), 2);
    EXPECT_EQ(contents(buffer), bytes({1, 2, 9, 4}));
    EXPECT_EQ(error_of([&] { buffer.copy_in(bytes({1, 2}), 3); }), "2 bytes at 3 of a buffer of 4");
    EXPECT_EQ(error_of([&] { buffer.copy_in(bytes({}), 5); }), "0 bytes at 5 of a buffer of 4");
  }
  EXPECT_EQ(far().allocator().live, 0);
}

TEST(HostMemory, UsesLargeBlocksAgain) {
  HostMemory memory;
  constexpr std::size_t bytes = (std::size_t{5} << 20) + 64;
  void* first = memory.allocate(bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % HostMemory::alignment, 0U);
  memory.release(first, bytes);
  void* other = memory.allocate(bytes + 64);  // only what is as large
  EXPECT_NE(other, first);
  EXPECT_EQ(memory.allocate(bytes), first);
  memory.release(first, bytes);
  memory.release(other, bytes + 64);
}

TEST(HostMemory, HoldsWhatLastsInLargePages) {
  HostMemory memory;
  constexpr std::size_t bytes = std::size_t{3} << 20;
  std::vector<void*> blocks;
  for (int i = 0; i < 12; ++i) blocks.push_back(memory.allocate_lasting(bytes));
  const auto follow = [&](std::size_t i) {
    return static_cast<std::byte*>(blocks[i]) - static_cast<std::byte*>(blocks[i - 1]) == bytes;
  };
  EXPECT_TRUE(follow(blocks.size() - 1) || follow(blocks.size() - 2)) << "but for a new chunk";
  for (void* block : blocks) memory.release(block, bytes);
}

TEST(Buffers, UseForeignBytesInPlaceWhereTheyCan) {
  auto near = bytes({1, 2}), away = bytes({1, 2});
  Buffer here(find_device("INTERP"), near), there(far(), away);
  here.copy_in(bytes({7}));
  there.copy_in(bytes({7}));
  EXPECT_EQ(near, bytes({7, 2}));
  EXPECT_EQ(away, bytes({1, 2}));
  EXPECT_EQ(contents(there), bytes({7, 2}));
}

TEST(Buffers, KeepTheOwnerOfForeignBytes) {
  auto owner = std::make_shared<std::vector<std::byte>>(bytes({5}));
  const std::weak_ptr watch = owner;
  {
    const std::span<std::byte> span(*owner);
    const Buffer buffer(find_device("INTERP"), span, std::move(owner));
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

// Who reads for long has what was read let go meanwhile.
TEST(Buffers, RestWhileManyBytesAreLent) {
  for (const std::size_t mega : {1U, 64U}) {
    std::vector<std::byte> bytes(mega << 20);
    Buffer buffer(find_device("INTERP"), bytes);
    std::atomic<int> rests = 0;
    buffer.after_lending([&] { ++rests; });
    const auto lend = [&] {
      rests = 0;
      int meanwhile = 0;
      buffer.lend([&](const Argument&) {
        const auto end = std::chrono::steady_clock::now() +
                         std::chrono::milliseconds(buffer.is_constant() && mega > 1 ? 10000 : 20);
        while (rests < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        meanwhile = rests;
      });
      return std::pair(meanwhile > 0, rests > meanwhile);
    };
    EXPECT_EQ(lend(), std::pair(false, false)) << "it is not constant";
    buffer.set_constant(true);
    EXPECT_EQ(lend(), std::pair(mega > 1, true));
  }
}

TEST(Buffers, CopyBetweenDevices) {
  Buffer here(find_device("INTERP"), 3), there(far(), 3), small(far(), 2), none(far(), 0);
  here.copy_in(bytes({1, 2, 3}));
  there.copy_from(here);
  EXPECT_EQ(contents(there), bytes({1, 2, 3}));
  EXPECT_EQ(error_of([&] { here.copy_from(small); }), "3 bytes at 0 of a buffer of 2");
  EXPECT_EQ(error_of([&] { small.copy_from(here, 2); }), "2 bytes at 2 of a buffer of 3");
  small.copy_from(here, 1);
  EXPECT_EQ(contents(small), bytes({2, 3}));
  EXPECT_EQ(contents(none), bytes({}));
}

// --- Large pages ----------------------------------------------------------------------------------------

constexpr std::size_t kilo = 1024, mega = kilo * kilo;

std::uintptr_t address_of(void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

TEST(LargePages, AreForBlocksThatAreNoneAndYetLarge) {
  LargePages pages(0);
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, 15 * kilo, 4 * mega + 1, 9 * mega})
    EXPECT_EQ(pages.take(bytes), nullptr) << bytes;
  std::vector<std::byte> other(kilo);
  EXPECT_FALSE(pages.give_back(other.data(), other.size()));
  void* const block = pages.take(mega);
  ASSERT_NE(block, nullptr);
  EXPECT_FALSE(pages.give_back(other.data(), other.size())) << "before or behind it";
  EXPECT_TRUE(pages.give_back(block, mega));
}

TEST(LargePages, HoldNeighbours) {
  LargePages pages(0);
  void *const first = pages.take(300 * kilo + 1), *const second = pages.take(mega);
  EXPECT_EQ(address_of(first) % LargePages::page, 0U);
  EXPECT_EQ(address_of(second) - address_of(first), 304 * kilo);
  EXPECT_TRUE(pages.give_back(first, 300 * kilo + 1));
  EXPECT_EQ(pages.take(256 * kilo), first) << "what is free again";
  EXPECT_TRUE(pages.give_back(second, mega));
  EXPECT_TRUE(pages.give_back(first, 256 * kilo));
}

TEST(LargePages, AreNotForTheFirst) {
  LargePages pages(2 * mega);
  EXPECT_EQ(pages.take(mega), nullptr);
  void* const block = pages.take(mega + 1);
  ASSERT_NE(block, nullptr) << "more than is left to others";
  EXPECT_EQ(pages.take(mega), nullptr);
  void* const other = pages.take(mega);
  EXPECT_NE(other, nullptr);
  EXPECT_TRUE(pages.give_back(other, mega));
  EXPECT_TRUE(pages.give_back(block, mega + 1));
}

TEST(LargePages, GoBackOneByOne) {
  LargePages pages(0);
  std::array<std::byte*, 4> blocks{};
  for (std::byte*& block : blocks) {
    block = static_cast<std::byte*>(pages.take(4 * mega));
    std::memset(block, 1, 4 * mega);
  }
  const auto is_resident = [](std::byte* block) {
    unsigned char found = 0;
    EXPECT_EQ(mincore(block, 4096, &found), 0);
    return (found & 1U) != 0;
  };
  EXPECT_TRUE(pages.give_back(blocks[0], 4 * mega));
  EXPECT_TRUE(pages.give_back(blocks[2], 4 * mega)) << "which meets no other";
  EXPECT_FALSE(is_resident(blocks[0]));
  EXPECT_FALSE(is_resident(blocks[2]));
  EXPECT_EQ(blocks[1][0], std::byte{1});
  EXPECT_EQ(blocks[3][0], std::byte{1});
  EXPECT_TRUE(pages.give_back(blocks[1], 4 * mega));
  EXPECT_TRUE(pages.give_back(blocks[3], 4 * mega));
}

// Blocks of many sizes keep what is written into them, and all of a chunk can be had again when they are gone.
TEST(LargePages, KeepBlocksApart) {
  constexpr unsigned seed = 3;
  LargePages pages(0);
  std::mt19937 random(seed);
  struct Block {
    std::size_t bytes;
    unsigned char mark;
  };
  std::map<std::byte*, Block> blocks;
  const auto release = [&](auto block) {
    const auto [memory, known] = *block;
    const auto is_mark = [&](std::byte each) { return each == std::byte{known.mark}; };
    EXPECT_TRUE(std::all_of(memory, memory + known.bytes, is_mark)) << "seed " << seed;
    EXPECT_TRUE(pages.give_back(memory, known.bytes));
    blocks.erase(block);
  };
  for (int i = 0; i < 300; ++i) {
    if (blocks.size() > 30 || (!blocks.empty() && random() % 3 == 0)) {
      release(std::next(blocks.begin(), static_cast<std::ptrdiff_t>(random() % blocks.size())));
      continue;
    }
    const std::size_t bytes = 256 * kilo + random() % (3 * mega);
    auto* const memory = static_cast<std::byte*>(pages.take(bytes));
    ASSERT_NE(memory, nullptr);
    const auto mark = static_cast<unsigned char>(random());
    std::memset(memory, mark, bytes);
    ASSERT_TRUE(blocks.emplace(memory, Block{bytes, mark}).second) << "seed " << seed;
  }
  while (!blocks.empty()) release(blocks.begin());
  std::vector<void*> whole;
  for (int i = 0; i < 4; ++i) whole.push_back(pages.take(4 * mega));
  for (std::size_t i = 1; i < whole.size(); ++i)
    EXPECT_EQ(address_of(whole[i]) - address_of(whole[i - 1]), 4 * mega);
  for (void* block : whole) EXPECT_TRUE(pages.give_back(block, 4 * mega));
}

}  // namespace
}  // namespace weft
