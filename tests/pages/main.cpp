// Runs one example of a page. Usage: weft_pages PAGE NUMBER, such as guide/02-tensors 1.
#include <cstdlib>

#include "page.h"

namespace weft::pages {

std::vector<Page>& all_pages() {
  static std::vector<Page> pages;
  return pages;
}

namespace {

int run(const std::string& name, std::size_t number) {
  for (const Page& page : all_pages()) {
    if (page.name != name || number == 0 || number > page.examples.size()) continue;
    try {
      page.examples[number - 1]();
      return 0;
    } catch (const std::exception& error) {
      std::cout << "error: " << error.what() << "\n";
      return 1;
    }
  }
  std::cout << "weft_pages PAGE NUMBER, where there are:\n";
  for (const Page& page : all_pages())
    std::cout << "  " << page.name << " 1 to " << page.examples.size() << "\n";
  return 2;
}

}  // namespace
}  // namespace weft::pages

int main(int argc, char** argv) {
  std::cout << std::unitbuf;  // what is reported on stderr comes where it belongs
  return weft::pages::run(argc > 1 ? argv[1] : "",
                          argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0);
}
