#include "compile/cubin.h"

#include <elf.h>

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace warpwright::compile {
namespace {

enum Attribute : uint8_t { kMaxThreads = 0x05, kFrameSize = 0x11, kRegisterCount = 0x2f };
constexpr uint8_t kSized = 0x04;  // the format whose value is a size, followed by that many bytes

tl::unexpected<Error> Corrupt(const char* what) {
  return Fail(ErrorCode::kCorrupt, std::string("a broken cubin: ") + what);
}

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
    if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size() ||
        section.sh_size > bytes_.size() - section.sh_offset)
      return {};
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

// Machine code of sm_90: instructions of 16 bytes. To find loops, this decodes branches, loads and stores, and which
// registers an instruction reads.
class MachineCode {
 public:
  explicit MachineCode(std::span<const std::byte> code) : code_(code) {}

  std::vector<MachineLoop> InnermostLoops() const {
    std::vector<std::pair<size_t, size_t>> loops;  // first instruction, branch
    for (size_t i = 0; i < size(); ++i)
      if (const auto target = Target(i); target && *target < i) loops.emplace_back(*target, i);
    std::vector<MachineLoop> result;
    for (const auto& [first, last] : loops) {
      const bool holds_another = std::any_of(loops.begin(), loops.end(), [&, f = first, l = last](const auto& other) {
        return other != std::pair(f, l) && other.first >= f && other.second <= l;
      });
      if (holds_another) continue;
      if (const MachineLoop loop = Describe(first, last); loop.global_loads > 0) result.push_back(loop);
    }
    return result;
  }

 private:
  enum Opcode : uint64_t {
    kBranch = 0x147,
    kGlobalLoad = 0x181,
    kGlobalStore = 0x186,
    kSharedStore = 0x188,
    kFma = 0x23,
    kMad = 0x24,
    kAdd3 = 0x10,
    kLogic3 = 0x12,
    kSelect = 0x08
  };
  static constexpr uint64_t kBytes = 16, kNoRegister = 255;

  size_t size() const { return code_.size() / kBytes; }
  uint64_t Word(size_t i, size_t half) const {
    uint64_t word = 0;
    std::memcpy(&word, code_.data() + i * kBytes + 8 * half, sizeof word);
    return word;
  }
  uint64_t OpcodeOf(size_t i) const { return Word(i, 0) & 0x1ff; }

  // A 56-bit offset in 4-byte words from the next instruction; its lowest eight bits are stored separately.
  std::optional<size_t> Target(size_t i) const {
    if (OpcodeOf(i) != kBranch) return std::nullopt;
    const uint64_t low = Word(i, 0), high = Word(i, 1);
    const uint64_t bits = (low >> 16 & 0xff) | (low >> 34 | (high & 0x3ffff) << 30) << 8;
    const auto offset = static_cast<int64_t>(bits << 8) >> 8;
    const int64_t target = static_cast<int64_t>(i) + 1 + offset / 4;
    if (offset % 4 != 0 || target < 0 || target >= static_cast<int64_t>(size())) return std::nullopt;
    return static_cast<size_t>(target);
  }

  // Whether instruction `i` reads one of these registers. The field of the second operand may hold an immediate, that
  // of the third something other than a register.
  bool Reads(size_t i, const std::bitset<256>& registers) const {
    const uint64_t low = Word(i, 0), opcode = OpcodeOf(i);
    const bool plain = (low >> 9 & 7) == 1, stores = opcode == kGlobalStore || opcode == kSharedStore;
    const bool three = opcode == kFma || opcode == kMad || opcode == kAdd3 || opcode == kLogic3 || opcode == kSelect;
    const auto read = [&](uint64_t reg) { return reg != kNoRegister && registers[reg]; };
    return read(low >> 24 & 0xff) || ((plain || stores) && read(low >> 32 & 0xff)) ||
           ((plain || three) && read(Word(i, 1) & 0xff));
  }

  MachineLoop Describe(size_t first, size_t last) const {
    MachineLoop loop;
    loop.instructions = static_cast<int>(last - first + 1);
    std::bitset<256> awaited;
    for (size_t i = first; i <= last; ++i) {
      const uint64_t low = Word(i, 0), high = Word(i, 1), opcode = OpcodeOf(i);
      if (Reads(i, awaited)) {
        ++loop.waits;
        awaited.reset();
      }
      loop.global_stores += opcode == kGlobalStore;
      if (opcode != kGlobalLoad) continue;
      ++loop.global_loads;
      const uint64_t size = high >> 9 & 7, registers = size == 5 ? 2 : size == 6 ? 4 : 1;
      for (uint64_t k = 0; k < registers && (low >> 16 & 0xff) + k < kNoRegister; ++k)
        awaited.set((low >> 16 & 0xff) + k);
    }
    loop.waits += awaited.any();  // the beginning of the next iteration, or what follows the loop
    return loop;
  }

  std::span<const std::byte> code_;
};

}  // namespace

Result<std::map<std::string, CubinKernel>> ReadCubin(std::span<const std::byte> cubin) {
  WW_ASSIGN(const Elf elf, Elf::Open(cubin));
  std::map<std::string, CubinKernel> kernels;
  for (const auto& section : elf.sections())
    if (const auto kernel = Behind(elf.Name(section), ".nv.info."); !kernel.empty())
      ForEachAttribute(elf.Content(section), [&, &entry = kernels[std::string(kernel)]](
                                                 uint8_t attribute, const std::vector<uint32_t>& words) {
        if (attribute != kMaxThreads || words.size() < 3) return;
        const uint64_t product = static_cast<uint64_t>(words[0] & 0xffff) * (words[1] & 0xffff) * (words[2] & 0xffff);
        if (product > 0 && product <= 1024) entry.max_threads = static_cast<int>(product);
      });
  for (const auto& section : elf.sections()) {
    const auto name = elf.Name(section);
    if (const auto found = kernels.find(std::string(Behind(name, ".text."))); found != kernels.end())
      found->second.loops = MachineCode(elf.Content(section)).InnermostLoops();
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

}  // namespace warpwright::compile
