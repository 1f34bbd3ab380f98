#include "known.h"

#include <algorithm>

namespace nets {
namespace {

struct Known {
  const char* what;
  bool (*is_met)(const Program& program, const std::vector<Array>& values, const Step& step);
};

bool casts_to_itself(const Program&, const std::vector<Array>& values, const Step& step) {
  return step.kind == "cast" && values[step.operands[0]].type == step.type;
}

bool is_plain_write(const Step& step) {
  return step.kind == "scatter" || step.kind == "set" || (step.kind == "index_put" && !step.flag);
}

// Whether a step puts several values to one place. Which place each is for, a gather of numbers says.
bool overwrites(const std::vector<Array>& values, const Step& step) {
  std::vector<Array> numbered = values;
  Array& x = numbered[step.operands[0]];
  x = fresh(Type::I64, x.shape);
  for (std::size_t i = 0; i < x.size(); ++i) x[i].whole = static_cast<std::int64_t>(i) + 1;
  Step read = step;
  read.kind = step.kind == "scatter" ? "gather" : "index_tensors";
  const Array places = evaluate(read, numbered, 0);
  Numbers all;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i].whole != 0) all.push_back(places[i].whole);
  std::ranges::sort(all);
  return std::ranges::adjacent_find(all) != all.end();
}

bool overwrites_by_two_indices(const Program&, const std::vector<Array>& values, const Step& step) {
  if (!is_plain_write(step)) return false;
  const auto count = std::ranges::count_if(step.index, [](const Part& part) {
    return part.form == Part::Form::List || part.form == Part::Form::Array;
  });
  return count > 1 && overwrites(values, step);
}

bool is_written(const Program& program, const std::vector<Array>& values,
                const std::shared_ptr<Storage>& storage) {
  for (const Step& step : program.steps)
    if (is_write(step) && values[step.operands[0]].storage == storage) return true;
  return false;
}

// A jit whose function writes to what it captured, and returns that padded, or looked at in some other way that is
// no view of memory.
bool returns_what_it_wrote(const Program& program, const std::vector<Array>& values,
                           const Step& step) {
  if (program.mode != Mode::Jit || step.kind != "read") return false;
  static const std::vector<std::string> looking{"reshape",
                                                "permute",
                                                "expand",
                                                "shrink",
                                                "flip",
                                                "pad",
                                                "unsqueeze",
                                                "squeeze",
                                                "index",
                                                "repeat",
                                                "repeat_interleave",
                                                "roll",
                                                "unfold",
                                                "diagonal",
                                                "detach",
                                                "max",
                                                "min",
                                                "sum",
                                                "prod",
                                                "any",
                                                "all",
                                                "cumsum",
                                                "cumprod",
                                                "cummax",
                                                "cummin",
                                                "sort",
                                                "trunc",
                                                "floor",
                                                "ceil",
                                                "round",
                                                "topk",
                                                "clone",
                                                "contiguous",
                                                "cast"};
  for (std::size_t value : step.operands)
    while (!is_input(program.steps[value])) {
      const Step& from = program.steps[value];
      if (std::ranges::find(looking, from.kind) == looking.end() && !is_write(from)) break;
      value = from.operands[0];
      const Step& origin = program.steps[value];
      const bool is_lazy = is_input(origin) && !origin.is_argument;
      if (is_lazy || is_written(program, values, values[value].storage)) return true;
    }
  return false;
}

// The values of a scatter, written to before the scatter is asked for.
bool writes_to_source(const Program& program, const std::vector<Array>& values, const Step& step) {
  if (!is_write(step)) return false;
  for (const Step& earlier : program.steps) {
    if (!earlier.kind.starts_with("scatter") && earlier.kind != "index_put") continue;
    for (const std::size_t operand : earlier.operands)
      if (values[operand].storage == values[step.operands[0]].storage) return true;
  }
  return false;
}

// argmax of a repeated extreme.
bool is_place_in_repeated(const Program& program, const std::vector<Array>& values,
                          const Step& step) {
  return step.kind.starts_with("arg") && is_bool(values[step.operands[0]].type) &&
         program.steps[step.operands[0]].kind == "expand";
}

bool reads_nothing_with_gradient(const Program& program, const std::vector<Array>& values,
                                 const Step& step) {
  const bool is_read = step.kind == "take" || step.kind == "gather" || step.kind == "index_tensors";
  return program.mode == Mode::Gradient && is_read && values[step.operands[0]].size() == 0;
}

bool writes_nothing_with_gradient(const Program& program, const std::vector<Array>& values,
                                  const Step& step) {
  if (program.mode != Mode::Gradient || !is_write(step)) return false;
  if (step.index.empty()) return false;
  Step read = step;
  read.kind = "index_tensors";
  return evaluate(read, values, 0).size() == 0;
}

const std::vector<Known>& list() {
  static const std::vector<Known> faults{
      {"a cast to the same dtype shares memory", casts_to_itself},
      {"of values for one place by two indices not the last stays", overwrites_by_two_indices},
      {"a jit returns a padded view of what it assigned to", returns_what_it_wrote},
      {"the source of a scatter is assigned to", writes_to_source},
      {"the gradient of a read at places in nothing kills the program",
       reads_nothing_with_gradient},
      {"a write of no element doubles a gradient", writes_nothing_with_gradient},
      {"argmax of bools that are expanded", is_place_in_repeated},
  };
  return faults;
}

}  // namespace

const char* known_fault(const Program& program, const std::vector<Array>& values,
                        const Step& step) {
  for (const Known& known : list())
    if (known.is_met(program, values, step)) return known.what;
  return nullptr;
}

bool has_known_fault(const Program& program) {
  Program until = program;
  until.steps.clear();
  std::vector<Array> values;
  for (const Step& step : program.steps) {
    if (known_fault(until, values, step) != nullptr) return true;
    until.steps.push_back(step);
    values.push_back(is_request(step) ? Array() : evaluate(step, values, 0));
  }
  return false;
}

}  // namespace nets
