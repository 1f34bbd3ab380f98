// A device of your own. The library knows a device by three things, and this program brings all of
// them along: memory, a compiler from C to machine code, and programs that run. It registers
// the device as MY, and then tensors compute on it like on any other.
//
//   ./07_custom_backend            needs a C compiler: what CC says, else cc
//
// What you need not write: the library cuts a graph of tensors into kernels, brings each into the form
// that target() asks for, and can render it as C. What it gives your device is one kernel at a time.

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <weft/dev/base/parallel.h>
#include <weft/dev/render/render.h>
#include <weft/weft.h>

using namespace weft;
namespace fs = std::filesystem;

// --- A: memory ------------------------------------------------------------------------------------

// Here a handle is an address. On a card it would be what the driver gives; then uses_addresses() is
// false, and the copies go through the driver.
class MyMemory final : public Allocator {
 public:
  void* allocate(std::size_t bytes) override {
    const std::size_t lines = bytes / 64 + 1;
    void* memory = std::aligned_alloc(64, lines * 64);  // as aligned as the widest vector
    if (memory == nullptr) user_error("MY: there is no room");
    return memory;
  }
  void release(void* memory, std::size_t) override { std::free(memory); }
  void copy_in(void* to, std::size_t offset, std::span<const std::byte> from) override {
    std::ranges::copy(from, static_cast<std::byte*>(to) + offset);
  }
  void copy_out(std::span<std::byte> to, const void* from, std::size_t offset) override {
    std::copy_n(static_cast<const std::byte*>(from) + offset, to.size(), to.data());
  }
  bool uses_addresses() const override { return true; }
};

// --- B: a compiler --------------------------------------------------------------------------------

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& file, std::string_view bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// A folder for files that are needed for a moment.
class Scratch {
 public:
  Scratch() : path_((fs::temp_directory_path() / "weft-my-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) user_error("MY: there is no folder for temporary files");
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  fs::path operator/(const char* name) const { return fs::path(path_) / name; }

 private:
  std::string path_;
};

std::string c_compiler() {
  const char* chosen = std::getenv("CC");
  return std::string(chosen != nullptr ? chosen : "cc") +
         " -O3 -march=native -fno-math-errno -w -fPIC -shared";
}

// From C to the bytes of a shared library.
std::string compile_c(std::string_view source) {
  const Scratch folder;
  write_file(folder / "kernel.c", source);
  const std::string command = c_compiler() + " -o '" + (folder / "kernel.so").string() + "' '" +
                              (folder / "kernel.c").string() + "' -lm";
  if (std::system(command.c_str()) != 0) user_error("MY: this failed: " + command);
  return read_file(folder / "kernel.so");
}

// --- C: programs ----------------------------------------------------------------------------------

// What render_c() writes has this entry; a kernel of several threads takes the number of the thread
// too, and says beside it how many there are.
using Entry = void (*)(void* const* arguments, const std::int64_t* values, std::int64_t thread);

class MyProgram final : public Program {
 public:
  explicit MyProgram(std::string_view library) {
    const Scratch folder;
    write_file(folder / "kernel.so", library);
    library_ = dlopen((folder / "kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) user_error(std::string("MY: ") + dlerror());
    entry_ = reinterpret_cast<Entry>(find("kernel"));
    if (entry_ == nullptr) user_error("MY: the library has no function 'kernel'");
    if (const void* threads = find("threads"))
      threads_ = *static_cast<const std::int64_t*>(threads);
  }
  ~MyProgram() override { dlclose(library_); }

  void run(std::span<const Argument> arguments, std::span<const std::int64_t> values) override {
    std::vector<void*> pointers;
    for (const Argument& argument : arguments)
      pointers.push_back(static_cast<std::byte*>(argument.memory) + argument.offset);
    // The library's own pool; returns when all have run.
    parallel(threads_,
             [&](std::int64_t thread) { entry_(pointers.data(), values.data(), thread); });
  }

  void* find(const char* symbol) const { return dlsym(library_, symbol); }

 private:
  void* library_;
  Entry entry_;
  std::int64_t threads_ = 1;
};

// --- D: the device --------------------------------------------------------------------------------

// MY has one worker, MY:1 two, MY:2 four, and so on.
class MyDevice final : public Device {
 public:
  explicit MyDevice(int index)
      : name_(index == 0 ? "MY" : "MY:" + std::to_string(index)), workers_(1 << index) {}

  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return memory_; }

  // What kernels may be made of. Vectors have 16 bytes, and there are registers for 16 of them; who says
  // what caches there are gets better schedules. Products and sums are separate: the C compiler joins
  // them into one instruction where the processor has it.
  Target target() const override {
    const auto has = [](Op op) { return rendered_ops().contains(op) && op != Op::MulAcc; };
    Target target{.lowered = true,
                  .ops = OpSet::where(has),
                  .kinds = int_kinds | KindSet{Kind::Bool, Kind::F32, Kind::F64},
                  .vector_bytes = 16,
                  .workers = workers_};
    target.machine.set_workers(workers_);
    target.machine.vector_bytes = target.vector_bytes;
    target.machine.registers = 16;
    return target;
  }

  std::string render(const Node* kernel) override {
    return render_c(kernel, target().scratch_bytes);
  }
  std::string compile(std::string_view source) override { return compile_c(source); }
  // Libraries are kept on the disk: by their source, and by this, which names everything else they
  // depend on. A compiler for sale would add its version and the processor's name.
  std::string compiler_key() const override { return "MY " + c_compiler(); }
  std::unique_ptr<Program> load(std::string_view code) override {
    return std::make_unique<MyProgram>(code);
  }

 private:
  std::string name_;
  int workers_;
  MyMemory memory_;
};

// --- What it can do ---------------------------------------------------------------------------------

int failures = 0;

void check(const char* what, bool is_right) {
  std::printf("%s  %s\n", is_right ? "PASS" : "FAIL", what);
  failures += is_right ? 0 : 1;
}

void test_parts() {
  MyMemory memory;
  const std::vector<float> sent{1.5F, -2, 3.25F, 4};
  std::vector<float> received(4);
  void* handle = memory.allocate(16);
  memory.copy_in(handle, 0, std::as_bytes(std::span(sent)));
  memory.copy_out(std::as_writable_bytes(std::span(received)), handle, 0);
  check("A: 4 floats (16 bytes) come back from memory", sent == received);

  const std::string library = compile_c(
      "#include <stdint.h>\n"
      "void kernel(void* const* arguments, const int64_t* values) {\n"
      "  int32_t* out = arguments[0];\n"
      "  out[0] = 42;\n"
      "  out[1] = 99;\n"
      "}\n");
  MyProgram program(library);
  std::printf("      a library of %zu bytes\n", library.size());
  check("B: C becomes a library with the function 'kernel'",
        !library.empty() && program.find("kernel") != nullptr);

  const Argument argument{handle, 0, 16};
  program.run({&argument, 1}, {});
  const auto* written = static_cast<const std::int32_t*>(handle);
  check("C: the program sets [42, 99]", written[0] == 42 && written[1] == 99);
  memory.release(handle, 16);
}

void test_tensors() {
  const Options here{.device = "MY"};
  const Tensor sum = Tensor({1, 2, 3}, here) + Tensor({4, 5, 6}, here);
  std::printf("      [1 2 3] + [4 5 6] = %s on %s\n", sum.str().c_str(), sum.device().c_str());
  check("D: [1, 2, 3] + [4, 5, 6] = [5, 7, 9]", sum.to_vector<int>() == std::vector<int>{5, 7, 9});

  Tensor::manual_seed(7);
  const Tensor a = Tensor::randn({64, 48}), b = Tensor::randn({64, 48});  // on the default device
  const Tensor my_a = a.to("MY"), my_b = b.to("MY");
  const auto error = [](const Tensor& mine, const Tensor& right) {
    return (mine.to("CPU") - right).abs().max().item<float>();
  };
  check("D: add, less than 1e-6 from the CPU's", error(my_a + my_b, a + b) < 1e-6F);
  check("D: relu", error(my_a.relu(), a.relu()) == 0);
  check("D: sum of each row", error(my_a.sum(1), a.sum(1)) < 1e-4F);
  check("D: matmul", error(my_a.matmul(my_b.T()), a.matmul(b.T())) < 1e-4F);
  check("D: softmax", error(my_a.softmax(), a.softmax()) < 1e-6F);
  Tensor x = a.to("MY").detach().set_requires_grad();
  (x.tanh() * my_b).sum().backward();
  check("D: a gradient", error(x.grad(), (1 - a.tanh().square()) * b) < 1e-5F);
}

// --- E: how fast it is ------------------------------------------------------------------------------

// The fastest of several runs, in seconds. The first, which compiles, is another.
template <class Make>
double seconds_of(Make make, int times) {
  double fastest = 1e9;
  for (int i = 0; i <= times; ++i) {
    const Tensor result = make();
    const auto start = std::chrono::steady_clock::now();
    result.realize();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (i > 0) fastest = std::min(fastest, time.count());
  }
  return fastest;
}

double add_seconds(const std::string& device) {
  const Tensor a = Tensor::ones({65536}, {.device = device}).contiguous().realize();
  const Tensor b = Tensor::ones({65536}, {.device = device}).contiguous().realize();
  return seconds_of([&] { return a + b; }, 20);
}

double product_gflops(const std::string& device, std::int64_t size) {
  const Tensor a = Tensor::rand({size, size}, {.device = device}).realize();
  const Tensor b = Tensor::rand({size, size}, {.device = device}).realize();
  const auto n = static_cast<double>(size);
  return 2 * n * n * n / seconds_of([&] { return a.matmul(b); }, 20) * 1e-9;
}

void measure() {
  std::printf("\n%-8s %24s %26s\n", "device", "add 65,536 floats, us", "matmul 256x256, GFLOPS");
  for (const char* device : {"MY", "MY:1", "CLANG", "CPU"})
    std::printf("%-8s %24.1f %26.2f\n", device, add_seconds(device) * 1e6,
                product_gflops(device, 256));

  std::printf("\n%-8s %24s %26s\n", "threads", "matmul 384x384, GFLOPS", "times one thread");
  double one = 0;
  for (int index = 0; 1 << index <= std::max(2, thread_count()); ++index) {
    const double gflops = product_gflops("MY:" + std::to_string(index), 384);
    if (index == 0) one = gflops;
    std::printf("%-8d %24.2f %26.2f\n", 1 << index, gflops, gflops / one);
  }
}

int main() try {
  test_parts();
  add_device("MY", "C, compiled by this machine's C compiler",
             [](int index) -> std::unique_ptr<Device> {
               if (index > 8) user_error("MY: the last device is MY:8");
               return std::make_unique<MyDevice>(index);
             });
  test_tensors();
  measure();
  return failures == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
