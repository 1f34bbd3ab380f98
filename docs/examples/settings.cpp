// Switches: from the environment, or for a scope.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  std::cout << "DEBUG is " << setting_int("DEBUG");
  {
    const Context loud{{"DEBUG", 1}};
    std::cout << ", " << setting_int("DEBUG") << " in here";
  }
  std::cout << ", and " << setting_int("DEBUG") << " again\n";
}

//> DEBUG is 0, 1 in here, and 0 again
