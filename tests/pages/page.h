// The examples of a page of the documents, as program.awk makes them from it.
#pragma once

#include <iostream>
#include <string>
#include <vector>

#include <weft/weft.h>

namespace weft::pages {

using Example = void (*)();

// By the page's path below docs/ without its ending, and the examples' order in it.
struct Page {
  std::string name;
  std::vector<Example> examples;
};

// Filled before main() begins.
std::vector<Page>& all_pages();

struct AddedPage {
  AddedPage(const std::string& name, const std::vector<Example>& examples) {
    all_pages().push_back({name, examples});
  }
};

}  // namespace weft::pages
