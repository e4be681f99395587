#include "compile/cubin.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace warpwright {
namespace {

enum Attribute : uint8_t { kMaxThreads = 0x05, kFrameSize = 0x11, kRegisterCount = 0x2f };
constexpr uint8_t kSized = 0x04;  // the format whose value is a size, with the bytes behind it

tl::unexpected<Error> Corrupt(const char* what) { return Fail(ErrorCode::kCorrupt, std::string("a broken cubin: ") + what); }

class Elf {
 public:
  static Result<Elf> Open(std::span<const std::byte> bytes) {
    Elf elf;
    elf.bytes_ = bytes;
    Elf64_Ehdr header;
    if (!elf.Load(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return Corrupt("no ELF header");
    for (size_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      if (!elf.Load(header.e_shoff + i * sizeof section, section)) return Corrupt("a section table beyond the end");
      elf.sections_.push_back(section);
    }
    elf.names_ = header.e_shstrndx;
    return elf;
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  std::string_view Name(const Elf64_Shdr& section) const { return Text(names_, section.sh_name); }

  std::span<const std::byte> Content(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size() || section.sh_size > bytes_.size() - section.sh_offset) return {};
    return bytes_.subspan(section.sh_offset, section.sh_size);
  }

  std::string Symbol(uint32_t index) const {
    for (const auto& section : sections_) {
      if (section.sh_type != SHT_SYMTAB) continue;
      const auto content = Content(section);
      Elf64_Sym symbol;
      if ((static_cast<uint64_t>(index) + 1) * sizeof symbol > content.size()) return {};
      std::memcpy(&symbol, content.data() + index * sizeof symbol, sizeof symbol);
      return std::string(Text(section.sh_link, symbol.st_name));
    }
    return {};
  }

 private:
  template <typename T>
  bool Load(uint64_t offset, T& value) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof value) return false;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return true;
  }
  std::string_view Text(size_t table, uint32_t offset) const {
    if (table >= sections_.size()) return {};
    const auto content = Content(sections_[table]);
    if (offset >= content.size()) return {};
    const auto* begin = reinterpret_cast<const char*>(content.data()) + offset;
    return {begin, ::strnlen(begin, content.size() - offset)};
  }

  std::span<const std::byte> bytes_;
  std::vector<Elf64_Shdr> sections_;
  size_t names_ = 0;
};

// Calls visit(attribute, words) for each sized attribute.
template <typename Visit>
void ForEachAttribute(std::span<const std::byte> info, Visit&& visit) {
  while (info.size() >= 4) {
    const auto format = static_cast<uint8_t>(info[0]);
    const auto attribute = static_cast<uint8_t>(info[1]);
    uint16_t size = 0;
    std::memcpy(&size, &info[2], sizeof size);
    info = info.subspan(4);
    if (format != kSized) continue;
    if (size > info.size()) return;
    std::vector<uint32_t> words(size / 4);
    if (!words.empty()) std::memcpy(words.data(), info.data(), words.size() * 4);
    visit(attribute, words);
    info = info.subspan(size);
  }
}

std::string_view Behind(std::string_view name, std::string_view prefix) {
  return name.substr(0, prefix.size()) == prefix ? name.substr(prefix.size()) : std::string_view();
}

}  // namespace

Result<std::map<std::string, CubinKernel>> ReadCubin(std::span<const std::byte> cubin) {
  WW_ASSIGN(const Elf elf, Elf::Open(cubin));
  std::map<std::string, CubinKernel> kernels;
  for (const auto& section : elf.sections())
    if (const auto kernel = Behind(elf.Name(section), ".nv.info."); !kernel.empty())
      ForEachAttribute(elf.Content(section), [&, &entry = kernels[std::string(kernel)]](uint8_t attribute, const std::vector<uint32_t>& words) {
        if (attribute != kMaxThreads || words.size() < 3) return;
        const uint64_t product = static_cast<uint64_t>(words[0] & 0xffff) * (words[1] & 0xffff) * (words[2] & 0xffff);
        if (product > 0 && product <= 1024) entry.max_threads = static_cast<int>(product);
      });
  for (const auto& section : elf.sections()) {
    const auto name = elf.Name(section);
    if (const auto found = kernels.find(std::string(Behind(name, ".nv.constant0."))); found != kernels.end())
      found->second.constant_bytes = static_cast<int>(section.sh_size);
    if (name != ".nv.info") continue;
    ForEachAttribute(elf.Content(section), [&](uint8_t attribute, const std::vector<uint32_t>& words) {
      if (words.size() < 2 || (attribute != kRegisterCount && attribute != kFrameSize)) return;
      const auto found = kernels.find(elf.Symbol(words[0]));
      if (found == kernels.end()) return;
      (attribute == kRegisterCount ? found->second.registers : found->second.stack_bytes) = static_cast<int>(words[1]);
    });
  }
  return kernels;
}

}  // namespace warpwright
