// The heap of the recorder program. Every block in it is known, so that what a launcher keeps there from call to call
// can be compared like the variables of its file. The program has one thread.
#include <link.h>
#include <sys/mman.h>
#include <functional>

#include "recorder.h"

namespace ww {
namespace {

constexpr size_t kArenaBytes = 512ull << 20;
constexpr size_t kMostCompared = 16u << 20;

struct alignas(16) Block {
  size_t room = 0;   // bytes behind this header
  size_t bytes = 0;  // asked for; 0: free
  Block* next = nullptr;
};

char* arena = nullptr;
size_t used = 0;
Block* freed[64] = {};  // by the power of two of the room

int ClassOf(size_t bytes) {
  int power = 5;
  while (power < 63 && (size_t{1} << power) < bytes) ++power;
  return power;
}
// What freed blocks held, a launcher does not find again in new ones.
void FillNoise(char* content, size_t bytes) {
  if (state.muted) return;
  uint64_t noise = NextNoise();
  for (size_t at = 0; at + sizeof(noise) <= bytes; at += sizeof(noise), noise = noise * 6364136223846793005u + 1)
    std::memcpy(content + at, &noise, sizeof(noise));
}
char* ContentOf(Block* block) { return reinterpret_cast<char*>(block + 1); }
Block* BlockOf(void* content) { return static_cast<Block*>(content) - 1; }

void* Take(size_t bytes, size_t alignment) {
  if (arena == nullptr) {
    void* mapped =
        mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    arena = static_cast<char*>(mapped);
  }
  bytes = std::max<size_t>(bytes, 1);
  if (bytes > kArenaBytes / 2) return nullptr;
  const int power = ClassOf(bytes);
  if (alignment <= alignof(Block) && freed[power] != nullptr) {
    Block* block = freed[power];
    freed[power] = block->next;
    block->bytes = bytes;
    FillNoise(ContentOf(block), block->room);
    return ContentOf(block);
  }
  if (alignment > alignof(Block)) {  // an empty block fills the gap, so that all can be walked
    const size_t begin = reinterpret_cast<size_t>(arena) + used + 2 * sizeof(Block);
    const size_t gap = (alignment - begin % alignment) % alignment;
    if (used + gap + 2 * sizeof(Block) > kArenaBytes) return nullptr;
    Block* filler = reinterpret_cast<Block*>(arena + used);
    *filler = {gap, 0, nullptr};
    used += sizeof(Block) + gap;
  }
  const size_t room = size_t{1} << power;
  if (used + sizeof(Block) + room > kArenaBytes) return nullptr;
  Block* block = reinterpret_cast<Block*>(arena + used);
  *block = {room, bytes, nullptr};
  used += sizeof(Block) + room;
  return ContentOf(block);
}

void GiveBack(void* content) {
  if (content == nullptr) return;
  Block* block = BlockOf(content);
  block->bytes = 0;
  const int power = ClassOf(block->room);
  block->next = freed[power];
  freed[power] = block;
}

}  // namespace

namespace {

// Those in use, by their addresses. The list is on this heap as well: it is made at once, of what was there before it.
std::vector<Block*> BlocksInUse() {
  std::vector<Block*> blocks;
  const auto each = [](auto visit) {
    for (size_t at = 0, end = used; at < end;) {
      Block* block = reinterpret_cast<Block*>(arena + at);
      if (block->bytes != 0) visit(block);
      at += sizeof(Block) + block->room;
    }
  };
  size_t count = 1;  // itself
  each([&](Block*) { ++count; });
  blocks.reserve(count);
  each([&](Block* block) { blocks.push_back(block); });
  return blocks;
}

// The block in use that a word points into: into its content, since the lists here are of the headers in front of it.
Block* BlockAt(const std::vector<Block*>& blocks, const char* word) {
  char* pointer = nullptr;
  std::memcpy(&pointer, word, sizeof(pointer));
  if (pointer < arena || pointer >= arena + used) return nullptr;
  const auto after = std::upper_bound(blocks.begin(), blocks.end(), reinterpret_cast<Block*>(pointer));
  if (after == blocks.begin()) return nullptr;
  Block* block = *std::prev(after);
  return pointer >= ContentOf(block) && pointer <= ContentOf(block) + block->bytes ? block : nullptr;
}

}  // namespace

// With the contents of all blocks that they lead to.
std::string WithHeap(std::string variables) {
  const std::vector<Block*> blocks = BlocksInUse();
  std::set<Block*> reached;
  for (size_t at = 0; at + 8 <= variables.size() && variables.size() < kMostCompared; at += 8) {
    Block* block = BlockAt(blocks, variables.data() + at);
    if (block == nullptr || !reached.insert(block).second) continue;
    variables.append(ContentOf(block), block->bytes);
    variables.resize((variables.size() + 7) / 8 * 8);
  }
  return variables;
}

const char* stack_end = nullptr;

std::map<size_t, std::string> HiddenBlocks() {
  std::set<Block*> reached;
  std::vector<Block*> open;
  const std::vector<Block*> blocks = BlocksInUse();
  const auto follow = [&](const char* begin, const char* end) {
    begin += (8 - reinterpret_cast<size_t>(begin) % 8) % 8;
    for (; begin + 8 <= end; begin += 8) {
      Block* block = BlockAt(blocks, begin);
      if (block != nullptr && reached.insert(block).second) open.push_back(block);
    }
  };
  // The variables of all that is loaded, and the stack as far as it is ours.
  const std::function<void(const char*, const char*)> visit = follow;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
          const char* begin = reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr);
          (*static_cast<const std::function<void(const char*, const char*)>*>(to))(begin, begin + part.p_memsz);
        }
        return 0;
      },
      const_cast<std::function<void(const char*, const char*)>*>(&visit));
  const char* frame = static_cast<const char*>(__builtin_frame_address(0));
  follow(frame, std::max(frame, stack_end));
  while (!open.empty()) {
    Block* block = open.back();
    open.pop_back();
    follow(ContentOf(block), ContentOf(block) + block->bytes);
  }
  std::map<size_t, std::string> hidden;
  size_t bytes = 0;
  for (Block* block : blocks) {
    const bool own = ContentOf(block) == reinterpret_cast<const char*>(blocks.data());
    if (own || reached.count(block) != 0 || (bytes += block->bytes) > kMostCompared) continue;
    hidden.emplace(reinterpret_cast<size_t>(block), std::string(ContentOf(block), block->bytes));
  }
  return hidden;
}

}  // namespace ww

extern "C" {
void* malloc(size_t bytes) { return ww::Take(bytes, 16); }
void free(void* content) { ww::GiveBack(content); }
void* calloc(size_t count, size_t bytes) {
  size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
  void* content = ww::Take(all, 16);
  if (content != nullptr) std::memset(content, 0, all);
  return content;
}
void* realloc(void* content, size_t bytes) {
  if (content == nullptr) return malloc(bytes);
  void* moved = ww::Take(bytes, 16);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, content, std::min(bytes, ww::BlockOf(content)->bytes));
  ww::GiveBack(content);
  return moved;
}
void* memalign(size_t alignment, size_t bytes) { return ww::Take(bytes, alignment); }
void* aligned_alloc(size_t alignment, size_t bytes) { return ww::Take(bytes, alignment); }
int posix_memalign(void** content, size_t alignment, size_t bytes) {
  *content = ww::Take(bytes, alignment);
  return *content == nullptr ? ENOMEM : 0;
}
size_t malloc_usable_size(void* content) { return content == nullptr ? 0 : ww::BlockOf(content)->bytes; }
}
