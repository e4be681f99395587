// printf and assert of the device: the format and its arguments are in device memory, arguments at their natural
// alignment.
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "sim/exec/address.h"
#include "sim/exec/services.h"

namespace warpwright::sim {
namespace {

constexpr size_t kStringLimit = 4096, kOutputLimit = 64 * 1024;

bool Read(const Context& c, uint32_t lane, uint64_t address, std::byte* out, size_t bytes) {
  const auto [space, offset] = InWindow(*c.memory, address);
  if (space == Space::kLocal) {
    for (size_t k = 0; k < bytes; ++k) {
      const uint64_t at = offset + k;
      if (at >= c.local_bytes) return false;
      out[k] = c.warp->local[(at >> 2) * 128 + lane * 4 + (at & 3)];
    }
    return true;
  }
  if (space == Space::kShared) {
    if (offset > c.shared_bytes || bytes > c.shared_bytes - offset) return false;
    std::memcpy(out, c.shared + offset, bytes);
    return true;
  }
  const auto span = c.memory->Bytes(address, bytes);
  if (span.size() != bytes) return false;
  std::memcpy(out, span.data(), bytes);
  return true;
}

std::optional<std::string> ReadString(const Context& c, uint32_t lane, uint64_t address) {
  std::string text;
  for (size_t k = 0; k < kStringLimit; ++k) {
    std::byte byte;
    if (!Read(c, lane, address + k, &byte, 1)) return std::nullopt;
    if (byte == std::byte{0}) return text;
    text.push_back(static_cast<char>(byte));
  }
  return text;
}

// One conversion with the host's snprintf; the specification was parsed and is rebuilt, so that nothing unknown reaches
// snprintf.
template <typename T>
void Append(std::string& out, const std::string& specification, T value) {
  char buffer[512];
  const int n = std::snprintf(buffer, sizeof(buffer), specification.c_str(), value);
  if (n > 0) out.append(buffer, std::min<size_t>(static_cast<size_t>(n), sizeof(buffer) - 1));
}

}  // namespace

const Instruction* PrintFormatted(Context& c, const Instruction* i, uint32_t lane, uint64_t format,
                                  uint64_t arguments) {
  auto bad = [&](std::string_view what) {
    return StopWithFault(c, i, core::Fault::Kind::kOutOfBounds, lane,
                         fmt::format("printf: {} is not readable memory", what));
  };
  const auto text = ReadString(c, lane, format);
  if (!text) return bad("the format");
  std::string out;
  uint64_t at = 0;
  for (size_t k = 0; k < text->size() && out.size() < kOutputLimit; ++k) {
    if ((*text)[k] != '%') {
      out.push_back((*text)[k]);
      continue;
    }
    std::string specification = "%";
    bool wide = false;
    for (++k; k < text->size() && specification.size() < 20; ++k) {
      const char f = (*text)[k];
      if (f == 'l' || f == 'z' || f == 'j' || f == 't') wide = true;
      else if (f == 'h') continue;
      else if (f == '*') {
        int32_t width = 0;
        at = (at + 3) / 4 * 4;
        if (!Read(c, lane, arguments + at, reinterpret_cast<std::byte*>(&width), 4)) return bad("an argument");
        at += 4;
        specification += std::to_string(std::min(std::max(width, 0), 400));
      } else if (std::string_view("-+ #0.123456789").find(f) != std::string_view::npos) specification.push_back(f);
      else break;
    }
    const char kind = k < text->size() ? (*text)[k] : '%';
    if (kind == '%') {
      out.push_back('%');
      continue;
    }
    const bool real = std::string_view("fFeEgGaA").find(kind) != std::string_view::npos;
    const bool pointer = kind == 's' || kind == 'p';
    const size_t bytes = real || pointer || wide ? 8 : 4;
    at = (at + bytes - 1) / bytes * bytes;
    uint64_t raw = 0;
    if (!Read(c, lane, arguments + at, reinterpret_cast<std::byte*>(&raw), bytes)) return bad("an argument");
    at += bytes;
    // Widths of more than three digits are truncated by the buffer.
    if (real) {
      double value;
      std::memcpy(&value, &raw, 8);
      Append(out, specification + kind, value);
    } else if (kind == 's') {
      const auto value = ReadString(c, lane, raw);
      if (!value) return bad("a string");
      Append(out, specification + 's', value->c_str());
    } else if (kind == 'p') {
      Append(out, "0x%llx", static_cast<unsigned long long>(raw));
    } else if (kind == 'd' || kind == 'i') {
      const auto value = wide ? static_cast<long long>(raw) : static_cast<long long>(static_cast<int32_t>(raw));
      Append(out, specification + "lld", value);
    } else if (std::string_view("uxXo").find(kind) != std::string_view::npos) {
      Append(out, specification + "ll" + kind, static_cast<unsigned long long>(raw));
    } else if (kind == 'c') {
      Append(out, specification + 'c', static_cast<int>(raw & 0xff));
    }
  }
  if (c.print && *c.print) (*c.print)(out);
  return i;
}

const Instruction* StopWithAssertion(Context& c, const Instruction* i, uint32_t lane, uint64_t message, uint64_t file,
                                     uint32_t line) {
  const std::string condition = ReadString(c, lane, message).value_or("?"),
                    name = ReadString(c, lane, file).value_or("?");
  StopWithFault(c, i, core::Fault::Kind::kTrap, lane,
                fmt::format("assertion failed: {} at {}:{}", condition, name, line));
  if (c.fault.line == 0) {
    c.fault.file = name;
    c.fault.line = static_cast<int>(line);
  }
  return nullptr;
}

}  // namespace warpwright::sim
