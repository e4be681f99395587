#include "compile/resources.h"

#include <cstdlib>
#include <sstream>

namespace warpwright {
namespace {

// The number before `unit` in a line such as "Used 31 registers, 1024 bytes smem"; 0 where the unit does not occur.
int NumberBefore(const std::string& line, const std::string& unit) {
  const size_t at = line.find(unit);
  if (at == std::string::npos || at == 0) return 0;
  size_t begin = at;
  while (begin > 0 && line[begin - 1] == ' ') --begin;
  const size_t end = begin;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return std::atoi(line.substr(begin, end - begin).c_str());
}

// ".maxntid 256, 1, 1" behind the entry's parameters.
int MaxThreads(const std::string& ptx, const std::string& symbol) {
  size_t at = 0;
  while ((at = ptx.find(".entry " + symbol, at)) != std::string::npos) {
    const char next = ptx[std::min(at + 7 + symbol.size(), ptx.size() - 1)];
    if (next == '(' || next == '\n' || next == ' ') break;
    ++at;
  }
  if (at == std::string::npos) return 1024;
  const size_t body = ptx.find('{', at);
  const size_t directive = ptx.find(".maxntid", at);
  if (directive == std::string::npos || directive > body) return 1024;
  std::istringstream numbers(ptx.substr(directive + 8, body - directive - 8));
  int product = 1, value = 0;
  char comma;
  while (numbers >> value) {
    product *= value;
    if (!(numbers >> comma) || comma != ',') break;
  }
  return product > 0 && product <= 1024 ? product : 1024;
}

}  // namespace

KernelResources ReadResources(const std::string& kernel, const std::string& symbol, const std::string& log, const std::string& ptx) {
  KernelResources resources;
  resources.kernel = kernel;
  resources.symbol = symbol;
  resources.max_threads_per_block = MaxThreads(ptx, symbol);
  std::istringstream lines(log);
  bool ours = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Compiling entry function '") != std::string::npos) ours = line.find("'" + symbol + "'") != std::string::npos;
    if (!ours) continue;
    if (line.find("bytes stack frame") != std::string::npos) {
      resources.local_bytes = NumberBefore(line, "bytes stack frame");
      resources.spill_store_bytes = NumberBefore(line, "bytes spill stores");
      resources.spill_load_bytes = NumberBefore(line, "bytes spill loads");
    } else if (line.find(" registers") != std::string::npos) {
      resources.registers = NumberBefore(line, "registers");
      resources.static_shared_bytes = NumberBefore(line, "bytes smem");
      resources.constant_bytes = NumberBefore(line, "bytes cmem[0]");
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

}  // namespace warpwright
