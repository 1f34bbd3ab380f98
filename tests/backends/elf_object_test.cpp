// Loading object files: those that clang writes, ones made by hand for what it does not write, and
// broken ones.

#include "../../src/backends/cpu/elf_object.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/device/device.h>

#include "../support/elf_writer.h"
#include "../support/errors.h"

namespace weft {
namespace {

using cpu::ElfObject;

std::string compiled(std::string_view source) { return find_device("CLANG").compile(source); }

void run(const std::string& object, std::vector<float>& values) {
  find_device("CLANG").load(object)->run({{{values.data(), 0, values.size() * sizeof(float)}}}, {});
}

// Functions of libm by a call and by their address, and one of libc.
constexpr std::string_view far_source = R"(
float expf(float), cosf(float), remainderf(float, float);
void* memchr(const void*, int, unsigned long);
void kernel(void* const* arguments) {
  float* x = arguments[0];
  float (*const volatile cosine)(float) = cosf;
  const char text[4] = {3, 1, 4, 1};
  x[0] = expf(x[0]);
  x[1] = cosine(x[1]);
  x[2] = remainderf(x[2], x[3]);
  x[3] = (char*)memchr(text, (int)x[3], 4) - text;
})";

TEST(ElfObjects, CallWhatIsFarAway) {
  std::vector<float> x{1.25f, 2.5f, 7.5f, 4};
  run(compiled(far_source), x);
  EXPECT_EQ(x, (std::vector<float>{std::exp(1.25f), std::cos(2.5f), -0.5f, 2}));
}

// Tables, constants for vectors, a function in a section of its own and data that others may see.
constexpr std::string_view constants_source = R"(
static const float table[9] = {2, 3, 5, 7, 11, 13, 17, 19, 23};
const float shown[3] = {0.5f, 0.25f, 0.125f};
__attribute__((noinline, section(".text.other"))) static float other(const float* x, int i) {
  return x[i] * shown[i % 3];
}
void kernel(void* const* arguments) {
  float* x = arguments[0];
  for (int i = 0; i < 64; i++) x[i] += table[i % 9];
  for (int i = 0; i < 64; i++) x[i] = i % 4 == 1 ? x[i] * 3 : i % 4 == 2 ? x[i] + 1 : x[i] - 2;
  for (int i = 0; i < 64; i++) x[i] = other(x, i);
})";

TEST(ElfObjects, HaveConstants) {
  const float table[] = {2, 3, 5, 7, 11, 13, 17, 19, 23};
  std::vector<float> x(64), expected;
  for (int i = 0; i < 64; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<float>(i);
    const float sum = static_cast<float>(i) + table[i % 9];
    const float mixed = i % 4 == 1 ? sum * 3 : i % 4 == 2 ? sum + 1 : sum - 2;
    expected.push_back(mixed / static_cast<float>(2 << i % 3));
  }
  const std::string object = compiled(constants_source);
  run(object, x);
  EXPECT_EQ(x, expected);
  const ElfObject loaded(object);
  float shown[3];
  std::memcpy(shown, loaded.find("shown"), sizeof shown);
  EXPECT_EQ(shown[2], 0.125f);
}

TEST(ElfObjects, CannotBeWritten) {
  const ElfObject object(compiled(constants_source));
  const auto kernel = reinterpret_cast<std::uintptr_t>(object.find("kernel"));
  std::string found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char access[5] = {};
    ASSERT_EQ(std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, access), 3);
    if (begin <= kernel && kernel < end) found = access;
  }
  EXPECT_EQ(found, "r-xp");
}

TEST(ElfObjects, NameWhatIsMissing) {
  const auto error = [](std::string_view source) {
    const std::string object = compiled(source);
    return error_of([&] { find_device("CLANG").load(object); });
  };
  EXPECT_NE(error("void nowhere(void); void kernel(void) { nowhere(); }").find("needs nowhere,"),
            std::string::npos);
  EXPECT_NE(error("void other(void) {}").find("does not define kernel"), std::string::npos);
  EXPECT_NE(error("static int count; int kernel(void) { return ++count; }").find("to be written"),
            std::string::npos);
}

std::vector<std::uint32_t> words_at(const ElfObject& object, std::string_view name,
                                    std::size_t count) {
  std::vector<std::uint32_t> words(count);
  std::memcpy(words.data(), object.find(name), count * sizeof words[0]);
  return words;
}

// The instructions, before and after, are an assembler's.
TEST(ElfObjects, FillInTheInstructionsOfAArch64) {
  using T = ElfText;
  const struct {
    std::uint32_t before, after;
    std::uint32_t type;
    T::Symbol symbol;
    std::int64_t addend;
  } cases[] = {
      {0x90000000, 0xb0000000, R_AARCH64_ADR_PREL_PG_HI21, T::Data, 0},      // adrp x0, #4096
      {0x90000001, 0xf0ffffe1, R_AARCH64_ADR_PREL_PG_HI21, T::Kernel, -96},  // adrp x1, #-4096
      {0x91000000, 0x91048c00, R_AARCH64_ADD_ABS_LO12_NC, T::Data, 3},       // add x0, x0, #0x123
      {0x39400002, 0x39448402, R_AARCH64_LDST8_ABS_LO12_NC, T::Data, 1},    // ldrb w2, [x0, #0x121]
      {0x79400002, 0x79424402, R_AARCH64_LDST16_ABS_LO12_NC, T::Data, 2},   // ldrh w2, [x0, #0x122]
      {0xb9400002, 0xb9412402, R_AARCH64_LDST32_ABS_LO12_NC, T::Data, 4},   // ldr w2, [x0, #0x124]
      {0xf9400002, 0xf9409402, R_AARCH64_LDST64_ABS_LO12_NC, T::Data, 8},   // ldr x2, [x0, #0x128]
      {0x3dc00002, 0x3dc04802, R_AARCH64_LDST128_ABS_LO12_NC, T::Data, 0},  // ldr q2, [x0, #0x120]
      {0x94000000, 0x94000010, R_AARCH64_CALL26, T::Kernel, 8 * 4 + 64},    // bl #64
      {0x14000000, 0x17fffffe, R_AARCH64_JUMP26, T::Kernel, 9 * 4 - 8},     // b #-8
  };
  ElfText text{.machine = EM_AARCH64, .code = {}, .data_at = 0x120};
  std::vector<std::uint32_t> expected;
  for (const auto& one : cases) {
    text.patches.push_back({text.code.size() * 4, one.type, one.symbol, one.addend});
    text.code.push_back(one.before);
    expected.push_back(one.after);
  }
  EXPECT_EQ(words_at(ElfObject(text.file()), "kernel", expected.size()), expected);
}

TEST(ElfObjects, FillInAddresses) {
  const auto both = {
      std::tuple{std::uint16_t{EM_AARCH64}, R_AARCH64_ABS64, R_AARCH64_PREL64, R_AARCH64_PREL32},
      {EM_X86_64, R_X86_64_64, R_X86_64_PC64, R_X86_64_PC32}};
  for (const auto& [machine, absolute, far, near] : both) {
    ElfText text{.machine = machine, .code = std::vector<std::uint32_t>(5), .data_at = 8};
    const auto type = [](int number) { return static_cast<std::uint32_t>(number); };
    text.patches = {{0, type(absolute), ElfText::Data, 5},
                    {8, type(far), ElfText::Data, -8},
                    {16, type(near), ElfText::Data, 1}};
    const ElfObject object(text.file());
    const std::byte *kernel = object.find("kernel"), *data = object.find("data");
    const std::byte* address = nullptr;
    std::int64_t distance = 0;
    std::int32_t short_distance = 0;
    std::memcpy(&address, kernel, 8);
    std::memcpy(&distance, kernel + 8, 8);
    std::memcpy(&short_distance, kernel + 16, 4);
    EXPECT_EQ(address, data + 5);
    EXPECT_EQ(distance, data - 8 - (kernel + 8));
    EXPECT_EQ(short_distance, data + 1 - (kernel + 16));
  }
}

// A call on AArch64 to what is outside goes to code that jumps by the address before it, and so does
// taking that address.
TEST(ElfObjects, HaveStubs) {
  ElfText text{.machine = EM_AARCH64, .code = {0x94000000, 0x90000000, 0xf9400000}};
  text.patches = {{0, R_AARCH64_CALL26, ElfText::Outside, 0},
                  {4, R_AARCH64_ADR_GOT_PAGE, ElfText::Outside, 0},
                  {8, R_AARCH64_LD64_GOT_LO12_NC, ElfText::Outside, 0}};
  const ElfObject object(text.file());
  const auto words = words_at(object, "kernel", 3);
  const std::byte* const stub = object.find("kernel") + (words[0] & 0x03ffffff) * 4;
  std::uint32_t jump[2];
  std::memcpy(jump, stub, sizeof jump);
  EXPECT_EQ(jump[0], 0x58ffffd0);  // ldr x16, #-8
  EXPECT_EQ(jump[1], 0xd61f0200);  // br x16
  float (*cosine)(float) = nullptr;
  std::memcpy(&cosine, stub - 8, sizeof cosine);
  EXPECT_EQ(cosine(1), std::cos(1.0f));
  const std::uint32_t pages = (words[1] >> 29 & 3) | (words[1] >> 3 & 0x1ffffc);
  const std::uint32_t in_page = (words[2] >> 10 & 0xfff) * 8;
  EXPECT_EQ(object.find("kernel") + pages * 4096 + in_page, stub - 8);
}

TEST(ElfObjects, SayWhatTheyCannotDo) {
  const auto error = [](const ElfText& text) {
    return error_of([&] { return ElfObject(text.file()).runs_here(); });
  };
  const auto with = [](std::uint32_t type, ElfText::Symbol symbol, std::int64_t addend,
                       std::uint16_t machine = EM_X86_64) {
    return ElfText{.machine = machine, .code = {0, 0}, .patches = {{0, type, symbol, addend}}};
  };
  EXPECT_EQ(error(with(R_X86_64_PC32, ElfText::Data, 0)), "no error");
  const struct {
    ElfText text;
    std::string_view message;
  } cases[] = {
      {with(R_X86_64_TPOFF32, ElfText::Data, 0), "no relocation 23 of x86-64 is known"},
      {with(R_X86_64_PC32, ElfText::Data, 1LL << 31), "R_X86_64_PC32 does not reach data"},
      {with(R_AARCH64_CALL26, ElfText::Kernel, 1 << 27, EM_AARCH64),
       "CALL26 does not reach kernel"},
      {with(R_AARCH64_JUMP26, ElfText::Kernel, 2, EM_AARCH64), "JUMP26 does not reach kernel"},
      {with(R_X86_64_64, static_cast<ElfText::Symbol>(4), 0), "it has no symbol 4"},
      {{.machine = EM_X86_64, .code = {0}, .patches = {{1, R_X86_64_PC32, ElfText::Data, 0}}},
       "outside of its section"},
      {{.machine = EM_X86_64, .code = {0}, .patches = {{0, R_X86_64_64, ElfText::Data, 0}}},
       "outside of its section"},
      {{.machine = EM_X86_64, .code = {0}, .data_at = 0x201}, "data is not in its memory"},
      {{.machine = EM_X86_64, .code = {0}, .data_flags = 0}, "data is not in its memory"},
      {{.machine = EM_X86_64, .code = {0}, .data_alignment = 8192}, "aligned to 8192"},
      {{.machine = EM_X86_64, .code = {0}, .data_alignment = 24}, "aligned to 24"},
      {{.machine = EM_RISCV, .code = {0}}, "processor 243 is not known"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_NE(error(text).find(message), std::string::npos) << error(text) << "\n" << message;
  const std::string foreign = ElfText{.machine = EM_AARCH64, .code = {0}}.file();
  EXPECT_EQ(ElfObject(foreign).runs_here(), false);
  EXPECT_NE(error_of([&] { find_device("CLANG").load(foreign); }).find("another processor"),
            std::string::npos);
}

TEST(ElfObjects, AreRefusedWhereTheyEndEarly) {
  for (const std::string& object :
       {compiled(far_source), ElfText{.machine = EM_X86_64, .code = {0}}.file()})
    for (std::size_t size = 0; size < object.size(); ++size)
      EXPECT_NE(error_of([&] { return ElfObject(object.substr(0, size)).runs_here(); }), "no error")
          << size;
}

// Whatever is wrong with them, loading throws an Error or nothing.
TEST(ElfObjects, MayBeDamaged) {
  constexpr std::uint64_t seed = 20261121;
  fmt::print("seed {}\n", seed);
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  int refused = 0;
  for (const std::string& object : {compiled(far_source), compiled(constants_source),
                                    ElfText{.machine = EM_AARCH64,
                                            .code = {0x94000000},
                                            .patches = {{0, R_AARCH64_CALL26, ElfText::Outside, 0}}}
                                        .file()}) {
    Elf64_Ehdr header;
    std::memcpy(&header, object.data(), sizeof header);
    for (int round = 0; round < 4000; ++round) {
      std::string damaged = object;
      for (std::size_t change = below(3) + 1; change > 0; --change) {
        const std::size_t parts[] = {below(sizeof header),
                                     header.e_shoff + below(object.size() - header.e_shoff),
                                     below(object.size())};
        const std::uint64_t values[] = {0, 0xff, 0x7f, 0x80, random()};
        damaged[parts[below(3)]] = static_cast<char>(values[below(5)]);
      }
      const std::string error = error_of([&] { return ElfObject(damaged).runs_here(); });
      refused += error != "no error";
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace weft
