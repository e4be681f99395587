// A version of an entry's file, identified by its content.
#pragma once

#include <map>
#include <string>

namespace warpwright::core {

struct Candidate {
  std::string hash;    // SHA-256 of text
  std::string text;    // the whole file
  std::string parent;  // hash of the text that it was derived from; empty for the original
  std::string method;  // skill id; "original"
  std::map<std::string, std::string> parameters;
  std::string summary;  // what was done, one line
};

}  // namespace warpwright::core
