// What two builds of the same text must have in common.
#pragma once

#include <string>
#include <string_view>

namespace warpwright::compile {

// What depends on nothing but the code: not the header, not variables that are not used, not sections for debuggers,
// and not the digest of the options that is part of the names in anonymous namespaces ("_GLOBAL__N__4fbd9b84_").
// Sections have the names of static functions of headers, byte by byte, with that digest.
std::string CodeOf(std::string_view ptx);

}  // namespace warpwright::compile
