#include "compile/include_rules.h"

#include <fmt/format.h>

#include "source/includes.h"

namespace warpwright::compile {
namespace {

std::optional<std::string> Check(const std::string& file, std::string_view text,
                                 const std::map<std::string, std::string>& headers) {
  for (const auto& include : source::ScanIncludes(text)) {
    if (headers.count(include.name) != 0) continue;  // NVRTC looks there first
    if (include.name.empty())
      return fmt::format("{}({}): error: #include of a macro is not supported", file, include.line);
    if (include.name.front() == '/' || include.name.find("..") != std::string::npos ||
        source::IsAmbiguousName(include.name))
      return fmt::format("{}({}): error: #include of '{}' is outside the toolkit and the repository", file,
                         include.line, include.name);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> ForbiddenInclude(const std::string& file, std::string_view text,
                                            const std::map<std::string, std::string>& headers) {
  if (auto message = Check(file, text, headers)) return message;
  for (const auto& [name, header] : headers)
    if (auto message = Check(name, header, headers)) return message;
  return std::nullopt;
}

}  // namespace warpwright::compile
