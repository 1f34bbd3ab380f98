#include "program.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

#include <fmt/ranges.h>
#include <weft/dev/ir/value.h>

namespace weft {
namespace {

// On several devices, along which axis an input is split: -1 for none.
std::int64_t split_axis(const Instruction& input) {
  const std::size_t choice = input.values.size() + input.with.n.size();
  return static_cast<std::int64_t>(choice % (input.with.n.size() + 1)) - 1;
}

std::vector<std::string> names_of(const std::vector<Device*>& devices) {
  std::vector<std::string> names;
  for (const Device* device : devices) names.emplace_back(device->name());
  return names;
}

Tensor input(const Instruction& instruction) {
  const DType dtype = instruction.with.dtype;
  const std::size_t width = dtype.bytes();
  auto bytes = std::make_shared<std::vector<std::byte>>(instruction.values.size() * width + 1);
  for (std::size_t i = 0; i < instruction.values.size(); ++i)
    std::memcpy(&(*bytes)[i * width], &instruction.values[i], width);
  const std::vector<std::string> devices = names_of(find_devices(default_device()));
  const Tensor tensor = Tensor::from_blob(bytes->data(), instruction.with.n,
                                          {.dtype = dtype, .device = devices[0]}, bytes);
  if (devices.size() == 1) return tensor;
  const std::int64_t axis = split_axis(instruction);
  return tensor.shard(devices, axis < 0 ? std::nullopt : std::optional(axis));
}

std::string number_text(std::uint64_t bits, DType dtype) {
  if (dtype.is_bool()) return bits != 0 ? "true" : "false";
  if (dtype.is_unsigned()) return fmt::format("{}u", bits);
  // The least i64 has no literal.
  if (!dtype.is_float() && bits == std::uint64_t{1} << 63) return "INT64_MIN";
  if (!dtype.is_float()) return std::to_string(static_cast<std::int64_t>(bits));
  const double value = double_from_bits(bits, dtype);
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  return fmt::format("{:#}", value);
}

std::string dtype_text(DType dtype) {
  return "dtypes::" + (dtype.is_bool() ? "bool_" : dtype.str());
}

std::string numbers_text(const Numbers& numbers) {
  return fmt::format("Numbers{{{}}}", fmt::join(numbers, ", "));
}

std::string bounds_text(const Numbers& numbers) {
  std::string pairs;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
    pairs += fmt::format("{}{{{}, {}}}", i == 0 ? "" : ", ", numbers[i], numbers[i + 1]);
  return fmt::format("Tensor::Bounds{{{}}}", pairs);
}

std::string input_text(const Instruction& instruction) {
  const DType dtype = instruction.with.dtype;
  const char* type = dtype.is_float()      ? "double"
                     : dtype.is_bool()     ? "bool"
                     : dtype.is_unsigned() ? "std::uint64_t"
                                           : "std::int64_t";
  std::vector<std::string> values;
  for (std::uint64_t bits : instruction.values) values.push_back(number_text(bits, dtype));
  const std::vector<std::string> devices = names_of(find_devices(default_device()));
  const std::int64_t axis = split_axis(instruction);
  const std::string shard = devices.size() == 1
                                ? ""
                                : fmt::format(".shard({{\"{}\"}}{})", fmt::join(devices, "\", \""),
                                              axis < 0 ? "" : fmt::format(", {}", axis));
  return fmt::format("Tensor(std::vector<{}>{{{}}}, {{.dtype = {}}}).reshape({}).realize(){}", type,
                     fmt::join(values, ", "), dtype_text(dtype), numbers_text(instruction.with.n),
                     shard);
}

// What a name in an op's expression stands for; names of functions and types stand for themselves.
std::string meaning(std::string_view name, const Instruction& instruction) {
  const Constants& with = instruction.with;
  const std::size_t operand = name.size() == 1 ? static_cast<std::size_t>(name[0] - 'x') : 3;
  if (operand < 3) return fmt::format("v{}", instruction.operands[operand]);
  if (name == "n") return numbers_text(with.n);
  if (name == "bounds") return bounds_text(with.n);
  if (name == "i") return std::to_string(with.i);
  if (name == "j") return std::to_string(with.j);
  if (name == "k") return std::to_string(with.k);
  if (name == "dtype") return dtype_text(with.dtype);
  return std::string(name);
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string op_text(const Instruction& instruction) {
  std::string result;
  for (std::string_view rest = instruction.op->text; !rest.empty();) {
    const auto end = std::ranges::find_if_not(rest, is_letter);
    const auto length = std::max<std::size_t>(1, static_cast<std::size_t>(end - rest.begin()));
    // A member's name stands for itself.
    const std::string_view name = rest.substr(0, length);
    const bool is_member = !result.empty() && result.back() == '.';
    result += is_member ? std::string(name) : meaning(name, instruction);
    rest.remove_prefix(length);
  }
  return result;
}

}  // namespace

Tensor build(const Instruction& instruction, const std::vector<Tensor>& earlier) {
  if (instruction.op == nullptr) return input(instruction);
  Tensor operands[3];
  for (std::size_t i = 0; i < instruction.operands.size(); ++i)
    operands[i] = earlier[instruction.operands[i]];
  return instruction.op->apply(operands[0], operands[1], operands[2], instruction.with);
}

std::vector<Tensor> build(const Script& program) {
  return build(program, [](const Tensor&) {});
}

std::string cpp_text(const Script& program, const std::vector<std::string>& settings,
                     bool realize_each) {
  std::string text =
      "#include <cmath>\n#include <iostream>\n\n#include <weft/weft.h>\n\nusing namespace weft;\n"
      "using Numbers = std::vector<std::int64_t>;\n\nint main() {\n";
  if (!settings.empty())
    text += fmt::format("  const Context context{{{}}};\n", fmt::join(settings, ", "));
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const Instruction& instruction = program.code[i];
    text += fmt::format("  Tensor v{} = {};\n", i,
                        instruction.op == nullptr ? input_text(instruction) : op_text(instruction));
    if (realize_each && instruction.op != nullptr) text += fmt::format("  v{}.realize();\n", i);
  }
  std::vector<std::string> outputs;
  for (std::size_t output : program.outputs) outputs.push_back(fmt::format("v{}", output));
  text += fmt::format("  Tensor::realize({{{}}});\n", fmt::join(outputs, ", "));
  for (const std::string& output : outputs)
    text += fmt::format("  std::cout << {}.repr() << \"\\n\";\n", output);
  return text + "}\n";
}

Script without_dead(const Script& program) {
  std::vector<bool> needed(program.code.size());
  for (std::size_t output : program.outputs) needed[output] = true;
  for (std::size_t i = program.code.size(); i-- > 0;) {
    const Instruction& instruction = program.code[i];
    if (instruction.op != nullptr && instruction.op->is_effect) needed[i] = true;
    if (needed[i])
      for (std::size_t operand : instruction.operands) needed[operand] = true;
  }
  std::vector<std::size_t> moved(program.code.size());
  Script result;
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    if (!needed[i]) continue;
    moved[i] = result.code.size();
    result.code.push_back(program.code[i]);
    for (std::size_t& operand : result.code.back().operands) operand = moved[operand];
  }
  for (std::size_t output : program.outputs) result.outputs.push_back(moved[output]);
  return result;
}

}  // namespace weft
