// The weft command.

#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include <weft/dev/engine/callers.h>
#include <weft/version.h>

#include "arguments.h"

namespace weft::cli {
namespace {

int run(int argc, char** argv) {
  CLI::App app{"weft: a lazy tensor library and optimising compiler"};
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(1);
  Options options;
  add_model_commands(app, options);
  add_bench(app, options.bench);
  add_other_commands(app, options);
  app.footer(
      "Exit codes: 0 success, 1 the input is wrong, 2 the command line is wrong, 130 interrupted "
      "with Ctrl-C.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return options.status;
}

}  // namespace
}  // namespace weft::cli

int main(int argc, char** argv) {
  const weft::NamedScope nobodys("");  // the command's own lines are not its user's
  try {
    return weft::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weft: %s\n", error.what());
    return 1;
  }
}
