// A disk that is full: what is saved is an error that names the file and leaves the old one whole, and what is only kept for later
// is no error. The disk is a limit on the size of files, which takes no rights to set.

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>

#include <weft/dev/base/temporary_folder.h>
#include <weft/dev/device/disk_cache.h>
#include <weft/dev/engine/tuning.h>
#include <weft/export.h>
#include <weft/io.h>
#include <weft/onnx_writer.h>
#include <weft/settings.h>

#include "../support/errors.h"
#include "../support/files_in.h"
#include "../tensor/tensor_test.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// While it lives, no file becomes larger than that.
class SmallFiles {
 public:
  explicit SmallFiles(std::uint64_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit now = before_;
    now.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void save_onnx(const std::string& path, const Tensor& values) {
  onnx::Writer net("net", 22);
  const auto x = net.input("x", onnx::Type::F32, {64});
  net.output("y", net.node("Add", {x, net.constant("bias", values)}));
  net.save(path);
}

struct Saving {
  const char* file;
  std::function<void(const std::string& path, const Tensor& values)> save;
  const char* named = file;  // in the error
};

const Saving savings[] = {
    {"x.safetensors",
     [](const auto& path, const Tensor& x) { save_safetensors(path, {{"x", x}}); }},
    {"x.npy", [](const auto& path, const Tensor& x) { save_npy(path, x); }},
    {"x.npz", [](const auto& path, const Tensor& x) { save_npz(path, {{"x", x}}); }},
    {"x.png", [](const auto& path,
                 const Tensor& x) { save_image(path, x.reshape({8, 8}).cast(dtypes::u8)); }},
    {"x.onnx", save_onnx},
    {"x.weights",
     [](const std::string& path, const Tensor& x) {
       const auto function = [&](const std::vector<Tensor>& given) {
         return std::vector<NamedTensor>{{"y", given[0] + x.to(given[0].device())}};
       };
       const Tensor input = Tensor::zeros({64}, {.device = export_device("c")});
       export_c(function, {{"x", input}}, fs::path(path).parent_path().string(),
                {.target = "c", .name = "x"});
     },
     "x.h"},  // beside which it compiles

};

TEST(FullDisk, WhatIsSavedIsWholeOrNamed) {
  for (const Saving& saving : savings) {
    const TemporaryFolder folder;
    const std::string path = (folder / saving.file).string();
    saving.save(path, Tensor::arange(64, {.dtype = dtypes::f32}).realize());
    const std::string before = bytes_of(path);
    const std::size_t files = files_in(folder.path()).size();
    const Tensor other = (63 - Tensor::arange(64, {.dtype = dtypes::f32})).realize();
    for (const std::size_t limit :
         {std::size_t{0}, std::size_t{1}, before.size() / 2, before.size() - 1}) {
      const std::string error = [&] {
        const SmallFiles full(limit);
        return error_of([&] { return saving.save(path, other), 0; });
      }();
      EXPECT_NE(error.find(std::string("/") + saving.named), std::string::npos)
          << saving.file << ": " << error;
      EXPECT_NE(error.find("File too large"), std::string::npos) << saving.file << ": " << error;
      EXPECT_EQ(bytes_of(path), before) << saving.file << " within " << limit;
      EXPECT_EQ(files_in(folder.path()).size(), files) << saving.file << " within " << limit;
    }
    saving.save(path, other);
    EXPECT_NE(bytes_of(path), before) << saving.file;
  }
}

TEST(FullDisk, DevicesAreNotReplaced) {
  EXPECT_EQ(error_of([] { return save_safetensors("/dev/full", {}), 0; }),
            "save_safetensors: '/dev/full': it is there already, and no regular file");
}

// Kernels that no other test has.
void compute(int number) {
  const Tensor x = Tensor::full({number}, 1).contiguous();
  const Tensor y = (x * 3.0).sum();
  EXPECT_EQ(y.item<float>(), static_cast<float>(3 * number));
}

TEST(FullDisk, ACacheThatCannotBeWrittenIsNoError) {
  for (const char* beam : {"0", "2"}) {
    const TemporaryFolder folder;
    const std::string path = (folder / "cache").string();
    const Context here{{"CACHE_DIR", std::string_view(path)}, {"BEAM", beam}, {"BEAM_BUDGET", 0}};
    for (const int limit : {0, 100, 5000, 12'300}) {
      const SmallFiles full(static_cast<std::uint64_t>(limit));
      compute(71 + limit);
      for (const fs::path& file : files_in(path))
        EXPECT_LE(fs::file_size(file), static_cast<std::uint64_t>(limit)) << file;
    }
    compute(72);  // there is room again
    EXPECT_GT(DiskCache(path).size().entries, 0U);
    EXPECT_EQ(count_tunings() > 0, beam[0] != '0');
    DiskCache(path).trim(0);
    for (const fs::path& file : files_in(path))
      EXPECT_TRUE(file.filename().string().starts_with("schedules.sqlite")) << file;
  }
}

}  // namespace
}  // namespace weft
