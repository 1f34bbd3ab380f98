// There are three kinds of ops, and a product of matrices is made of all of them: ops on elements, reductions,
// and movement.
#include "lesson.h"

using namespace weft;

// --- 1. Elementwise -------------------------------------------------------------------------------------

// Each element of the result comes from the elements at its place.
void show_elementwise() {
  section("1. Elementwise: same shape in and out");
  const Tensor x = Tensor::randn({256, 512}).realize();
  struct Function {
    const char* name;
    Tensor value;
  };
  const Function functions[] = {{"x", x},
                                {"exp2", x.exp2()},
                                {"sin", x.sin()},
                                {"sqrt |x|", x.abs().sqrt()},
                                {"1 / (1 + |x|)", 1 / (1 + x.abs())},
                                {"max(x, 0)", x.maximum(0)},
                                {"x < 0", (x < 0).to_float()}};
  for (const auto& [name, value] : functions) {
    check(std::string("the shape stays: ") + name, value.shape() == x.shape());
    std::cout << "      mean of " << name << ": " << value.mean().item<float>() << "\n";
  }
  check("half of all normal numbers are below 0",
        std::abs(functions[6].value.mean().item<float>() - 0.5f) < 0.01f);
}

// --- 2. Reductions --------------------------------------------------------------------------------------

// An axis goes: its elements become one, by a sum, a product or the largest.
void show_reductions() {
  section("2. Reductions: an axis goes");
  const Tensor x = Tensor::randn({256, 512}).realize();
  std::cout << "x " << x.shape() << ", sum over axis 0 " << x.sum(0).shape() << ", axis 1 "
            << x.sum(1).shape() << ", kept " << x.sum(1, true).shape() << ", all "
            << x.sum().shape() << "\n";
  check("axis 0", x.sum(0).shape() == SizeList{512});
  check("axis 1", x.max(1).shape() == SizeList{256});
  check("all", x.mean().shape() == SizeList{});

  // Softmax is two reductions with elementwise ops between them.
  const Tensor exps = (x - x.max(1, true)).exp(), softmax = exps / exps.sum(1, true);
  check("rows of a softmax add up to 1", largest_error(softmax.sum(1), Tensor::ones({256})) < 1e-5);
  check("it is what softmax() says", largest_error(softmax, x.softmax()) < 1e-6);
  std::cout << "      its kernels: " << (x + 1).softmax().schedule().size() << "\n";
}

// --- 3. Movement ----------------------------------------------------------------------------------------

// No value changes: elements are looked at in another order, some not at all, some several times.
void show_movement() {
  section("3. Movement: other places for the same values");
  const Tensor x = Tensor::arange(4 * 8 * 16).reshape({4, 8, 16}).contiguous().realize();
  const Tensor reshaped = x.reshape({32, 16}), permuted = x.permute({2, 0, 1});
  const Tensor expanded = x.unsqueeze(1).expand({4, 3, 8, 16}), padded = x.pad({1, 1});
  for (const Tensor& view : {reshaped, permuted, expanded, padded})
    std::cout << view.shape() << " is " << view.views() << "\n";
  check("element (5, 3, 7) of the permuted is (3, 7, 5)",
        permuted[{5, 3, 7}].item<int>() == x[{3, 7, 5}].item<int>());
  check("expanded rows are the same row", expanded[{2, 0}].equal(expanded[{2, 2}]));
  check("padding is 0", padded[{0, 0, 0}].item<int>() == 0);

  const Tensor table = Tensor::arange(24).reshape({4, 6}).contiguous().realize();
  const Tensor rows = table[{Slice{1, 3}}], columns = table[{Slice{}, Slice{.step = 2}}];
  const Tensor part = table[{Slice{1, 3}, Slice{2, 5}}];
  std::cout << "rows 1 and 2:\n"
            << rows << "\nevery second column:\n"
            << columns << "\nrows 1 and 2 of columns 2 to 4:\n"
            << part << "\n";
  check("[1:3, :]", rows.shape() == SizeList{2, 6} && rows[{0, 0}].item<int>() == 6);
  check("[:, ::2]", columns.shape() == SizeList{4, 3} && columns[{0, 1}].item<int>() == 2);
  check("[1:3, 2:5]", part.to_vector<int>() == std::vector<int>{8, 9, 10, 14, 15, 16});
}

// --- 4. A product by hand -------------------------------------------------------------------------------

// Rows of a and columns of b stand beside each other (movement), are multiplied (elementwise) and summed (a
// reduction). The M x N x K products never lie in memory: all of it is one kernel.
Tensor matmul_by_hand(const Tensor& a, const Tensor& b) {
  const std::int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  const Tensor rows = a.reshape({m, 1, k}).expand({m, n, k});
  const Tensor columns = b.permute({1, 0}).reshape({1, n, k}).expand({m, n, k});
  return (rows * columns).sum(2);
}

void show_matmul() {
  section("4. A product of matrices from the three");
  const Tensor a = Tensor::randn({8, 16}).realize(), b = Tensor::randn({16, 12}).realize();
  const Tensor product = matmul_by_hand(a, b);
  const auto schedule = product.schedule();
  std::cout << "M 8, K 16, N 12: " << schedule.size() << " kernel, " << schedule[0].work.flops
            << " flops, error " << largest_error(product, a.matmul(b)) << "\n";
  check("one kernel", schedule.size() == 1);
  check("it is what matmul() says, to 1e-4", largest_error(product, a.matmul(b)) < 1e-4);
}

int main() try {
  Tensor::manual_seed(42);
  show_elementwise();
  show_reductions();
  show_movement();
  show_matmul();
} catch (const std::exception& error) {
  return failed(error);
}
