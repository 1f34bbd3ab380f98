// One test for each group and method: all its cases, computed together.

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compare.h"
#include "differences.h"

namespace weft::golden {
namespace {

// The interpreter takes long over more elements than this, and clang over each kernel: unless WEFT_FULL=1
// asks for all, clang has one case of so many: CI takes them in turn (WEFT_TURN).
constexpr std::int64_t most_interpreted = 200;
constexpr std::size_t sample_by_clang = 12;

bool is_wanted(const Case& c, std::size_t number, std::size_t count) {
  if (default_device().starts_with("INTERP")) return c.largest <= most_interpreted;
  if (setting_int("CLANG") == 0) return true;
  return is_in_turn(number, std::min(sample_by_clang, count));
}

struct Check {
  std::size_t of;  // the case
  std::string what;
  Tensor found;
  const Stored* expected;
};

// Of each base that has one: the sum of what comes through each output.
std::vector<Tensor> gradients_of(const Case& c, const std::vector<Tensor>& outputs) {
  std::vector<Tensor> targets, sums;
  for (std::size_t i = 0; i < c.gradients.size(); ++i)
    if (c.gradients[i]) targets.push_back(c.bases[i]);
  for (std::size_t i = 0; i < c.seeds.size(); ++i) {
    if (!c.seeds[i]) continue;
    const std::vector<Tensor> through = outputs[i].gradient(targets, c.seeds[i]->load(), true);
    if (sums.empty())
      sums = through;
    else
      std::ranges::transform(sums, through, sums.begin(), std::plus<>());
  }
  return sums;
}

std::vector<Check> checks_of(std::size_t number, const Case& c, const Method& method) {
  const std::vector<Tensor> outputs = method(c);
  if (outputs.size() != c.outputs.size())
    throw std::runtime_error(
        fmt::format("there are {} outputs instead of {}", outputs.size(), c.outputs.size()));
  std::vector<Check> checks;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    checks.push_back({number, fmt::format("output {}", i), outputs[i], &c.outputs[i]});
  const std::vector<Tensor> gradients = gradients_of(c, outputs);
  for (std::size_t i = 0, k = 0; i < c.gradients.size(); ++i)
    if (c.gradients[i])
      checks.push_back({number, fmt::format("gradient {}", i), gradients[k++], &*c.gradients[i]});
  return checks;
}

std::string fault_of(const Check& check, const Case& c) {
  const Tolerance usual = tolerance_of(check.expected->dtype);
  const Tolerance tolerance{c.real("rtol", usual.relative), c.real("atol", usual.absolute)};
  const std::string wrong = difference(check.found, *check.expected, tolerance);
  return wrong.empty() ? "" : fmt::format("{}: {}", check.what, wrong);
}

// What is wrong with each case, empty where nothing is. They are computed together; where that fails, one by one.
std::vector<std::string> faults_of(std::span<const Case> cases, const Method& method) {
  std::vector<std::string> faults(cases.size());
  std::vector<Check> checks;
  for (std::size_t i = 0; i < cases.size(); ++i) try {
      std::ranges::move(checks_of(i, cases[i], method), std::back_inserter(checks));
    } catch (const std::exception& error) {
      faults[i] = error.what();
    }
  try {
    std::vector<Tensor> wanted;
    for (const Check& check : checks) wanted.push_back(check.found);
    Tensor::realize(wanted);
    for (const Check& check : checks)
      if (faults[check.of].empty()) faults[check.of] = fault_of(check, cases[check.of]);
  } catch (const std::exception& error) {
    if (cases.size() == 1) return {error.what()};
    for (std::size_t i = 0; i < cases.size(); ++i)
      faults[i] = faults_of(cases.subspan(i, 1), method)[0];
  }
  return faults;
}

class MethodTest : public ::testing::Test {
 public:
  MethodTest(const Group& group, std::string_view method, std::shared_ptr<const Data> data)
      : group_(group), name_(method), data_(std::move(data)) {}

  void TestBody() override {
    const auto method = group_.methods.find(name_);
    const auto lines = data_->lines.find(name_);
    ASSERT_NE(method, group_.methods.end()) << "nothing says how to call " << name_;
    ASSERT_NE(lines, data_->lines.end()) << name_ << " has no cases";
    std::vector<Case> cases;
    std::vector<const Data::Line*> wanted;
    for (std::size_t i = 0; i < lines->second.size(); ++i) {
      const Data::Line& line = lines->second[i];
      Case parsed(line.text, data_->bytes);
      if (!is_wanted(parsed, i, lines->second.size())) continue;
      cases.push_back(std::move(parsed));
      wanted.push_back(&line);
    }
    report(cases, wanted, method->second);
  }

 private:
  // A case that is wrong only among others shows what is wrong with computing them together.
  void report(std::span<const Case> cases, const std::vector<const Data::Line*>& lines,
              const Method& method) const {
    const std::vector<std::string> faults = faults_of(cases, method);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (faults[i].empty()) continue;
      const bool alone = !faults_of(cases.subspan(i, 1), method)[0].empty();
      ADD_FAILURE() << fmt::format("data/{}.txt:{}: {}\n  {}{}", group_.name, lines[i]->number,
                                   lines[i]->text, faults[i],
                                   alone ? "" : " (but not when it is computed alone)");
    }
  }

  const Group& group_;
  const std::string name_;
  const std::shared_ptr<const Data> data_;
};

// Whatever has a method or cases.
void add_tests(const Group& group) {
  const auto data = std::make_shared<const Data>(group.name);
  std::set<std::string> names;
  for (const auto& [name, method] : group.methods) names.insert(name);
  for (const auto& [name, lines] : data->lines) names.insert(name);
  for (const std::string& name : names)
    ::testing::RegisterTest(fmt::format("golden/{}", group.name).c_str(), name.c_str(), nullptr,
                            nullptr, __FILE__, __LINE__,
                            [&group, name, data] { return new MethodTest(group, name, data); });
}

}  // namespace
}  // namespace weft::golden

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  for (const weft::golden::Group* group : weft::golden::groups()) {
    weft::golden::add_tests(*group);
    weft::golden::add_difference_tests(*group);
  }
  return RUN_ALL_TESTS();
}
