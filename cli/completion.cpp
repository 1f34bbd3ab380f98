// Scripts that complete the command line. Each follows the words that are there to the subcommand, then offers what
// that takes.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

#include "command_tree.h"

namespace weft::cli {
namespace {

enum class Values : char { None, Files, Folders, Choices, Others };

Values values_of(const Argument& argument) {
  if (argument.value.empty()) return Values::None;
  if (!argument.choices.empty()) return Values::Choices;
  if (argument.value == "FILE") return Values::Files;
  if (argument.value == "FOLDER") return Values::Folders;
  return Values::Others;
}

bool takes(const Command& command, Values values) {
  return std::ranges::any_of(
      command.positionals, [&](const Argument& argument) { return values_of(argument) == values; });
}

// Within '' of all shells.
std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// What stands before the first colon, semicolon or comma: enough beside a word.
std::string gist(const std::string& meaning) {
  return meaning.substr(0, meaning.find_first_of(":;,"));
}

// 'weft run --layout'|'weft run --x'
std::string patterns(const Command& command, const Argument& argument) {
  std::vector<std::string> all;
  for (const std::string& name : argument.names)
    all.push_back(in_quotes(command.path + " " + name));
  return fmt::format("{}", fmt::join(all, "|"));
}

// The names of options and subcommands, and of what positionals may be.
std::vector<std::pair<std::string, std::string>> words_of(const Command& command) {
  std::vector<std::pair<std::string, std::string>> words;
  for (const Command& below : command.commands) words.emplace_back(below.name(), below.meaning);
  for (const Argument& argument : command.positionals)
    for (const std::string& choice : argument.choices) words.emplace_back(choice, argument.meaning);
  for (const Argument& option : command.options)
    for (const std::string& name : option.names) words.emplace_back(name, option.meaning);
  return words;
}

// Cases of bash and zsh that go from a command to the one below that a word names.
std::string steps(const Command& root) {
  std::string text;
  for (const Command* command : all_commands(root))
    if (command != &root)
      text += fmt::format("      {0}) where={0} ;;\n", in_quotes(command->path));
  return text;
}

std::string bash_values(const Argument& argument) {
  switch (values_of(argument)) {
    case Values::Files: return "COMPREPLY=($(compgen -f -- \"$current\"))";
    case Values::Folders: return "COMPREPLY=($(compgen -d -- \"$current\"))";
    case Values::Choices:
      return fmt::format("COMPREPLY=($(compgen -W {} -- \"$current\"))",
                         in_quotes(fmt::format("{}", fmt::join(argument.choices, " "))));
    default: return ":";
  }
}

std::string bash_script(const Command& root) {
  std::string text =
      "_weft() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local where=weft words= i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$where ${COMP_WORDS[i]}\" in\n" +
      steps(root) + "    esac\n  done\n  case \"$where $previous\" in\n";
  for (const Command* command : all_commands(root))
    for (const Argument& option : command->options)
      if (!option.value.empty())
        text +=
            fmt::format("    {}) {}; return ;;\n", patterns(*command, option), bash_values(option));
  text += "  esac\n  case $where in\n";
  for (const Command* command : all_commands(root)) {
    std::string words;
    for (const auto& [word, meaning] : words_of(*command)) words += " " + word;
    const char* values =
        takes(*command, Values::Files)     ? "; COMPREPLY=($(compgen -f -- \"$current\"))"
        : takes(*command, Values::Folders) ? "; COMPREPLY=($(compgen -d -- \"$current\"))"
                                           : "";
    text +=
        fmt::format("    {}) words={}{} ;;\n", in_quotes(command->path), in_quotes(words), values);
  }
  return text +
         "  esac\n"
         "  COMPREPLY+=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o filenames -F _weft weft\n";
}

std::string zsh_values(const Argument& argument) {
  switch (values_of(argument)) {
    case Values::Files: return "_files";
    case Values::Folders: return "_files -/";
    case Values::Choices: return fmt::format("compadd -- {}", fmt::join(argument.choices, " "));
    default: return "_message value";
  }
}

std::string zsh_script(const Command& root) {
  std::string text =
      "#compdef weft\n"
      "_weft() {\n"
      "  local where=weft i\n"
      "  local -a words_here\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    case \"$where ${words[i]}\" in\n" +
      steps(root) + "    esac\n  done\n  case \"$where ${words[CURRENT-1]}\" in\n";
  for (const Command* command : all_commands(root))
    for (const Argument& option : command->options)
      if (!option.value.empty())
        text +=
            fmt::format("    {}) {}; return ;;\n", patterns(*command, option), zsh_values(option));
  text += "  esac\n  case $where in\n";
  for (const Command* command : all_commands(root)) {
    std::string words;
    for (const auto& [word, meaning] : words_of(*command))
      words += " " + in_quotes(word + ":" + gist(meaning));
    const char* values = takes(*command, Values::Files)     ? "; _files"
                         : takes(*command, Values::Folders) ? "; _files -/"
                                                            : "";
    text += fmt::format("    {}) words_here=({}){} ;;\n", in_quotes(command->path), words, values);
  }
  return text +
         "  esac\n"
         "  _describe weft words_here\n"
         "}\n"
         "if [[ ${funcstack[1]} == _weft ]]; then _weft \"$@\"; else compdef _weft weft; fi\n";
}

std::string fish_option(const std::string& at, const Argument& option) {
  std::string line = at;
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  switch (values_of(option)) {
    case Values::None: break;
    case Values::Files: line += " -r -F"; break;
    case Values::Folders: line += " -x -a '(__fish_complete_directories)'"; break;
    case Values::Choices: line += fmt::format(" -x -a '{}'", fmt::join(option.choices, " ")); break;
    case Values::Others: line += " -x"; break;
  }
  return fmt::format("{} -d {}\n", line, in_quotes(gist(option.meaning)));
}

std::string fish_script(const Command& root) {
  std::string text =
      "function __weft_is_at\n"
      "  set -l where weft\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$where $word\"\n"
      "      case";
  for (const Command* command : all_commands(root))
    if (command != &root) text += " " + in_quotes(command->path);
  text +=
      "\n        set where \"$where $word\"\n    end\n  end\n"
      "  test \"$where\" = \"$argv[1]\"\nend\ncomplete -c weft -f\n";
  for (const Command* command : all_commands(root)) {
    const std::string at = fmt::format("complete -c weft -n '__weft_is_at \"{}\"'", command->path);
    for (const Command& below : command->commands)
      text += fmt::format("{} -a {} -d {}\n", at, below.name(), in_quotes(gist(below.meaning)));
    for (const Argument& argument : command->positionals)
      if (!argument.choices.empty())
        text += fmt::format("{} -a '{}'\n", at, fmt::join(argument.choices, " "));
    if (takes(*command, Values::Files)) text += at + " -F\n";
    if (takes(*command, Values::Folders)) text += at + " -a '(__fish_complete_directories)'\n";
    for (const Argument& option : command->options) text += fish_option(at, option);
  }
  return text;
}

}  // namespace

std::string completion_script(const Command& root, const std::string& shell) {
  if (shell == "bash") return bash_script(root);
  if (shell == "zsh") return zsh_script(root);
  if (shell == "fish") return fish_script(root);
  user_error(fmt::format("there are no completions for '{}'", shell));
}

}  // namespace weft::cli
