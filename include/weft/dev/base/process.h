// Running another program.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/base/temporary_folder.h>

namespace weft {

std::string read_text(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, std::string_view text);

// The first of these programs that is on PATH, from the root; empty where none is.
std::string find_program(const std::vector<std::string>& names);

// Runs the program in a folder, without a shell, and returns its standard output. Throws with what it
// wrote on standard error where it fails.
std::string run_program(const std::vector<std::string>& command,
                        const std::filesystem::path& folder = ".");

}  // namespace weft
