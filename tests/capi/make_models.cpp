// Writes models that remember: sums.onnx adds up rows of three numbers, and what it has seen so far; delay.onnx gives
// what it was given two calls before. Usage: make_models FOLDER
#include <weft/onnx_writer.h>

using weft::onnx::Type;
using weft::onnx::Writer;

namespace {

Writer sums() {
  Writer net("sums", 22);
  const auto rows = net.input("rows", Type::F32, {"count", 3});
  const auto past = net.input("past", Type::F32, {3});
  const auto axes =
      net.constant("axes", weft::Tensor::constant(0, {.dtype = weft::dtypes::i64}).reshape({1}));
  const auto sum = net.node("ReduceSum", {rows, axes}, {{"keepdims", 0}});
  const auto present = net.node("Add", {past, sum});
  net.output("sums", net.node("Add", {rows, present}));
  net.output("present", present);
  return net;
}

Writer delay() {
  Writer net("delay", 22);
  const auto x = net.input("x", Type::F32, {3});
  const auto last = net.input("last", Type::F32, {3});
  const auto before = net.input("before", Type::F32, {3});
  net.output("late", net.node("Identity", {before}));
  net.output("new_last", net.node("Identity", {x}));
  net.output("new_before", net.node("Identity", {last}));
  return net;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  sums().save(folder + "/sums.onnx");
  delay().save(folder + "/delay.onnx");
}
