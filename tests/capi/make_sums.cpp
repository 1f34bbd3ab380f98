// Writes a model that adds up rows of three numbers, and what it has seen so far. Usage: make_sums FILE
#include <weft/onnx_writer.h>

using weft::onnx::Type;

int main(int count, char** arguments) {
  if (count != 2) return 2;
  weft::onnx::Writer net("sums", 22);
  const auto rows = net.input("rows", Type::F32, {"count", 3});
  const auto past = net.input("past", Type::F32, {3});
  const auto axes =
      net.constant("axes", weft::Tensor::constant(0, {.dtype = weft::dtypes::i64}).reshape({1}));
  const auto sum = net.node("ReduceSum", {rows, axes}, {{"keepdims", 0}});
  const auto present = net.node("Add", {past, sum});
  net.output("sums", net.node("Add", {rows, present}));
  net.output("present", present);
  net.save(arguments[1]);
}
