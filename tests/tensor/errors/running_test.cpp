// Devices that are not there, tensors on several of them, values that nobody knows, and compilers that fail.

#include <filesystem>
#include <fstream>
#include <iostream>

#include <weft/dev/device/device.h>

#include "table.h"

namespace weft {
namespace {

namespace F = functional;
namespace fs = std::filesystem;

// As find_device() says it.
std::string no_device(const std::string& name) {
  std::vector<std::string> known;
  for (const DeviceKind& kind : device_kinds()) known.emplace_back(kind.name);
  return fmt::format("there is no device '{}'; there are {}", name, fmt::join(known, ", "));
}

TEST(RunningErrors, NamesOfDevices) {
  const Tensor x = of({2, 3});
  Tensor here = x;
  const std::string is_no_name = " is not the name of a device: after the colon stands its number";
  const std::string of_cpu =
      ", or a compiler (LLVM, CLANG) and a processor (native, x86-64-v2, x86-64-v3, "
      "x86-64-v3-vnni, x86-64-v4, x86-64-v4-vnni, sapphirerapids, graniterapids, aarch64, "
      "riscv64), or one of "
      "these";
  const auto by_default = [](const char* name, const std::function<void()>& call) {
    return [=] {
      const Context context{{"DEV", name}};
      call();
    };
  };
  const WrongCall calls[] = {
      {"to", [&] { x.to("TPU"); }, "to: " + no_device("TPU")},
      {"to, nothing", [&] { x.to(""); }, "to: " + no_device("")},
      {"to, no number", [&] { x.to("INTERP:x"); }, "to: 'INTERP:x'" + is_no_name},
      {"to, negative", [&] { x.to("INTERP:-1"); }, "to: 'INTERP:-1'" + is_no_name},
      {"to, no processor", [&] { x.to("CPU:LLVM:z80"); },
       "to: 'CPU:LLVM:z80'" + is_no_name + of_cpu},
      {"to, beyond", [&] { x.to("CPU:1000000"); },
       "to: there is no CPU:1000000; the last is CPU:7"},
      {"to, no path", [&] { x.to("DISK"); },
       "to: 'DISK' is not the name of a device: write DISK:path"},
      {"to_", [&] { here.to_("TPU"); }, "to_: " + no_device("TPU")},
      {"clone", [&] { x.clone("TPU"); }, "clone: " + no_device("TPU")},
      {"shard", [&] { x.shard({"CPU", "TPU"}, 0); }, "shard: " + no_device("TPU")},
      {"zeros", [] { Tensor::zeros({2}, {.device = "TPU"}); }, "zeros: " + no_device("TPU")},
      {"full", [] { Tensor::full({2}, 1, {.device = "TPU"}); }, "full: " + no_device("TPU")},
      {"empty", [] { Tensor::empty({2}, {.device = "TPU"}); }, "empty: " + no_device("TPU")},
      {"arange", [] { Tensor::arange(2, {.device = "TPU"}); }, "arange: " + no_device("TPU")},
      {"eye", [] { Tensor::eye(2, {.device = "TPU"}); }, "eye: " + no_device("TPU")},
      {"rand", [] { Tensor::rand({2}, {.device = "TPU"}); }, "rand: " + no_device("TPU")},
      {"randperm", [] { Tensor::randperm(2, {.device = "TPU"}); }, "randperm: " + no_device("TPU")},
      {"zeros_like", [&] { x.zeros_like({.device = "TPU"}); }, "zeros_like: " + no_device("TPU")},
      {"Tensor", [] { Tensor({1, 2}, {.device = "TPU"}); }, "Tensor: " + no_device("TPU")},
      {"xavier_normal", [] { init::xavier_normal({2, 2}, 1, {.device = "TPU"}); },
       "xavier_normal: " + no_device("TPU")},
      {"gamma", [] { random::gamma({2}, 1, 1, {.device = "TPU"}); }, "gamma: " + no_device("TPU")},
      {"fftfreq", [] { fft::fftfreq(4, 1, {.device = "TPU"}); }, "fftfreq: " + no_device("TPU")},
      {"Tensor, DEV", by_default("TPU", [] { Tensor({1, 2}); }), "Tensor: " + no_device("TPU")},
      {"ones, DEV", by_default("cuda", [] { Tensor::ones({2}); }), "ones: " + no_device("cuda")},
      {"randn, DEV", by_default("INTERP:x", [] { Tensor::randn({2}); }),
       "randn: 'INTERP:x'" + is_no_name},
  };
  expect_errors(calls);
  EXPECT_EQ(here.device(), x.device());
}

TEST(RunningErrors, TensorsOnSeveralDevices) {
  const Tensor x = of({2, 3}), there = of({2, 3}, {.device = "INTERP:1"});
  const Tensor index = of({2}, {.dtype = dtypes::i32, .device = "INTERP:1"}), mask = there == 0;
  const Tensor square = of({2, 2}), far = of({2, 2}, {.device = "INTERP:1"});
  Tensor y = x.clone(), parameter = x.clone();
  parameter.set_requires_grad();
  struct Apart {
    std::string_view method;
    std::function<void()> call;
    bool is_turned = false;  // what is elsewhere comes first
  };
  const Apart all[] = {
      {"add", [&] { x + there; }},
      {"sub", [&] { x - there; }},
      {"div", [&] { x / there; }},
      {"mod", [&] { x % there; }},
      {"pow", [&] { x.pow(there); }},
      {"maximum", [&] { x.maximum(there); }},
      {"atan2", [&] { x.atan2(there); }},
      {"copysign", [&] { x.copysign(there); }},
      {"logaddexp", [&] { x.logaddexp(there); }},
      {"lt", [&] { static_cast<void>(x < there); }},
      {"logical_and", [&] { x.logical_and(there); }},
      {"isclose", [&] { x.isclose(there); }},
      {"allclose", [&] { x.allclose(there); }},
      {"where", [&] { mask.where(x, 1); }, true},
      {"masked_fill", [&] { x.masked_fill(mask, 1); }, true},
      {"lerp", [&] { x.lerp(there, 0.5); }, true},
      {"clamp", [&] { x.clamp(there, {}); }},
      {"addcmul", [&] { x.addcmul(x, there); }},
      {"+=", [&] { y += there; }},
      {"imatmul", [&] { y.imatmul(of({3, 3}, {.device = "INTERP:1"})); }},
      {"cat", [&] { Tensor::cat({x, there}); }},
      {"vstack", [&] { Tensor::vstack({x, there}); }},
      {"take", [&] { x.take(index); }},
      {"gather", [&] { x.gather(0, index.reshape({1, 2})); }},
      {"scatter_add", [&] { x.scatter_add(0, index.reshape({1, 2}), 1); }, true},
      {"index_select", [&] { x.index_select(0, index); }},
      {"index_add", [&] { x.index_add(0, index, x); }, true},
      {"take_along_axis", [&] { x.take_along_axis(index.reshape({2, 1}), 1); }},
      {"[]", [&] { x[index]; }, true},
      {"matmul", [&] { square.matmul(there); }},
      {"mm", [&] { square.mm(there); }},
      {"linear", [&] { square.linear(far); }},
      {"addmm", [&] { x.addmm(square, there); }},
      {"tensordot", [&] { x.tensordot(there); }},
      {"outer", [&] { x[0].outer(there[0]); }},
      {"kron", [&] { square.kron(far); }},
      {"dist", [&] { x.dist(there); }},
      {"cdist", [&] { x.cdist(there); }},
      {"conv1d", [&] { x.conv1d(of({1, 2, 3}, {.device = "INTERP:1"})); }},
      {"mse_loss", [&] { x.mse_loss(there); }},
      {"cross_entropy", [&] { x.cross_entropy(index); }, true},
      {"layernorm", [&] { x.layernorm(-1, 1e-5, there[0]); }},
      {"prelu", [&] { F::prelu(x, there[0][0]); }},
      {"embedding", [&] { F::embedding(index, x); }},
      {"l1_loss", [&] { F::l1_loss(x, there); }},
      {"scaled_dot_product_attention", [&] { x.scaled_dot_product_attention(there, there); }},
      {"solve", [&] { linalg::solve(square, far); }},
      {"multiply", [&] { fft::multiply(square, far); }},
  };
  std::vector<WrongCall> calls;
  for (const auto& [method, call, is_turned] : all) {
    const std::string from = is_turned ? "INTERP:1" : x.device();
    const std::string to = is_turned ? x.device() : "INTERP:1";
    calls.push_back({method, call,
                     fmt::format("{}: one tensor is on {}, another on {}: move one with to()",
                                 method, from, to)});
  }
  expect_errors(calls);
  EXPECT_TRUE(parameter.grad().is_null());
}

TEST(RunningErrors, UnknownValues) {
  const UOp n = Variable("n", 1, 4);
  const auto bound = [&](std::int64_t value) { return make(Op::Bind, {n, const_int(value)}); };
  const Tensor x = of({4, 2}), open = x.shrink({{0, n}, {0, 2}}),
               number = Tensor::from({n, {}, false});
  const std::string size = ": the size n is symbolic, and has to be a number here";
  const std::string unbound = ": variable n is not bound to a value";
  std::vector<std::byte> bytes(32);
  const WrongCall calls[] = {
      {"shape", [&] { open.shape(); }, "shape" + size},
      {"numel", [&] { open.numel(); }, "numel" + size},
      {"len", [&] { open.len(); }, "len" + size},
      {"size", [&] { open.size(0); }, "size" + size},
      {"item", [&] { open.item<float>(); }, "item" + size},
      {"to_vector", [&] { open.to_vector<float>(); }, "to_vector" + size},
      {"tolist", [&] { open.tolist<float>(); }, "tolist" + size},
      {"numpy", [&] { open.numpy<float>(); }, "numpy" + size},
      {"to_bytes", [&] { open.to_bytes(bytes); }, "to_bytes" + size},
      {"unique", [&] { open.unique(); },
       "unique: the size n*2 is symbolic, and has to be a number here"},
      {"nonzero", [&] { open.nonzero(); }, "nonzero" + unbound},
      {"realize", [&] { (open + 1).realize(); }, "realize" + unbound},
      {"realize, several", [&] { Tensor::realize({x, number}); }, "realize" + unbound},
      {"schedule", [&] { (open + 1).schedule(); }, "schedule" + unbound},
      {"item, unbound", [&] { number.item<int>(); }, "item" + unbound},
      {"to_vector, unbound", [&] { (number + x).to_vector<float>(); }, "to_vector" + unbound},
      {"data, unbound", [&] { number.data<int>(); }, "data" + unbound},
      {"equal, unbound", [&] { number.equal(number + 0); }, "equal" + unbound},
      {"allclose, unbound", [&] { open.allclose(1); }, "allclose" + unbound},
      {"str, unbound", [&] { static_cast<void>(number.str()); }, "str" + unbound},
      {"one_hot, unbound", [&] { number.one_hot(); }, "one_hot" + unbound},
      {"item, of two values", [&] { (x[{bound(1), 0}] + x[{bound(2), 0}]).item<float>(); },
       "item: variable n is bound to 1 and to 2"},
      {"item, beyond the bounds", [&] { x[{bound(9), 0}].item<float>(); },
       "item: variable n is bound to 9, outside 1 ... 4"},
  };
  expect_errors(calls);
  EXPECT_TRUE(holds<float>(x[bound(2)] + 1, {5, 6}, {2}));
}

TEST(RunningErrors, ReadingWhatIsNotThere) {
  const Tensor x = of({2, 3}), whole({1, 2}), turned = x.transpose();
  const std::string file = (fs::path(testing::TempDir()) / "errors_running").string();
  fs::remove(file);
  std::ofstream(file) << "12345678";
  const Tensor stored = Tensor::from_file(file), both = x.shard({"INTERP", "INTERP:1"}, 0);
  std::vector<std::byte> bytes(5);
  Tensor y = x.clone();
  const WrongCall calls[] = {
      {"item", [&] { x.item<float>(); }, "item: a tensor of shape (2, 3) has 6 elements"},
      {"data, dtype", [&] { whole.data<float>(); }, "data: the tensor is i32, not f32"},
      {"data, order", [&] { turned.data<float>(); },
       "data: a view of shape (3, 2) is not in order in memory: use contiguous()"},
      {"data, parts", [&] { both.data<float>(); },
       "data: the tensor is in parts on INTERP,INTERP:1: move it with to()"},
      {"host_view, dtype", [&] { y.host_view<double, 2>(); },
       "host_view: of f64 and 2 axes, where the tensor is f32 of shape (2, 3)"},
      {"host_view, axes", [&] { y.host_view<float, 1>(); },
       "host_view: of f32 and 1 axes, where the tensor is f32 of shape (2, 3)"},
      {"from_file", [] { Tensor::from_file("/nowhere/weft"); },
       "from_file: '/nowhere/weft': No such file or directory"},
      {"load_npy", [] { load_npy("/nowhere/weft.npy"); },
       "load_npy: '/nowhere/weft.npy': No such file or directory"},
      {"load_npz", [] { load_npz("/nowhere/weft.npz"); },
       "load_npz: '/nowhere/weft.npz': No such file or directory"},
      {"load_image", [] { load_image("/nowhere/weft.png"); },
       "load_image: '/nowhere/weft.png': No such file or directory"},
      {"save_npy", [&] { save_npy("/nowhere/weft.npy", x); },
       "save_npy: '/nowhere/weft.npy': No such file or directory"},
      {"bitcast", [&] { stored[Slice{0, 6}].bitcast(dtypes::i32); },
       "bitcast: rows of 6 bytes are no whole number of i32"},
      {"from_bytes", [&] { Tensor::from_bytes(bytes, {2}, {.dtype = dtypes::f32}); },
       "from_bytes: 5 bytes where f32 of shape (2,) has 8"},
      {"backward", [&] { x.backward(); },
       "backward: a tensor of shape (2, 3) needs a seed, the gradient of its elements"},
      {"backward, of nothing", [&] { x.sum().backward(); },
       "backward: nothing that this tensor depends on requires a gradient"},
      {"gradient, seed", [&] { x.gradient({x}, of({3, 2})); },
       "gradient: axis 0 of shape (3, 2) cannot become 2"},
      {"set_requires_grad", [&] { Tensor(whole).set_requires_grad(); },
       "set_requires_grad: a tensor of i32 has no gradient"},
      {"Tensor, requires_grad", [] { Tensor({1, 2}, {.requires_grad = true}); },
       "Tensor: a tensor of i32 has no gradient"},
  };
  expect_errors(calls);
  fs::remove(file);
}

// The CPU, with a compiler that one may break.
class Breakable final : public Device {
 public:
  static inline bool is_broken = false;

  explicit Breakable(int index) : name_(fmt::format("BREAKABLE:{}", index)) {}
  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return cpu_.allocator(); }
  Target target() const override { return cpu_.target(); }
  std::string render(const Node* kernel) override { return cpu_.render(kernel); }
  std::string compile(std::string_view source) override {
    if (is_broken) user_error(fmt::format("{}: the compiler does not start", name_));
    return cpu_.compile(source);
  }
  std::string compiler_key() const override { return cpu_.compiler_key(); }
  std::unique_ptr<Program> load(std::string_view code) override { return cpu_.load(code); }

 private:
  std::string name_;
  Device& cpu_ = find_device("CPU");
};

TEST(RunningErrors, CompilersThatFail) {
  add_device("BREAKABLE", "a device of a test", [](int index) -> std::unique_ptr<Device> {
    return std::make_unique<Breakable>(index);
  });
  const Context context{{"DEV", "BREAKABLE"}, {"CACHE_DIR", "none"}};
  const Tensor x = of({3, 5});
  std::vector<std::byte> bytes(60);
  struct Use {
    std::string_view method;
    std::function<void()> call;
  };
  const Use uses[] = {
      {"realize", [&] { (x * 3).realize(); }},
      {"realize", [&] { Tensor::realize({x * 4, x.sum(0)}); }},
      {"item", [&] { x.prod().item<float>(); }},
      {"to_vector", [&] { x.exp().to_vector<float>(); }},
      {"tolist", [&] { x.log().tolist<float>(); }},
      {"numpy", [&] { x.max(1).numpy<float>(); }},
      {"data", [&] { x.matmul(x.T()).data<float>(); }},
      {"to_bytes", [&] { x.sin().to_bytes(bytes); }},
      {"str", [&] { static_cast<void>(x.cos().str()); }},
      {"host_view", [&] { (x * 5).host_view<float, 2>(); }},
      {"equal", [&] { x.equal(x.sqrt()); }},
      {"allclose", [&] { x.allclose(x.floor() + 0.5); }},
      {"unique", [&] { x.unique(); }},
      {"nonzero", [&] { x.nonzero(); }},
      {"masked_select", [&] { x.masked_select(x > 2); }},
      {"bincount", [&] { x.flatten().cast(dtypes::i32).bincount(); }},
      {"one_hot", [&] { x.cast(dtypes::i64).one_hot(); }},
      {"save_npy", [&] { save_npy("never.npy", x.tanh()); }},
  };
  std::vector<WrongCall> calls;
  for (const auto& [method, call] : uses)
    calls.push_back({method,
                     [call = call] {
                       Breakable::is_broken = true;
                       const std::unique_ptr<bool, void (*)(bool*)> mended(
                           &Breakable::is_broken, [](bool* broken) { *broken = false; });
                       call();
                     },
                     std::string(method) + ": BREAKABLE:0: the compiler does not start"});
  expect_errors(calls);
  EXPECT_EQ(x.sum().item<float>(), 105);
}

// In a process of its own, which has not looked for clang yet: what it complains of, and the sum of the tensor by
// other means.
void complain(const std::string& path) {
  const Tensor x({1, 2, 3}, {.device = "CPU"});
  setenv("PATH", path.c_str(), 1);
  const Context context{{"CLANG", 1}, {"CACHE_DIR", "none"}};
  const std::string error = error_of([&] { return (x * 2).to_vector<int>(); });
  std::cerr << error << "\nthe sum is " << x.to("INTERP").sum().item<int>() << std::endl;
  std::exit(0);
}

class ClangErrors : public testing::Test {
 protected:
  ClangErrors() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ClangErrors, WithoutClang) {
  EXPECT_EXIT(complain("/nowhere"), testing::ExitedWithCode(0),
              "^to_vector: CPU: there is no clang on PATH to compile with; install one \\(Debian: "
              "clang-19\\)\nthe sum is 6");
}

TEST_F(ClangErrors, ClangThatFails) {
  const fs::path folder = fs::path(testing::TempDir()) / "weft_no_clang";
  fs::create_directories(folder);
  std::ofstream(folder / "clang") << "#!/bin/sh\necho no licence >&2\nexit 3\n";
  fs::permissions(folder / "clang", fs::perms::owner_all);
  EXPECT_EXIT(
      complain(folder.string()), testing::ExitedWithCode(0),
      "^to_vector: internal error: .*weft_no_clang/clang failed:\nno licence\n.*the sum is 6");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace weft
