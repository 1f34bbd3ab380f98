#include "kernel_forms.h"

#include <algorithm>
#include <set>
#include <utility>

#include <weft/dev/ir/graph.h>
#include <weft/settings.h>

#include "algorithms/integer_gemv/limbs.h"
#include "plan_steps.h"

namespace weft {
namespace {

constexpr double least_gain = 0.9;  // a form must take less than this fraction
// The bytes of constants that a form may add for each second that it saves.
constexpr double worth_of_memory = 50e9;
constexpr double repeated_launch = 1e-6;  // seconds

FormLimits limits_for(const Target& target) {
  const auto takes_words = [](const MmaShape& shape) {
    return shape.takes(dtypes::i16, dtypes::i16);
  };
  const int workers = target.machine.workers();
  return {.outputs = setting_int("WINOGRAD"),
          .error = setting_int("WINOGRAD_ERROR"),
          .block_bytes = 1024 * static_cast<double>(setting_int("WINOGRAD_BAND") * workers),
          .threads = workers,
          .fuses = target.ops.contains(Op::MulAcc),
          .multiplies_words = std::ranges::any_of(target.mma, takes_words)};
}

double bytes_of_constants(const UOp& kernel) {
  double bytes = 0;
  for (const Node* node : toposort(kernel.node()))
    if (node->op() == Op::Param && node->arg<ParamArg>().access == Access::Constant)
      bytes += memory_bytes(UOp(node));
  return bytes;
}

double bytes_kept(const KernelForm& form) {
  double bytes = 0;
  for (const UOp& memory : form.memory)
    if (memory->arg<BufferArg>().space == Space::Constant) bytes += memory_bytes(memory);
  return bytes;
}

std::tuple<std::uint64_t, std::uint64_t, std::string_view> key_of(const UOp& kernel,
                                                                  Symbol device) {
  const StructuralHash hash = structural_hash(nodes_of({&kernel, 1}));
  return {hash.high, hash.low, device.get()};
}

}  // namespace

KernelForms::KernelForms(const KernelSeconds& seconds, const Target& target)
    : seconds_(seconds), limits_(limits_for(target)), may_use_limbs_(setting_int("DIGITS") != 0) {}

const KernelForm* KernelForms::best(const UOp& kernel, Symbol device) {
  const auto form = best_of(kernel, device).form;
  return form ? &forms_of(kernel)[*form] : nullptr;
}

void KernelForms::find(const std::vector<KernelOnDevice>& kernels) {
  std::vector<KernelOnDevice> asked;
  std::set<Key> known;
  const auto ask = [&](const UOp& kernel, Symbol device) {
    const bool is_new = known.insert(key_of(kernel, device)).second;
    if (is_new) asked.push_back({kernel, device});
    return is_new;
  };
  for (const auto& [kernel, device] : kernels) {
    if (best_.contains(key_of(kernel, device)) || !ask(kernel, device)) continue;
    for (const KernelForm& form : forms_of(kernel))
      for (const KernelForm::Part& part : form.parts)
        if (!part.is_once) ask(part.kernel, device);
  }
  seconds_.find(asked);
}

const KernelForms::Best& KernelForms::best_of(const UOp& kernel, Symbol device) {
  const auto [known, is_new] = best_.try_emplace(key_of(kernel, device));
  if (is_new) known->second = found_best(kernel, device);
  return known->second;
}

KernelForms::Best KernelForms::found_best(const UOp& kernel, Symbol device) {
  Best best{seconds_(kernel, device)};
  if (!best.seconds) return best;
  double least = *best.seconds;
  const std::vector<KernelForm>& forms = forms_of(kernel);
  const double own = bytes_of_constants(kernel);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const auto taken = seconds_of(forms[i], device);
    if (!taken) continue;
    const double more = std::max(bytes_kept(forms[i]) - own, 0.0);
    const double with_memory = *taken + more / worth_of_memory;
    if (with_memory >= least_gain * least) continue;
    least = with_memory;
    best = {taken, i};
  }
  return best;
}

std::optional<double> KernelForms::seconds_of(const KernelForm& form, Symbol device) const {
  double sum = 0;
  for (const KernelForm::Part& part : form.parts) {
    if (part.is_once) continue;
    const auto seconds = seconds_(part.kernel, device);
    if (!seconds) return {};
    const double more = part.is_repeated ? static_cast<double>(form.iterations - 1) : 0;
    sum += *seconds + more * (*seconds + repeated_launch);
  }
  return sum;
}

const std::vector<KernelForm>& KernelForms::forms_of(const UOp& kernel) {
  const auto [found, is_new] = forms_.try_emplace(kernel.node());
  Forms& known = found->second;
  if (!is_new) return known.forms;
  known = {kernel, winograd_forms(kernel, limits_)};
  if (may_use_limbs_)
    for (KernelForm& form : limb_forms(kernel)) known.forms.push_back(std::move(form));
  return known.forms;
}

}  // namespace weft
