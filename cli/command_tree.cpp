#include "command_tree.h"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace weft::cli {
namespace {

// Types are followed by what is checked: "TEXT:{nchw,nhwc}".
void read_type(const std::string& type, Argument& argument) {
  const std::size_t end = std::min(type.find(':'), type.size());
  argument.value = type.substr(0, end);
  const std::size_t open = type.find('{', end), close = type.find('}', end);
  if (open != std::string::npos && close != std::string::npos)
    argument.choices = CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

Argument argument_of(const CLI::Option& option) {
  Argument argument;
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  if (argument.names.empty()) argument.positional = option.get_name();
  if (option.get_type_size() > 0) read_type(option.get_type_name(), argument);
  argument.fallback = option.get_default_str();
  argument.meaning = option.get_description();
  argument.is_required = option.get_required();
  argument.takes_many = option.get_expected_max() > 1;
  return argument;
}

Command command_of(const CLI::App& app, const std::string& path) {
  Command command;
  command.path = path;
  command.meaning = app.get_description();
  command.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    Argument argument = argument_of(*option);
    (argument.names.empty() ? command.positionals : command.options).push_back(std::move(argument));
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    command.commands.push_back(command_of(*below, path + " " + below->get_name()));
  return command;
}

void add(const Command& command, std::vector<const Command*>& all) {
  all.push_back(&command);
  for (const Command& below : command.commands) add(below, all);
}

}  // namespace

Command tree_of(const CLI::App& app) { return command_of(app, "weft"); }

std::vector<const Command*> all_commands(const Command& root) {
  std::vector<const Command*> all;
  add(root, all);
  return all;
}

}  // namespace weft::cli
