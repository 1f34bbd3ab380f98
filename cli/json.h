// JSON, built from the inside out: each function gives the text of a value.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::cli {

std::string json_text(std::string_view text);
std::string json_number(double number);  // null where JSON has none: infinity and NaN
std::string json_list(const std::vector<std::string>& values);
std::string json_object(const std::vector<std::pair<std::string_view, std::string>>& members);

}  // namespace weft::cli
