// Reads schemas, one a line, and prints each as Flambeau prints it, or "error: " and why not.
#include <cstdio>
#include <iostream>
#include <string>

#include "flambeau/base/error.h"
#include "flambeau/value/schema.h"

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    try {
      std::cout << flambeau::to_string(flambeau::parse_schema(line)) << '\n';
    } catch (const flambeau::Error& error) {
      std::cout << "error: " << error.what() << '\n';
    }
  }
  return 0;
}
