// Names of models as names of C.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace weft::exported {

bool is_identifier(std::string_view name);

// Gives every name another identifier, also where macros are in capitals.
class Identifiers {
 public:
  std::string of(std::string_view name);

 private:
  std::set<std::string> taken_;  // in capitals
};

}  // namespace weft::exported
