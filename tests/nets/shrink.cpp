#include "shrink.h"

#include <algorithm>
#include <set>

namespace nets {
namespace {

using Fails = std::function<bool(const Program&)>;

// Invalid programs fail in their own way.
bool still_fails(const Program& program, const Fails& fails) {
  if (std::ranges::none_of(program.steps, [](const Step& step) { return step.kind == "read"; }))
    return false;
  try {
    evaluate(program);
  } catch (const std::exception&) {
    return false;
  }
  return fails(program);
}

// Without what no read and no write to something read needs.
Program without_dead(const Program& program) {
  const std::size_t count = program.steps.size();
  std::vector<bool> is_needed(count);
  for (std::size_t i = count; i-- > 0;) {
    const Step& step = program.steps[i];
    is_needed[i] = is_needed[i] || is_request(step) || is_write(step);
    if (is_needed[i])
      for (const std::size_t operand : step.operands) is_needed[operand] = true;
  }
  std::vector<std::size_t> moved(count);
  Program result = program;
  result.steps.clear();
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_needed[i]) continue;
    moved[i] = result.steps.size();
    result.steps.push_back(program.steps[i]);
    for (std::size_t& operand : result.steps.back().operands) operand = moved[operand];
  }
  return result;
}

class Shrinker {
 public:
  Shrinker(Program program, const Fails& fails) : best_(std::move(program)), fails_(fails) {}

  Program run() {
    for (bool is_smaller = true; is_smaller && tries_ < most_tries;) {
      is_smaller = false;
      is_smaller |= try_all(&Shrinker::drop_requests);
      is_smaller |= try_all(&Shrinker::bypass);
      is_smaller |= try_all(&Shrinker::cut);
      is_smaller |= try_all(&Shrinker::drop_operands);
      is_smaller |= try_sizes();
      is_smaller |= try_all(&Shrinker::plain_values);
      is_smaller |= try_calls();
    }
    return best_;
  }

 private:
  static constexpr int most_tries = 3000;

  // Keeps a candidate that fails.
  bool keep(const Program& candidate) {
    if (++tries_ > most_tries) return false;
    const Program alive = without_dead(candidate);
    if (!still_fails(alive, fails_)) return false;
    best_ = alive;
    return true;
  }

  // Each edit at each step, from the last one.
  bool try_all(std::vector<Program> (Shrinker::*edits)(std::size_t) const) {
    bool is_smaller = false;
    for (std::size_t i = best_.steps.size(); i-- > 0;) {
      if (i >= best_.steps.size()) continue;
      for (const Program& candidate : (this->*edits)(i))
        if (keep(candidate)) {
          is_smaller = true;
          break;
        }
    }
    return is_smaller;
  }

  std::vector<Program> drop_requests(std::size_t i) const {
    if (!is_request(best_.steps[i])) return {};
    Program program = best_;
    program.steps.erase(program.steps.begin() + static_cast<std::ptrdiff_t>(i));
    for (Step& step : program.steps)
      for (std::size_t& operand : step.operands)
        if (operand > i) --operand;
    std::vector<Program> result{program};
    if (best_.steps[i].kind == "read") {
      result.push_back(best_);
      result.back().steps[i].kind = "realize";
    }
    return result;
  }

  std::vector<Program> drop_operands(std::size_t i) const {
    const Step& step = best_.steps[i];
    if (!(is_request(step) || step.kind == "cat" || step.kind == "stack") ||
        step.operands.size() < 2)
      return {};
    std::vector<Program> result;
    for (std::size_t k = 0; k < step.operands.size(); ++k) {
      result.push_back(best_);
      auto& operands = result.back().steps[i].operands;
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(k));
    }
    return result;
  }

  // Uses of the step take an operand instead, or another value; an effect is left out.
  std::vector<Program> bypass(std::size_t i) const {
    if (is_request(best_.steps[i])) return {};
    std::vector<Program> result;
    std::vector<std::size_t> others = best_.steps[i].operands;
    std::ranges::sort(others);
    others.erase(std::ranges::unique(others).begin(), others.end());
    for (const std::size_t other : others) {
      Program program = best_;
      for (std::size_t k = i + 1; k < program.steps.size(); ++k)
        for (std::size_t& operand : program.steps[k].operands)
          if (operand == i) operand = other;
      // Where it writes, it would stay.
      if (is_write(best_.steps[i])) program.steps[i] = {.kind = "detach", .operands = {other}};
      result.push_back(program);
    }
    return result;
  }

  // The step becomes an input that holds what the oracle computes.
  std::vector<Program> cut(std::size_t i) const {
    const Step& step = best_.steps[i];
    if (is_request(step) || is_input(step) || is_write(step)) return {};
    Program until = best_;
    until.steps.resize(i + 1);
    until.steps.push_back({.kind = "read", .operands = {i}});
    Program program = best_;
    Step& input = program.steps[i];
    std::vector<Evaluation> now;
    try {
      now = evaluate(until);
    } catch (const std::exception&) {
      return {};
    }
    input = {.kind = "input", .n = now[0].values[i].shape, .type = now[0].values[i].type};
    input.is_argument = program.mode == Mode::Jit;
    for (const Evaluation& call : now) {
      std::vector<Cell> row;
      for (std::size_t k = 0; k < call.values[i].size(); ++k) {
        row.push_back(call.reads.back()[0][k]);
        if (row.back().error > 0) return {};
      }
      input.values.push_back(row);
    }
    if (is_kept(input)) input.values.resize(1);
    return {program};
  }

  std::vector<Program> plain_values(std::size_t i) const {
    const Step& step = best_.steps[i];
    if (!is_input(step)) return {};
    std::vector<Program> result;
    const auto with = [&](auto value) {
      Program program = best_;
      bool is_other = false;
      for (auto& row : program.steps[i].values)
        for (std::size_t k = 0; k < row.size(); ++k) {
          const Cell cell = is_float(step.type) ? Cell::of_real(value(k)) : Cell::of(value(k));
          is_other |= cell.whole != row[k].whole;
          row[k] = cell;
        }
      if (is_other) result.push_back(program);
    };
    with([](std::size_t) { return 0; });
    with([](std::size_t) { return 1; });
    if (!is_bool(step.type) && !simplified_.contains(i))
      with([](std::size_t k) { return static_cast<int>(k % 100) + 1; });
    if (step.flag) {
      result.push_back(best_);
      result.back().steps[i].flag = false;
    }
    // Steps of constants that are told by their form.
    simplified_.insert(i);
    return result;
  }

  // A size becomes another wherever it stands. What does not fit is no program.
  bool try_sizes() {
    bool is_smaller = false;
    Numbers sizes;
    for (const Step& step : best_.steps)
      if (is_input(step) || step.kind == "full")
        sizes.insert(sizes.end(), step.n.begin(), step.n.end());
    std::ranges::sort(sizes, std::greater<>());
    sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
    for (const std::int64_t size : sizes)
      for (const std::int64_t less : {std::int64_t{1}, std::int64_t{2}, size / 2, size - 1})
        if (less > 0 && less < size && keep(resized(size, less))) {
          is_smaller = true;
          break;
        }
    return is_smaller;
  }

  Program resized(std::int64_t size, std::int64_t less) const {
    Program program = best_;
    for (Step& step : program.steps) {
      const Numbers before = step.n;
      for (std::int64_t& n : step.n)
        if (n == size) n = less;
      for (Part& part : step.index) {
        if (part.stop == size) part.stop = less;
        for (std::int64_t& at : part.list) at = std::min(at, less - 1);
      }
      if (!is_input(step) || step.n == before) continue;
      for (auto& row : step.values) {
        std::vector<Cell> smaller;
        for (std::size_t i = 0; i < at(count_of(step.n)); ++i)
          smaller.push_back(row[position(coordinates_of(i, step.n), before)]);
        row = smaller;
      }
    }
    return program;
  }

  bool try_calls() {
    bool is_smaller = false;
    if (best_.calls > 1) {
      Program program = best_;
      --program.calls;
      is_smaller |= keep(program);
    }
    if (best_.drops_handles) {
      Program program = best_;
      program.drops_handles = false;
      is_smaller |= keep(program);
    }
    return is_smaller;
  }

  Program best_;
  const Fails& fails_;
  mutable std::set<std::size_t> simplified_;  // inputs that have been numbered
  int tries_ = 0;
};

}  // namespace

Program shrink(const Program& program, const Fails& fails) {
  return Shrinker(program, fails).run();
}

}  // namespace nets
