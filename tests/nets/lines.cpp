// Programs as lines of words, which check_oracle.py reads:
//
//   program SEED CALLS
//   NUMBER KIND operands=0,1 n=2,3 i=0 ... type=f32 number=f:0.5 index=at:1;slice:0::2;array:1 flag=1
//   values NUMBER CALL CELLS                       what an input holds
//   read CALL NUMBER TYPE SHAPE CELL~ERROR ...     what the oracle found; ? for what is open

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "program.h"

namespace nets {
namespace {

std::string part_text(const Part& part) {
  const auto or_nothing = [](const std::optional<std::int64_t>& at) {
    return at ? std::to_string(*at) : "";
  };
  switch (part.form) {
    case Part::Form::At: return fmt::format("at:{}", part.number);
    case Part::Form::NewAxis: return "newaxis";
    case Part::Form::Ellipsis: return "ellipsis";
    case Part::Form::List: return fmt::format("list:{}", fmt::join(part.list, ","));
    case Part::Form::Array: return fmt::format("array:{}", part.operand);
    case Part::Form::Slice: break;
  }
  return fmt::format("slice:{}:{}:{}", or_nothing(part.start), or_nothing(part.stop), part.step);
}

std::string step_line(const Step& step, std::size_t number) {
  std::vector<std::string> parts;
  for (const Part& part : step.index) parts.push_back(part_text(part));
  const bool is_real = step.number.form == Literal::Form::Float;
  return fmt::format(
      "{} {} operands={} n={} i={} j={} k={} flag={:d} type={} number={} index={}\n", number,
      step.kind, fmt::join(step.operands, ","), fmt::join(step.n, ","), step.i, step.j, step.k,
      step.flag, name_of(step.type),
      is_real ? fmt::format("f:{}", step.number.real) : fmt::format("i:{}", step.number.whole),
      fmt::join(parts, ";"));
}

std::string read_line(std::size_t call, std::size_t number, const Array& array) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < array.size(); ++i)
    cells.push_back(array[i].is_unknown() ? "?"
                    : array[i].error == 0
                        ? text_of(array[i], array.type)
                        : fmt::format("{}~{}", text_of(array[i], array.type), array[i].error));
  return fmt::format("read {} {} {} ({}) {}\n", call, number, name_of(array.type),
                     fmt::join(array.shape, ","), fmt::join(cells, " "));
}

}  // namespace

std::string lines_of(const Program& program) {
  std::string text = fmt::format("program {} {}\n", program.seed, program.calls);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    text += step_line(step, i);
    for (std::size_t call = 0; call < step.values.size(); ++call) {
      std::vector<std::string> cells;
      for (const Cell& cell : step.values[call]) cells.push_back(text_of(cell, step.type));
      text += fmt::format("values {} {} {}\n", i, call, fmt::join(cells, " "));
    }
  }
  std::size_t call = 0;
  for (const Evaluation& evaluation : evaluate(program)) {
    std::size_t reads = 0;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      if (program.steps[i].kind != "read") continue;
      for (const Array& array : evaluation.reads[reads]) text += read_line(call, i, array);
      ++reads;
    }
    ++call;
  }
  return text + "end\n";
}

}  // namespace nets
