// The weft command: the only file that knows the command line's library.

#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include <weft/version.h>

#include "commands.h"

namespace weft::cli {
namespace {

void add_opt(CLI::App& app, OptOptions& options) {
  CLI::App* command = app.add_subcommand("opt", "Run passes on IR text and print the result");
  command
      ->add_option("--pass", options.passes,
                   "A pass or rule set to run, again for more; all by default")
      ->allow_extra_args(false);
  command->add_option("--device", options.device,
                      "Run the passes that this device asks for; by default those that all do");
  command->add_flag("--trace", options.trace, "Report every rule applied, on stderr");
  command->add_flag("--renumber", options.renumber, "Count unique ids from 0");
  command->add_flag("--validate", options.validate,
                    "Report for every INDEX whether it is inside its buffer, on stderr");
  command->add_flag("--check-loops", options.check_loops,
                    "Report how many trips all loops make at most, or why they may not end, on "
                    "stderr");
  command->add_option("file", options.file, "IR text; - is standard input")->capture_default_str();
  command->callback([&options] { run_opt(options); });
}

void add_kernels(CLI::App& app, KernelsOptions& options) {
  CLI::App* command =
      app.add_subcommand("kernels", "Show how kernels are scheduled, and their source");
  command->add_option(
      "--opts", options.schedule,
      "The actions to schedule them by, such as 'tile r0 4; upcast r0.1', or none; by "
      "default what the kernel asks for, else what the cost model expects to be fastest");
  command->add_option("--device", options.device, "The device to compile for; by default DEV");
  command->add_option("file", options.file, "IR text; - is standard input")->capture_default_str();
  command->callback([&options] { run_kernels(options); });
}

void add_list(CLI::App& app) {
  CLI::App* command = app.add_subcommand("list", "List what there is");
  command->require_subcommand(1);
  for (const Listing& listing : listings())
    command->add_subcommand(listing.name, listing.what)->callback(listing.print);
}

int run(int argc, char** argv) {
  CLI::App app{"weft: a lazy tensor library and optimising compiler"};
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(1);
  OptOptions opt;
  add_opt(app, opt);
  KernelsOptions kernels;
  add_kernels(app, kernels);
  app.add_subcommand("demo", "Follow one tensor through every pass, to code")->callback(run_demo);
  add_list(app);
  app.footer("Exit codes: 0 success, 1 the input is wrong, 2 the command line is wrong.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weft: %s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace weft::cli

int main(int argc, char** argv) { return weft::cli::run(argc, argv); }
