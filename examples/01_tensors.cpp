// Tensors in five tasks: making them, computing, reducing, moving between program and tensor, and all of it
// in one small network layer that is compared with plain loops.
#include <cmath>

#include "lesson.h"

using namespace weft;

// --- 1. Making tensors ----------------------------------------------------------------------------------

void make_tensors() {
  section("1. Making tensors");
  const Tensor values{{1, 2, 3}, {4, 5, 6}};  // integers: i32
  const Tensor halves({0.5f, 1.5f}), zeros = Tensor::zeros({2, 3}),
                                     steps = Tensor::arange(0, 10, 3);
  const Tensor narrow = Tensor::ones({2}, {.dtype = dtypes::f16});
  for (const Tensor& x : {values, halves, zeros, steps, narrow})
    std::cout << x.shape() << " of " << x.dtype().str() << ":\n" << x << "\n";
  check("the dtype follows from the values",
        values.dtype() == dtypes::i32 && halves.dtype() == dtypes::f32);
  Tensor::manual_seed(42);
  const Tensor first = Tensor::randn({4, 4}).realize();
  Tensor::manual_seed(42);
  check("the same seed gives the same numbers", first.equal(Tensor::randn({4, 4})));
}

// --- 2. Computing ---------------------------------------------------------------------------------------

void compute() {
  section("2. Computing with them");
  const Tensor row({1.0f, 2.0f, 3.0f}), column = Tensor({10.0f, 20.0f}).reshape({2, 1});
  const Tensor table = row + column;  // shapes broadcast: (3) and (2, 1) make (2, 3)
  std::cout << "a row plus a column is " << table.shape() << ":\n" << table << "\n";
  check("broadcast", table.to_vector<float>() == std::vector<float>{11, 12, 13, 21, 22, 23});
  const Tensor whole({7, -7});
  std::cout << "7 and -7 over 2: " << whole / 2 << ", rounded down " << floordiv(whole, 2)
            << ", remainders " << whole % 2 << "\n";
  check("division gives floats", (whole / 2).dtype() == dtypes::f32);
  const Tensor chosen = (table > 12).where(table, 0);
  std::cout << "what is above 12:\n" << chosen << "\n";
  check("where", chosen.sum().item<float>() == 13 + 21 + 22 + 23);
}

// --- 3. Reducing ----------------------------------------------------------------------------------------

void reduce() {
  section("3. Reducing axes");
  const Tensor x{{3.0f, 1.0f, 2.0f}, {6.0f, 5.0f, 4.0f}};
  std::cout << "sum " << x.sum() << ", of columns " << x.sum(0) << ", of rows " << x.sum(1)
            << "\nmean " << x.mean() << ", largest " << x.max() << ", where " << x.argmax(1)
            << "\n";
  check("the axis that is summed goes", x.sum(0).shape() == std::vector<std::int64_t>{3});
  check("or stays, with size 1", x.sum(1, true).shape() == SizeList{2, 1});
  const Tensor shares = x / x.sum(1, true);  // rows that add up to 1
  check("shares of each row", shares.sum(1).allclose(Tensor::ones({2})));
}

// --- 4. Between the program and a tensor ----------------------------------------------------------------

void exchange_values() {
  section("4. Values in and out");
  std::vector<float> numbers(6);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sqrt(static_cast<float>(i));
  Tensor x = Tensor(numbers).reshape({2, 3});
  std::cout << x << "\n";
  check("what went in comes out", x.to_vector<float>() == numbers);
  check("one element", x[{1, 1}].item<float>() == 2);
  {
    const HostView<float, 2> view = x.host_view<float, 2>();  // the memory itself
    view(0, 0) = 100;
  }
  check("what is written there is seen", x.max().item<float>() == 100);
  check("converted", x.cast(dtypes::i32)[{0, 0}].item<int>() == 100);
}

// --- 5. A layer -----------------------------------------------------------------------------------------

using Matrix = std::vector<std::vector<double>>;

// softmax(relu(a b + 1)), as one would write it without tensors.
Matrix layer_by_loops(const Matrix& a, const Matrix& b) {
  Matrix y(4, std::vector<double>(4));
  for (std::size_t i = 0; i < 4; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      double product = 1;
      for (std::size_t k = 0; k < 4; ++k) product += a[i][k] * b[k][j];
      sum += y[i][j] = std::exp(std::max(product, 0.0));
    }
    for (double& value : y[i]) value /= sum;
  }
  return y;
}

Matrix matrix_of(const Tensor& x) {
  Matrix rows;
  for (const Tensor& row : x.unbind()) rows.push_back(row.to_vector<double>());
  return rows;
}

void compare_with_loops() {
  section("5. A layer, beside plain loops");
  Tensor::manual_seed(42);
  const Tensor a = Tensor::randn({4, 4}).realize(), b = Tensor::randn({4, 4}).realize();
  const Tensor y = (a.matmul(b) + 1).relu().softmax();
  std::cout << "by " << y.schedule().size() << " kernel(s):\n" << y << "\n";
  std::vector<double> expected;
  for (const std::vector<double>& row : layer_by_loops(matrix_of(a), matrix_of(b)))
    expected.insert(expected.end(), row.begin(), row.end());
  check("equal to 1e-5", y.allclose(Tensor(expected).reshape({4, 4}), 0, 1e-5));
}

int main() try {
  make_tensors();
  compute();
  reduce();
  exchange_values();
  compare_with_loops();
} catch (const std::exception& error) {
  return failed(error);
}
