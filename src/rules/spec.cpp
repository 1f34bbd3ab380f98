// What a legal graph is: a table of predicates (spec_checks.cpp), tried on every node in one walk.
//
// Not a rule set, although rules are how everything else is written: nothing is rewritten here. A
// legal graph must stay as it is, an illegal one needs all of its findings and not the first match,
// and some checks look at the whole graph (ids, who closes a range), which a rule may not.

#include <weft/dev/rules/spec.h>

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

#include "spec_checks.h"

namespace weft {

Surroundings::Surroundings(NodeList roots, NodeList nodes) : root_count_(roots.size()) {
  for (const Node* root : roots) roots_.set(root, true);
  for (const Node* node : nodes) {
    if (does_something(node)) effects_.set(node, true);
    if (has(node->op(), OpFlag::Closes)) count_closer(node->src().subspan(1));
    if (node->op() == Op::EndIf) count_closer(node->src().first(1));
    if (const auto name = name_of(node)) first_.emplace(*name, node);
  }
}

bool Surroundings::have_effects(NodeList nodes) const {
  return std::ranges::all_of(nodes, [this](const Node* node) { return has_effect(node); });
}

int Surroundings::closed(const Node* node) const {
  const int* count = closed_.find(node);
  return count != nullptr ? *count : 0;
}

bool Surroundings::is_first_of_its_name(const Node* node) const {
  const auto name = name_of(node);
  return !name || first_.at(*name) == node;
}

bool Surroundings::does_something(const Node* node) const {
  if (node->op() == Op::Tuple) return node->size() > 0 && have_effects(node->src());
  return has(node->op(), OpFlag::Effect) ||
         OpSet{Op::Call, Op::Custom, Op::After}.contains(node->op());
}

void Surroundings::count_closer(NodeList closed) {
  for (const Node* node : closed) closed_.set(node, this->closed(node) + 1);
}

std::optional<Surroundings::Name> Surroundings::name_of(const Node* node) {
  const Op op = node->op();
  switch (op) {
    case Op::Variable: return Name{op, node->arg<VariableArg>().id.value, 0};
    case Op::Counter: return Name{op, node->arg<IdArg>().id.value, 0};
    case Op::Range: return Name{op, node->arg<RangeArg>().id.value, 0};
    case Op::Buffer: return Name{op, node->arg<BufferArg>().id.value, 0};
    case Op::Stage: return Name{op, node->arg<StageArg>().id.value, 0};
    case Op::Param: return Name{op, 0, node->arg<ParamArg>().slot};
    case Op::Special:
      return Name{op, static_cast<std::uint64_t>(node->arg<SpecialArg>().kind),
                  node->arg<SpecialArg>().axis};
    default: return std::nullopt;
  }
}

namespace {

using ChecksByOp = std::array<std::vector<const Check*>, op_count>;

const ChecksByOp& checks_by_op() {
  static const ChecksByOp table = [] {
    ChecksByOp by_op;
    for (const Check& check : spec_checks())
      for (std::size_t i = 0; i < by_op.size(); ++i)
        if (check.concerns(static_cast<Op>(i))) by_op[i].push_back(&check);
    return by_op;
  }();
  return table;
}

// What is wrong with the dtype, by the columns of ops.def. (No interner takes a wrong count.)
std::optional<std::string> disagreement_with_table(const Node* node) {
  try {
    const DType dtype = infer_dtype(node->op(), node->src(), node->dtype());
    if (dtype == node->dtype()) return std::nullopt;
    return fmt::format("{}: the dtype is {}, but {} follows from the sources",
                       info(node->op()).name, node->dtype().str(), dtype.str());
  } catch (const Error& error) {
    return error.what();
  }
}

// The nodes of the graph itself, sources before users, by their places in the order. A kernel that
// is called (a SINK) is a graph of its own, with ids of its own, and was verified when it was made.
std::vector<std::size_t> own_nodes(NodeList roots, NodeList order) {
  NodeMap<bool> own;
  for (const Node* root : roots) own.set(root, true);
  std::vector<std::size_t> result;
  for (std::size_t i = order.size(); i-- > 0;) {
    const Node* node = order[i];
    if (!own.contains(node)) continue;
    result.push_back(i);
    const bool calls_kernel = node->op() == Op::Call && node->src(0)->op() == Op::Sink;
    for (const Node* source : node->src().subspan(calls_kernel ? 1 : 0)) own.set(source, true);
  }
  std::ranges::reverse(result);
  return result;
}

struct Finding {
  std::size_t number;  // of the node, as print_graph counts
  std::string text;
};

std::vector<Finding> findings_of(NodeList roots, Level level, NodeList order) {
  std::vector<Finding> findings;
  const std::vector<std::size_t> numbers = own_nodes(roots, order);
  for (std::size_t i : numbers)
    if (const auto what = disagreement_with_table(order[i]))
      findings.push_back({i, fmt::format("%{} {}", i, *what)});
  if (!findings.empty()) return findings;  // of a wrong dtype the checks would repeat the news

  std::vector<const Node*> own(numbers.size());
  std::ranges::transform(numbers, own.begin(), [&](std::size_t i) { return order[i]; });
  const Surroundings around(roots, own);
  for (std::size_t i : numbers)
    for (const Check* check : checks_by_op()[static_cast<std::size_t>(order[i]->op())]) {
      if (!check->is_part_of(level) || check->holds(order[i], around)) continue;
      findings.push_back(
          {i, fmt::format("%{} {}: {}", i, info(order[i]->op()).name, check->complaint())});
    }
  return findings;
}

constexpr std::size_t most_findings = 8;
constexpr std::array<std::string_view, 4> level_names{"graph", "tensor graph", "kernel", "program"};

// One line for each node, as print_graph writes it.
std::vector<std::string_view> node_lines(std::string_view printed) {
  std::vector<std::string_view> lines;
  while (!printed.empty()) {
    const std::size_t end = printed.find('\n');
    lines.push_back(printed.substr(0, end));
    printed.remove_prefix(end + 1);
  }
  lines.erase(lines.begin());  // "graph NAME {"
  return lines;
}

}  // namespace

std::vector<std::string> spec_violations(NodeList roots, Level level) {
  std::vector<std::string> texts;
  for (Finding& finding : findings_of(roots, level, toposort(roots)))
    texts.push_back(std::move(finding.text));
  return texts;
}

void verify(NodeList roots, Level level, std::string_view pass) {
  const std::vector<const Node*> order = toposort(roots);
  const std::vector<Finding> findings = findings_of(roots, level, order);
  if (findings.empty()) return;

  NodeMap<std::size_t> numbers;
  for (std::size_t i = 0; i < order.size(); ++i) numbers.set(order[i], i);
  const std::string printed = print_graph("illegal", roots);
  const std::vector<std::string_view> lines = node_lines(printed);
  std::string message = fmt::format("after {}, this is not a legal {}:", pass,
                                    level_names[static_cast<std::size_t>(level)]);
  for (std::size_t i = 0; i < std::min(findings.size(), most_findings); ++i) {
    const auto& [number, text] = findings[i];
    std::set<std::size_t> shown{number};
    for (const Node* source : order[number]->src()) shown.insert(*numbers.find(source));
    message += "\n  " + text;
    for (std::size_t line : shown) message += fmt::format("\n  {}", lines[line]);
  }
  if (findings.size() > most_findings)
    message += fmt::format("\n  and {} more", findings.size() - most_findings);
  internal_error(message);
}

}  // namespace weft
