// What the subcommands read, IR text from outside, and words that they share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <weft/dev/ir/text.h>

namespace weft::cli {

// The graphs of a file ("-": of standard input). Throws, with the file's name, where they are not legal.
std::vector<Graph> read_graphs(const std::string& file);

// "3 kernels", "1 kernel"
std::string count_text(std::size_t count, const std::string& what);

// "1.5 kB": the largest unit that leaves a number of 1 or more.
std::string bytes_text(double bytes);

// What is printed last has to arrive.
void flush_output();

}  // namespace weft::cli
