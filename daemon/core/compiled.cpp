#include "core/compiled.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace warpwright::core {

bool NamesVariable(const std::string& mangled, const std::string& source_form) {
  if (mangled == source_form) return true;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !name) return false;
  const std::string_view full = name.get();
  return full == source_form || full.ends_with("::" + source_form);
}

}  // namespace warpwright::core
