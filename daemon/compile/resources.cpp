#include "compile/resources.h"

#include <cstdlib>
#include <sstream>

namespace warpwright::compile {
namespace {

// The number before `unit` in a line such as "Used 31 registers, 1024 bytes smem"; 0 if the unit does not occur.
int NumberBefore(const std::string& line, const std::string& unit) {
  const size_t at = line.find(unit);
  if (at == std::string::npos || at == 0) return 0;
  size_t begin = at;
  while (begin > 0 && line[begin - 1] == ' ') --begin;
  const size_t end = begin;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return std::atoi(line.substr(begin, end - begin).c_str());
}

}  // namespace

core::KernelResources ReadResources(const std::string& kernel, const std::string& symbol, const std::string& log,
                                    const CubinKernel& cubin) {
  core::KernelResources resources;
  resources.kernel = kernel;
  resources.symbol = symbol;
  resources.registers = cubin.registers;
  resources.local_bytes = cubin.stack_bytes;
  resources.constant_bytes = cubin.constant_bytes;
  if (cubin.max_threads > 0) resources.max_threads_per_block = cubin.max_threads;
  std::istringstream lines(log);
  bool ours = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Compiling entry function '") != std::string::npos)
      ours = line.find("'" + symbol + "'") != std::string::npos;
    if (!ours) continue;
    if (line.find("bytes stack frame") != std::string::npos) {
      resources.spill_store_bytes = NumberBefore(line, "bytes spill stores");
      resources.spill_load_bytes = NumberBefore(line, "bytes spill loads");
    } else if (line.find(" registers") != std::string::npos) {
      resources.static_shared_bytes = NumberBefore(line, "bytes smem");
    }
  }
  return resources;
}

std::string WithoutAssemblerLines(const std::string& log) {
  std::string out;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("ptxas info", 0) != 0 && line.rfind("ptxas         .", 0) != 0) out += line + "\n";
  return out;
}

}  // namespace warpwright::compile
