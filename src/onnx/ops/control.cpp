#include <algorithm>

#include <fmt/format.h>

#include "tables.h"

namespace weft::onnx {
namespace {

// Of a loop, and of those iterations whose graphs come one behind the other.
constexpr std::int64_t most_iterations = std::int64_t(1) << 20, most_unrolled = std::int64_t(1)
                                                                                << 16;

Values if_(const Call& call) {
  return call.run(call.is_true(call.value(0)) ? "then_branch" : "else_branch", {});
}

// --- What loops collect ---------------------------------------------------------------------------

// Lists of values: one for each output that a body gives in every iteration.
using Collected = std::vector<Values>;

void collect(const Call& call, const Values& outputs, std::size_t from, Collected& to) {
  if (to.empty() && outputs.size() > from) to.resize(outputs.size() - from);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (outputs.size() != from + to.size())
      call.refuse("its graph gives fewer outputs than before");
    to[i].push_back(outputs[from + i]);
  }
}

// Along a new axis 0.
Tensor stacked(const Values& list) {
  std::vector<Tensor> tensors;
  for (const Value& each : list) tensors.push_back(each.tensor());
  return Tensor::stack(tensors);
}

// The same, of strings as well.
Value together(const Call& call, const Values& list) {
  if (!list[0].is_text()) return stacked(list);
  const std::vector<std::int64_t>& shape = list[0].text().shape;
  Text all{{std::ssize(list)}, {}};
  all.shape.insert(all.shape.end(), shape.begin(), shape.end());
  for (const Value& each : list) {
    const Text& one = each.text();
    if (one.shape != shape) call.refuse("its graph gives strings of several shapes");
    all.values.insert(all.values.end(), one.values.begin(), one.values.end());
  }
  return all;
}

// Of no iterations: what one would give, without an element of it.
Value none_of(const Call& call, const Value& one) {
  const Value list = together(call, {one});
  if (!list.is_text()) return list.tensor().slice(0, {.stop = 0});
  Text none{list.text().shape, {}};
  none.shape[0] = 0;
  return none;
}

// --- Loop -----------------------------------------------------------------------------------------

// What an iteration gives: whether there is another, what it hands on, and what is collected.
Values loop(const Call& call) {
  std::int64_t iterations = std::numeric_limits<std::int64_t>::max();
  if (call.has(0)) iterations = call.integer(0);
  Value condition = call.has(1) ? call.value(1) : Value::known({1}, true, dtypes::bool_);
  Values state;
  for (std::size_t i = 2; i < call.inputs(); ++i) state.push_back(call.value(i));
  const auto given = [&](std::int64_t iteration) {
    Values inputs{Value::known({iteration}, true), condition};
    inputs.insert(inputs.end(), state.begin(), state.end());
    return inputs;
  };
  Collected collected;
  std::int64_t iteration = 0, unrolled = 0;
  for (; iteration < iterations && call.is_true(condition); ++iteration, ++unrolled) {
    if (iteration == most_iterations || unrolled == most_unrolled)
      call.refuse(fmt::format("it runs more than {} iterations", iteration));
    Values outputs = call.run("body", given(iteration));
    if (outputs.size() <= state.size()) call.refuse("its graph gives fewer outputs than it needs");
    condition = outputs[0];
    std::copy_n(outputs.begin() + 1, state.size(), state.begin());
    collect(call, outputs, 1 + state.size(), collected);
    if (condition.known() == nullptr) {  // once, and not anew in each iteration
      call.realize(outputs);
      unrolled = 0;
    }
  }
  Values results = state;
  for (const Values& list : collected) results.push_back(together(call, list));
  if (iteration == 0 && call.outputs() > state.size()) {
    const Values outputs = call.run("body", given(0));
    for (std::size_t i = 1 + state.size(); i < outputs.size(); ++i)
      results.push_back(none_of(call, outputs[i]));
  }
  return results;
}

// --- Scan -----------------------------------------------------------------------------------------

// Where an input is cut or an output put together.
struct Along {
  std::int64_t axis = 0;
  bool is_reverse = false;
};

std::vector<Along> along(const Call& call, const char* axes, const char* directions,
                         std::size_t count) {
  std::vector<Along> all(count);
  const auto numbers = [&](const char* name) {
    auto list = call.attr(name, std::vector<std::int64_t>(count, 0));
    if (list.size() != count)
      call.refuse(fmt::format("attribute '{}' has {} numbers where {} are expected", name,
                              list.size(), count));
    return list;
  };
  const auto places = numbers(axes), turns = numbers(directions);
  for (std::size_t i = 0; i < count; ++i) all[i] = {places[i], turns[i] != 0};
  return all;
}

struct Scanned {
  Values state;
  Collected lists;
};

Scanned scanned(const Call& call, Values state, const std::vector<Tensor>& inputs,
                const std::vector<Along>& how, std::int64_t length) {
  const auto given = [&](std::int64_t iteration) {
    Values all = state;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      all.emplace_back(
          inputs[i].select(how[i].axis, how[i].is_reverse ? length - 1 - iteration : iteration));
    return all;
  };
  if (length > most_unrolled)
    call.refuse(fmt::format("it runs more than {} iterations", most_unrolled));
  Collected collected;
  for (std::int64_t iteration = 0; iteration < length; ++iteration) {
    const Values outputs = call.run("body", given(iteration));
    if (outputs.size() < state.size()) call.refuse("its graph gives fewer outputs than it needs");
    collect(call, outputs, state.size(), collected);
    std::copy_n(outputs.begin(), state.size(), state.begin());
  }
  return {std::move(state), std::move(collected)};
}

struct ScanInputs {
  Values state;
  std::vector<Tensor> lists;
};

ScanInputs scan_inputs(const Call& call, std::size_t first) {
  const auto lists = call.attr<std::int64_t>("num_scan_inputs");
  const auto rest = static_cast<std::int64_t>(call.inputs() - std::min(call.inputs(), first));
  if (lists < 1 || lists > rest)
    call.refuse(fmt::format("{} of its {} inputs are to be scanned", lists, rest));
  ScanInputs result;
  const std::size_t from = call.inputs() - static_cast<std::size_t>(lists);
  for (std::size_t i = first; i < from; ++i) result.state.push_back(call.value(i));
  result.lists = call.tensors(from);
  return result;
}

Values scan(const Call& call) {
  auto [state, lists] = scan_inputs(call, 0);
  auto how = along(call, "scan_input_axes", "scan_input_directions", lists.size());
  const std::int64_t length = lists[0].size(how[0].axis);
  for (std::size_t i = 0; i < lists.size(); ++i)
    if (lists[i].size(how[i].axis) != length)
      call.refuse(fmt::format("an input is {} long where the first is {}",
                              lists[i].size(how[i].axis), length));
  if (length == 0) call.refuse("there is nothing to scan");
  const std::size_t states = state.size();
  Scanned found = scanned(call, std::move(state), lists, how, length);
  Values results = found.state;
  const auto out = along(call, "scan_output_axes", "scan_output_directions", found.lists.size());
  for (std::size_t i = 0; i < found.lists.size(); ++i) {
    if (out[i].is_reverse) std::ranges::reverse(found.lists[i]);
    const Value list = together(call, found.lists[i]);
    results.push_back(out[i].axis == 0 ? list : list.tensor().moveaxis(0, out[i].axis));
  }
  if (results.size() < states) call.refuse("its graph gives fewer outputs than it needs");
  return results;
}

// The first form: a batch along axis 0 of everything, each as long as is said, and the scan along axis 1.
Values scan_batch(const Call& call) {
  const auto [state, lists] = scan_inputs(call, 1);
  std::vector<Along> how(lists.size());
  const auto directions = call.attr("directions", std::vector<std::int64_t>(lists.size(), 0));
  if (directions.size() != lists.size()) call.refuse("'directions' are not as many as inputs");
  for (std::size_t i = 0; i < how.size(); ++i) how[i].is_reverse = directions[i] != 0;
  const std::int64_t batch = lists[0].size(0), longest = lists[0].size(1);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(batch), longest);
  if (call.has(0)) lengths = call.ints(0);
  if (std::int64_t(lengths.size()) != batch || batch == 0)
    call.refuse(fmt::format("{} lengths for a batch of {}", lengths.size(), batch));
  std::vector<std::vector<Tensor>> outputs;
  for (std::int64_t row = 0; row < batch; ++row) {
    const std::int64_t length = lengths[static_cast<std::size_t>(row)];
    if (length < 1 || length > longest)
      call.refuse(fmt::format("a length of {} where there are {}", length, longest));
    Values own;
    for (const Value& each : state) own.emplace_back(each.tensor().select(0, row));
    std::vector<Tensor> parts;
    for (const Tensor& list : lists) parts.push_back(list.select(0, row).narrow(0, 0, length));
    const Scanned found = scanned(call, std::move(own), parts, how, length);
    std::vector<Tensor> all;
    for (const Value& each : found.state) all.push_back(each.tensor());
    for (const Values& each : found.lists) {
      const Tensor list = stacked(each);
      Tensor::Bounds widths(static_cast<std::size_t>(list.ndim()), {0, 0});
      widths[0].second = longest - length;
      all.push_back(list.pad(widths));
    }
    outputs.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) outputs[i].push_back(all[i]);
  }
  Values results;
  for (const auto& rows : outputs) results.emplace_back(Tensor::stack(rows));
  return results;
}

// --- SequenceMap ----------------------------------------------------------------------------------

Values sequence_map(const Call& call) {
  const std::size_t count = call.sequence(0).size();
  std::vector<Sequence> results(call.outputs());
  for (std::size_t at = 0; at < count; ++at) {
    Values given;
    for (std::size_t i = 0; i < call.inputs(); ++i) {
      const Value& input = call.value(i);
      if (input.is_sequence() && input.sequence().size() != count)
        call.refuse(
            fmt::format("a sequence of {} beside one of {}", input.sequence().size(), count));
      given.push_back(input.is_sequence() ? input.sequence()[at] : input);
    }
    const Values outputs = call.run("body", given);
    if (outputs.size() < results.size()) call.refuse("its graph gives fewer outputs than it needs");
    for (std::size_t i = 0; i < results.size(); ++i) results[i].push_back(outputs[i]);
  }
  return {results.begin(), results.end()};
}

}  // namespace

OpTable control_ops() {
  static const Op ops[] = {
      {"If", 1, if_},
      {"Loop", 1, loop},
      {"Scan", 8, scan_batch},
      {"Scan", 9, scan},
      {"SequenceMap", 17, sequence_map},
  };
  return {"", ops};
}

}  // namespace weft::onnx
