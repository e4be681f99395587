// The heap of the recorder program. Every block in it is known, so that what a launcher keeps there from call to call
// can be compared like the variables of its file. The program has one thread.
#include <sys/mman.h>

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

// With the contents of all blocks that they lead to.
std::string WithHeap(std::string variables) {
  std::vector<Block*> blocks;
  for (size_t at = 0; at < used;) {
    Block* block = reinterpret_cast<Block*>(arena + at);
    blocks.push_back(block);
    at += sizeof(Block) + block->room;
  }
  std::set<Block*> reached;
  for (size_t at = 0; at + 8 <= variables.size() && variables.size() < kMostCompared; at += 8) {
    char* pointer = nullptr;
    std::memcpy(&pointer, variables.data() + at, 8);
    if (pointer < arena || pointer >= arena + used) continue;
    const auto after = std::upper_bound(blocks.begin(), blocks.end(), reinterpret_cast<Block*>(pointer));
    if (after == blocks.begin()) continue;
    Block* block = *std::prev(after);
    if (block->bytes == 0 || !reached.insert(block).second) continue;
    variables.append(ContentOf(block), block->bytes);
    variables.resize((variables.size() + 7) / 8 * 8);
  }
  return variables;
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
