// The arguments of a program: --steps 100 --data FILE.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "failed.h"

// Ends the program where an argument is none of those in the usage, or after --help.
class Flags {
 public:
  Flags(int argc, char** argv, std::string usage) : usage_(std::move(usage)) {
    for (int i = 1; i < argc; i += 2) {
      const std::string name = argv[i];
      if (name == "--help") stop(0);
      if (name.size() < 3 || usage_.find("\n  " + name + " ") == std::string::npos || i + 1 == argc)
        stop(2);
      values_[name] = argv[i + 1];
    }
  }

  std::string text(const std::string& name, const std::string& fallback = {}) const {
    const auto found = values_.find(name);
    return found == values_.end() ? fallback : found->second;
  }
  double number(const std::string& name, double fallback) const {
    const std::string value = text(name);
    if (value.empty()) return fallback;
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (*end != '\0') stop(2);
    return number;
  }
  long integer(const std::string& name, long fallback) const {
    return static_cast<long>(number(name, static_cast<double>(fallback)));
  }

 private:
  [[noreturn]] void stop(int code) const {
    std::fputs((usage_ + "\n").c_str(), code == 0 ? stdout : stderr);
    std::exit(code);
  }

  std::string usage_;
  std::map<std::string, std::string> values_;
};
