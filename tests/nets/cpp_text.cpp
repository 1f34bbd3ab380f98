// Programs as C++: what a user could have written.

#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calls.h"

namespace nets {
namespace {

std::string numbers_text(const Numbers& numbers) {
  return fmt::format("std::vector<std::int64_t>{{{}}}", fmt::join(numbers, ", "));
}

std::string bounds_text(const Numbers& numbers) {
  std::string pairs;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
    pairs += fmt::format("{}{{{}, {}}}", i == 0 ? "" : ", ", numbers[i], numbers[i + 1]);
  return fmt::format("Tensor::Bounds{{{}}}", pairs);
}

std::string dtype_text(Type type) {
  return fmt::format("dtypes::{}{}", name_of(type), is_bool(type) ? "_" : "");
}

std::string real_text(double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string cell_text(const Cell& cell, Type type) {
  if (is_float(type)) return real_text(cell.real);
  if (is_bool(type)) return cell.whole != 0 ? "true" : "false";
  if (type == Type::U64) return fmt::format("{}u", static_cast<std::uint64_t>(cell.whole));
  const bool is_least = cell.whole == std::numeric_limits<std::int64_t>::min();
  return is_least ? "INT64_MIN" : fmt::format("{}", cell.whole);
}

std::string literal_text(const Literal& literal) {
  return literal.form == Literal::Form::Float ? real_text(literal.real)
                                              : std::to_string(literal.whole);
}

std::string part_text(const Part& part, const Step& step) {
  switch (part.form) {
    case Part::Form::At: return std::to_string(part.number);
    case Part::Form::NewAxis: return "newaxis";
    case Part::Form::Ellipsis: return "ellipsis";
    case Part::Form::List: return fmt::format("Index({})", numbers_text(part.list));
    case Part::Form::Array: return fmt::format("v{}", step.operands.at(part.operand));
    case Part::Form::Slice: break;
  }
  std::vector<std::string> fields;
  if (part.start) fields.push_back(fmt::format(".start = {}", *part.start));
  if (part.stop) fields.push_back(fmt::format(".stop = {}", *part.stop));
  if (part.step != 1) fields.push_back(fmt::format(".step = {}", part.step));
  return fmt::format("Slice{{{}}}", fmt::join(fields, ", "));
}

std::string index_text(const Step& step) {
  std::vector<std::string> parts;
  for (const Part& part : step.index) parts.push_back(part_text(part, step));
  return fmt::format("Indices{{{}}}", fmt::join(parts, ", "));
}

std::string operands_text(const Step& step) {
  std::vector<std::string> names;
  for (const std::size_t operand : step.operands) names.push_back(fmt::format("v{}", operand));
  return fmt::format("{{{}}}", fmt::join(names, ", "));
}

// What a name in an expression stands for; names of functions and types stand for themselves.
std::string meaning(std::string_view name, const Step& step) {
  if (name == "x" || name == "y" || name == "z")
    return fmt::format("v{}", step.operands.at(static_cast<std::size_t>(name[0] - 'x')));
  if (name == "all") return operands_text(step);
  if (name == "n") return numbers_text(step.n);
  if (name == "bounds") return bounds_text(step.n);
  if (name == "i") return std::to_string(step.i);
  if (name == "j") return std::to_string(step.j);
  if (name == "k") return std::to_string(step.k);
  if (name == "flag") return step.flag ? "true" : "false";
  if (name == "type") return dtype_text(step.type);
  if (name == "number" || name == "scalar") return literal_text(step.number);
  if (name == "real")
    return real_text(step.number.form == Literal::Form::Float
                         ? step.number.real
                         : static_cast<double>(step.number.whole));
  if (name == "index") return index_text(step);
  return std::string(name);
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string expression(const Step& step) {
  std::string result;
  for (std::string_view rest = call_rule(step.kind).text; !rest.empty();) {
    std::size_t length = 0;
    while (length < rest.size() && is_letter(rest[length])) ++length;
    length = std::max<std::size_t>(1, length);
    const std::string_view name = rest.substr(0, length);
    // A member's name stands for itself.
    const bool is_member = !result.empty() && (result.back() == '.' || result.back() == ':');
    result += is_member ? std::string(name) : meaning(name, step);
    rest.remove_prefix(length);
  }
  return result;
}

std::string values_text(const Array& array) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < array.size(); ++i)
    cells.push_back(
        array[i].is_unknown() ? "?"
        : array[i].error > 0
            ? fmt::format("{} +- {:.1e}", cell_text(array[i], array.type), array[i].error)
            : cell_text(array[i], array.type));
  return fmt::format("{} ({}): {}", name_of(array.type), fmt::join(array.shape, ", "),
                     fmt::join(cells, " "));
}

std::string request_text(const Step& step, const std::vector<Array>* wanted) {
  std::string text = step.operands.size() == 1
                         ? fmt::format("  v{}.realize();\n", step.operands[0])
                         : fmt::format("  Tensor::realize({});\n", operands_text(step));
  if (step.kind != "read") return text;
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    text += fmt::format("  std::cout << v{}.repr() << '\\n';\n", step.operands[i]);
    if (wanted != nullptr) text += fmt::format("  // {}\n", values_text(wanted->at(i)));
  }
  return text;
}

}  // namespace

std::string input_text(const Step& step, std::size_t call) {
  const char* type = is_float(step.type)      ? "double"
                     : is_bool(step.type)     ? "bool"
                     : is_unsigned(step.type) ? "std::uint64_t"
                                              : "std::int64_t";
  std::vector<std::string> cells;
  for (const Cell& cell : step.values.at(is_kept(step) ? 0 : call))
    cells.push_back(cell_text(cell, step.type));
  const std::string shape =
      step.n.size() == 1 ? "" : fmt::format(".reshape({})", numbers_text(step.n));
  return fmt::format("Tensor(std::vector<{}>{{{}}}, {{.dtype = {}}}){}{}", type,
                     fmt::join(cells, ", "), dtype_text(step.type), shape,
                     step.flag ? ".realize()" : "");
}

std::string cpp_of(const Step& step, std::size_t number, std::size_t call) {
  if (is_write(step)) return fmt::format("  Tensor v{} = {};\n", number, expression(step));
  return fmt::format("  Tensor v{} = {};\n", number,
                     is_input(step) ? input_text(step, call) : expression(step));
}

namespace {

std::string plain_text(const Program& program, const std::vector<Evaluation>& wanted) {
  std::string text;
  std::size_t reads = 0;
  const std::vector<std::size_t> last = last_uses(program);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (!is_request(step))
      text += cpp_of(step, i);
    else
      text += request_text(step, step.kind == "read" ? &wanted[0].reads[reads++] : nullptr);
    if (!program.drops_handles) continue;
    for (std::size_t value = 0; value <= i; ++value)
      if (last[value] == i && !is_request(program.steps[value]))
        text += fmt::format("  v{} = Tensor();\n", value);
  }
  return text;
}

// The arguments of a call of the function, and what it returns.
std::string jit_text(const Program& program, const std::vector<Evaluation>& wanted) {
  std::string before, body, parameters;
  std::vector<std::size_t> arguments;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (is_input(step) && step.is_argument) {
      parameters += fmt::format("{}Tensor v{}", arguments.empty() ? "" : ", ", i);
      arguments.push_back(i);
    } else if (is_kept(step)) {
      before += cpp_of(step, i);
      if (flips_before(program, 1))
        before += fmt::format("  v{0} = v{0}.contiguous().realize();\n", i);
    } else if (step.kind == "read") {
      body += fmt::format("    return std::vector<Tensor>{};\n", operands_text(step));
    } else if (!is_request(step)) {
      body += "  " + cpp_of(step, i);
    }
  }
  // What an earlier call gave stays.
  std::string text = fmt::format(
      "{}  auto f = jit([&]({}) {{\n{}  }});\n  std::vector<Tensor> all;\n"
      "  const auto print = [&](const std::vector<Tensor>& results) {{\n"
      "    all.insert(all.end(), results.begin(), results.end());\n"
      "    for (const Tensor& t : all) std::cout << t.repr() << '\\n';\n  }};\n",
      before, parameters, body);
  for (std::size_t call = 0; call < program.calls; ++call) {
    for (std::size_t i = 0; i < program.steps.size() && flips_before(program, call); ++i)
      if (is_kept(program.steps[i]))
        text += fmt::format(
            "  const Tensor c{0}_{1} = v{0}.clone();\n"
            "  if (v{0}.ndim() > 0) v{0}.assign(v{0}.flip(0));\n"
            "  const Tensor d{0}_{1} = v{0}.clone();\n  v{0}.assign(v{0}.clone());\n",
            i, call);
    std::vector<std::string> given;
    for (const std::size_t i : arguments) given.push_back(input_text(program.steps[i], call));
    text += fmt::format("  print(f({}));\n", fmt::join(given, ",\n      "));
    for (const Array& array : wanted[call].reads.at(0))
      text += fmt::format("  // {}\n", values_text(array));
  }
  return text;
}

std::string gradient_text(const Program& program) {
  const bool is_tracked = tracks(program);
  std::string text, leaves, sum;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (!is_request(step)) text += cpp_of(step, i);
    if (is_input(step) && step.is_argument) {
      if (is_tracked) text += fmt::format("  v{}.set_requires_grad();\n", i);
      leaves += fmt::format("{}v{}", leaves.empty() ? "" : ", ", i);
    }
    if (step.kind == "realize") text += request_text(step, nullptr);
    if (step.kind != "read") continue;
    for (std::size_t k = 0; k < step.operands.size(); ++k)
      sum += fmt::format("{}(v{} * {}).sum()", sum.empty() ? "" : " + ", step.operands[k], k + 1);
  }
  return text + fmt::format(
                    "  for (const Tensor& g : ({}).gradient({{{}}}, {{}}, true)) std::cout << "
                    "g.repr() << '\\n';\n",
                    sum, leaves);
}

}  // namespace

std::string cpp_of(const Program& program) {
  const std::vector<Evaluation> wanted = evaluate(program);
  const std::string body = program.mode == Mode::Jit        ? jit_text(program, wanted)
                           : program.mode == Mode::Gradient ? gradient_text(program)
                                                            : plain_text(program, wanted);
  return "#include <cmath>\n#include <iostream>\n\n#include <weft/jit.h>\n#include "
         "<weft/weft.h>\n\nusing namespace weft;\n\nint main() {\n" +
         body + "}\n";
}

}  // namespace nets
