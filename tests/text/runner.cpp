// Text tests of passes: a graph, a pass, and what the pass makes of it.
//
//   weft_text_tests [--update] FILE|DIR ...
//
// A directory stands for the .weft files below it. A file holds cases with `// ---` between them. Each is
//
//   // What this is about, in as many lines as it takes.
//   // with: SETTING=VALUE
//   // pass: divmod
//   graph name { ... }
//   // expect
//   graph name { ... }
//
// The pass is one of the pipeline, `all` for the whole pipeline, or one of the rule sets below. Only
// passes that ask for a setting need the line `with`. The result has to be the expected graph; how its
// nodes are numbered makes no difference. The loops of a kernel have to be bounded, before and after.
// --update writes what came out in place of what was expected. Exits with 1 where a case fails.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <weft/dev/codegen/check_loops.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>
#include <weft/settings.h>

namespace weft {
namespace {

using Lines = std::vector<std::string>;

struct Case {
  std::string pass;
  std::string setting, value;          // of `// with:`, or empty
  std::size_t line = 0;                // of `// pass:`, from 0
  std::size_t before = 0, expect = 0;  // the first line of the graph, the line `// expect`
  std::size_t end = 0;                 // the line after the expected graph
};

[[noreturn]] void fail(std::size_t line, const std::string& what) {
  throw Error(fmt::format("{}: {}", line + 1, what));
}

// The lines of the file from `first`, with empty ones before them: messages then count from its top.
std::string text_of(const Lines& lines, std::size_t first, std::size_t last) {
  std::string text(first, '\n');
  for (std::size_t i = first; i < last; ++i) text += lines[i] + '\n';
  return text;
}

std::vector<Case> cases_of(const Lines& lines) {
  constexpr std::string_view with = "// with: ", pass = "// pass:";
  std::vector<Case> cases;
  for (std::size_t begin = 0; begin < lines.size();) {
    std::size_t end = begin;
    Case found;
    for (; end < lines.size() && lines[end] != "// ---"; ++end) {
      if (lines[end].starts_with(with)) {
        const std::size_t equals = std::min(lines[end].find('='), lines[end].size() - 1);
        found.setting = lines[end].substr(with.size(), equals - with.size());
        found.value = lines[end].substr(equals + 1);
      } else if (lines[end].starts_with(pass)) {
        found.pass = lines[end].substr(lines[end].find_first_not_of(' ', pass.size()));
        found.line = end;
        found.before = end + 1;
      } else if (lines[end] == "// expect") {
        found.expect = end;
      }
    }
    if (found.pass.empty()) fail(begin, "a case without `// pass: NAME`");
    if (found.expect < found.before) fail(found.line, "no `// expect` after the graph");
    found.end = end;
    cases.push_back(found);
    begin = end + 1;
  }
  return cases;
}

Graph parse_one(const Lines& lines, std::size_t first, std::size_t last) {
  std::vector<Graph> graphs = parse_graphs(text_of(lines, first, last));
  if (graphs.size() != 1) fail(first, fmt::format("{} graphs in place of one", graphs.size()));
  return std::move(graphs[0]);
}

bool same(const std::vector<UOp>& a, const std::vector<UOp>& b) {
  return std::ranges::equal(a, b, [](const UOp& left, const UOp& right) { return left.is(right); });
}

Lines split(const std::string& text) {
  Lines lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Both texts line by line: - for what only was expected, + for what only came out.
std::string line_difference(const Lines& expected, const Lines& got) {
  std::vector<std::vector<int>> common(expected.size() + 1, std::vector<int>(got.size() + 1));
  for (std::size_t i = expected.size(); i-- > 0;)
    for (std::size_t j = got.size(); j-- > 0;)
      common[i][j] = expected[i] == got[j] ? common[i + 1][j + 1] + 1
                                           : std::max(common[i + 1][j], common[i][j + 1]);
  std::string out;
  std::size_t i = 0, j = 0;
  while (i < expected.size() || j < got.size()) {
    if (i < expected.size() && j < got.size() && expected[i] == got[j]) {
      out += "    " + got[j++] + "\n";
      ++i;
    } else if (j == got.size() || (i < expected.size() && common[i + 1][j] >= common[i][j + 1])) {
      out += "  - " + expected[i++] + "\n";
    } else {
      out += "  + " + got[j++] + "\n";
    }
  }
  return out;
}

// What the text has between `id = ` and the comma.
template <class F>
std::string for_each_id(const std::string& text, F rename) {
  static const std::regex id("id = ([0-9]+)");
  std::string out;
  auto rest = text.begin();
  for (std::sregex_iterator at(text.begin(), text.end(), id), end; at != end; ++at) {
    out.append(rest, (*at)[1].first);
    out += std::to_string(rename(std::stoull((*at)[1])));
    rest = (*at)[1].second;
  }
  return out.append(rest, text.end());
}

// Ids that the pass has drawn are numbered after those of its input: the same in every run.
std::string with_steady_ids(const std::string& text, const std::string& input) {
  std::map<std::uint64_t, std::uint64_t> numbers;
  std::uint64_t next = 0;
  for_each_id(input, [&](std::uint64_t id) {
    next = std::max(next, id + 1);
    return numbers[id] = id;
  });
  return for_each_id(text, [&](std::uint64_t id) {
    const auto [found, is_new] = numbers.try_emplace(id, next);
    next += is_new;
    return found->second;
  });
}

// What the passes that ask for a target are given: one op to choose, registers of 16 bytes.
const Target target{.ops = {Op::MulAcc}, .vector_bytes = 16};

// Why a kernel may not end; empty for other graphs.
std::string endless(const Graph& graph) {
  if (graph.roots.size() != 1 || graph.roots[0]->op() != Op::Sink) return "";
  return fmt::format("{}", fmt::join(check_loops(graph.roots[0].node()).findings, "\n"));
}

struct Result {
  std::string failure;  // empty where the case passed
  Lines got;            // the graph that came out
};

Result run_case(const Lines& lines, const Case& test) {
  Arena arena;
  const InternerScope scope(arena);
  std::optional<Context> context;
  using Setting = std::pair<std::string_view, SettingValue>;
  if (!test.setting.empty()) context.emplace({Setting(test.setting, std::string_view(test.value))});
  Result result;
  const Graph before = parse_one(lines, test.before, test.expect);
  const std::string input = print_graph(before);
  const std::string got =
      print_graph({before.name, run_named(test.pass, before.roots, {.target = target})});
  result.got = split(with_steady_ids(got, input));
  const Graph after = parse_one(result.got, 0, result.got.size());
  const Graph expected = parse_one(lines, test.expect + 1, test.end);
  if (!same(expected.roots, after.roots))
    result.failure =
        fmt::format("{}: not what {} was expected to make\n{}", test.line + 1, test.pass,
                    line_difference(split(print_graph({before.name, expected.roots})), result.got));
  for (const Graph* graph : {&before, &after})
    if (const std::string why = endless(*graph); !why.empty())
      result.failure += fmt::format("{}: {}\n", test.line + 1, why);
  return result;
}

struct Counts {
  int passed = 0, failed = 0;
};

void run_file(const std::string& file, bool update, Counts& counts) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error("cannot be opened");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const Lines lines = split(text);
  const std::vector<Case> cases = cases_of(lines);
  if (cases.empty()) fail(0, "no case");
  Lines updated;
  std::size_t copied = 0;
  for (const Case& test : cases) {
    Result result;
    try {
      result = run_case(lines, test);
    } catch (const Error& error) {
      result.failure = fmt::format("{}: {}\n", test.line + 1, error.what());
    }
    const bool replace = update && !result.failure.empty() && !result.got.empty();
    updated.insert(updated.end(), lines.begin() + static_cast<std::ptrdiff_t>(copied),
                   lines.begin() + static_cast<std::ptrdiff_t>(test.expect + 1));
    copied = replace ? test.end : test.expect + 1;
    if (replace) updated.insert(updated.end(), result.got.begin(), result.got.end());
    if (result.failure.empty() || replace) {
      ++counts.passed;
      continue;
    }
    ++counts.failed;
    fmt::print("{}:{}\n", file, result.failure);
  }
  updated.insert(updated.end(), lines.begin() + static_cast<std::ptrdiff_t>(copied), lines.end());
  if (updated != lines)
    std::ofstream(file, std::ios::binary) << fmt::format("{}\n", fmt::join(updated, "\n"));
}

std::vector<std::string> files_below(const std::string& path) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
    if (entry.path().extension() == ".weft") files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

int run_all(const std::vector<std::string>& arguments) {
  const bool update = !arguments.empty() && arguments[0] == "--update";
  Counts counts;
  for (std::size_t i = update ? 1 : 0; i < arguments.size(); ++i)
    for (const std::string& file : files_below(arguments[i])) {
      try {
        run_file(file, update, counts);
      } catch (const Error& error) {
        ++counts.failed;
        fmt::print("{}:{}\n", file, error.what());
      }
    }
  fmt::print("{} passed, {} failed\n", counts.passed, counts.failed);
  return counts.failed == 0 && counts.passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) { return weft::run_all({argv + 1, argv + argc}); }
