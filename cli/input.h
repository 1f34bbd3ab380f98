// What the subcommands read: IR text, from outside.
#pragma once

#include <string>
#include <vector>

#include <weft/dev/ir/text.h>

namespace weft::cli {

// The graphs of a file ("-": of standard input). Throws, with the file's name, where they are not legal.
std::vector<Graph> read_graphs(const std::string& file);

// What is printed last has to arrive.
void flush_output();

}  // namespace weft::cli
