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
  command->add_option("file", options.file, "IR text; - is standard input")
      ->type_name("FILE")
      ->capture_default_str();
  command->callback([&options] { run_opt(options); });
}

void add_onnx_test(CLI::App& app, OnnxTestOptions& options) {
  CLI::App* command =
      app.add_subcommand("onnx-test", "Run cases of the ONNX standard and compare what they give");
  command->add_option("--rtol", options.rtol, "How far values may be, of what is expected")
      ->capture_default_str();
  command->add_option("--atol", options.atol, "How far values may be besides")
      ->capture_default_str();
  command->add_option("--device", options.device, "The device to run on; by default DEV");
  command
      ->add_option_function<std::string>(
          "--precision",
          [&options](const std::string& name) { options.precision = *onnx::parse_precision(name); },
          "What layers multiply; by default what the models say")
      ->check(CLI::IsMember({"f32", "bf16", "f16", "int8"}));
  command->add_option("--jobs", options.jobs, "So many processes")->capture_default_str();
  command->add_option("--expected", options.expected,
                      "A file of cases that fail, lines of a name and a reason: only others count, "
                      "and those that pass");
  command->add_flag("--json", options.json, "Print the outcome of every case as JSON");
  command->add_option("folders", options.folders, "Folders of cases")
      ->required()
      ->type_name("FOLDER");
  command->callback([&options] { run_onnx_test(options); });
}

void add_list(CLI::App& app) {
  CLI::App* command = app.add_subcommand("list", "List what there is");
  command->require_subcommand(1);
  for (const Listing& listing : listings())
    command->add_subcommand(listing.name, listing.what)->callback(listing.print);
}

void add_cache_command(CLI::App& cache, CacheOptions& options, CacheOptions::What what,
                       const std::string& name, const std::string& meaning) {
  CLI::App* command = cache.add_subcommand(name, meaning);
  if (what == CacheOptions::Export || what == CacheOptions::Import)
    command->add_option("file", options.file, "Text, a line for each kernel")
        ->required()
        ->type_name("FILE");
  if (what == CacheOptions::Clear)
    command->add_flag("--tunings", options.tunings, "Remove the schedules that were found as well");
  command->callback([&options, what] {
    options.what = what;
    run_cache(options);
  });
}

void add_cache(CLI::App& app, CacheOptions& options) {
  CLI::App* cache = app.add_subcommand(
      "cache", "Print where compiled code and found schedules are kept, and how much there is");
  cache->require_subcommand(0, 1);
  cache->add_flag("--json", options.json,
                  "Print one object instead: folder, entries, entry_bytes, tunings, tuning_bytes");
  cache->callback([cache, &options] {
    if (cache->get_subcommands().empty()) run_cache(options);
  });
  add_cache_command(*cache, options, CacheOptions::Clear, "clear", "Remove the compiled code");
  add_cache_command(*cache, options, CacheOptions::Export, "export",
                    "Write the found schedules, to go with a model; to - on standard output");
  add_cache_command(*cache, options, CacheOptions::Import, "import", "Add those of such a file");
}

void add_devices(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("devices", "Print which devices work here, and what they can do");
  command->add_flag("--json", options.devices_as_json,
                    "Print one object instead: default, devices");
  command->callback([&options] { run_devices(options.devices_as_json); });
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  flush_output();
}

// What is made from the command line itself.
void add_texts(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes command lines");
  command->add_option("shell", options.shell, "Whose script")
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
  app.add_subcommand("demo", "Follow one tensor through every pass, to code")->callback(run_demo);
  add_list(app);
  add_texts(app, options);
}

}  // namespace weft::cli
