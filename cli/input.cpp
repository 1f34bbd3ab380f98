#include "input.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include <fmt/format.h>
#include <weft/dev/rules/spec.h>
#include <weft/error.h>

namespace weft::cli {
namespace {

std::string read_all(const std::string& file) {
  if (file == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream in(file, std::ios::binary);
  if (!in) user_error(fmt::format("cannot open {}", file));
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

// Passes are only given legal graphs.
std::vector<Graph> read_graphs(const std::string& file) {
  const std::string name = file == "-" ? "<stdin>" : file, text = read_all(file);
  std::vector<Graph> graphs;
  try {
    graphs = parse_graphs(text);
  } catch (const Error& error) {
    user_error(fmt::format("{}:{}", name, error.what()));
  }
  for (const Graph& graph : graphs)
    if (const auto findings = spec_violations(nodes_of(graph.roots), Level::Any); !findings.empty())
      user_error(fmt::format("{}: graph {} is not legal:\n  {}", name, graph.name,
                             fmt::join(findings, "\n  ")));
  return graphs;
}

std::string count_text(std::size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string bytes_text(double bytes) {
  const char* unit = "B";
  for (const char* larger : {"kB", "MB", "GB", "TB"}) {
    if (bytes < 1000) break;
    bytes /= 1000;
    unit = larger;
  }
  return fmt::format("{:.4g} {}", bytes, unit);
}

void flush_output() {
  if (std::fflush(stdout) != 0) user_error("the output cannot be written");
}

}  // namespace weft::cli
