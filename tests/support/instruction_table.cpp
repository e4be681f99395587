#include "tests/support/instruction_table.h"

#include <bit>
#include <iterator>

namespace warpwright::sim {
namespace {

class Table {
 public:
  Table() {
    Integers();
    Bits();
    Floats();
    Halves();
    Comparisons();
    Conversions();
    Approximations();
  }
  std::vector<InstructionCase> cases;

 private:
  void Add(char kind, std::string text, double tolerance = 0) {
    cases.push_back({kind, std::move(text) + ";", tolerance});
  }

  void Integers() {
    for (std::string t : {"u16", "s16", "u32", "s32", "u64", "s64"}) {
      const std::string n = t.substr(1) == "16" ? "2" : t.substr(1) == "32" ? "4" : "8";
      const std::string ab = " D" + n + ", A" + n + ", B" + n, abc = ab + ", C" + n;
      for (std::string op : {"add", "sub", "mul.lo", "mul.hi", "min", "max"}) Add('i', op + "." + t + ab);
      for (std::string op : {"mad.lo", "mad.hi"}) Add('i', op + "." + t + abc);
      Add('i', "sad." + t + abc);
      Add('i', "shr." + t + " D" + n + ", A" + n + ", B4");
      // Division by zero gives a machine-specific value: avoided.
      const std::string nonzero = "or.b" + t.substr(1) + " B" + n + ", B" + n + ", 1; ";
      Add('i', nonzero + "div." + t + ab);
      Add('i', nonzero + "rem." + t + ab);
      if (t[0] == 's') Add('i', "abs." + t + " D" + n + ", A" + n);
      if (t[0] == 's') Add('i', "neg." + t + " D" + n + ", A" + n);
      if (n != "8") {
        const std::string wide = n == "2" ? "4" : "8";
        Add('i', "mul.wide." + t + " D" + wide + ", A" + n + ", B" + n);
        Add('i', "mad.wide." + t + " D" + wide + ", A" + n + ", B" + n + ", C" + wide);
      }
    }
    for (std::string t : {"u32", "s32"}) {
      for (std::string m : {"lo", "hi"}) {
        Add('i', "mul24." + m + "." + t + " D4, A4, B4");
        Add('i', "mad24." + m + "." + t + " D4, A4, B4, C4");
        for (std::string u : {"u32", "s32"}) Add('i', "dp2a." + m + "." + t + "." + u + " D4, A4, B4, C4");
      }
      for (std::string u : {"u32", "s32"}) Add('i', "dp4a." + t + "." + u + " D4, A4, B4, C4");
    }
    Add('i', "add.sat.s32 D4, A4, B4");
    Add('i', "sub.sat.s32 D4, A4, B4");
    Add('i', "mad.hi.sat.s32 D4, A4, B4, C4");
    Add('i', "min.relu.s32 D4, A4, B4");
    Add('i', "max.relu.s32 D4, A4, B4");
    Add('i', "add.cc.u32 D4, A4, B4; addc.u32 D4, C4, A4");
    Add('i', "sub.cc.u32 D4, A4, B4; subc.u32 D4, C4, A4");
    Add('i', "add.cc.u64 D8, A8, B8; addc.u64 D8, C8, A8");
    Add('i', "sub.cc.u64 D8, A8, B8; subc.u64 D8, C8, A8");
    Add('i', "mad.lo.cc.u32 D4, A4, B4, C4; madc.hi.u32 D4, A4, B4, C4");
    Add('i', "mad.hi.cc.u32 D4, A4, B4, C4; addc.u32 D4, D4, A4");
  }

  void Bits() {
    for (std::string n : {"2", "4", "8"}) {
      const std::string t = n == "2" ? "b16" : n == "4" ? "b32" : "b64";
      for (std::string op : {"and", "or", "xor"}) Add('i', op + "." + t + " D" + n + ", A" + n + ", B" + n);
      for (std::string op : {"not", "cnot"}) Add('i', op + "." + t + " D" + n + ", A" + n);
      Add('i', "shl." + t + " D" + n + ", A" + n + ", B4");
      if (n == "2") continue;
      for (std::string op : {"popc", "clz"}) Add('i', op + "." + t + " D4, A" + n);
      Add('i', "brev." + t + " D" + n + ", A" + n);
      Add('i', "bfi." + t + " D" + n + ", A" + n + ", B" + n + ", C4, B4");
      Add('i', "and.b32 C4, C4, 63; and.b32 B4, B4, 63; bfi." + t + " D" + n + ", A" + n + ", B" + n + ", C4, B4");
      for (std::string s : {"u", "s"}) {
        const std::string u = s + t.substr(1);
        Add('i', "bfe." + u + " D" + n + ", A" + n + ", B4, C4");
        Add('i', "and.b32 C4, C4, 63; and.b32 B4, B4, 63; bfe." + u + " D" + n + ", A" + n + ", B4, C4");
        Add('i', "bfind." + u + " D4, A" + n);
        Add('i', "bfind.shiftamt." + u + " D4, A" + n);
      }
    }
    for (int table : {0x01, 0x1e, 0x96, 0xca, 0xe8, 0xfe})
      Add('i', "lop3.b32 D4, A4, B4, C4, " + std::to_string(table));
    for (std::string mode : {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"})
      Add('i', "prmt.b32" + mode + " D4, A4, B4, C4");
    for (std::string dir : {"l", "r"})
      for (std::string mode : {"wrap", "clamp"}) Add('i', "shf." + dir + "." + mode + ".b32 D4, A4, B4, C4");
    Add('i', "and.b32 B4, B4, 31; rem.s32 C4, C4, 9; fns.b32 D4, A4, B4, C4");
    for (std::string mode : {"clamp", "wrap"}) {
      Add('i', "bmsk." + mode + ".b32 D4, A4, B4");
      Add('i', "szext." + mode + ".u32 D4, A4, B4");
      Add('i', "szext." + mode + ".s32 D4, A4, B4");
    }
    Add('i', "selp.b32 D4, A4, B4, P");
    Add('i', "slct.u32.s32 D4, A4, B4, C4");
    Add('s', "slct.u32.f32 D4, A4, B4, C4");
    Add('i', "mov.b64 {D4, A4}, B8; add.u32 D4, D4, A4");
    Add('i', "mov.b64 D8, {B4, A4}");
    Add('i', "mov.b32 D4, {B2, A2}");
    Add('i', "mov.b64 D8, {B2, A2, C2, A2}");
    Add('i', "mov.b32 {D2, A2}, B4; xor.b16 D2, D2, A2");
  }

  void Floats() {
    for (std::string t : {"f32", "f64"}) {
      const char kind = t == "f32" ? 's' : 'd';
      const std::string n = t == "f32" ? "4" : "8", ab = " D" + n + ", A" + n + ", B" + n, abc = ab + ", C" + n;
      for (std::string r : {"rn", "rz", "rm", "rp"}) {
        for (std::string op : {"add", "sub", "mul", "div"}) Add(kind, op + "." + r + "." + t + ab);
        for (std::string op : {"rcp", "sqrt"}) Add(kind, op + "." + r + "." + t + " D" + n + ", A" + n);
        Add(kind, "fma." + r + "." + t + abc);
      }
      for (std::string op : {"min", "max"}) Add(kind, op + "." + t + ab);
      Add(kind, "copysign." + t + ab);
      for (std::string p : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"})
        Add(kind, "testp." + p + "." + t + " DP, A" + n);
    }
    for (std::string op : {"add", "sub", "mul"}) {
      for (std::string m : {".ftz", ".sat", ".ftz.sat", ".rz.ftz", ".rm.sat"}) Add('s', op + m + ".f32 D4, A4, B4");
    }
    for (std::string m : {".rn.ftz", ".rn.sat", ".rn.ftz.sat", ".rp.ftz"}) Add('s', "fma" + m + ".f32 D4, A4, B4, C4");
    for (std::string m : {".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs"})
      for (std::string op : {"min", "max"}) Add('s', op + m + ".f32 D4, A4, B4");
    Add('s', "div.rn.ftz.f32 D4, A4, B4");
    Add('s', "rcp.rn.ftz.f32 D4, A4");
    Add('s', "sqrt.rn.ftz.f32 D4, A4");
    for (std::string op : {"abs", "neg"}) {  // only of numbers: the bits of a NaN are not defined
      Add('s', "testp.number.f32 DP, A4; @!DP mov.b32 A4, 0; " + op + ".f32 D4, A4");
      Add('s', "testp.number.f32 DP, A4; @!DP mov.b32 A4, 0; " + op + ".ftz.f32 D4, A4");
      Add('d', "testp.number.f64 DP, A8; @!DP mov.b64 A8, 0; " + op + ".f64 D8, A8");
    }
  }

  void Halves() {
    for (std::string t : {"f16", "f16x2", "bf16", "bf16x2"}) {
      const char kind = t[0] == 'f' ? 'h' : 'b';
      const std::string n = t.ends_with("x2") ? "4" : "2", ab = " D" + n + ", A" + n + ", B" + n, abc = ab + ", C" + n;
      for (std::string op : {"add", "sub", "mul"}) {
        Add(kind, op + "." + t + ab);
        if (kind == 'h') Add(kind, op + ".ftz." + t + ab);
        if (kind == 'h') Add(kind, op + ".sat." + t + ab);
      }
      for (std::string m : {"", ".relu"}) Add(kind, "fma.rn" + m + "." + t + abc);
      if (kind == 'h') Add(kind, "fma.rn.sat." + t + abc);
      if (kind == 'h') Add(kind, "fma.rn.ftz." + t + abc);
      for (std::string op : {"min", "max"}) {
        Add(kind, op + "." + t + ab);
        Add(kind, op + ".NaN." + t + ab);
        Add(kind, op + ".xorsign.abs." + t + ab);
        if (kind == 'h') Add(kind, op + ".ftz." + t + ab);
      }
    }
    for (std::string c : {"eq", "ne", "lt", "ge", "ltu", "num", "nan"}) {
      Add('h', "setp." + c + ".f16 DP, A2, B2");
      Add('h', "setp." + c + ".f16x2 DP|DQ, A4, B4");
      Add('b', "setp." + c + ".bf16 DP, A2, B2");
      Add('b', "setp." + c + ".bf16x2 DP|DQ, A4, B4");
      Add('h', "set." + c + ".f16.f16 D2, A2, B2");
      Add('h', "set." + c + ".f16x2.f16x2 D4, A4, B4");
      Add('b', "set." + c + ".bf16x2.bf16x2 D4, A4, B4");
      Add('h', "set." + c + ".u32.f16 D4, A2, B2");
    }
  }

  void Comparisons() {
    for (std::string t : {"u16", "s16", "u32", "s32", "u64", "s64"}) {
      const std::string n = t.substr(1) == "16" ? "2" : t.substr(1) == "32" ? "4" : "8";
      for (std::string c : {"eq", "ne", "lt", "le", "gt", "ge"})
        Add('i', "setp." + c + "." + t + " DP, A" + n + ", B" + n);
      if (t[0] == 'u')
        for (std::string c : {"lo", "ls", "hi", "hs"}) Add('i', "setp." + c + "." + t + " DP, A" + n + ", B" + n);
    }
    for (std::string t : {"f32", "f64"}) {
      const std::string n = t == "f32" ? "4" : "8";
      for (std::string c : {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"})
        Add(t == "f32" ? 's' : 'd', "setp." + c + "." + t + " DP, A" + n + ", B" + n);
    }
    for (std::string op : {"and", "or", "xor"}) {
      Add('i', "setp.lt." + op + ".s32 DP|DQ, A4, B4, P");
      Add('i', "setp.ge." + op + ".u32 DP|DQ, A4, B4, !P");
    }
    Add('s', "setp.lt.ftz.f32 DP|DQ, A4, B4");
    Add('i', "set.lt.u32.s32 D4, A4, B4");
    Add('s', "set.gt.f32.f32 D4, A4, B4");
    Add('s', "set.le.and.u32.f32 D4, A4, B4, P");
  }

  void Conversions() {
    struct T {
      std::string name;
      char kind;
      int bytes;
    };
    const T integers[] = {{"u8", 'i', 1},  {"s8", 'i', 1},  {"u16", 'i', 2}, {"s16", 'i', 2},
                          {"u32", 'i', 4}, {"s32", 'i', 4}, {"u64", 'i', 8}, {"s64", 'i', 8}};
    const T floats[] = {{"f16", 'h', 2}, {"bf16", 'b', 2}, {"f32", 's', 4}, {"f64", 'd', 8}};
    auto reg = [](char letter, const T& t) {
      return std::string(1, letter) + std::to_string(t.bytes == 1 ? 4 : t.bytes);
    };
    for (const T& to : integers) {
      for (const T& from : integers) {
        if (to.name == from.name) continue;
        Add('i', "cvt." + to.name + "." + from.name + " " + reg('D', to) + ", " + reg('A', from));
        Add('i', "cvt.sat." + to.name + "." + from.name + " " + reg('D', to) + ", " + reg('A', from));
      }
      for (const T& from : floats)
        for (std::string r : {"rni", "rzi", "rmi", "rpi"})
          if (from.name != "bf16" || to.bytes > 1 || true)
            Add(from.kind, "cvt." + r + "." + to.name + "." + from.name + " " + reg('D', to) + ", " + reg('A', from));
    }
    for (const T& to : floats) {
      for (const T& from : integers)
        for (std::string r : {"rn", "rz", "rm", "rp"})
          Add('i', "cvt." + r + "." + to.name + "." + from.name + " " + reg('D', to) + ", " + reg('A', from));
    }
    for (std::string r : {"rn", "rz", "rm", "rp"}) Add('d', "cvt." + r + ".f32.f64 D4, A8");
    for (std::string r : {"rn", "rz"}) {
      Add('s', "cvt." + r + ".f16.f32 D2, A4");
      Add('s', "cvt." + r + ".bf16.f32 D2, A4");
      Add('s', "cvt." + r + ".relu.f16.f32 D2, A4");
      Add('s', "cvt." + r + ".relu.bf16.f32 D2, A4");
      Add('s', "cvt." + r + ".f16x2.f32 D4, A4, B4");
      Add('s', "cvt." + r + ".bf16x2.f32 D4, A4, B4");
      Add('s', "cvt." + r + ".relu.f16x2.f32 D4, A4, B4");
    }
    Add('d', "cvt.rn.f16.f64 D2, A8");
    Add('d', "cvt.rn.bf16.f64 D2, A8");
    Add('h', "cvt.f32.f16 D4, A2");
    Add('h', "cvt.f64.f16 D8, A2");
    Add('b', "cvt.f32.bf16 D4, A2");
    Add('b', "cvt.f64.bf16 D8, A2");
    Add('s', "cvt.f64.f32 D8, A4");
    Add('s', "cvt.sat.f32.f32 D4, A4");
    Add('s', "cvt.ftz.f64.f32 D8, A4");
    for (std::string r : {"rni", "rzi", "rmi", "rpi"}) {
      Add('s', "cvt." + r + ".f32.f32 D4, A4");
      Add('s', "cvt." + r + ".ftz.f32.f32 D4, A4");
      Add('d', "cvt." + r + ".f64.f64 D8, A8");
      Add('h', "cvt." + r + ".f16.f16 D2, A2");
      Add('s', "cvt." + r + ".ftz.s32.f32 D4, A4");
    }
  }

  void Approximations() {
    const double small = 4e-7;
    for (std::string m : {".approx", ".approx.ftz"}) {
      for (std::string op : {"rcp", "sqrt", "rsqrt", "ex2"}) Add('s', op + m + ".f32 D4, A4", small);
      Add('s', "lg2" + m + ".f32 D4, A4", -4e-7);
      Add('s', "div" + m + ".f32 D4, A4, B4", small);
    }
    Add('s', "div.full.f32 D4, A4, B4", small);
    // Sine and cosine in the range for which the hardware guarantees something.
    Add('s', "rem.u32 A4, A4, 6000; cvt.rn.f32.u32 A4, A4; mul.f32 A4, A4, 0f3A83126F; sin.approx.f32 D4, A4", -1e-6);
    Add('s', "rem.u32 A4, A4, 6000; cvt.rn.f32.u32 A4, A4; mul.f32 A4, A4, 0f3A83126F; cos.approx.f32 D4, A4", -1e-6);
    Add('s', "tanh.approx.f32 D4, A4", 6e-4);
    Add('h', "ex2.approx.f16 D2, A2", 2e-3);
    Add('h', "tanh.approx.f16 D2, A2", 2e-3);
    Add('b', "ex2.approx.ftz.bf16 D2, A2", 1.6e-2);
    Add('b', "tanh.approx.bf16 D2, A2", 1.6e-2);
  }
};

uint64_t Next(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

constexpr uint64_t kIntegers[] = {0,
                                  1,
                                  2,
                                  3,
                                  7,
                                  8,
                                  15,
                                  16,
                                  31,
                                  32,
                                  33,
                                  63,
                                  64,
                                  65,
                                  0x7f,
                                  0x80,
                                  0xff,
                                  0x7fff,
                                  0x8000,
                                  0xffff,
                                  0x7fffffff,
                                  0x80000000,
                                  0xffffffff,
                                  0x100000000,
                                  0x7fffffffffffffff,
                                  0x8000000000000000,
                                  0xffffffffffffffff,
                                  0xfffffffffffffffe,
                                  0x123456789abcdef0,
                                  0xdeadbeefcafebabe};
constexpr uint32_t kSingles[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000,
                                 0x3fc00000, 0x40200000, 0xc0200000, 1,          0x80000001, 0x007fffff,
                                 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                 0x7fc00000, 0x4b000001, 0x4f000000, 0xcf000000, 0x5f000000, 0x477fe000,
                                 0x477ff000, 0x33000000, 0x33000001, 0x3f7fffff, 0x42c80000, 0x437f0000};
constexpr uint64_t kDoubles[] = {0,
                                 0x8000000000000000,
                                 0x3ff0000000000000,
                                 0xbff0000000000000,
                                 0x3fe0000000000000,
                                 0xbfe0000000000000,
                                 0x3ff8000000000000,
                                 0x4004000000000000,
                                 1,
                                 0x8000000000000001,
                                 0x000fffffffffffff,
                                 0x0010000000000000,
                                 0x7fefffffffffffff,
                                 0xffefffffffffffff,
                                 0x7ff0000000000000,
                                 0xfff0000000000000,
                                 0x7ff8000000000000,
                                 0x41e0000000000000,
                                 0xc1e0000000000000,
                                 0x43e0000000000000,
                                 0xc3e0000000000000,
                                 0x43f0000000000000,
                                 0x40effc0000000000,
                                 0x40effe0000000000,
                                 0x380fffffe0000000,
                                 0x3ff0000010000000,
                                 0x3ff0000030000000,
                                 0x47efffffe0000000,
                                 0x47efffffefffffff,
                                 0x47effffff0000000};
constexpr uint16_t kHalves[] = {0,      0x8000, 0x3c00, 0xbc00, 0x3800, 0xb800, 0x3e00, 0x4100,
                                0xc100, 1,      0x8001, 0x03ff, 0x0400, 0x8400, 0x7bff, 0xfbff,
                                0x7c00, 0xfc00, 0x7e00, 0x6400, 0x7800, 0x5bf8, 0x3bff, 0x1000};
constexpr uint16_t kBrains[] = {0,      0x8000, 0x3f80, 0xbf80, 0x3f00, 0xbf00, 0x3fc0, 0x4020,
                                0xc020, 1,      0x8001, 0x007f, 0x0080, 0x8080, 0x7f7f, 0xff7f,
                                0x7f80, 0xff80, 0x7fc0, 0x4b00, 0x4f00, 0x437f, 0x3f7f, 0x3300};

uint64_t Value(char kind, uint64_t& state) {
  const uint64_t choice = Next(state), r = Next(state);
  const bool edge = choice % 3 == 0;
  auto half = [&](const uint16_t* edges, size_t count, uint16_t one) -> uint64_t {
    auto part = [&](uint64_t v) -> uint64_t {
      if (v % 3 == 0) return edges[(v >> 8) % count];
      if (v % 3 == 1) return (v >> 16) & 0xffff;
      return (one + ((v >> 16) & 0x7ff) - 0x400) | ((v >> 40) & 0x8000);
    };
    return part(choice) | (part(r) << 16);
  };
  switch (kind) {
    case 'i': return edge ? kIntegers[r % std::size(kIntegers)] : choice % 3 == 1 ? r : r & 0x3f;
    case 's': {
      if (edge) return kSingles[r % std::size(kSingles)];
      if (choice % 3 == 1) return r & 0xffffffff;
      return (0x3f800000 + (r & 0x3ffffff) - 0x2000000) | (r >> 32 & 0x80000000);
    }
    case 'd': {
      if (edge) return kDoubles[r % std::size(kDoubles)];
      if (choice % 3 == 1) return r;
      return (0x3ff0000000000000 + (r & 0x7ffffffffffffff) - 0x400000000000000) ^ (choice & 0x8000000000000000);
    }
    case 'h': return half(kHalves, std::size(kHalves), 0x3c00);
    default: return half(kBrains, std::size(kBrains), 0x3f80);
  }
}

}  // namespace

const std::vector<InstructionCase>& InstructionTable() {
  static const Table table;
  return table.cases;
}

std::vector<Triple> InstructionInputs(char kind) {
  std::vector<Triple> inputs(kHashedResults);
  uint64_t state = 17 + static_cast<uint64_t>(kind);
  for (Triple& t : inputs) t = {Value(kind, state), Value(kind, state), Value(kind, state)};
  return inputs;
}

std::string InstructionKernel(size_t index) { return "case_" + std::to_string(index); }

std::string InstructionModule(size_t begin, size_t end) {
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (size_t i = begin; i < end; ++i) {
    const std::string& body = InstructionTable()[i].text;
    text += ".visible .entry " + InstructionKernel(i) + "(.param .u64 out, .param .u64 in) {\n";
    text +=
        ".reg .b64 A8, B8, C8, D8, X, Y; .reg .b32 A4, B4, C4, D4, T, U; .reg .b16 A2, B2, C2, D2; .reg .pred P, DP, "
        "DQ;\n"
        "mov.u32 T, %tid.x; mov.u32 U, %ctaid.x; shl.b32 U, U, 8; add.u32 T, T, U;\n"
        "ld.param.u64 X, [in]; mul.wide.u32 Y, T, 24; add.u64 X, X, Y;\n"
        "ld.global.u64 A8, [X]; ld.global.u64 B8, [X+8]; ld.global.u64 C8, [X+16];\n"
        "cvt.u32.u64 A4, A8; cvt.u32.u64 B4, B8; cvt.u32.u64 C4, C8; cvt.u16.u64 A2, A8; cvt.u16.u64 B2, B8; "
        "cvt.u16.u64 C2, C8;\n"
        "and.b32 U, C4, 1; setp.ne.u32 P, U, 0; setp.ne.u32 DP, U, U; setp.ne.u32 DQ, U, U;\n"
        "mov.u64 D8, 0; mov.u32 D4, 0; mov.u16 D2, 0;\n";
    text += body + "\n";
    // The register that the text writes to, the widest first.
    if (body.find("DQ") != std::string::npos)
      text += "selp.u32 U, 2, 0, DQ; selp.u32 D4, 1, 0, DP; add.u32 D4, D4, U; cvt.u64.u32 D8, D4;\n";
    else if (body.find("DP, ") != std::string::npos && body.find(" D4") == std::string::npos &&
             body.find(" D8") == std::string::npos)
      text += "selp.u64 D8, 1, 0, DP;\n";
    else if (body.find("D4") != std::string::npos) text += "cvt.u64.u32 D8, D4;\n";
    else if (body.find("D2") != std::string::npos) text += "cvt.u64.u16 D8, D2;\n";
    text += "ld.param.u64 X, [out]; mul.wide.u32 Y, T, 8; add.u64 X, X, Y; st.global.u64 [X], D8; ret;\n}\n";
  }
  return text;
}

uint64_t HashResults(const uint64_t* results, size_t count) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < count; ++i) hash = (hash ^ results[i]) * 0x100000001b3ull, hash ^= hash >> 29;
  return hash;
}

}  // namespace warpwright::sim
