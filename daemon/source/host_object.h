// What a compiled host program refers to and defines: the symbol table and the sections of an ELF object of x86-64.
//
// The object was made by the system's compiler from a candidate's text: every offset and count in it is checked, and
// what does not fit is an error. At most 1 M symbols and 64 Ki sections.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include "base/result.h"

namespace warpwright::source {

struct HostObject {
  std::set<std::string> undefined;  // symbols that other objects or libraries must define
  std::set<std::string> defined;    // that others may refer to, except those of inline functions and templates, which
                                    // many objects may define (COMDAT)
  std::set<std::string> weak;       // of `defined`: another definition takes precedence
  std::set<std::string> indirect;   // whose address a function of the object chooses when it is loaded (ifunc)
  std::set<std::string> thread_local_symbols;
  std::set<std::string> sections;  // names of those that are loaded
};

// kCorrupt.
Result<HostObject> ReadHostObject(std::span<const std::byte> elf);

}  // namespace warpwright::source
