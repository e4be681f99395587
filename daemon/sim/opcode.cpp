#include "sim/opcode.h"

#include <algorithm>
#include <charconv>

#include "sim/ptx_parser.h"

namespace warpwright::sim {
namespace {

constexpr std::pair<std::string_view, Rounding> kRoundings[] = {
    {"rn", Rounding::kNearest},  {"rz", Rounding::kZero},         {"rm", Rounding::kDown},
    {"rp", Rounding::kUp},       {"rna", Rounding::kNearestAway}, {"rni", Rounding::kIntNearest},
    {"rzi", Rounding::kIntZero}, {"rmi", Rounding::kIntDown},     {"rpi", Rounding::kIntUp}};

// "m16n8k16".
bool ReadShape(std::string_view text, MatrixShape& shape) {
  for (const auto& [letter, size] : {std::pair{'m', &shape.m}, std::pair{'n', &shape.n}, std::pair{'k', &shape.k}}) {
    if (text.empty() || text[0] != letter) return false;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), *size);
    if (error != std::errc() || *size < 1 || *size > 512) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return text.empty();
}

}  // namespace

Opcode::Opcode(std::string_view text) {
  size_t begin = 0;
  bool first = true;
  while (begin <= text.size()) {
    size_t end = std::min(text.find('.', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    if (first) {
      family_ = part;
      first = false;
    } else if (const Type type = TypeFromName(part); type != Type::kNone) {
      types_.push_back(type);
    } else if (part == "ftz") {
      ftz = true;
    } else if (part == "sat") {
      sat = true;
    } else if (part == "approx") {
      approx = true;
    } else {
      auto known = std::find_if(std::begin(kRoundings), std::end(kRoundings), [&](auto& r) { return r.first == part; });
      if (known != std::end(kRoundings)) rounding = known->second;
      else rest_.push_back(part);
    }
  }
}

bool Opcode::Take(std::string_view word) {
  auto found = std::find(rest_.begin(), rest_.end(), word);
  if (found == rest_.end()) return false;
  rest_.erase(found);
  return true;
}

bool Opcode::TakeStartingWith(std::string_view prefix) {
  auto found =
      std::find_if(rest_.begin(), rest_.end(), [&](std::string_view part) { return part.starts_with(prefix); });
  if (found == rest_.end()) return false;
  rest_.erase(found);
  return true;
}

bool Opcode::TakeShape(MatrixShape& shape) {
  auto found = std::find_if(rest_.begin(), rest_.end(), [&](std::string_view part) { return ReadShape(part, shape); });
  if (found == rest_.end()) return false;
  rest_.erase(found);
  return true;
}

}  // namespace warpwright::sim
