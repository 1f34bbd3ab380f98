// Each kind of step as the oracle computes it.

#include "evaluate.h"

#include <algorithm>

#include "oracle/elementwise.h"
#include "oracle/indexing.h"
#include "oracle/reduce.h"
#include "oracle/windows.h"

namespace nets {

Array Call::number(Type type) const {
  const auto [form, whole, real] = step.number;
  if (form == Literal::Form::Float)
    return scalar(float_like(type), Cell::of_real(rounded(real, float_like(type))));
  if (form == Literal::Form::Bool && is_bool(type)) return scalar(type, Cell::of(whole));
  const Type own = is_bool(type) ? Type::I32 : type;
  want(is_float(own) || wrapped(whole, own) == whole, "a literal beyond the dtype");
  want(!is_unsigned(own) || whole >= 0, "a literal below the dtype");
  return scalar(own, converted(Cell::of(whole), Type::I64, own));
}

Cell Call::filling(Type type) const {
  const auto [form, whole, real] = step.number;
  return form == Literal::Form::Float ? converted(Cell::of_real(real), Type::F64, type)
                                      : converted(Cell::of(whole), Type::I64, type);
}

double Call::real() const {
  return step.number.form == Literal::Form::Float ? step.number.real
                                                  : static_cast<double>(step.number.whole);
}

namespace {

Array input(const Call& call) {
  const Step& step = call.step;
  Array result = fresh(step.type, step.n);
  const std::vector<Cell>& row = step.values.at(is_kept(step) ? 0 : call.call);
  want(row.size() == result.size(), "values of another shape");
  *result.storage = row;
  return result;
}

Array full(const Call& call) {
  const Array result = fresh(call.step.type, call.step.n);
  std::ranges::fill(*result.storage, call.filling(call.step.type));
  return result;
}

Array arange(const Call& call) {
  const auto [start, stop, by] = std::tuple(call.step.i, call.step.j, call.step.k);
  want(by != 0, "no step");
  Numbers numbers;
  for (std::int64_t at = start; by > 0 ? at < stop : at > stop; at += by) numbers.push_back(at);
  Array result = fresh(call.step.type, {static_cast<std::int64_t>(numbers.size())});
  for (std::size_t i = 0; i < numbers.size(); ++i)
    result[i] = converted(Cell::of(numbers[i]), Type::I64, call.step.type);
  return result;
}

// Of x and the number in place of the other operand.
Array with_number(std::string_view name, const Call& call, bool is_first) {
  const Array& x = call[0];
  const Array number = call.number(x.type);
  return is_first ? binary(name, number, x) : binary(name, x, number);
}

// What operators in place give is refused where x would hold less.
Array in_place(const Call& call, std::string_view name, const Array& other) {
  const Array result = binary(name, call[0], other);
  want(!is_float(result.type) || is_float(call[0].type), "floats in integers");
  want(is_bool(result.type) || !is_bool(call[0].type), "numbers in bools");
  return call.written([&](const Array& x) { assign(x, result); });
}

Array sorted_first(const Array& x, const Step& step, bool is_places) {
  const auto [values, places] = sorted(x, step.i, step.flag);
  const Array& whole = is_places ? places : values;
  if (step.kind.starts_with("topk")) {
    Numbers bounds;
    for (const std::int64_t size : whole.shape) bounds.insert(bounds.end(), {0, size});
    bounds[2 * at(axis_in(step.i, x.rank())) + 1] = step.k;
    return copied(shrink(whole, bounds));
  }
  return whole;
}

void add_movement(Rules& rules) {
  rules["input"] = input;
  rules["full"] = full;
  rules["arange"] = arange;
  rules["reshape"] = [](const Call& c) { return reshape(c[0], c.step.n); };
  rules["permute"] = [](const Call& c) { return permute(c[0], c.step.n); };
  rules["expand"] = [](const Call& c) { return expanded(c[0], c.step.n); };
  rules["shrink"] = [](const Call& c) { return shrink(c[0], c.step.n); };
  rules["flip"] = [](const Call& c) { return flip(c[0], c.step.n); };
  rules["pad"] = [](const Call& c) { return pad(c[0], c.step.n, c.filling(c[0].type)); };
  rules["unsqueeze"] = [](const Call& c) { return unsqueeze(c[0], c.step.i); };
  rules["squeeze"] = [](const Call& c) { return squeeze(c[0], c.step.i); };
  rules["index"] = [](const Call& c) { return sliced(c[0], c.step.index); };
  rules["repeat"] = [](const Call& c) { return repeat(c[0], c.step.n); };
  rules["repeat_interleave"] = [](const Call& c) {
    return repeat_interleave(c[0], c.step.j, c.step.i);
  };
  rules["roll"] = [](const Call& c) { return roll(c[0], c.step.j, c.step.i); };
  rules["unfold"] = [](const Call& c) { return unfold(c[0], c.step.i, c.step.j, c.step.k); };
  rules["diagonal"] = [](const Call& c) { return diagonal(c[0], c.step.i); };
  rules["triu"] = [](const Call& c) { return triangle(c[0], c.step.i, true); };
  rules["tril"] = [](const Call& c) { return triangle(c[0], c.step.i, false); };
  rules["cat"] = [](const Call& c) { return cat(c.all(), c.step.i); };
  rules["stack"] = [](const Call& c) { return stack(c.all(), c.step.i); };
  rules["contiguous"] = rules["clone"] = [](const Call& c) { return copied(c[0]); };
  rules["detach"] = [](const Call& c) { return c[0]; };
  rules["cast"] = [](const Call& c) {
    return c[0].type == c.step.type ? c[0] : cast(c[0], c.step.type);
  };
}

void add_elementwise(Rules& rules) {
  for (const char* name : {"neg",   "abs",   "square",   "sqrt",        "relu",       "reciprocal",
                           "rsqrt", "exp",   "exp2",     "log",         "log2",       "sin",
                           "cos",   "tanh",  "sigmoid",  "silu",        "gelu",       "softplus",
                           "erf",   "sign",  "trunc",    "floor",       "ceil",       "round",
                           "isnan", "isinf", "isfinite", "logical_not", "bitwise_not"})
    rules[name] = [name](const Call& c) { return unary(name, c[0]); };
  for (const char* name : {"add",         "sub",        "mul",         "div",        "floordiv",
                           "mod",         "fmod",       "div_trunc",   "pow",        "maximum",
                           "minimum",     "lt",         "le",          "gt",         "ge",
                           "eq",          "ne",         "logical_and", "logical_or", "logical_xor",
                           "bitwise_and", "bitwise_or", "bitwise_xor", "lshift",     "rshift"}) {
    const std::string own = name;
    rules[own] = [name](const Call& c) { return binary(name, c[0], c[1]); };
    rules[own + "_number"] = [name](const Call& c) { return with_number(name, c, false); };
    rules["number_" + own] = [name](const Call& c) { return with_number(name, c, true); };
    rules["i" + own] = [name](const Call& c) { return in_place(c, name, c[1]); };
    rules["i" + own + "_number"] = [name](const Call& c) {
      return in_place(c, name, c.number(c[0].type));
    };
  }
  rules["where"] = [](const Call& c) { return where(c[0], c[1], c[2]); };
  rules["where_number"] = [](const Call& c) { return where(c[0], c[1], c.number(c[1].type)); };
  rules["masked_fill"] = [](const Call& c) {
    return where(c[1], scalar(c[0].type, c.filling(c[0].type)), c[0]);
  };
  rules["clamp"] = [](const Call& c) {
    const Array least = scalar(c[0].type, converted(Cell::of(c.step.i), Type::I64, c[0].type));
    const Array most = scalar(c[0].type, converted(Cell::of(c.step.j), Type::I64, c[0].type));
    const Array above = where(binary("le", c[0], least), least, c[0]);
    return where(binary("ge", above, most), most, above);
  };
}

void add_reductions(Rules& rules) {
  for (const char* name :
       {"sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "logsumexp"})
    rules[name] = [name](const Call& c) {
      return reduced(name, c[0], c.step.n, c.step.flag, c.step.k);
    };
  rules["count_nonzero"] = [](const Call& c) {
    return reduced("sum", cast(c[0], Type::Bool), c.step.n, false);
  };
  for (const char* name : {"argmax", "argmin"}) {
    rules[name] = [name](const Call& c) {
      return extreme_place(name, c[0], c.step.i, c.step.flag);
    };
    rules[std::string(name) + "_all"] = [name](const Call& c) {
      return extreme_place(name, reshape(c[0], {static_cast<std::int64_t>(c[0].size())}), 0, false);
    };
  }
  for (const char* name : {"cumsum", "cumprod", "cummax", "cummin"})
    rules[name] = [name](const Call& c) { return scanned(name, c[0], c.step.i); };
  rules["softmax"] = [](const Call& c) { return softmax(c[0], c.step.i, false); };
  rules["log_softmax"] = [](const Call& c) { return softmax(c[0], c.step.i, true); };
  rules["layernorm"] = [](const Call& c) { return layernorm(c[0], c.step.n, 1e-5); };
  for (const char* name : {"sort", "topk"}) {
    rules[name] = [](const Call& c) { return sorted_first(c[0], c.step, false); };
    rules[std::string(name) + "_places"] = [](const Call& c) {
      return sorted_first(c[0], c.step, true);
    };
  }
  rules["argsort"] = [](const Call& c) { return sorted_first(c[0], c.step, true); };
  rules["matmul"] = [](const Call& c) { return matmul(c[0], c[1]); };
  rules["conv"] = [](const Call& c) {
    return conv(c[0], c[1], c.step.i, c.step.j, c.step.n.at(0), c.step.k);
  };
  rules["max_pool"] = [](const Call& c) { return max_pool(c[0], c.step.n, c.step.j, c.step.k); };
  rules["avg_pool"] = [](const Call& c) { return avg_pool(c[0], c.step.n, c.step.j, c.step.k); };
}

void add_indexing(Rules& rules) {
  rules["index_tensors"] = [](const Call& c) {
    return read(c[0], selected(c[0], c.step.index, c.all(0)));
  };
  rules["take"] = [](const Call& c) { return take(c[0], c[1], c.step.i); };
  rules["gather"] = [](const Call& c) { return gather(c[0], c.step.i, c[1]); };
  for (const auto& [name, op] : {std::pair{"scatter", "put"}, {"scatter_add", "add"}}) {
    rules[name] = [op](const Call& c) {
      return scattered(c[0], c.step.i, c[1], cast(c[2], c[0].type), op);
    };
    rules[std::string(name) + "_number"] = [op](const Call& c) {
      return scattered(c[0], c.step.i, c[1], scalar(c[0].type, c.filling(c[0].type)), op);
    };
  }
  for (const auto& [name, op] :
       {std::pair{"sum", "add"}, {"prod", "mul"}, {"amax", "maximum"}, {"amin", "minimum"}})
    rules[std::string("scatter_") + name] = [op](const Call& c) {
      return scattered(c[0], c.step.i, c[1], cast(c[2], c[0].type), op);
    };
  rules["index_put"] = [](const Call& c) {
    const Array result = copied(c[0]);
    write(result, selected(c[0], c.step.index, c.all(0)), c[1], c.step.flag ? "add" : "");
    return result;
  };
  rules["set"] = [](const Call& c) {
    return c.written([&](const Array& x) { write(x, selected(x, c.step.index, c.all(0)), c[1]); });
  };
  rules["set_number"] = [](const Call& c) {
    return c.written([&](const Array& x) {
      write(x, selected(x, c.step.index, c.all(0)), scalar(x.type, c.filling(x.type)));
    });
  };
  rules["assign"] = [](const Call& c) {
    return c.written([&](const Array& x) { assign(x, c[1]); });
  };
  rules["assign_number"] = [](const Call& c) {
    return c.written([&](const Array& x) { assign(x, scalar(x.type, c.filling(x.type))); });
  };
}

const Rules& all_rules() {
  static const auto rules = [] {
    Rules result;
    add_movement(result);
    add_elementwise(result);
    add_reductions(result);
    add_indexing(result);
    add_functions(result);
    add_shapes(result);
    add_statistics(result);
    add_networks(result);
    return result;
  }();
  return rules;
}

}  // namespace

bool is_write(const Step& step) {
  static const std::vector<std::string> kinds{"set", "set_number", "set_mask", "assign",
                                              "assign_number"};
  if (std::ranges::find(kinds, step.kind) != kinds.end()) return true;
  // "iadd" ... but not "index" or "isnan".
  return step.kind.starts_with("i") && all_rules().contains("number_" + [&] {
    const std::string name = step.kind.substr(1);
    return name.ends_with("_number") ? name.substr(0, name.size() - 7) : name;
  }());
}

void want_allowed(const Program& program, const std::vector<Array>& values, const Step& step) {
  if (!is_write(step)) return;
  for (std::size_t i = 0; i < values.size(); ++i)
    want(!program.steps[i].is_argument || values[i].storage != values[step.operands[0]].storage,
         "a write to an argument");
}

Array evaluate(const Step& step, const std::vector<Array>& values, std::size_t call) {
  const auto rule = all_rules().find(step.kind);
  if (rule == all_rules().end()) throw std::logic_error("no step " + step.kind);
  return rule->second({step, values, call});
}

namespace {

void flip_rows(Array& x) {
  const Array before = copied(x);
  const std::size_t rows = x.rank() == 0 ? 1 : at(x.shape[0]);
  const std::size_t width = x.size() == 0 ? 0 : x.size() / rows;
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = before[(rows - 1 - i / width) * width + i % width];
}

}  // namespace

std::vector<Evaluation> evaluate(const Program& program) {
  std::vector<Evaluation> calls;
  for (std::size_t call = 0; call < program.calls; ++call) {
    Evaluation now;
    if (flips_before(program, call))
      for (std::size_t i = 0; i < program.steps.size(); ++i)
        if (is_kept(program.steps[i])) {
          now.flipped.push_back(copied(calls[0].values[i]));
          flip_rows(calls[0].values[i]);
        }
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const Step& step = program.steps[i];
      if (is_request(step)) {
        now.values.emplace_back();
        if (step.kind != "read") continue;
        now.reads.emplace_back();
        for (const std::size_t operand : step.operands)
          now.reads.back().push_back(copied(now.values[operand]));
      } else if (call > 0 && is_kept(step)) {
        now.values.push_back(calls[0].values[i]);
      } else {
        want_allowed(program, now.values, step);
        now.values.push_back(evaluate(step, now.values, call));
      }
    }
    calls.push_back(std::move(now));
  }
  return calls;
}

bool tracks(const Program& program) {
  return std::ranges::any_of(program.steps,
                             [](const Step& step) { return step.kind == "realize"; });
}

std::vector<std::size_t> last_uses(const Program& program) {
  std::vector<std::size_t> last(program.steps.size());
  for (std::size_t i = 0; i < last.size(); ++i) {
    last[i] = i;
    for (const std::size_t operand : program.steps[i].operands) last[operand] = i;
  }
  return last;
}

std::uint64_t checksum_of(const Program& program) {
  std::uint64_t sum = 1469598103934665603u;
  const auto add = [&](std::uint64_t value) { sum = (sum ^ value) * 1099511628211u; };
  for (const Evaluation& call : evaluate(program))
    for (const std::vector<Array>& read : call.reads)
      for (const Array& array : read) {
        add(static_cast<std::uint64_t>(array.type));
        for (const std::int64_t size : array.shape) add(static_cast<std::uint64_t>(size));
        for (std::size_t i = 0; i < array.size(); ++i) {
          const Cell& cell = array[i];
          add(cell.error == 0);
          // What is not exact may differ by the mathematical library.
          if (cell.error > 0) continue;
          const bool is_zero = is_float(array.type) && cell.real == 0;
          const bool is_nan = is_float(array.type) && std::isnan(cell.real);
          add(is_zero ? 0 : is_nan ? 1 : static_cast<std::uint64_t>(cell.whole));
        }
      }
  return sum;
}

}  // namespace nets
