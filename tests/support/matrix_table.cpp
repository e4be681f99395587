#include "tests/support/matrix_table.h"

#include "tests/support/number_kinds.h"

namespace warpwright::sim {
namespace {

// {%i4, %i5}
std::string Registers(const char* prefix, int first, int count) {
  std::string text = "{";
  for (int k = 0; k < count; ++k) text += (k ? ", %" : "%") + std::string(prefix) + std::to_string(first + k);
  return text + "}";
}

MatrixCase Mma(const std::string& shape, const std::string& types, char input, int a, int b, char sum, int c, int d,
               const std::string& modifier = "") {
  MatrixCase result;
  result.name = "mma " + shape + modifier + " " + types;
  result.inputs = std::string(static_cast<size_t>(a + b), input) + std::string(static_cast<size_t>(c), sum);
  result.outputs = d;
  result.body = "mma.sync.aligned." + shape + ".row.col" + modifier + "." + types + " " + Registers("o", 0, d) + ", " +
                Registers("i", 0, a) + ", " + Registers("i", a, b) + ", " + Registers("i", a + b, c) + ";\n";
  return result;
}

// Doubles come in two words.
MatrixCase MmaDouble(const std::string& shape, int a, int b, int c) {
  MatrixCase result;
  result.name = "mma " + shape + " f64.f64.f64.f64";
  result.inputs = std::string(static_cast<size_t>(2 * (a + b + c)), 'd');
  result.outputs = 2 * c;
  result.body = ".reg .f64 %x<" + std::to_string(a + b + c) + ">, %y<" + std::to_string(c) + ">;\n";
  for (int k = 0; k < a + b + c; ++k)
    result.body += "mov.b64 %x" + std::to_string(k) + ", " + Registers("i", 2 * k, 2) + ";\n";
  result.body += "mma.sync.aligned." + shape + ".row.col.f64.f64.f64.f64 " + Registers("y", 0, c) + ", " +
                 Registers("x", 0, a) + ", " + Registers("x", a, b) + ", " + Registers("x", a + b, c) + ";\n";
  for (int k = 0; k < c; ++k) result.body += "mov.b64 " + Registers("o", 2 * k, 2) + ", %y" + std::to_string(k) + ";\n";
  return result;
}

// Input words to shared memory, a lane's word w at 128 w + 4 l; the last words of `outputs` come back from there.
std::string ToShared(int words) {
  std::string text = "mov.u32 %p, tile;\nmad.lo.u32 %p, %lane, 4, %p;\n";
  for (int w = 0; w < words; ++w)
    text += "st.shared.b32 [%p+" + std::to_string(128 * w) + "], %i" + std::to_string(w) + ";\n";
  return text + "bar.warp.sync 0xffffffff;\n";
}
std::string FromShared(int first, int words) {
  std::string text = "bar.warp.sync 0xffffffff;\n";
  for (int w = 0; w < words; ++w)
    text += "ld.shared.b32 %o" + std::to_string(w) + ", [%p+" + std::to_string(128 * (first + w)) + "];\n";
  return text;
}

struct WmmaTypes {
  const char* input;  // "f16"
  const char* sum;    // "f32"
  char letter, sum_letter;
  int bytes, sum_bytes;
};
MatrixCase Wmma(const WmmaTypes& t, int m, int n, int k, const std::string& a_layout, const std::string& b_layout,
                const std::string& d_layout, int a_registers, int b_registers) {
  const std::string shape = "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
  const std::string input = t.input, sum = t.sum;
  const int a = m * k * t.bytes / 128, b = k * n * t.bytes / 128, c = m * n * t.sum_bytes / 128;
  const int d_registers = m * n * t.sum_bytes / 128;
  const auto layout = [](const std::string& l, int rows, int columns) {
    return std::to_string(l == "row" ? columns : rows);
  };
  MatrixCase result;
  result.name = "wmma " + shape + " " + a_layout + "." + b_layout + "." + d_layout + " " + sum + "." + input;
  result.inputs = std::string(static_cast<size_t>(a + b), t.letter) + std::string(static_cast<size_t>(c), t.sum_letter);
  result.outputs = c;
  const std::string words = std::to_string(a_registers + b_registers + 2 * d_registers);
  const std::string types = input == "f16" ? sum + "." + sum : sum + "." + input + "." + input + "." + sum;
  const std::string fa = Registers("f", 0, a_registers), fb = Registers("f", a_registers, b_registers),
                    fc = Registers("f", a_registers + b_registers, d_registers),
                    fd = Registers("f", a_registers + b_registers + d_registers, d_registers);
  const auto at = [](int word) { return std::to_string(128 * word); };
  result.body = ".reg .b32 %f<" + words + ">, %q;\n" + ToShared(a + b + c) + "mov.u32 %q, tile;\n";
  result.body += "wmma.load.a.sync.aligned." + a_layout + "." + shape + ".shared." + input + " " + fa + ", [%q], " +
                 layout(a_layout, m, k) + ";\n";
  result.body += "wmma.load.b.sync.aligned." + b_layout + "." + shape + ".shared." + input + " " + fb + ", [%q+" +
                 at(a) + "], " + layout(b_layout, k, n) + ";\n";
  result.body += "wmma.load.c.sync.aligned." + d_layout + "." + shape + ".shared." + sum + " " + fc + ", [%q+" +
                 at(a + b) + "], " + layout(d_layout, m, n) + ";\n";
  result.body += "wmma.mma.sync.aligned." + a_layout + "." + b_layout + "." + shape + "." + types + " " + fd + ", " +
                 fa + ", " + fb + ", " + fc + ";\nbar.warp.sync 0xffffffff;\n";
  result.body += "wmma.store.d.sync.aligned." + d_layout + "." + shape + ".shared." + sum + " [%q], " + fd + ", " +
                 layout(d_layout, m, n) + ";\n" + FromShared(0, c);
  return result;
}

MatrixCase Move(const std::string& name, int words, const std::string& body) {
  return {name, std::string(static_cast<size_t>(words), 'i'), words, body};
}

// Row r of matrix m at 16 (8 m + r): a lane's address is that of row `lane`.
const char kRowAddress[] = ".reg .b32 %q;\nmov.u32 %q, tile;\nmad.lo.u32 %q, %lane, 16, %q;\n";

std::vector<MatrixCase> MakeTable() {
  std::vector<MatrixCase> table;
  table.push_back(Mma("m16n8k8", "f32.f16.f16.f32", 'h', 2, 1, 's', 4, 4));
  table.push_back(Mma("m16n8k16", "f32.f16.f16.f32", 'h', 4, 2, 's', 4, 4));
  table.push_back(Mma("m16n8k8", "f16.f16.f16.f16", 'h', 2, 1, 'h', 2, 2));
  table.push_back(Mma("m16n8k16", "f16.f16.f16.f16", 'h', 4, 2, 'h', 2, 2));
  table.push_back(Mma("m16n8k8", "f32.bf16.bf16.f32", 'b', 2, 1, 's', 4, 4));
  table.push_back(Mma("m16n8k16", "f32.bf16.bf16.f32", 'b', 4, 2, 's', 4, 4));
  table.push_back(Mma("m16n8k4", "f32.tf32.tf32.f32", 's', 2, 1, 's', 4, 4));
  table.push_back(Mma("m16n8k8", "f32.tf32.tf32.f32", 's', 4, 2, 's', 4, 4));
  for (const char* types : {"s32.s8.s8.s32", "s32.u8.u8.s32", "s32.s8.u8.s32", "s32.u8.s8.s32"}) {
    table.push_back(Mma("m8n8k16", types, 'i', 1, 1, 'i', 2, 2));
    table.push_back(Mma("m16n8k16", types, 'i', 2, 1, 'i', 4, 4));
    table.push_back(Mma("m16n8k32", types, 'i', 4, 2, 'i', 4, 4));
    table.push_back(Mma("m16n8k32", types, 'i', 4, 2, 'i', 4, 4, ".satfinite"));
  }
  table.push_back(MmaDouble("m8n8k4", 1, 1, 2));
  table.push_back(MmaDouble("m16n8k4", 2, 1, 4));
  table.push_back(MmaDouble("m16n8k8", 4, 2, 4));
  table.push_back(MmaDouble("m16n8k16", 8, 4, 4));
  const WmmaTypes half{"f16", "f32", 'h', 's', 2, 4}, halves{"f16", "f16", 'h', 'h', 2, 2},
      brain{"bf16", "f32", 'b', 's', 2, 4}, single{"tf32", "f32", 's', 's', 4, 4}, byte{"s8", "s32", 'i', 'i', 1, 4},
      unsigned_byte{"u8", "s32", 'i', 'i', 1, 4};
  for (const WmmaTypes& t : {half, halves}) {
    table.push_back(Wmma(t, 16, 16, 16, "row", "row", "row", 8, 8));
    table.push_back(Wmma(t, 16, 16, 16, "col", "col", "col", 8, 8));
    table.push_back(Wmma(t, 8, 32, 16, "row", "col", "row", 8, 8));
    table.push_back(Wmma(t, 8, 32, 16, "col", "row", "col", 8, 8));
    table.push_back(Wmma(t, 32, 8, 16, "row", "col", "row", 8, 8));
    table.push_back(Wmma(t, 32, 8, 16, "col", "row", "col", 8, 8));
  }
  table.push_back(Wmma(brain, 16, 16, 16, "row", "col", "row", 4, 4));
  table.push_back(Wmma(brain, 16, 16, 16, "col", "row", "col", 4, 4));
  table.push_back(Wmma(brain, 8, 32, 16, "row", "col", "row", 2, 8));
  table.push_back(Wmma(brain, 32, 8, 16, "row", "col", "row", 8, 2));
  table.push_back(Wmma(single, 16, 16, 8, "row", "col", "row", 4, 4));
  table.push_back(Wmma(single, 16, 16, 8, "col", "row", "col", 4, 4));
  for (const WmmaTypes& t : {byte, unsigned_byte}) {
    table.push_back(Wmma(t, 16, 16, 16, "row", "col", "row", 2, 2));
    table.push_back(Wmma(t, 16, 16, 16, "col", "row", "col", 2, 2));
    table.push_back(Wmma(t, 8, 32, 16, "row", "col", "row", 1, 4));
    table.push_back(Wmma(t, 32, 8, 16, "row", "col", "row", 4, 1));
  }
  table.push_back(Move("movmatrix", 1, "movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;\n"));
  for (const auto& [suffix, words] : {std::pair<const char*, int>{"x1", 1}, {"x2", 2}, {"x4", 4}})
    for (const char* trans : {"", ".trans"}) {
      const std::string form = std::string(".sync.aligned.m8n8.") + suffix + trans + ".shared.b16 ";
      table.push_back(Move("ldmatrix." + std::string(suffix) + trans, words,
                           kRowAddress + ToShared(words) + "ldmatrix" + form + Registers("o", 0, words) + ", [%q];\n"));
      table.push_back(Move("stmatrix." + std::string(suffix) + trans, words,
                           kRowAddress + ToShared(words) + "stmatrix" + form + "[%q], " + Registers("i", 0, words) +
                               ";\n" + FromShared(0, words)));
    }
  return table;
}

}  // namespace

const std::vector<MatrixCase>& MatrixTable() {
  static const std::vector<MatrixCase> table = MakeTable();
  return table;
}

std::vector<uint32_t> MatrixInputs(const MatrixCase& c) {
  const size_t words = c.inputs.size();
  std::vector<uint32_t> inputs(words * 32 * kMatrixTrials);
  NumberRandom random(HashWords(nullptr, 0) + words);
  for (char letter : c.name) random = NumberRandom(random.Next() + static_cast<unsigned char>(letter));
  for (int trial = 0; trial < kMatrixTrials; ++trial)
    for (size_t w = 0; w < words; ++w)
      for (size_t lane = 0; lane < 32; ++lane) {
        const int kind = trial % 8;
        const size_t at = (static_cast<size_t>(trial) * words + w) * 32 + lane;
        switch (c.inputs[w]) {
          case 'h':
            inputs[at] = static_cast<uint32_t>(MakeNumber(random, kind, 5, 10));
            inputs[at] |= static_cast<uint32_t>(MakeNumber(random, kind, 5, 10) << 16);
            break;
          case 'b':
            inputs[at] = static_cast<uint32_t>(MakeNumber(random, kind, 8, 7));
            inputs[at] |= static_cast<uint32_t>(MakeNumber(random, kind, 8, 7) << 16);
            break;
          case 's': inputs[at] = static_cast<uint32_t>(MakeNumber(random, kind, 8, 23)); break;
          case 'd': {
            if (w % 2 == 1) break;  // written with the word before
            const uint64_t bits = MakeNumber(random, kind, 11, 52);
            inputs[at] = static_cast<uint32_t>(bits);
            inputs[at + 32] = static_cast<uint32_t>(bits >> 32);
            break;
          }
          default: inputs[at] = static_cast<uint32_t>(random.Next() >> 32); break;
        }
      }
  return inputs;
}

std::string MatrixKernel(size_t index) { return "product_" + std::to_string(index); }

std::string MatrixModule(size_t index) {
  const MatrixCase& c = MatrixTable()[index];
  const int words = static_cast<int>(c.inputs.size());
  std::string text = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry " + MatrixKernel(index) +
                     "(.param .u64 out, .param .u64 in)\n{\n.reg .b32 %i<" + std::to_string(words) + ">, %o<" +
                     std::to_string(c.outputs) + ">, %p, %lane, %trial, %at;\n.reg .b64 %in, %out, %wide;\n" +
                     ".shared .align 128 .b8 tile[4096];\n" +
                     "mov.u32 %lane, %tid.x;\nmov.u32 %trial, %ctaid.x;\nld.param.u64 %in, [in];\n" +
                     "ld.param.u64 %out, [out];\nmad.lo.u32 %at, %trial, " + std::to_string(32 * words) +
                     ", %lane;\nmul.wide.u32 %wide, %at, 4;\nadd.u64 %in, %in, %wide;\nmad.lo.u32 %at, %trial, " +
                     std::to_string(32 * c.outputs) +
                     ", %lane;\nmul.wide.u32 %wide, %at, 4;\nadd.u64 %out, %out, %wide;\n";
  for (int w = 0; w < words; ++w)
    text += "ld.global.b32 %i" + std::to_string(w) + ", [%in+" + std::to_string(128 * w) + "];\n";
  text += c.body;
  for (int w = 0; w < c.outputs; ++w)
    text += "st.global.b32 [%out+" + std::to_string(128 * w) + "], %o" + std::to_string(w) + ";\n";
  return text + "ret;\n}\n";
}

}  // namespace warpwright::sim
