// Exported libraries beside what computes the same in this process.
#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <weft/dev/llvm/llvm.h>
#include <weft/settings.h>
#include <weft/weft.h>
#include <weft/weft_library.h>

#include "../../src/export/text.h"
#include "../support/errors.h"
#include "library.h"

namespace weft {
namespace {

using Named = std::vector<NamedTensor>;

std::vector<float> floats_of(const Bytes& bytes) {
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

// Two layers over constants, which are packed and folded before any call, and what is made of them in several dtypes.
struct Net {
  explicit Net(const std::string& device)
      : first(frozen({3, 16, 3, 3}, device).transpose(0, 1)), second(frozen({16, 5}, device)) {}

  static Tensor frozen(const Shape& shape, const std::string& device) {
    return (Tensor::rand(shape, {.device = device}) - 0.5F).realize().freeze();
  }
  Tensor scores(const Tensor& image) const {
    return image.conv2d(first, {}, {.padding = 1}).relu().mean({2, 3}).matmul(second).softmax(-1);
  }
  ExportedFunction function() const {
    return [net = *this](const std::vector<Tensor>& given) {
      const Tensor scores = net.scores(given[0]);
      return Named{{"scores", scores},
                   {"class", scores.argmax(-1)},
                   {"is.sure", scores.max(-1) > 0.25F},
                   {"scores", scores},
                   {"shifted", given[1] * 3 - 7},
                   {"second half", given[1][Slice(2, 4)]},
                   {"weights", net.second}};
    };
  }

  Tensor first, second;
};

Named inputs_of(const std::string& device) {
  Tensor::manual_seed(7);
  return {{"image", Tensor::rand({2, 3, 9, 11}, {.device = device}).realize()},
          {"int", Tensor::arange(4, {.dtype = dtypes::i64, .device = device}).realize()}};
}

std::vector<Tensor> tensors_of(const Named& named) {
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : named) tensors.push_back(tensor);
  return tensors;
}

std::vector<Bytes> expected_of(const ExportedFunction& function, const Named& inputs) {
  std::vector<Bytes> bytes;
  for (const auto& [name, tensor] : function(tensors_of(inputs))) bytes.push_back(bytes_of(tensor));
  return bytes;
}

std::vector<std::size_t> sizes_of(const std::vector<Bytes>& all) {
  std::vector<std::size_t> sizes;
  for (const Bytes& bytes : all) sizes.push_back(bytes.size());
  return sizes;
}

class ExportTo : public testing::TestWithParam<const char*> {};

TEST_P(ExportTo, GivesTheSameBits) {
  const std::string device = export_device(GetParam());
  const ExportedFunction function = Net(device).function();
  const Named inputs = inputs_of(device);
  const ExportedLibrary library(function, inputs, GetParam());
  const std::vector<Bytes> expected = expected_of(function, inputs);
  EXPECT_EQ(library.verify()(library.weights().at(), library.weights().size), 0);
  EXPECT_EQ(library(tensors_of(inputs), sizes_of(expected)), expected);
  // Other inputs of the same form.
  Named others = inputs;
  for (auto& [name, tensor] : others) tensor = (tensor + tensor).realize();
  EXPECT_EQ(library(tensors_of(others), sizes_of(expected)), expected_of(function, others));
}

INSTANTIATE_TEST_SUITE_P(Targets, ExportTo, testing::Values("cpu=native", "cpu=x86-64-v3"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace_if(
                               name, [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

// A convolution by fewer products in bands: calls of one function with a number each.
TEST(Export, CallsOneFunctionForEachBand) {
  const Context bands{{"WINOGRAD", 4}, {"WINOGRAD_BAND", 128}, {"WEFT_THREADS", 1}};
  const std::string device = export_device("cpu=native");
  const Tensor weights = Net::frozen({64, 64, 3, 3}, device);
  const ExportedFunction function = [=](const std::vector<Tensor>& given) {
    return Named{{"map", given[0].conv2d(weights, {}, {.padding = 1}).relu()}};
  };
  const Named inputs{{"image", Tensor::rand({1, 64, 40, 40}, {.device = device}).realize()}};
  ASSERT_GT(function(tensors_of(inputs))[0].second.cost().kernels, 4U);
  const ExportedLibrary library(function, inputs);
  const std::vector<Bytes> expected = expected_of(function, inputs);
  EXPECT_EQ(library.verify()(library.weights().at(), library.weights().size), 0);
  EXPECT_EQ(library(tensors_of(inputs), sizes_of(expected)), expected);
}

// Steps as a loop, whose memory of its own is part of the workspace.
TEST(Export, LoopsOverSteps) {
  const std::string device = export_device("cpu=native");
  const Tensor own = Net::frozen({24, 24}, device), reset = Net::frozen({24, 24}, device);
  const ExportedFunction function = [=](const std::vector<Tensor>& given) {
    Tensor h = Tensor::zeros({2, 24}, {.device = device});
    std::vector<Tensor> all;
    for (const Tensor& now : given[0].unbind()) {
      const Tensor kept = h.matmul(reset).sigmoid() * h;
      all.push_back(h = (now + kept.matmul(own)).tanh());
    }
    return Named{{"states", Tensor::stack(all)}};
  };
  const Named inputs{{"steps", Tensor::rand({12, 2, 24}, {.device = device}).realize()}};
  ASSERT_LE(function(tensors_of(inputs))[0].second.cost().kernels, 3U);
  const ExportedLibrary library(function, inputs);
  const std::vector<Bytes> expected = expected_of(function, inputs);
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(library(tensors_of(inputs), sizes_of(expected)), expected);
}

// The nearest that two compilers of the same arithmetic come: functions such as exp are of the program itself.
void expect_near(const std::vector<Bytes>& found, const std::vector<Bytes>& expected) {
  const auto scores = floats_of(found[0]), wanted = floats_of(expected[0]);
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(scores[i], wanted[i], 1e-6) << i;
  for (const std::size_t exact : {1, 2, 4, 5, 6}) EXPECT_EQ(found[exact], expected[exact]) << exact;
  EXPECT_EQ(found[3], found[0]);
}

TEST(Export, CIsSourceThatAnyCompilerTakes) {
  const std::string device = export_device("c");
  const ExportedFunction function = Net(device).function();
  const Named inputs = inputs_of(device);
  const std::vector<Bytes> expected = expected_of(function, inputs);
  for (const char* compiler : {"gcc", "clang-19"}) {
    if (std::system(("command -v " + std::string(compiler) + " > /dev/null").c_str()) != 0)
      continue;
    const ExportedLibrary library(function, inputs, "c", compiler);
    EXPECT_EQ(library.verify()(library.weights().at(), library.weights().size), 0);
    expect_near(library(tensors_of(inputs), sizes_of(expected)), expected);
  }
}

// The last first, and how many there were.
void backwards(void* context, std::size_t n, void (*body)(void* arg, std::size_t i), void* arg) {
  auto& counts = *static_cast<std::vector<std::size_t>*>(context);
  counts.push_back(n);
  for (std::size_t i = n; i-- > 0;) body(arg, i);
}

TEST(Export, ThreadsOfTheCallerShareInACall) {
  const Context four{{"WEFT_THREADS", 4}};
  for (const char* target : {"cpu=native", "c"}) {
    const std::string device = export_device(target);
    const Tensor by = Net::frozen({256, 256}, device);
    const ExportedFunction function = [by](const std::vector<Tensor>& given) {
      return Named{{"product", given[0].matmul(by).exp().sum(1)}};
    };
    const Named inputs{{"x", (Tensor::rand({256, 256}, {.device = device}) / 256).realize()}};
    const ExportedLibrary library(function, inputs, target);
    const std::size_t bytes = 256 * sizeof(float);
    const auto alone = library(tensors_of(inputs), {bytes});
    std::vector<std::size_t> counts;
    const Threads threads{backwards, &counts};
    EXPECT_EQ(library(tensors_of(inputs), {bytes}, &threads), alone) << target;
    ASSERT_FALSE(counts.empty()) << target;
    const std::size_t most = std::ranges::max(counts);
    EXPECT_GT(most, 1U) << target;
    const std::string line = fmt::format("#define NET_THREADS {} ", most);
    EXPECT_NE(text_of_file(library.file("net.h")).find(line), std::string::npos) << line;
  }
}

// Parts of an open size that a call has fewer of are none.
TEST(Export, ThreadsShareOpenSizes) {
  const Context four{{"WEFT_THREADS", 4}};
  for (const char* target : {"cpu=native", "c"}) {
    const std::string device = export_device(target);
    const Tensor by = Net::frozen({96, 96}, device);
    const ExportedFunction function = [by](const std::vector<Tensor>& given) {
      return Named{{"shares", given[0].matmul(by).softmax(-1)}};
    };
    const Tensor largest =
        Tensor::zeros({open_size("n", 0, 200), 96}, {.device = device}).contiguous().realize();
    const ExportedLibrary library(function, {{"x", largest}}, target);
    const weft_library_description& about = library.about();
    EXPECT_GT(about.threads, 1U) << target;
    for (const std::int64_t n : {0, 1, 2, 7, 131, 200}) {
      const Tensor x = Tensor::rand({n, 96}, {.device = device}).realize();
      std::vector<Bytes> alone, shared;
      ASSERT_EQ(library.call(about, {x}, alone, {.sizes = {n}}), 0);
      std::vector<std::size_t> counts;
      const weft_library_threads threads{backwards, &counts};
      ASSERT_EQ(library.call(about, {x}, shared, {.sizes = {n}, .threads = &threads}), 0);
      EXPECT_EQ(shared, alone) << target << " " << n;
      EXPECT_FALSE(counts.empty()) << target << " " << n;
      if (n == 0) continue;
      const auto expected = floats_of(expected_of(function, {{"x", x}})[0]);
      const auto values = floats_of(shared[0]);
      for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(values[i], expected[i], 1e-6);
    }
  }
}

TEST(Export, CallsAtOnceDoNotDisturbEachOther) {
  const std::string device = export_device("cpu=native");
  const ExportedFunction function = Net(device).function();
  const Named inputs = inputs_of(device);
  const ExportedLibrary library(function, inputs);
  const std::vector<Bytes> expected = expected_of(function, inputs);
  const std::vector<Tensor> given = tensors_of(inputs);
  const auto sizes = sizes_of(expected);
  const auto call = [&](int& wrong) {
    for (int i = 0; i < 50; ++i) wrong += library(given, sizes) != expected ? 1 : 0;
  };
  int here = 0, there = 0;
  std::thread other([&] { call(there); });
  call(here);
  other.join();
  EXPECT_EQ(here + there, 0);
}

TEST(Export, WeightsThatAreNotTheLibrarysAreRefused) {
  enum { Ok, Misaligned, WrongSize, NoWeights, OtherWeights, Damaged, OutOfRange, Missing };
  for (const char* target : {"cpu=native", "c"}) {
    const std::string device = export_device(target);
    const Named inputs = inputs_of(device);
    const ExportedLibrary library(Net(device).function(), inputs, target);
    const std::string good = text_of_file(library.file("net.weights"));
    const auto status = [&](const std::string& bytes, std::size_t size) {
      return library.verify()(Aligned(bytes).at(), size);
    };
    const auto changed = [&](std::size_t at) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
      return status(bytes, bytes.size());
    };
    EXPECT_EQ(status(good, good.size()), Ok);
    EXPECT_EQ(status(good, good.size() - 1), WrongSize);
    EXPECT_EQ(status(good, 63), WrongSize);
    EXPECT_EQ(status("", 0), WrongSize);
    EXPECT_EQ(changed(0), NoWeights);
    EXPECT_EQ(changed(8), NoWeights);   // the version
    EXPECT_EQ(changed(16), WrongSize);  // how many bytes there are
    EXPECT_EQ(changed(24), OtherWeights);
    EXPECT_EQ(changed(32), Damaged);  // the checksum
    EXPECT_EQ(changed(64), Damaged);
    EXPECT_EQ(changed(good.size() - 1), Damaged);
    const Aligned odd(" " + good);
    EXPECT_EQ(library.verify()(odd.at(1), good.size()), Misaligned);
    EXPECT_EQ(library.run()(nullptr, odd.at(1), nullptr, nullptr), Misaligned);
    EXPECT_EQ(library.run()(nullptr, library.weights().at(), odd.at(1), nullptr), Misaligned);
    EXPECT_EQ(library.run()(nullptr, Aligned(std::string(64, '\0')).at(), nullptr, nullptr),
              NoWeights);
    EXPECT_EQ(library.run()(nullptr, library.weights().at(), nullptr, nullptr), Missing);
    const Aligned workspace(library.report().workspace_bytes);
    EXPECT_EQ(library.run()(nullptr, library.weights().at(), workspace.at(), nullptr), Missing);
  }
}

TEST(Export, WeightsMayBeTrainedOn) {
  const ExportedFunction before = Net("CPU").function(), after = Net("CPU").function();
  const Named inputs = inputs_of("CPU");
  const ExportedLibrary one(before, inputs), other(after, inputs);
  EXPECT_NE(text_of_file(one.file("net.weights")), text_of_file(other.file("net.weights")));
  EXPECT_EQ(text_of_file(one.file("net.o")), text_of_file(other.file("net.o")));
  EXPECT_EQ(one.verify()(other.weights().at(), other.weights().size), 0);
}

TEST(Export, FilesAreTheSameEachTime) {
  for (const char* target : {"cpu=native", "cpu=aarch64", "cpu=riscv64", "c"}) {
    const std::string device = export_device(target);
    const ExportedFunction function = Net(device).function();
    const Named inputs = inputs_of(device);
    const TemporaryFolder first, second;
    const ExportReport report =
        export_c(function, inputs, first.path().string(), {.target = target});
    export_c(function, inputs, second.path().string(), {.target = target});
    ASSERT_EQ(report.files.size(), 3U);
    for (const std::string& file : report.files) {
      const std::string bytes = text_of_file((first / file).string());
      EXPECT_FALSE(bytes.empty());
      EXPECT_EQ(bytes, text_of_file((second / file).string())) << target << " " << file;
    }
  }
}

TEST(Export, ObjectsAreForTheirProcessor) {
  constexpr std::size_t machine = 18;  // in the header of ELF
  const std::map<std::string, char> machines{{"cpu=aarch64", '\xb7'}, {"cpu=riscv64", '\xf3'}};
  for (const auto& [target, number] : machines) {
    const std::string device = export_device(target);
    const TemporaryFolder folder;
    export_c(Net(device).function(), inputs_of(device), folder.path().string(),
             {.target = target, .name = "tiny"});
    EXPECT_EQ(text_of_file((folder / "tiny.o").string()).at(machine), number);
  }
}

TEST(Export, NothingIsMissingButMemory) {
  const ExportedLibrary library(Net("CPU").function(), inputs_of("CPU"));
  const std::string list = library.file("undefined");
  ASSERT_EQ(std::system(("nm -u " + library.file("net.o") + " > " + list).c_str()), 0);
  std::istringstream names(text_of_file(list));
  for (std::string kind, name; names >> kind >> name;)
    EXPECT_TRUE(name == "memcpy" || name == "memset") << name;
}

// What a command prints, by lines.
std::vector<std::string> lines_of(const std::string& command, const std::string& scratch) {
  EXPECT_EQ(std::system((command + " > " + scratch).c_str()), 0) << command;
  std::istringstream text(text_of_file(scratch));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// A process has no tiles before it asks for them. Where there are none, asking does nothing.
TEST(Export, WhatHasTilesAsksForThemWhenItIsLoaded) {
  if (!has_llvm() || llvm_host().triple.substr(0, 6) != "x86_64")
    GTEST_SKIP() << "makes no code for tiles";
  const TemporaryFolder folder;
  const std::string object = (folder / "net.o").string(), library = (folder / "net.so").string();
  for (const bool has_tiles : {false, true}) {
    exported::Library net{"net", "cpu=native", {}, {}, {}, {}};
    net.functions.push_back({.name = "net_kernel", .source = {}, .has_tiles = has_tiles});
    const std::string kernel =
        "define void @kernel(ptr %arguments, ptr %values) {\n  ret void\n}\n";
    std::ofstream(object, std::ios::binary)
        << llvm_library({{exported::llvm_glue(net), ""}, {kernel, "net_kernel"}}, llvm_host());
    const auto starts = lines_of("objdump -h " + object + " | { grep -c init_array || true; }",
                                 (folder / "lines").string());
    EXPECT_EQ(starts, std::vector<std::string>{has_tiles ? "1" : "0"});
    ASSERT_EQ(std::system(("cc -shared -o " + library + " " + object).c_str()), 0);
    void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(loaded, nullptr) << dlerror();
    dlclose(loaded);
  }
}

TEST(Export, AnArchiveHasTheObject) {
  for (const char* target : {"cpu=native", "c"}) {
    const TemporaryFolder folder;
    const auto path = [&](const char* name) { return (folder / name).string(); };
    const std::string device = export_device(target);
    const ExportReport report =
        export_c(Net(device).function(), inputs_of(device), folder.path().string(),
                 {.target = target, .kinds = {ExportKind::Object, ExportKind::Static}});
    EXPECT_EQ(report.files.size(), 4U);
    EXPECT_EQ(lines_of("ar t " + path("net.a"), path("list")), std::vector<std::string>{"net.o"});
    EXPECT_EQ(lines_of("nm -gj --defined-only " + path("net.a") + " | grep net_", path("list")),
              (std::vector<std::string>{"net_description", "net_run", "net_verify"}));
    if (std::string_view(target) == "c") continue;
    ASSERT_EQ(std::system(("cd " + folder.path().string() + " && ar p net.a net.o > copy").c_str()),
              0);
    EXPECT_EQ(text_of_file(path("copy")), text_of_file(path("net.o")));
  }
}

// A program that knows no header of it calls a library by what it says of itself.
TEST(Export, ASharedLibraryDescribesItself) {
  for (const char* target : {"cpu=native", "c"}) {
    const std::string device = export_device(target);
    const ExportedFunction function = Net(device).function();
    const Named inputs = inputs_of(device);
    const ExportedLibrary library(function, inputs, target, "", {ExportKind::Shared});
    EXPECT_EQ(
        lines_of("nm -D -j --defined-only " + library.file("net.so"), library.file("list")),
        (std::vector<std::string>{"net_description", "net_run", "net_verify", "weft_library_v1"}));
    const auto* about =
        static_cast<const weft_library_description*>(library.symbol("weft_library_v1"));
    ASSERT_NE(about, nullptr);
    EXPECT_EQ(about->version, 1U);
    EXPECT_EQ(about->size, sizeof *about);
    EXPECT_STREQ(about->name, "net");
    EXPECT_STREQ(about->target, target);
    EXPECT_EQ(about->inputs, 2U);
    EXPECT_EQ(about->outputs, 7U);
    EXPECT_EQ(about->alignment, 64U);
    EXPECT_EQ(about->workspace_bytes, library.report().workspace_bytes);
    EXPECT_EQ(about->weights_bytes, library.report().weights_bytes);
    EXPECT_EQ(std::memcmp(about->weights_header, library.weights().at(), 32), 0);
    const weft_library_port &image = about->ports[0], &sure = about->ports[4];
    EXPECT_STREQ(image.name, "image");
    EXPECT_EQ(image.dtype, WEFT_F32);
    EXPECT_EQ(std::vector(image.shape, image.shape + image.rank),
              (std::vector<std::int64_t>{2, 3, 9, 11}));
    EXPECT_EQ(image.bytes, 4U * 2 * 3 * 9 * 11);
    EXPECT_EQ(about->ports[1].dtype, WEFT_I64);
    EXPECT_STREQ(sure.name, "is.sure");
    EXPECT_EQ(sure.dtype, WEFT_BOOL);
    EXPECT_EQ(sure.bytes, 2U);
    EXPECT_STREQ(about->ports[7].name, "second half");

    EXPECT_EQ(about->verify(library.weights().at(), library.weights().size), 0);
    std::vector<Bytes> memory;
    for (const Tensor& input : tensors_of(inputs)) memory.push_back(bytes_of(input));
    for (std::size_t i = 2; i < 9; ++i) memory.emplace_back(about->ports[i].bytes);
    std::vector<void*> ports;
    for (Bytes& each : memory) ports.push_back(each.data());
    const Aligned workspace(about->workspace_bytes);
    EXPECT_EQ(about->run(ports.data(), library.weights().at(), workspace.at(), nullptr), 0);
    memory.erase(memory.begin(), memory.begin() + 2);
    if (std::string_view(target) == "c")
      expect_near(memory, expected_of(function, inputs));
    else
      EXPECT_EQ(memory, expected_of(function, inputs));
  }
}

TEST(Export, AScalarHasNoShape) {
  const ExportedFunction function = [](const std::vector<Tensor>& given) {
    return Named{{"sum \"of\" all", given[0].sum()}};
  };
  const Named inputs{{"x", Tensor::ones({4}).realize()}};
  const ExportedLibrary library(function, inputs, "cpu=native", "", {ExportKind::Shared});
  const auto* about =
      static_cast<const weft_library_description*>(library.symbol("weft_library_v1"));
  EXPECT_EQ(about->ports[1].shape, nullptr);
  EXPECT_EQ(about->ports[1].rank, 0U);
  EXPECT_STREQ(about->ports[1].name, "sum \"of\" all");
}

TEST(Export, NamesAreThoseOfC) {
  const ExportedLibrary library(Net("CPU").function(), inputs_of("CPU"));
  const std::string header = text_of_file(library.file("net.h"));
  for (const char* line :
       {"  const float *image; /* input: f32[2, 3, 9, 11] */", "  const int64_t *x_int;",
        "  float *scores;", "  uint8_t *is_sure; /* output: bool[2] */", "  float *scores_2;",
        "  int64_t *second_half; /* output: i64[2] */", "#define NET_IMAGE_SHAPE {2, 3, 9, 11}",
        "#define NET_IMAGE_ELEMENTS 594"})
    EXPECT_NE(header.find(line), std::string::npos) << line << "\nin\n" << header;
}

TEST(Export, WhatIsNoFunctionOfItsArgumentsIsRefused) {
  const TemporaryFolder folder;
  const Named inputs{{"x", Tensor::ones({4}).realize()}};
  const auto refused = [&](const ExportedFunction& function, const ExportOptions& options = {}) {
    return error_of([&] { return export_c(function, inputs, folder.path().string(), options); });
  };
  const ExportedFunction plain = [](const auto& given) { return Named{{"y", given[0] + 1}}; };
  const auto expect = [](const std::string& error, const char* part) {
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  expect(refused([](const auto& given) { return Named{{"y", given[0] + Tensor::rand({4})}}; }),
         "draws random numbers");
  expect(refused([](const auto& given) {
           return Named{{"y", given[0] * given[0].sum().template item<float>()}};
         }),
         "reads the values");
  expect(refused(plain, {.target = "cpu=6502"}),
         "there is no target 'cpu=6502'; there are cpu=native");
  expect(refused(plain, {.target = "c"}), "'x' is on CPU where EXPORT:c plans for c");
  expect(refused(plain, {.kinds = {}}), "no kind of file is asked for");
  const Context none{{"CC", "nonsense"}};
  expect(refused(plain, {.kinds = {ExportKind::Shared}}), "there is no nonsense on PATH");
  const Context failing{{"CC", "false"}};
  expect(refused(plain, {.kinds = {ExportKind::Shared}}), "false failed");
  expect(refused(plain, {.name = "2fast"}), "'2fast' cannot stand in front of names of C");
}

TEST(Export, DigitsAreReadByTheLibrary) {
  const onnx::Model model = onnx::Model::load(WEFT_MODELS "/digits.onnx");
  const ExportedFunction function = [&](const std::vector<Tensor>& given) {
    return Named{{"probabilities", model({{"image", given[0]}}).at("probabilities").tensor()}};
  };
  const Named inputs{{"image", Tensor::rand({1, 1, 28, 28}).realize()}};
  const ExportedLibrary library(function, inputs);
  const std::vector<Bytes> expected = expected_of(function, inputs);
  EXPECT_EQ(library(tensors_of(inputs), sizes_of(expected)), expected);
}

}  // namespace
}  // namespace weft
