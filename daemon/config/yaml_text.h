// Texts as scalars of a YAML file that we write. All else that we write of such files is our own text.
#pragma once

#include <string>
#include <string_view>

namespace warpwright::config {

// In double quotes, on one line: whatever the text is, a reader of YAML gets it back. The text must be UTF-8.
std::string QuotedYaml(std::string_view text);
// Plain where it cannot be taken for anything else, also within brackets and braces; else in quotes.
std::string YamlScalar(std::string_view text);

}  // namespace warpwright::config
