// The command line as data: what completions and the manual page are made from.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace weft::cli {

// An option or, without names, a positional argument.
struct Argument {
  std::vector<std::string> names;  // "-h", "--help"
  std::string positional;
  std::string value;  // "FILE", "INT"; empty where it takes none
  std::vector<std::string> choices;
  std::string fallback, meaning;
  bool is_required = false, takes_many = false;
};

struct Command {
  std::string path;  // "weft bench matmul"
  std::string meaning, footer;
  std::vector<Argument> options, positionals;
  std::vector<Command> commands;

  std::string name() const { return path.substr(path.rfind(' ') + 1); }
};

Command tree_of(const CLI::App& app);

// It and all below it, each before those below.
std::vector<const Command*> all_commands(const Command& root);

// For bash, zsh or fish; throws for another.
std::string completion_script(const Command& root, const std::string& shell);

// In the language of man.
std::string manual_page(const Command& root, const std::string& version);

}  // namespace weft::cli
