// Matrices of few bits times a vector, beside what the same threads read of memory: the packed weights are read once, and
// decoded in registers. The matrices in turn are four times the last cache.
//
//   WEFT_THREADS=1 bench_quantised [--json FILE] [--only Q4_0]

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

#include <weft/dev/base/parallel.h>
#include <weft/dev/device/device.h>
#include <weft/onnx_writer.h>
#include <weft/state.h>
#include <weft/weft.h>

#include "peers/roof.h"
#include "peers/team.h"
#include "report.h"

namespace weft::bench {
namespace {

constexpr int repeats = 5, rounds = 7;
constexpr double times_of_cache = 4;

double cache_bytes() { return find_device("CPU").target().machine.memory.back().bytes; }

// As fast as the machine can: in large pages, where it has them.
class Pages {
 public:
  explicit Pages(std::size_t floats)
      : bytes_((floats * sizeof(float) + large - 1) / large * large),
        data_(static_cast<float*>(std::aligned_alloc(large, bytes_)), &std::free) {
    madvise(data_.get(), bytes_, MADV_HUGEPAGE);
    std::fill_n(data_.get(), floats, 1.0F);
  }
  const float* data() const { return data_.get(); }

 private:
  static constexpr std::size_t large = 2 << 20;
  std::size_t bytes_;
  std::unique_ptr<float, decltype(&std::free)> data_;
};

// What the threads read of memory in a second, asked again and again: other users of a machine come and go.
class MemoryRead {
 public:
  MemoryRead() : parts_(static_cast<std::size_t>(thread_count())) {
    const auto floats = static_cast<std::size_t>(times_of_cache * cache_bytes()) / sizeof(float);
    share_ = floats / parts_.size() / whole * whole;
    for (auto& part : parts_) part = std::make_unique<Pages>(share_);
  }

  // By a thread of its own: a team keeps its first one on a core, and what that starts later stays there as well.
  double bytes_in_a_second() const {
    double seconds = 0;
    std::thread([&] { seconds = seconds_of_a_pass(); }).join();
    return static_cast<double>(share_ * parts_.size() * sizeof(float)) / seconds;
  }

 private:
  static constexpr std::size_t whole = 256;  // what the loop reads at a time

  double seconds_of_a_pass() const {
    Team team(static_cast<int>(parts_.size()));
    std::vector<float> kept(parts_.size());
    return best_seconds(repeats, [&] {
      team.run([&](int thread) {
        const auto i = static_cast<std::size_t>(thread);
        kept[i] = stream_loop(Pass::Read, Store::Normal, nullptr, parts_[i]->data(), nullptr,
                              nullptr, share_);
      });
    });
  }

  std::vector<std::unique_ptr<Pages>> parts_;
  std::size_t share_;
};

struct Matrix {
  std::int64_t rows, columns;
};
constexpr Matrix matrices[] = {{4096, 4096}, {11008, 4096}};

// Small codes and scales that are numbers.
Tensor small_bytes(const Shape& shape) {
  return (Tensor::randint(shape, 0, 64).cast(dtypes::u8)).realize();
}

struct GgufType {
  const char* name;
  std::uint32_t code;
  std::int64_t elements, bytes;  // of a block
};
constexpr GgufType gguf_types[] = {{"Q4_0", 2, 32, 18},
                                   {"Q4_1", 3, 32, 20},
                                   {"Q8_0", 8, 32, 34},
                                   {"Q4_K", 12, 256, 144},
                                   {"Q6_K", 14, 256, 210}};

// Of one tensor "w", as load_gguf() gives it from a file.
Tensor weight_of(const GgufType& type, const Matrix& matrix) {
  const std::string path = "quantised." + std::to_string(getpid()) + ".gguf";
  const std::int64_t bytes = matrix.rows * matrix.columns / type.elements * type.bytes;
  std::string head = "GGUF";
  const auto add = [&](auto number) {
    head.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  add(std::uint32_t{3});
  for (const std::uint64_t count : {1, 0, 1}) add(count);  // tensors, keys; letters of the name
  head += 'w';
  add(std::uint32_t{2});
  add(matrix.columns);
  add(matrix.rows);
  add(type.code);
  add(std::uint64_t{0});
  head.resize((head.size() + 31) / 32 * 32);
  const auto values = small_bytes({bytes}).to_vector<std::uint8_t>();
  std::ofstream(path, std::ios::binary)
      .write(head.data(), std::ssize(head))
      .write(reinterpret_cast<const char*>(values.data()), bytes);
  const Tensor weight = load_gguf(path).tensors.at("w");
  unlink(path.c_str());
  return weight;
}

struct Nbits {
  const char* name;
  std::int64_t bits, block;
  bool has_zeros;
};
constexpr Nbits nbits[] = {{"MatMulNBits, 4 bits of 32", 4, 32, false},
                           {"MatMulNBits, 4 bits of 32, zeros", 4, 32, true},
                           {"MatMulNBits, 4 bits of 128", 4, 128, false},
                           {"MatMulNBits, 8 bits of 32", 8, 32, false}};

// A product by one matrix, ready to run.
using Product = std::function<void()>;

struct Case {
  std::string name;
  double bytes;  // that each product reads of its matrix
  std::function<Product(const Tensor& x)> product;
};

Case case_of(const GgufType& type, const Matrix& matrix) {
  const std::int64_t blocks = matrix.rows * matrix.columns / type.elements;
  return {type.name, static_cast<double>(blocks * type.bytes), [=](const Tensor& x) {
            using Function = std::function<Tensor(const Tensor&)>;
            const Tensor weight = weight_of(type, matrix);
            const auto f = std::make_shared<Jit<Function>>(
                Function([weight](const Tensor& given) { return given.matmul(weight.T()); }));
            return [f, x] { (*f)(x); };
          }};
}

Case case_of(const Nbits& type, const Matrix& matrix) {
  const std::int64_t blocks = matrix.columns / type.block, packed = type.block * type.bits / 8;
  const std::int64_t zeros = type.has_zeros ? (blocks * type.bits + 7) / 8 : 0;
  const std::int64_t row = blocks * (packed + static_cast<std::int64_t>(sizeof(float))) + zeros;
  return {type.name, static_cast<double>(matrix.rows * row), [=](const Tensor& x) {
            onnx::Writer net("product", 22);
            net.use("com.microsoft", 1);
            onnx::Names inputs{
                net.input("x", onnx::Type::F32, {1, matrix.columns}),
                net.constant("weight", small_bytes({matrix.rows, blocks, packed})),
                net.constant("scale", Tensor::rand({matrix.rows * blocks}).realize())};
            if (type.has_zeros)
              inputs.push_back(net.constant("zeros", small_bytes({matrix.rows * zeros})));
            const onnx::Attributes about{{"K", matrix.columns},
                                         {"N", matrix.rows},
                                         {"bits", type.bits},
                                         {"block_size", type.block}};
            net.output("y", net.node("MatMulNBits", inputs, about, {.domain = "com.microsoft"}));
            const std::string path = "quantised." + std::to_string(getpid()) + ".onnx";
            net.save(path);
            const auto model = std::make_shared<onnx::Model>(onnx::Model::load(path));
            unlink(path.c_str());
            return [model, x] { (*model)({{"x", x}}).at("y").tensor().realize(); };
          }};
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Products and reads in turns.
void report_case(Report& report, const Case& c, const Matrix& matrix, const MemoryRead& memory) {
  const auto count = static_cast<std::size_t>(std::ceil(times_of_cache * cache_bytes() / c.bytes));
  const Tensor x = Tensor::rand({1, matrix.columns}).realize();
  std::vector<Product> products;
  while (products.size() < count) products.push_back(c.product(x));
  const auto run_all = [&] {
    for (const Product& product : products) product();
  };
  for (int i = 0; i < 3; ++i) run_all();  // by the graph, captured, replayed
  std::vector<double> found, ratios;
  for (int round = 0; round < rounds; ++round) {
    const double read = memory.bytes_in_a_second();
    found.push_back(c.bytes * static_cast<double>(count) / best_seconds(repeats, run_all));
    ratios.push_back(found.back() / read);
  }
  report.row(fmt::format("{}, {} x {}", c.name, matrix.rows, matrix.columns), median(found) / 1e9,
             "GB/s");
  report.row("  of what is read", median(ratios), "", thread_count() > 1 ? "goal 0.9" : "goal 0.8");
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  using namespace weft::bench;
  std::string only;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::string_view(argv[i]) == "--only") only = argv[i + 1];
  Report report("vectors times matrices of few bits", argc, argv);
  const MemoryRead memory;
  report.row("threads", weft::thread_count(), "");
  report.row("read of memory", memory.bytes_in_a_second() / 1e9, "GB/s");
  for (const Matrix& matrix : matrices) {
    for (const auto& type : gguf_types)
      if (only.empty() || only == type.name)
        report_case(report, case_of(type, matrix), matrix, memory);
    for (const auto& type : nbits)
      if (only.empty() || only == type.name)
        report_case(report, case_of(type, matrix), matrix, memory);
  }
}
