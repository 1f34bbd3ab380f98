#include <unistd.h>

#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <weft/loader.h>

namespace weft {
namespace {

constexpr double between = 0.1;  // seconds from one line to the next

std::string clock(double seconds) {
  const auto whole = std::llround(seconds);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

Progress::Progress(std::int64_t total, std::string name)
    : total_(total),
      name_(std::move(name)),
      is_shown_(::isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      loss_(std::numeric_limits<double>::quiet_NaN()) {}

Progress::~Progress() {
  if (is_shown_ && done_ > 0) std::fputs(("\r" + line(seconds()) + "\x1b[K\n").c_str(), stderr);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::step(double loss) {
  ++done_;
  loss_ = loss;
  const double now = seconds();
  if (!is_shown_ || now < shown_ + between) return;
  shown_ = now;
  std::fputs(("\r" + line(now) + "\x1b[K").c_str(), stderr);  // and clears what is behind it
}

std::string Progress::line(double seconds) const {
  const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
  std::string text = name_.empty() ? name_ : name_ + " ";
  text += fmt::format("{}/{} {:.3g}/s", done_, total_, rate);
  if (!std::isnan(loss_)) text += fmt::format(" loss {:.4g}", loss_);
  if (rate > 0 && done_ < total_)
    text += fmt::format(", {} left", clock(static_cast<double>(total_ - done_) / rate));
  else
    text += fmt::format(", {}", clock(seconds));
  return text;
}

}  // namespace weft
