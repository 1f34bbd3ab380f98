#include "table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "statistics.h"

namespace weft::bench {
namespace {

constexpr double near = 1.5, far = 4;  // times as long, or as short
constexpr double near_regret = 1.3, far_regret = 2;

std::string row_of_times(const std::string& name, const std::vector<const Measured*>& all) {
  Numbers expected, measured, off;
  for (const Measured* each : all) {
    if (!each->times.expected) continue;
    expected.push_back(*each->times.expected);
    measured.push_back(each->times.measured);
    off.push_back(std::abs(each->times.error()));
  }
  const auto within = [](double times) {
    return [=](double error) { return error <= std::log(times); };
  };
  if (off.empty())
    return fmt::format("| {} | {} | {} | - | - | - | - | - |\n", name, all.size(), all.size());
  const double beyond = (1 - share_of(off, within(far))) * static_cast<double>(off.size());
  return fmt::format("| {} | {} | {} | {:.3f} | {:.2f} | {:.2f} | {:.1f} % | {:.0f} |\n", name,
                     all.size(), all.size() - off.size(), rank_correlation(expected, measured),
                     std::exp(quantile(off, 0.5)), std::exp(quantile(off, 0.95)),
                     100 * share_of(off, within(near)), beyond);
}

std::string milliseconds(double seconds) { return fmt::format("{:.4g}", seconds * 1e3); }

}  // namespace

std::string table_of_times(const std::vector<Measured>& all, std::size_t worst) {
  std::map<std::string, std::vector<const Measured*>> families;
  std::vector<const Measured*> every, known;
  for (const Measured& each : all) {
    families[each.kernel->family].push_back(&each);
    every.push_back(&each);
    if (each.times.expected) known.push_back(&each);
  }
  std::string text =
      "| kernels of | number | no time expected | rank correlation | off in the middle | off in 95 "
      "% "
      "| within 1.5 | beyond 4 |\n|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, members] : families) text += row_of_times(name, members);
  text += row_of_times("all", every);
  std::ranges::sort(known, std::greater<>(),
                    [](const Measured* each) { return std::abs(each->times.error()); });
  known.resize(std::min(known.size(), worst));
  text +=
      "\n| furthest off | program | expected, ms | measured, ms | measured / expected |\n"
      "|---|---|---|---|---|\n";
  for (const Measured* each : known)
    text += fmt::format("| `{}` | {} | {} | {} | {:.2f} |\n", each->kernel->name,
                        each->kernel->program, milliseconds(*each->times.expected),
                        milliseconds(each->times.measured), std::exp(each->times.error()));
  text += "\n";
  for (const Measured* each : known)
    text += fmt::format("- `{}`: {}\n", each->kernel->name, text_of(*each->kernel));
  return text;
}

std::string table_of_regret(const std::vector<Searched>& all, std::size_t worst) {
  Numbers regrets;
  std::vector<const Searched*> order;
  for (const Searched& each : all) {
    regrets.push_back(each.found.regret());
    order.push_back(&each);
  }
  const auto up_to = [](double times) { return [=](double regret) { return regret <= times; }; };
  std::string text = fmt::format(
      "{} kernels: the default takes {:.3f} times as long as the best that was found, in geometric "
      "mean; {:.1f} % up to {} times, {:.0f} beyond {} times.\n\n",
      all.size(), geometric_mean(regrets), 100 * share_of(regrets, up_to(near_regret)), near_regret,
      (1 - share_of(regrets, up_to(far_regret))) * static_cast<double>(regrets.size()), far_regret);
  std::ranges::sort(order, std::greater<>(),
                    [](const Searched* each) { return each->found.regret(); });
  order.resize(std::min(order.size(), worst));
  text += "| kernel | program | default, ms | best, ms | regret |\n|---|---|---|---|---|\n";
  for (const Searched* each : order)
    text += fmt::format("| `{}` | {} | {} | {} | {:.2f} |\n", each->kernel->name,
                        each->kernel->program, milliseconds(each->found.usual),
                        milliseconds(each->found.best), each->found.regret());
  text += "\n";
  for (const Searched* each : order)
    text += fmt::format("- `{}`: {}; best: {}\n", each->kernel->name, text_of(*each->kernel),
                        each->found.schedule);
  return text;
}

std::string json_of(const std::vector<Measured>& times, const std::vector<Searched>& regret) {
  nlohmann::json json{{"times", nlohmann::json::array()}, {"regret", nlohmann::json::array()}};
  const auto named = [](const CorpusKernel& kernel) {
    return nlohmann::json{
        {"kernel", kernel.name}, {"program", kernel.program}, {"family", kernel.family}};
  };
  for (const Measured& each : times) {
    nlohmann::json one = named(*each.kernel);
    one["expected"] = each.times.expected ? nlohmann::json(*each.times.expected) : nullptr;
    one["measured"] = each.times.measured;
    json["times"].push_back(one);
  }
  for (const Searched& each : regret) {
    nlohmann::json one = named(*each.kernel);
    one["default"] = each.found.usual;
    one["best"] = each.found.best;
    one["schedule"] = each.found.schedule;
    json["regret"].push_back(one);
  }
  return json.dump(1);
}

}  // namespace weft::bench
