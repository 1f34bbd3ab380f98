// Files of the library safetensors (data/make_state.py), what weft writes, and files that lie.

#include <csignal>
#include <cstring>
#include <random>

#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <weft/dev/io/file.h>
#include <weft/state.h>

#include "../support/files_in.h"
#include "files.h"

extern char** environ;

namespace weft {
namespace {

class Safetensors : public InFolder {
 protected:
  // A file with this header and so many bytes of values.
  std::string written(const std::string& header, std::size_t bytes) const {
    std::string text(8, '\0');
    const std::uint64_t length = header.size();
    std::memcpy(text.data(), &length, sizeof length);
    text += header;
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(i);
    return file("written.safetensors", text);
  }
};

const std::pair<const char*, DType> every[] = {
    {"bool_", dtypes::bool_}, {"i8", dtypes::i8},         {"u8", dtypes::u8},
    {"i16", dtypes::i16},     {"u16", dtypes::u16},       {"i32", dtypes::i32},
    {"u32", dtypes::u32},     {"i64", dtypes::i64},       {"u64", dtypes::u64},
    {"f16", dtypes::f16},     {"bf16", dtypes::bf16},     {"f32", dtypes::f32},
    {"f64", dtypes::f64},     {"f8e4m3", dtypes::f8e4m3}, {"f8e5m2", dtypes::f8e5m2}};

TEST_F(Safetensors, EveryDtype) {
  const StateDict state = load_safetensors(data("every.safetensors"));
  for (const auto& [name, dtype] : every) {
    SCOPED_TRACE(name);
    const Tensor& tensor = state.at(name);
    EXPECT_EQ(tensor.dtype(), dtype);
    std::vector<double> expected{0, 1, 2, 3, 4, 5};
    if (dtype.is_bool()) expected = {0, 1, 1, 1, 1, 1};
    EXPECT_TRUE(holds<double>(tensor.cast(dtypes::f64), expected, {2, 3}));
  }
  EXPECT_TRUE(holds<float>(state.at("scalar"), {2.5}, {}));
  EXPECT_TRUE(holds<float>(state.at("empty"), {}, {0, 3}));
  EXPECT_TRUE(holds<float>(state.at("a \"name\"\n"), {1}, {1}));
  EXPECT_EQ(state.size(), std::size(every) + 3);
  EXPECT_EQ(load_safetensors_metadata(data("every.safetensors")),
            (Metadata{{"format", "pt"}, {"a \\ key", "a\tvalue"}}));
}

// Byte for byte what the library writes, but for how it spells characters that JSON wants spelled.
TEST_F(Safetensors, SavesWhatTheLibrarySaves) {
  const std::string path = data("every.safetensors");
  StateDict state = load_safetensors(path);
  save_safetensors(file("again.safetensors"), state, load_safetensors_metadata(path));
  const StateDict again = load_safetensors(file("again.safetensors"));
  EXPECT_EQ(again.size(), state.size());
  EXPECT_EQ(load_safetensors_metadata(file("again.safetensors")), load_safetensors_metadata(path));
  state.erase("a \"name\"\n");
  save_safetensors(file("plain.safetensors"), state, {{"format", "pt"}});
  EXPECT_EQ(bytes_of(file("plain.safetensors")), bytes_of(data("plain.safetensors")));
}

TEST_F(Safetensors, SavesWhatHasToBeComputed) {
  const Tensor x({{1.0, 2.0}, {3.0, 4.0}});
  save_safetensors(file("x.safetensors"), {{"sum", x.sum(0) * 2}, {"turned", x.T()}});
  const StateDict state = load_safetensors(file("x.safetensors"));
  EXPECT_TRUE(holds<float>(state.at("sum"), {8, 12}, {2}));
  EXPECT_TRUE(holds<float>(state.at("turned"), {1, 3, 2, 4}, {2, 2}));
}

TEST_F(Safetensors, LiesInTheFile) {
  constexpr std::int64_t rows = 4096, row = 1 << 20;  // 4 GiB without a block on the disk
  const std::string path =
      written(R"({"x":{"dtype":"U8","shape":[4096,1048576],"data_offsets":[0,4294967296]}})", 0);
  const auto start = static_cast<std::streamoff>(fs::file_size(path));
  fs::resize_file(path, static_cast<std::uintmax_t>(start + rows * row));
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out).seekp(start + 9 * row + 5)
      << 'x';
  Tensor part = load_safetensors(path).at("x")[{9, Slice(4, 7)}];
  EXPECT_TRUE(holds<int>(part, {0, 'x', 0}, {3}));
  part.assign(part + 1).realize();
  EXPECT_TRUE(holds<int>(part, {1, 'x' + 1, 1}, {3}));
  EXPECT_TRUE(holds<int>(load_safetensors(path).at("x")[{9, Slice(4, 7)}], {0, 'x', 0}, {3}));
}

TEST_F(Safetensors, ElementsMayLieAnywhere) {
  const StateDict state =
      load_safetensors(written(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                               R"("b":{"dtype":"U16","shape":[2],"data_offsets":[1,5]}})",
                               5));
  EXPECT_TRUE(holds<int>(state.at("b"), {0x0201, 0x0403}, {2}));
}

TEST_F(Safetensors, ReplacesTheFileThatItsTensorsLieIn) {
  save_safetensors(file("x.safetensors"), {{"x", Tensor({1.0, 2.0})}});
  const StateDict state = load_safetensors(file("x.safetensors"));
  for (int i = 0; i < 3; ++i)
    save_safetensors(file("x.safetensors"), {{"x", state.at("x") + 1}, {"y", state.at("x")}});
  EXPECT_TRUE(holds<float>(load_safetensors(file("x.safetensors")).at("x"), {2, 3}, {2}));
  EXPECT_TRUE(holds<float>(state.at("x"), {1, 2}, {2}));
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(file("")).parent_path()), {}), 1);
}

TEST_F(Safetensors, KeepsLinksAndModes) {
  save_safetensors(file("real.safetensors"), {{"x", Tensor({1.0})}});
  fs::permissions(file("real.safetensors"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(file("real.safetensors"), file("link.safetensors"));
  save_safetensors(file("link.safetensors"), {{"x", Tensor({2.0})}});
  EXPECT_TRUE(fs::is_symlink(file("link.safetensors")));
  EXPECT_TRUE(holds<float>(load_safetensors(file("real.safetensors")).at("x"), {2}, {1}));
  EXPECT_EQ(fs::status(file("real.safetensors")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

ino_t number_of(const std::string& path) {
  struct stat found{};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  return found.st_ino;
}

// Whenever a program that saves is killed, there is a whole file.
TEST_F(Safetensors, SurvivesBeingKilled) {
  const std::string path = file("x.safetensors");
  const Tensor none = Tensor::zeros({1 << 16}, {.dtype = dtypes::i32});
  save_safetensors(path, {{"a", none}, {"b", none}});
  std::minstd_rand random(1);
  for (int round = 0; round < 10; ++round) {
    std::string program = WEFT_SAVE_FOREVER, argument = path;
    char* arguments[] = {program.data(), argument.data(), nullptr};
    pid_t child = 0;
    const ino_t before = number_of(path);
    ASSERT_EQ(posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ), 0);
    while (number_of(path) == before && ::waitpid(child, nullptr, WNOHANG) == 0) ::usleep(1000);
    ::usleep(static_cast<useconds_t>(random() % 20'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const StateDict state = load_safetensors(path);
    const auto a = state.at("a").to_vector<int>(), b = state.at("b").to_vector<int>();
    ASSERT_GT(a[0], 0);
    ASSERT_EQ(a, std::vector<int>(1 << 16, a[0]));
    ASSERT_EQ(a, b);
  }
  save_safetensors(path, {});
  EXPECT_EQ(files_in(fs::path(path).parent_path()).size(), 1U);  // none of what they had begun
}

// A program that was killed leaves what it wrote, and the next one may have its number.
TEST_F(Safetensors, PartsThatAreLeftAreInNobodysWay) {
  const StateDict state{{"a", Tensor::ones({1})}};
  const std::string path = file("y.safetensors");
  for (int i = 0; i < 1000; ++i)
    file(fmt::format("y.safetensors.{}.{}.part", ::getpid(), i), std::string("left"));
  save_safetensors(path, state);
  EXPECT_TRUE(load_safetensors(path).at("a").equal(state.at("a")));
  EXPECT_EQ(files_in(fs::path(path).parent_path()).size(), 1U);  // the parts are gone
}

// What another program is writing stays, and so do files that are no parts of this one.
TEST_F(Safetensors, PartsOfOthersStay) {
  const std::string path = file("z.safetensors");
  NewFile mine(path);
  mine.write("mine");
  const std::string names[] = {"z.safetensors.1.2", "z.safetensors.x.part",
                               "zz.safetensors.1.2.part", "z.safetensors.part"};
  for (const std::string& name : names) file(name, std::string("other"));
  save_safetensors(path, {{"a", Tensor::ones({1})}});
  mine.commit();
  EXPECT_EQ(bytes_of(path), (std::vector<char>{'m', 'i', 'n', 'e'}));
  for (const std::string& name : names) EXPECT_TRUE(fs::exists(file(name))) << name;
}

TEST_F(Safetensors, DamagedFilesAreErrors) {
  expect_care(data("every.safetensors"), [](const std::string& path) {
    for (const auto& [name, tensor] : load_safetensors(path)) tensor.realize();
  });
}

TEST_F(Safetensors, FilesThatLie) {
  const std::string deep(100'000, '[');
  const struct {
    std::string header;
    std::size_t bytes;
    std::string message;
  } cases[] = {
      {"", 0, "its JSON is damaged at byte 0: there is no value"},
      {"[]", 0, "its header is no dictionary"},
      {"{}", 3, "its tensors take 0 bytes where it has 3"},
      {deep, 0, "its JSON is damaged at byte 65: it is nested too deeply"},
      {R"({"x":1})", 0, "'x' is no dictionary"},
      {R"({"x":{}})", 0, "'x' has no dtype"},
      {R"({"__metadata__":{"x":1}})", 0, "metadata 'x' is no text"},
      {R"({"x":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", 8,
       "'x': there is no dtype for C64"},
      {R"({"x":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1,
       "shape of 'x' is no list of sizes"},
      {R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,2.5]}})", 1,
       "data_offsets of 'x' is no list of sizes"},
      {R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
       "'x': f32 of shape (2) does not take what lies from 0 to 4"},
      {R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1,
       "'x': u8 of shape (1) does not take what lies from 1 to 0"},
      {R"({"x":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
       "'x': f64 of shape (4294967296, 4294967296) does not take what lies from 0 to 0"},
      {R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
       R"("y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "'y' begins at 1 where the values before it end at 2"},
      {R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2,
       "'x' begins at 1 where the values before it end at 0"},
      {R"({"x":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", 2,
       "its tensors take 9 bytes where it has 2"},
      {R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
       R"("x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
       2, "two tensors are named 'x'"},
      {R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}} x)", 1,
       "its JSON is damaged at byte 54: something follows the end"},
      {R"({"\ud800":{}})", 0, "its JSON is damaged at byte 8: half a code point"},
  };
  for (const auto& each : cases) {
    const std::string path = written(each.header, each.bytes);
    EXPECT_EQ(error_of([&] { return load_safetensors(path); }),
              fmt::format("load_safetensors: '{}': {}", path, each.message));
  }
  const std::string path = file("long", std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10));
  EXPECT_EQ(error_of([&] { return load_safetensors_metadata(path); }),
            fmt::format("load_safetensors_metadata: '{}': a header of 9223372036854775807 bytes is "
                        "not within it, or larger than 100000000",
                        path));
}

TEST_F(Safetensors, Errors) {
  EXPECT_EQ(error_of([] { return load_safetensors("/no/such"); }),
            "load_safetensors: '/no/such': No such file or directory");
  EXPECT_EQ(error_of([] { return load_safetensors("/"); }),
            "load_safetensors: '/': it is no regular file");
  EXPECT_EQ(error_of([&] { return load_safetensors(file("short", std::string("{}"))); }),
            fmt::format("load_safetensors: '{}': it is too short for safetensors", file("short")));
  const Tensor x({1.0});
  EXPECT_EQ(error_of([&] {
              save_safetensors("/no/such", {{"x", x}});
              return 0;
            }),
            "save_safetensors: '/no/such': No such file or directory");
  EXPECT_EQ(error_of([&] {
              save_safetensors("/dev/null", {{"x", x}});
              return 0;
            }),
            "save_safetensors: '/dev/null': it is there already, and no regular file");
  EXPECT_EQ(error_of([&] {
              save_safetensors("x", {{"__metadata__", x}});
              return 0;
            }),
            "save_safetensors: '__metadata__' is no name for a tensor");
}

}  // namespace
}  // namespace weft
