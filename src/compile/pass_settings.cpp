#include "pass_settings.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <weft/dev/base/environment.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/error.h>
#include <weft/settings.h>

namespace weft {
namespace {

using Names = std::vector<std::string>;

struct PassSettings {
  Names skipped, dumped;
};

bool has(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Of a list with commas.
Names names_in(std::string_view list) {
  Names names;
  while (!list.empty()) {
    names.emplace_back(list.substr(0, list.find(',')));
    list.remove_prefix(std::min(names.back().size() + 1, list.size()));
  }
  return names;
}

Names optional_passes() {
  Names names;
  for (const Pass& pass : all_passes())
    if (pass.need == Pass::Optional) names.emplace_back(pass.name);
  return names;
}

void check_skipped(const Names& skipped) {
  for (const std::string& name : skipped) {
    const Pass* pass = find_pass(name);
    if (pass != nullptr && pass->need == Pass::Optional) continue;
    user_error(fmt::format("SKIP={}: {} '{}'{}; these can be skipped: {}", fmt::join(skipped, ","),
                           pass == nullptr ? "there is no pass" : "the pass", name,
                           pass == nullptr ? "" : " is required",
                           fmt::join(optional_passes(), ", ")));
  }
}

void check_dumped(const Names& dumped, const ExtraRuleList& extra) {
  if (dumped.empty()) return;
  Names known;
  for (const Pass& pass : all_passes()) known.emplace_back(pass.name);
  for (const auto& set : extra) known.emplace_back(set->rules.name());
  for (const std::string& name : dumped)
    if (!has(known, name))
      user_error(fmt::format("DUMP={}: there is no pass '{}'; there are {}", fmt::join(dumped, ","),
                             name, fmt::join(known, ", ")));
}

std::shared_ptr<const PassSettings> read_settings() {
  if (const int viz = environment_switch("VIZ"); viz != 0)
    user_error(fmt::format(
        "VIZ={} in the environment: this build has no visualiser; DEBUG=4 prints the IR "
        "after every pass, `weft opt --trace` every rewrite",
        viz));
  PassSettings settings{names_in(setting("SKIP")), names_in(setting("DUMP"))};
  check_skipped(settings.skipped);
  return std::make_shared<const PassSettings>(std::move(settings));
}

// Read again only when a setting has changed.
std::shared_ptr<const PassSettings> pass_settings() {
  thread_local KnownSetting<std::shared_ptr<const PassSettings>> known;
  return known.value(read_settings);
}

}  // namespace

void check_pass_settings(const ExtraRuleList& extra) {
  check_dumped(pass_settings()->dumped, extra);
}

bool is_skipped(std::string_view pass) { return has(pass_settings()->skipped, pass); }

bool is_dumped(std::string_view pass_or_rules) {
  return has(pass_settings()->dumped, pass_or_rules);
}

}  // namespace weft
