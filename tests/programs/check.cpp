#include "check.h"

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/engine/realize.h>
#include <weft/dev/engine/storage.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "../support/arrays.h"

namespace weft {
namespace {

constexpr std::size_t few = 4, many = 60;

std::vector<Bits> values_in(const Node* buffer) {
  const auto memory = memory_of(buffer);
  std::vector<std::byte> bytes(memory->bytes() + 1);
  if (memory->is_allocated()) memory->copy_out({bytes.data(), memory->bytes()});
  return loaded(bytes, memory->bytes() / buffer->dtype().bytes(), buffer->dtype());
}

void set_buffers(Eager& eager, const Node* root) {
  for (const Node* node : toposort(root)) {
    if (node->op() != Op::Buffer) continue;
    Array array{{}, values_in(node)};
    for (const Node* size : node->dims()) array.sizes.push_back(size->lo());
    eager.set(UOp(node), array);
  }
}

std::vector<std::vector<Bits>> run(const Script& program, const Variant& variant) {
  const Context context{{"DEV", variant.device},
                        {"NOOPT", variant.noopt},
                        {"CLANG", variant.clang},
                        {"IN_PLACE", variant.in_place},
                        {"SKIP", variant.skip},
                        {"CACHE_DIR", "none"},
                        {"CHECK", 0}};
  const std::vector<Tensor> tensors = build(program, [&](const Tensor& tensor) {
    if (variant.realize_each) tensor.realize();
  });
  std::vector<Tensor> outputs;
  for (std::size_t output : program.outputs) outputs.push_back(tensors[output]);
  Tensor::realize(outputs);
  for (Tensor& output : outputs)
    if (are_several(output.device())) output = output.to("CPU");
  std::vector<Wanted> whole;
  for (const Tensor& output : outputs)
    whole.push_back({make(Op::Contiguous, {output.uop()}), Symbol(output.device())});
  std::vector<std::vector<Bits>> results;
  for (const UOp& result : realize(whole)) results.push_back(values_in(result.node()));
  return results;
}

bool same(Bits a, Bits b, DType dtype) {
  return a == b || (dtype.is_float() && std::isnan(double_from_bits(a, dtype)) &&
                    std::isnan(double_from_bits(b, dtype)));
}

}  // namespace

Expected::Expected(const Script& program) : outputs_(program.outputs) {
  // Checks would run what assigns, and the graphs have no tensors that keep what was there before.
  const Context context{{"DEV", "INTERP"}, {"CHECK", 0}};
  const std::vector<Tensor> tensors =
      build(program, [&](const Tensor& tensor) { graphs_.push_back(tensor.uop()); });
  // What an assignment changes later is an output as it is in the end.
  for (std::size_t output : outputs_) graphs_[output] = tensors[output].uop();
  draw(few);
}

void Expected::draw(std::size_t samples) {
  while (samples_.size() < samples) {
    Eager exact;
    Perturbed perturbed(samples_.size());
    Eager& eager = samples_.empty() ? exact : perturbed;
    samples_.emplace_back();
    for (const UOp& graph : graphs_) set_buffers(eager, graph.node());
    for (const UOp& graph : graphs_) perturbed.look_at(graph.node());
    for (const UOp& graph : graphs_) samples_.back().push_back(eager(graph.node()));
  }
}

bool Expected::agree(std::size_t instruction, std::size_t element) const {
  const auto value = [&](const auto& sample) { return sample[instruction].values[element]; };
  return std::ranges::all_of(samples_, [&](const auto& sample) {
    return same(value(sample), value(samples_[0]), dtype(instruction));
  });
}

bool Expected::is_possible(std::size_t instruction, std::size_t element, Bits found) const {
  const DType dtype = this->dtype(instruction);
  if (agree(instruction, element))
    return same(found, samples_[0][instruction].values[element], dtype);
  if (!dtype.is_float()) return true;
  double lo = INFINITY, hi = -INFINITY;
  for (const auto& sample : samples_) {
    const double value = double_from_bits(sample[instruction].values[element], dtype);
    if (!std::isfinite(value)) return true;
    lo = std::min(lo, value), hi = std::max(hi, value);
  }
  const double value = double_from_bits(found, dtype), room = 3 * (hi - lo);
  return lo - room <= value && value <= hi + room;
}

std::optional<std::string> Expected::complaint(std::size_t output, const std::vector<Bits>& found) {
  const std::size_t instruction = outputs_[output];
  const std::vector<Bits>& expected = samples_[0][instruction].values;
  if (found.size() != expected.size())
    return fmt::format("v{} has {} elements, not {}", instruction, found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (is_possible(instruction, i, found[i])) continue;
    draw(many);
    if (is_possible(instruction, i, found[i])) continue;
    const DType dtype = this->dtype(instruction);
    return fmt::format("element {} of v{} is {} ({:#x}), not {} ({:#x})", i, instruction,
                       double_from_bits(found[i], dtype), found[i],
                       double_from_bits(expected[i], dtype), expected[i]);
  }
  return {};
}

std::pair<std::size_t, std::size_t> Expected::certain() const {
  std::size_t certain = 0, all = 0;
  for (std::size_t output : outputs_)
    for (std::size_t i = 0; i < value(output).values.size(); ++i, ++all)
      certain += agree(output, i) ? 1 : 0;
  return {certain, all};
}

std::optional<Fault> find_fault(const Script& program, Expected& expected,
                                std::span<const Variant> variants) {
  for (const Variant& variant : variants) {
    try {
      const auto results = run(program, variant);
      for (std::size_t i = 0; i < results.size(); ++i)
        if (const auto complaint = expected.complaint(i, results[i]))
          return Fault{variant, *complaint};
    } catch (const Error& error) {
      return Fault{variant, error.what(), true};
    }
  }
  return {};
}

std::string report(const Script& program, const Fault& fault) {
  const Variant& variant = fault.variant;
  const Context context{{"DEV", variant.device}};
  const std::vector<std::string> settings{fmt::format("{{\"DEV\", \"{}\"}}", variant.device),
                                          fmt::format("{{\"NOOPT\", {}}}", variant.noopt),
                                          fmt::format("{{\"CLANG\", {}}}", variant.clang),
                                          fmt::format("{{\"IN_PLACE\", {}}}", variant.in_place),
                                          fmt::format("{{\"SKIP\", \"{}\"}}", variant.skip)};
  return fmt::format("// {}: {}\n{}", variant.name, fault.message,
                     cpp_text(program, settings, variant.realize_each));
}

}  // namespace weft
