// Quoting of words for a shell command line.
#pragma once

#include <string>
#include <string_view>

namespace warpwright::base {

// Always quoted: for a command line that a program passes to a shell.
std::string ShellQuote(std::string_view word);
// As a user would write it: quoted only if necessary.
std::string ShellWord(std::string_view word);

}  // namespace warpwright::base
