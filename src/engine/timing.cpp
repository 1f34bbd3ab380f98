#include "timing.h"

#include <algorithm>
#include <chrono>

#include <weft/dev/engine/storage.h>

namespace weft {
namespace {

constexpr double sample_seconds = 50e-6;  // at least, for the clock to tell times apart
constexpr double most_repeats = 1000;

}  // namespace

Scratch::Scratch(const UOp& kernel, Device& device) {
  const Signature signature = signature_of(kernel.node());
  for (const Node* param : signature.params) {
    const std::size_t bytes = param == nullptr ? 1 : bytes_of(param->dtype(), param->dims());
    buffers_.push_back(std::make_shared<Buffer>(device, bytes));
    buffers_.back()->copy_in(std::vector<std::byte>(bytes));
  }
  for (const Node* variable : signature.variables) values_.push_back(variable->hi());
}

double Scratch::time(LoadedKernel& loaded, std::int64_t repeats) {
  std::vector<Buffer*> memory;
  for (const auto& buffer : buffers_) memory.push_back(buffer.get());
  const std::vector<Argument> arguments = arguments_for(loaded, memory);
  std::vector<std::int64_t> values;
  for (std::size_t variable : loaded.variables) values.push_back(values_[variable]);
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < repeats; ++i) loaded.program->run(arguments, values);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TrialEnd Timed::trial(double seconds) const {
  return run_in_child([this] { scratch_->time(*loaded_, 1); }, seconds);
}

void Timed::first() {
  scratch_->time(*loaded_, 1);
  const double once = std::max(scratch_->time(*loaded_, 1), 1e-9);
  repeats_ = static_cast<std::int64_t>(std::clamp(sample_seconds / once, 1.0, most_repeats));
  samples_ = {once};
}

void Timed::sample() {
  samples_.push_back(scratch_->time(*loaded_, repeats_) / static_cast<double>(repeats_));
}

double Timed::fastest() const { return std::ranges::min(samples_); }

double Timed::median() const {
  if (samples_.empty()) return 0;
  std::vector<double> sorted = samples_;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

}  // namespace weft
