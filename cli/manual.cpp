// The manual page, of the command line and the settings.

#include <fmt/format.h>
#include <weft/settings.h>

#include "command_tree.h"

namespace weft::cli {
namespace {

// Text of a line, in which nothing means anything to man.
std::string plain(const std::string& text) {
  std::string result = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\n') {
      result += "\n.br\n";
      continue;
    }
    if (c == '-') result += '\\';
    result += c == '\\' ? std::string("\\e") : std::string(1, c);
  }
  return result;
}

std::string head_of(const Argument& argument) {
  std::vector<std::string> names;
  for (const std::string& name : argument.names)
    names.push_back(fmt::format("\\fB{}\\fR", plain(name)));
  if (names.empty()) names.push_back(fmt::format("\\fI{}\\fR", plain(argument.positional)));
  const std::string value = argument.choices.empty()
                                ? argument.value
                                : fmt::format("{}", fmt::join(argument.choices, "|"));
  const bool is_option = !argument.names.empty() && !value.empty();
  return fmt::format("{}{}", fmt::join(names, ", "),
                     is_option ? fmt::format(" \\fI{}\\fR", plain(value)) : "");
}

std::string with_default(const std::string& meaning, std::string_view fallback) {
  return fallback.empty() ? meaning : fmt::format("{} (default: {})", meaning, fallback);
}

std::string entry_of(const Argument& argument) {
  return fmt::format(".TP\n{}\n{}\n", head_of(argument),
                     plain(with_default(argument.meaning, argument.fallback)));
}

std::string section_of(const Command& command) {
  std::string head = command.path;
  if (!command.options.empty()) head += " [options]";
  for (const Argument& argument : command.positionals) {
    const std::string name = argument.positional + (argument.takes_many ? "..." : "");
    head += argument.is_required ? " " + name : " [" + name + "]";
  }
  if (!command.commands.empty()) head += " subcommand";
  std::string text = fmt::format(".SS \"{}\"\n{}\n", plain(head), plain(command.meaning));
  for (const Argument& argument : command.positionals) text += entry_of(argument);
  for (const Argument& option : command.options) text += entry_of(option);
  if (!command.footer.empty()) text += fmt::format(".PP\n{}\n", plain(command.footer));
  return text;
}

}  // namespace

std::string manual_page(const Command& root, const std::string& version) {
  std::string text = fmt::format(
      ".TH WEFT 1 \"\" \"weft {0}\"\n.SH NAME\nweft \\- run, inspect and tune models and "
      "kernels\n.SH SYNOPSIS\n\\fBweft\\fR \\fIsubcommand\\fR [options]\n.SH DESCRIPTION\n{1}\n"
      ".SH SUBCOMMANDS\n",
      version, plain(root.meaning));
  for (const Command* command : all_commands(root))
    if (command != &root) text += section_of(*command);
  text += fmt::format(".SH \"EXIT STATUS\"\n{}\n.SH ENVIRONMENT\n", plain(root.footer));
  for (const SettingInfo& setting : all_settings())
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", setting.name,
                        plain(with_default(std::string(setting.meaning), setting.fallback)));
  return text +
         ".TP\n\\fBNO_COLOR\\fR\nif set, output has no colours, which it has on terminals only\n";
}

}  // namespace weft::cli
