// What a program of somebody else's looks like: it sees weft as installed.
#include <weft/weft.h>

#include <iostream>

int main() { std::cout << weft::version() << '\n'; }
