// Connectionist temporal classification: the probability of all ways to say the target in the time.

#include <limits>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/losses.h>

#include "loss.h"

namespace weft::functional {
namespace {

// The logarithm of what is impossible: finite, so that gradients are.
constexpr double never = -1e30;

Tensor log_add(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor top = a.maximum(b).maximum(c).detach();
  return ((a - top).exp() + (b - top).exp() + (c - top).exp()).log() + top;
}

// What was `by` places earlier, along the last axis.
Tensor earlier(const Tensor& x, std::int64_t by) {
  const std::int64_t places = x.size(-1);
  if (by >= places) return x.full_like(never);
  return x.shrink({{0, x.size(0)}, {0, places - by}}).pad({{0, 0}, {by, 0}}, never);
}

void want_ctc(const Tensor& scores, const Tensor& target, const Tensor& input_lengths,
              const Tensor& target_lengths, std::int64_t blank) {
  const auto is_for_each = [&](const Tensor& lengths) {
    return lengths.dtype().is_int() && lengths.ndim() == 1 && lengths.size(0) == scores.size(1);
  };
  const auto wrong = [&](std::string_view what, const Tensor& tensor, std::string_view expected) {
    user_error(fmt::format("ctc_loss: {} of {} and shape {} for log probabilities of shape {}: {}",
                           what, tensor.dtype().str(), shape_text(tensor.uop()),
                           shape_text(scores.uop()), expected));
  };
  if (!target.dtype().is_int() || target.ndim() != 2 || target.size(0) != scores.size(1))
    wrong("a target", target, "integers (batch, length)");
  if (!is_for_each(input_lengths)) wrong("input_lengths", input_lengths, "integers (batch)");
  if (!is_for_each(target_lengths)) wrong("target_lengths", target_lengths, "integers (batch)");
  if (blank < 0 || blank >= scores.size(2))
    user_error(fmt::format("ctc_loss: the blank {} is none of {} classes", blank, scores.size(2)));
}

// The classes of the target with a blank before, between and behind: (batch, 2 length + 1).
Tensor with_blanks(const Tensor& target, std::int64_t blank) {
  const Tensor pairs = Tensor::stack({target.full_like(blank), target}, -1).flatten(1);
  return pairs.pad({{0, 0}, {0, 1}}, blank);
}

// How probable it is, by the logarithm, to be at each place when all of the time is over.
Tensor at_end(const Tensor& scores, const Tensor& said, const Tensor& may_skip,
              const Tensor& input_lengths) {
  const std::int64_t time = scores.size(0), batch = scores.size(1), places = said.size(-1);
  const Tensor heard =
      scores.gather(2, said.unsqueeze(0).expand({time, batch, places})).maximum(never).contiguous();
  const Tensor begins = Tensor::arange(places, {.device = scores.device()}) < 2;
  Tensor at = begins.where(heard[0], never);
  for (std::int64_t t = 1; t < time; ++t) {
    const Tensor skipped = may_skip.where(earlier(at, 2), never);
    const Tensor next = (log_add(at, earlier(at, 1), skipped) + heard[t]).maximum(never);
    at = (input_lengths.unsqueeze(-1) > t).where(next, at).contiguous();
  }
  return at;
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcOptions& options) {
  const Called called;
  if (log_probabilities.ndim() == 2) {
    const Tensor loss = ctc_loss(log_probabilities.unsqueeze(1), target.unsqueeze(0),
                                 input_lengths.reshape({1}), target_lengths.reshape({1}), options);
    return options.reduction == Reduction::None ? loss.squeeze(0) : loss;
  }
  if (log_probabilities.ndim() != 3 || log_probabilities.size(0) == 0)
    user_error(fmt::format("ctc_loss: log probabilities of shape {} are not (time, batch, classes)",
                           shape_text(log_probabilities.uop())));
  want_ctc(log_probabilities, target, input_lengths, target_lengths, options.blank);
  const Tensor scores = log_probabilities.cast(promote(log_probabilities.dtype(), dtypes::f32));
  const Tensor said = with_blanks(target, options.blank);
  const std::int64_t places = said.size(-1);
  // From a class to the next one without a blank, unless they are equal.
  Tensor may_skip = said != options.blank;
  if (places > 2)
    may_skip =
        may_skip &
        (said !=
         said.shrink({{0, said.size(0)}, {0, places - 2}}).pad({{0, 0}, {2, 0}}, options.blank));
  const Tensor at = at_end(scores, said, may_skip, input_lengths);
  const Tensor place = Tensor::arange(places, {.device = at.device()});
  const Tensor last = target_lengths.unsqueeze(-1) * 2;
  const Tensor is_end = (place == last) | (place == last - 1);
  const Tensor total = is_end.where(at, never).logsumexp(-1);
  const Tensor impossible = total < never / 2;
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor loss = impossible.where(options.zero_infinity ? 0.0 : infinity, -total);
  const Tensor result = options.reduction == Reduction::Mean
                            ? (loss / target_lengths.maximum(1)).mean()
                            : reduced(loss, options.reduction);
  return result.cast(log_probabilities.dtype());
}

}  // namespace weft::functional
