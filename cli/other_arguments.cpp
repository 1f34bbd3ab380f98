// Subcommands that look into the machine and the compiler, or test it.

#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <weft/version.h>

#include "arguments.h"
#include "command_tree.h"
#include "input.h"

namespace weft::cli {
namespace {

void add_opt(CLI::App& app, OptOptions& options) {
  CLI::App* command = app.add_subcommand("opt", "Run passes on IR text and print the result");
  command
      ->add_option("--pass", options.passes,
                   "Pass or rule set to run, repeatable; by default all passes")
      ->allow_extra_args(false);
  command->add_option("--device", options.device,
                      "Device whose passes are run; by default only those that all devices share");
  command->add_flag("--trace", options.trace, "Print every rewrite with its rule, on stderr");
  command->add_flag("--renumber", options.renumber, "Number unique ids from 0");
  command->add_flag("--validate", options.validate,
                    "Prove that every INDEX is inside its buffer; print the results on stderr");
  command->add_flag("--check-loops", options.check_loops,
                    "Print an upper bound of the iterations of all loops, or why they may not "
                    "end, on stderr");
  command->add_option("file", options.file, "File of IR text; - is standard input")
      ->type_name("FILE")
      ->capture_default_str();
  command->callback([&options] { run_opt(options); });
}

void add_onnx_test(CLI::App& app, OnnxTestOptions& options) {
  CLI::App* command = app.add_subcommand("onnx-test",
                                         "Run cases of the ONNX standard and compare their "
                                         "outputs with the expected ones");
  command->add_option("--rtol", options.rtol, "Relative tolerance")->capture_default_str();
  command->add_option("--atol", options.atol, "Absolute tolerance")->capture_default_str();
  command->add_option("--device", options.device, "Device to run on; by default that of DEV");
  command
      ->add_option_function<std::string>(
          "--precision",
          [&options](const std::string& name) { options.precision = *onnx::parse_precision(name); },
          "Type in which layers multiply; by default that of the model")
      ->check(CLI::IsMember({"f32", "bf16", "f16", "int8"}));
  command->add_option("--jobs", options.jobs, "Number of processes")->capture_default_str();
  command->add_option("--expected", options.expected,
                      "File of known failures, with a name and a reason in each line: these cases "
                      "must fail and all others pass");
  command->add_flag("--json", options.json, "Print a JSON object with the outcome of every case");
  command->add_option("folders", options.folders, "Folders of test cases")
      ->required()
      ->type_name("FOLDER");
  command->callback([&options] { run_onnx_test(options); });
}

void add_list(CLI::App& app) {
  CLI::App* command = app.add_subcommand("list",
                                         "List the ops, passes, settings, devices and more of "
                                         "this build");
  command->require_subcommand(1);
  for (const Listing& listing : listings())
    command->add_subcommand(listing.name, listing.what)->callback(listing.print);
}

void add_cache_command(CLI::App& cache, CacheOptions& options, CacheOptions::What what,
                       const std::string& name, const std::string& meaning) {
  CLI::App* command = cache.add_subcommand(name, meaning);
  if (what == CacheOptions::Export || what == CacheOptions::Import)
    command->add_option("file", options.file, "Text file with a line for each kernel")
        ->required()
        ->type_name("FILE");
  if (what == CacheOptions::Clear)
    command->add_flag("--tunings", options.tunings, "Remove found schedules too");
  command->callback([&options, what] {
    options.what = what;
    run_cache(options);
  });
}

void add_cache(CLI::App& app, CacheOptions& options) {
  CLI::App* cache = app.add_subcommand(
      "cache",
      "Print the folder and the size of the disk cache: plans, compiled code, measured speeds and "
      "found schedules");
  cache->require_subcommand(0, 1);
  cache->add_flag("--json", options.json,
                  "Print a JSON object: folder, entries, entry_bytes, limit_bytes, tunings, "
                  "tuning_bytes");
  cache
      ->add_option("--limit", options.limit,
                   "Set the largest size of plans, code and speeds in this folder, such as 500MB "
                   "or 2GB; none: no limit. The least recently used entries are removed")
      ->type_name("SIZE");
  cache->callback([cache, &options] {
    if (cache->get_subcommands().empty()) run_cache(options);
  });
  add_cache_command(*cache, options, CacheOptions::Clear, "clear",
                    "Remove plans, compiled code and measured speeds");
  add_cache_command(*cache, options, CacheOptions::Export, "export",
                    "Write the found schedules to a file, for other machines of this kind; - is "
                    "standard output");
  add_cache_command(*cache, options, CacheOptions::Import, "import",
                    "Add the found schedules of such a file");
}

void add_devices(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("devices", "Print which devices work here, and what they compute with");
  command->add_flag("--json", options.devices_as_json, "Print a JSON object: default, devices");
  command->callback([&options] { run_devices(options.devices_as_json); });
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  flush_output();
}

// What is made from the command line itself.
void add_texts(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  command->add_option("shell", options.shell, "Shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("source <(weft completion bash)");
  command->callback([&app, &options] { print(completion_script(tree_of(app), options.shell)); });
  app.add_subcommand("man", "Print the manual page")->callback([&app] {
    print(manual_page(tree_of(app), std::string(version())));
  });
}

}  // namespace

void add_other_commands(CLI::App& app, Options& options) {
  add_cache(app, options.cache);
  add_devices(app, options);
  add_opt(app, options.opt);
  add_onnx_test(app, options.onnx_test);
  app.add_subcommand("demo", "Print a convolution after every pass of the compiler, and its code")
      ->callback(run_demo);
  add_list(app);
  add_texts(app, options);
}

}  // namespace weft::cli
