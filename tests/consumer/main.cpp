// A program of a user, built against an installed Flambeau.
#include <cstdio>

#include "flambeau/base/error.h"

int main() {
  std::puts(flambeau::printable("layer\nweight").c_str());
  return 0;
}
