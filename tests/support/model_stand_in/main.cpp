// The stand-in as a program, for clients that are none of ours: prints its address and runs until it is killed.
#include <cstdio>

#include "tests/support/model_stand_in/model_stand_in.h"

int main() {
  warpwright::ModelStandIn server;
  std::printf("%s\n", server.Url().c_str());
  std::fflush(stdout);
  server.Wait();
}
