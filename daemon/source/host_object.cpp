#include "source/host_object.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>

namespace warpwright::source {
namespace {

constexpr uint64_t kMaxSections = 1 << 16, kMaxSymbols = 1 << 20;

class Reader {
 public:
  explicit Reader(std::span<const std::byte> elf) : elf_(elf) {}

  Result<HostObject> Read() {
    const auto header = At<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_type != ET_REL || header->e_machine != EM_X86_64)
      return Corrupt("it is not an object of x86-64");
    if (auto read = ReadSections(*header); !read) return Fail(std::move(read).error());
    HostObject object;
    for (const Elf64_Shdr& section : sections_) {
      if ((section.sh_flags & SHF_ALLOC) != 0) {
        const auto name = Text(names_, section.sh_name);
        if (!name) return Corrupt("a section's name is outside");
        object.sections.insert(*name);
      }
      if (section.sh_type == SHT_SYMTAB)
        if (auto read = ReadSymbols(section, object); !read) return Fail(std::move(read).error());
    }
    return object;
  }

 private:
  static tl::unexpected<Error> Corrupt(const char* what) {
    return Fail(ErrorCode::kCorrupt, std::string("the compiled host code cannot be read: ") + what);
  }
  template <typename T>
  std::optional<T> At(uint64_t offset) const {
    if (offset > elf_.size() || sizeof(T) > elf_.size() - offset) return std::nullopt;
    T value;
    std::memcpy(&value, elf_.data() + offset, sizeof(T));
    return value;
  }
  // A string of a string table.
  std::optional<std::string> Text(const Elf64_Shdr& table, uint64_t index) const {
    if (table.sh_offset > elf_.size() || table.sh_size > elf_.size() - table.sh_offset || index >= table.sh_size)
      return std::nullopt;
    const char* begin = reinterpret_cast<const char*>(elf_.data() + table.sh_offset + index);
    const void* end = std::memchr(begin, 0, table.sh_size - index);
    if (end == nullptr) return std::nullopt;
    return std::string(begin, static_cast<const char*>(end));
  }
  Status ReadSections(const Elf64_Ehdr& header) {
    const auto first = At<Elf64_Shdr>(header.e_shoff);
    if (!first || header.e_shentsize != sizeof(Elf64_Shdr)) return Corrupt("it has no table of sections");
    // Many sections do not fit the header's field (every inline function has one).
    const uint64_t count = header.e_shnum != 0 ? header.e_shnum : first->sh_size;
    const uint64_t names = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first->sh_link;
    if (count == 0 || count > kMaxSections || names >= count) return Corrupt("its table of sections has a wrong size");
    for (uint64_t i = 0; i < count; ++i) {
      const auto section = At<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
      if (!section) return Corrupt("its table of sections is cut off");
      sections_.push_back(*section);
    }
    names_ = sections_[names];
    return {};
  }
  Status ReadSymbols(const Elf64_Shdr& table, HostObject& object) const {
    const uint64_t count = table.sh_size / sizeof(Elf64_Sym);
    if (table.sh_link >= sections_.size() || count > kMaxSymbols)
      return Corrupt("its table of symbols has a wrong size");
    for (uint64_t i = 1; i < count; ++i) {
      const auto symbol = At<Elf64_Sym>(table.sh_offset + i * sizeof(Elf64_Sym));
      if (!symbol) return Corrupt("its table of symbols is cut off");
      const auto name = Text(sections_[table.sh_link], symbol->st_name);
      if (!name) return Corrupt("a symbol's name is outside");
      Add(*symbol, *name, object);
    }
    return {};
  }
  void Add(const Elf64_Sym& symbol, const std::string& name, HostObject& object) const {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info), binding = ELF64_ST_BIND(symbol.st_info);
    if (type == STT_SECTION || type == STT_FILE) return;
    if (type == STT_GNU_IFUNC) object.indirect.insert(name);
    if (type == STT_TLS) object.thread_local_symbols.insert(name);
    if (symbol.st_shndx == SHN_UNDEF) {
      object.undefined.insert(name);
    } else if (binding != STB_LOCAL && !InGroup(symbol)) {
      object.defined.insert(name);
      if (binding == STB_WEAK) object.weak.insert(name);
    }
  }
  bool InGroup(const Elf64_Sym& symbol) const {
    return symbol.st_shndx < sections_.size() && (sections_[symbol.st_shndx].sh_flags & SHF_GROUP) != 0;
  }

  std::span<const std::byte> elf_;
  std::vector<Elf64_Shdr> sections_;
  Elf64_Shdr names_{};
};

}  // namespace

Result<HostObject> ReadHostObject(std::span<const std::byte> elf) { return Reader(elf).Read(); }

}  // namespace warpwright::source
