#include "tests/support/warpgroup_table.h"

#include "tests/support/number_kinds.h"

namespace warpwright::sim {
namespace {

constexpr int kSharedWords = kWarpgroupShared / 4;

// Eight rows (or terms) of a swizzled layout, and the usual distances between such groups.
int AtomBytes(int swizzle) { return 8 * (swizzle == 0 ? 16 : swizzle); }

// As little space as there can be; `panels`: of rows that are neighbours, groups of 16 bytes or of a swizzled row.
WarpgroupMatrix Compact(int swizzle, bool across, int start) {
  WarpgroupMatrix matrix{swizzle, across, start, 0, 0};
  const int atom = AtomBytes(swizzle);
  if (!across) {  // terms are neighbours: without swizzle two matrices of 8 x 16 bytes beside each other
    matrix.leading = swizzle == 0 ? atom : 16;
    matrix.stride = swizzle == 0 ? 2 * atom : atom;
  } else if (swizzle == 0) {  // two groups of 8 terms, then the next 8 rows
    matrix.leading = atom;
    matrix.stride = 2 * atom;
  } else {  // two groups of 8 terms, then the next panel of rows
    matrix.leading = 2 * atom;
    matrix.stride = atom;
  }
  return matrix;
}

std::string Text(const WarpgroupMatrix& m) {
  return (m.across ? "across" : "along") + std::string(" ") + std::to_string(m.swizzle) + " " +
         std::to_string(m.leading) + " " + std::to_string(m.stride) + " at " + std::to_string(m.start);
}

void Name(WarpgroupCase& c) {
  const std::string type = c.brain ? "bf16" : "f16";
  c.name = "wgmma m64n" + std::to_string(c.n) + "k16 " + (c.half_sum ? "f16." : "f32.") + type + "." + type + ", A " +
           (c.left_in_registers ? "in registers" : Text(c.left)) + ", B " + Text(c.right);
  if (!c.adds) c.name += ", without sums";
  if (c.sign_a < 0) c.name += ", minus A";
  if (c.sign_b < 0) c.name += ", minus B";
  if (c.products > 1) c.name += ", " + std::to_string(c.products) + " by " + std::to_string(c.next);
}

std::vector<WarpgroupCase> MakeWarpgroupTable() {
  std::vector<WarpgroupCase> table;
  const auto add = [&](WarpgroupCase c) {
    Name(c);
    table.push_back(std::move(c));
  };
  const auto of = [](int n, const WarpgroupMatrix& left, const WarpgroupMatrix& right) {
    WarpgroupCase c;
    c.n = n, c.left = left, c.right = right;
    return c;
  };
  const auto usual = [](int swizzle, bool across) { return Compact(swizzle, across, kWarpgroupRight); };
  for (int n = 8; n <= 256; n += 8) {  // all sizes
    WarpgroupCase c = of(n, Compact(128, false, 0), usual(128, n % 16 == 0));
    add(c);
    c.brain = true;
    c.right = usual(128, n % 16 != 0);
    add(c);
  }
  for (const int n : {8, 64, 136, 256}) {  // sums in f16
    WarpgroupCase c = of(n, Compact(128, false, 0), usual(128, true));
    c.half_sum = true;
    add(c);
  }
  for (const int swizzle : {0, 32, 64, 128})  // all layouts
    for (const bool left : {false, true})
      for (const bool right : {false, true}) {
        if (swizzle == 128 && !left) continue;  // are above
        WarpgroupCase c = of(left ? 152 : 72, Compact(swizzle, left, 0), usual(swizzle, right));
        c.brain = right;
        add(c);
      }
  for (const int swizzle : {0, 32, 64, 128}) {
    WarpgroupCase c = of(96, {}, usual(swizzle, swizzle % 64 == 0));
    c.left_in_registers = true;
    c.brain = swizzle == 64;
    add(c);
  }
  // Distances that are not the least, and none of use.
  add(of(64, {0, false, 16, 1024, 128}, {0, false, kWarpgroupRight + 48, 2048, 144}));
  add(of(64, {0, true, 32, 1040, 144}, {0, true, kWarpgroupRight, 176, 2064}));
  add(of(64, {32, false, 0, 512, 512}, {64, false, kWarpgroupRight, 4096, 1024}));
  add(of(64, {64, true, 0, 2048, 1024}, {32, true, kWarpgroupRight, 768, 256}));
  add(of(128, {128, false, 0, 0, 512}, {128, true, kWarpgroupRight, 3072, 2048}));
  add(of(48, {64, false, 0, 16, 256}, {128, true, kWarpgroupRight, 1024, 4096}));
  // Beginning within a swizzled row: further terms of the same rows.
  for (const int at : {32, 64, 96})
    add(of(40, {128, false, at, 16, 1024}, {128, false, kWarpgroupRight + at, 16, 1024}));
  add(of(40, {64, false, 32, 16, 512}, {64, false, kWarpgroupRight + 32, 16, 512}));
  // Scales, and products one after the other.
  for (int k = 1; k < 8; ++k) {
    WarpgroupCase c = of(32, Compact(128, false, 0), usual(128, true));
    c.adds = (k & 1) == 0;
    c.sign_a = (k & 2) != 0 ? -1 : 1;
    c.sign_b = (k & 4) != 0 ? -1 : 1;
    add(c);
  }
  WarpgroupCase chain = of(128, {128, false, 0, 16, 1024}, {128, false, kWarpgroupRight, 16, 1024});
  chain.products = 4, chain.next = 32;
  add(chain);
  chain = of(128, {128, true, 0, 8192, 1024}, {128, true, kWarpgroupRight, 8192, 1024});
  chain.products = 4, chain.next = 2048;
  add(chain);
  return table;
}

std::string RegisterList(const char* prefix, int count) {
  std::string text = "{";
  for (int k = 0; k < count; ++k) text += (k ? ", %" : "%") + std::string(prefix) + std::to_string(k);
  return text + "}";
}

uint64_t Descriptor(const WarpgroupMatrix& m) {  // without the start
  const uint64_t mode = m.swizzle == 128 ? 1 : m.swizzle == 64 ? 2 : m.swizzle == 32 ? 3 : 0;
  return mode << 62 | static_cast<uint64_t>(m.stride / 16) << 32 | static_cast<uint64_t>(m.leading / 16) << 16;
}

std::string Describe(const char* name, const WarpgroupMatrix& m, int more) {
  const std::string to = std::string("%") + name;
  return "add.u64 " + to + ", %base, " + std::to_string(m.start + more) + ";\nshr.u64 " + to + ", " + to +
         ", 4;\nor.b64 " + to + ", " + to + ", " + std::to_string(Descriptor(m)) + ";\n";
}

std::string Product(const WarpgroupCase& c, int k) {
  const std::string input = c.brain ? "bf16" : "f16";
  std::string text = c.left_in_registers ? "" : Describe("left", c.left, k * c.next);
  text += Describe("right", c.right, k * c.next) + "wgmma.mma_async.sync.aligned.m64n" + std::to_string(c.n) + "k16." +
          (c.half_sum ? "f16." : "f32.") + input + "." + input + " " + RegisterList("d", c.sums()) + ", " +
          (c.left_in_registers ? RegisterList("a", 4) : "%left") + ", %right, %adds, " + std::to_string(c.sign_a) +
          ", " + std::to_string(c.sign_b);
  if (!c.left_in_registers) text += c.left.across ? ", 1" : ", 0";
  return text + (c.right.across ? ", 1;\n" : ", 0;\n");
}

}  // namespace

const std::vector<WarpgroupCase>& WarpgroupTable() {
  static const std::vector<WarpgroupCase> table = MakeWarpgroupTable();
  return table;
}

size_t WarpgroupWords(const WarpgroupCase& c) {
  return static_cast<size_t>(kSharedWords) + static_cast<size_t>(kWarpgroupThreads) * static_cast<size_t>(c.sums() + 4);
}

std::vector<uint32_t> WarpgroupInputs(const WarpgroupCase& c) {
  const size_t words = WarpgroupWords(c);
  std::vector<uint32_t> inputs(words * kWarpgroupTrials);
  NumberRandom random(words);
  for (const char letter : c.name) random = NumberRandom(random.Next() + static_cast<unsigned char>(letter));
  const size_t first_left = words - static_cast<size_t>(4 * kWarpgroupThreads);
  for (size_t at = 0; at < inputs.size(); ++at) {
    const int kind = static_cast<int>(at / words) % kNumberKinds;
    const size_t word = at % words;
    const bool sum = word >= static_cast<size_t>(kSharedWords) && word < first_left;
    const auto number = [&](int exponent, int mantissa) {
      return static_cast<uint32_t>(MakeNumber(random, kind, exponent, mantissa));
    };
    if (sum && !c.half_sum) {
      inputs[at] = number(8, 23);
      continue;
    }
    const int exponent = c.brain && !sum ? 8 : 5, mantissa = 15 - exponent;
    const uint32_t low = number(exponent, mantissa), high = number(exponent, mantissa);
    inputs[at] = low | high << 16;
  }
  return inputs;
}

std::string WarpgroupKernel(size_t index) { return "warpgroup_" + std::to_string(index); }

std::string WarpgroupModule(size_t index) {
  const WarpgroupCase& c = WarpgroupTable()[index];
  const auto number = [](size_t value) { return std::to_string(value); };
  const std::string sums = std::to_string(c.sums()), type = c.half_sum ? "b32" : "f32";
  const size_t step = 4 * kWarpgroupThreads;
  std::string text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry " + WarpgroupKernel(index) +
      "(.param .u64 out, .param .u64 in)\n{\n.reg .b32 %a<4>, %p, %thread, %trial, %at, %value;\n.reg ." + type +
      " %d<" + sums + ">;\n.reg .pred %adds, %more;\n" +
      ".reg .b64 %in, %out, %wide, %base, %left, %right;\n.shared .align 1024 .b8 tile[" +
      std::to_string(kWarpgroupShared) +
      "];\nmov.u32 %thread, %tid.x;\nmov.u32 %trial, %ctaid.x;\nld.param.u64 %in, [in];\n" +
      "ld.param.u64 %out, [out];\nmad.lo.u32 %at, %trial, " + number(WarpgroupWords(c)) +
      ", %thread;\nmul.wide.u32 %wide, %at, 4;\nadd.u64 %in, %in, %wide;\nmad.lo.u32 %at, %trial, " +
      number(static_cast<size_t>(kWarpgroupThreads) * static_cast<size_t>(c.sums())) +
      ", %thread;\nmul.wide.u32 %wide, %at, 4;\nadd.u64 %out, %out, %wide;\n";
  // Word w of shared memory is the thread's where w % 128 is its number.
  text += "mov.u32 %p, tile;\ncvt.u64.u32 %base, %p;\nmad.lo.u32 %p, %thread, 4, %p;\nmov.u32 %at, 0;\nfill:\n" +
          std::string("ld.global.b32 %value, [%in];\nst.shared.b32 [%p], %value;\nadd.u64 %in, %in, ") + number(step) +
          ";\nadd.u32 %p, %p, " + number(step) + ";\nadd.u32 %at, %at, 1;\nsetp.lt.u32 %more, %at, " +
          std::to_string(kSharedWords / kWarpgroupThreads) + ";\n@%more bra fill;\n";
  for (int k = 0; k < c.sums(); ++k)
    text +=
        "ld.global." + type + " %d" + std::to_string(k) + ", [%in+" + number(step * static_cast<size_t>(k)) + "];\n";
  for (int k = 0; k < 4; ++k)
    text +=
        "ld.global.b32 %a" + std::to_string(k) + ", [%in+" + number(step * static_cast<size_t>(c.sums() + k)) + "];\n";
  text += "setp.eq.u32 %adds, %at, " + std::to_string(c.adds ? kSharedWords / kWarpgroupThreads : 0) +
          ";\nfence.proxy.async;\nbar.sync 0;\nwgmma.fence.sync.aligned;\n";
  for (int k = 0; k < c.products; ++k) text += Product(c, k);
  text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  for (int k = 0; k < c.sums(); ++k)
    text +=
        "st.global." + type + " [%out+" + number(step * static_cast<size_t>(k)) + "], %d" + std::to_string(k) + ";\n";
  return text + "ret;\n}\n";
}

}  // namespace warpwright::sim
