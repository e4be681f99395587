// Words for a shell's command line.
#pragma once

#include <string>
#include <string_view>

namespace warpwright::base {

// In quotation marks, whatever it is: for a shell that a program talks to.
std::string ShellQuote(std::string_view word);
// As a person would write it: quoted where it has to be.
std::string ShellWord(std::string_view word);

}  // namespace warpwright::base
