// The published schemas and the parsers agree on every file. python3-jsonschema checks the schemas; without it, the
// parsers' half still runs.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "base/file.h"
#include "base/subprocess.h"
#include "config/manifest.h"
#include "config/operator_file.h"
#include "config/yaml_reader.h"

namespace warpwright {
namespace {

using nlohmann::json;

const std::string kSchemas = std::string(WW_SOURCE_DIR) + "/config/schemas/";
constexpr const char *kRepositorySchema = "warpwright.schema.json", *kOperatorSchema = "operator.schema.json";

json ToJson(const config::YamlNode& node) {
  if (node.IsMap()) {
    json map = json::object();
    for (const auto& [key, value] : node.entries()) map[key.text()] = ToJson(value);
    return map;
  }
  if (node.IsList()) {
    json list = json::array();
    for (const config::YamlNode& item : node.items()) list.push_back(ToJson(item));
    return list;
  }
  if (node.IsNull()) return nullptr;
  if (auto integer = node.AsInteger()) return *integer;
  if (auto number = node.AsDouble()) return *number;
  if (auto truth = node.AsBool()) return *truth;
  return node.text();
}

std::string ReadText(const std::string& path) {
  auto text = base::ReadFile(path);
  EXPECT_TRUE(text) << path;
  return text ? *text : "";
}

enum class Verdict { kGood, kBad, kBeyond };  // kBeyond: bad, in a way that a schema cannot express
struct Row {
  const char *from, *to;
  Verdict verdict;
};

constexpr std::string_view kRepository = R"yaml(version: 1
build: {include: [include, .], define: {TILE: 32, REAL: float}, std: c++20, flags: [--use_fast_math]}
kernels:
  - name: softmax
    file: kernels/softmax.cu
    entry: softmax_forward
    args:
      out: {buffer: f32, shape: [N, C], role: out}
      inp: {buffer: f32, shape: [N, "ceil_div(C, 1)"], role: in, init: {normal: [0, 2]}, alignment: 16}
      index: {buffer: i32, shape: [N], role: in, init: {integers: [0, "C - 1"]}}
      N: {scalar: i32}
      C: {scalar: i32}
      eps: {scalar: f32, value: 1e-5}
      causal: {scalar: bool, value: false}
    cases:
      - {name: gpt2, N: 8192, C: 50257, weight: 3}
      - {N: 37, C: 130, on: [sim], causal: true}
    launch: {grid: ["ceil_div(N, 256)"], block: [32, 8], shared_bytes: 4 * C}
    tolerance: {relative: 1e-3}
    allow: [tf32, clock]
    accumulation: C
    special: strict
    alias: [[out, inp]]
    build: {std: c++14}
policy: {min_speedup: 1.1, max_rounds: 5, max_minutes: 10, max_repairs: 0, require: [nvcc]}
pull_requests: {enabled: true, draft: true, labels: [speed], reviewers: [ann, "team:gpu"], max_open: 1, max_per_day: 2}
nightly: {enabled: false, threshold: 1.05, branch: warpwright-times}
)yaml";

const Row kRepositoryRows[] = {
    {"version: 1", "version: 1", Verdict::kGood},
    {"version: 1", "version: 2", Verdict::kBad},
    {"version: 1", "version: one", Verdict::kBad},
    {"policy: {", "polcy: {", Verdict::kBad},
    {"name: softmax", "name: -softmax", Verdict::kBad},
    {"name: softmax", "name: soft max", Verdict::kBad},
    {"name: softmax", "name: softmax.lock", Verdict::kBad},
    {"name: softmax", "name: soft..max", Verdict::kBad},
    {"name: softmax", "name: s", Verdict::kGood},
    {"name: softmax", "title: softmax", Verdict::kBad},
    {"kernels/softmax.cu", "/kernels/softmax.cu", Verdict::kBad},
    {"kernels/softmax.cu", "../softmax.cu", Verdict::kBad},
    {"kernels/softmax.cu", "a/../softmax.cu", Verdict::kBad},
    {"kernels/softmax.cu", "a/./softmax.cu", Verdict::kBad},
    {"kernels/softmax.cu", "a//softmax.cu", Verdict::kBad},
    {"kernels/softmax.cu", ".git/softmax.cu", Verdict::kBad},
    {"kernels/softmax.cu", "a/.git/softmax.cu", Verdict::kBad},
    {"kernels/softmax.cu", "a/.github/softmax.cu", Verdict::kGood},
    {"kernels/softmax.cu", "kernels/", Verdict::kBad},
    {"kernels/softmax.cu", "\"a\\\\b.cu\"", Verdict::kBad},
    {"entry: softmax_forward", "entry: ns::f<float, 4>", Verdict::kGood},
    {"entry: softmax_forward", "entry: f(int)", Verdict::kBad},
    {"entry: softmax_forward", "entry: f<float", Verdict::kBeyond},
    {"N, C], role: out", "N, M], role: out", Verdict::kBeyond},
    {"N, C], role: out", "N, C], role: in", Verdict::kBeyond},
    {"role: out", "role: output", Verdict::kBad},
    {"role: out", "role: out, init: {constant: 0}", Verdict::kBad},
    {"{buffer: f32, shape: [N, C]", "{buffer: f33, shape: [N, C]", Verdict::kBad},
    {"{buffer: f32, shape: [N, C], role: out}", "{buffer: f32, role: out}", Verdict::kBad},
    {"alignment: 16", "alignment: 24", Verdict::kBad},
    {"init: {normal: [0, 2]}", "init: {normal: [0]}", Verdict::kBad},
    {"init: {normal: [0, 2]}", "init: {normal: [0, 1], uniform: [0, 1]}", Verdict::kBad},
    {"init: {normal: [0, 2]}", "init: {pareto: 0}", Verdict::kBad},
    {"init: {normal: [0, 2]}", "init: {constant: 1.5}", Verdict::kGood},
    {"init: {normal: [0, 2]}", "init: {file: data/x.safetensors, tensor: x}", Verdict::kGood},
    {"init: {normal: [0, 2]}", "init: {file: data/x.safetensors}", Verdict::kBad},
    {"init: {integers: [0, \"C - 1\"]}", "init: {integers: [0]}", Verdict::kBad},
    {"N: {scalar: i32}", "N: {scalar: i32, vlaue: 1}", Verdict::kBad},
    {"N: {scalar: i32}", "N: {}", Verdict::kBad},
    {"      N: {scalar: i32}", "      1N: {scalar: i32}", Verdict::kBad},
    {"weight: 3", "weight: -1", Verdict::kBad},
    {"weight: 3", "wieght: 3", Verdict::kBeyond},
    {"weight: 3", "M: 3", Verdict::kBeyond},
    {"N: 8192", "N: many", Verdict::kBad},
    {"on: [sim]", "on: [gpu]", Verdict::kBad},
    {"on: [sim]", "on: sim", Verdict::kBad},
    {"name: gpt2", "name: a/b", Verdict::kBad},
    {"block: [32, 8]", "block: [32, 8, 1, 1]", Verdict::kBad},
    {"block: [32, 8]", "block: [32, 64]", Verdict::kBeyond},
    {", block: [32, 8]", "", Verdict::kBad},
    {"relative: 1e-3", "relative: 2", Verdict::kBad},
    {"relative: 1e-3", "absolute: 2", Verdict::kBad},
    {"allow: [tf32, clock]", "allow: [tf33]", Verdict::kBad},
    {"special: strict", "special: finite_inputs", Verdict::kGood},
    {"special: strict", "special: loose", Verdict::kBad},
    {"include: [include, .]", "include: [third_party/a+b-1.0/include]", Verdict::kGood},
    {"include: [include, .]", "include: []", Verdict::kGood},
    {"include: [include, .]", "include: include", Verdict::kBad},
    {"include: [include, .]", "include: [../include]", Verdict::kBad},
    {"include: [include, .]", "include: [/usr/include]", Verdict::kBad},
    {"include: [include, .]", "include: [./include]", Verdict::kBad},
    {"include: [include, .]", "include: [-include]", Verdict::kBad},
    {"include: [include, .]", "include: [\"a b\"]", Verdict::kBad},
    {"include: [include, .]", "include: [\"$(id)\"]", Verdict::kBad},
    {"TILE: 32", "TILE: \"unsigned int\"", Verdict::kGood},
    {"TILE: 32", "TILE: 1.5", Verdict::kGood},
    {"TILE: 32", "TILE: ", Verdict::kGood},
    {"TILE: 32", "TILE: true", Verdict::kGood},
    {"TILE: 32", "TILE: \"`id`\"", Verdict::kBad},
    {"TILE: 32", "TILE: \"a;b\"", Verdict::kBad},
    {"TILE: 32", "TILE: <a.h>", Verdict::kBad},
    {"TILE: 32", "TILE: [32]", Verdict::kBad},
    {"TILE: 32", "TI-LE: 32", Verdict::kBad},
    {"TILE: 32", "__CUDA_ARCH__: 32", Verdict::kBad},
    {"define: {TILE: 32, REAL: float}", "define: [TILE=32]", Verdict::kBad},
    {"std: c++20", "std: c++17", Verdict::kGood},
    {"std: c++20", "std: gnu++17", Verdict::kBad},
    {"[--use_fast_math]", "[-use_fast_math, --fmad=false, -ftz=true]", Verdict::kGood},
    {"[--use_fast_math]", "[--expt-extended-lambda, -expt-relaxed-constexpr]", Verdict::kGood},
    {"[--use_fast_math]", "[-arch=sm_90a]", Verdict::kGood},
    {"[--use_fast_math]", "[--gpu-architecture=sm_90a]", Verdict::kGood},
    {"[--use_fast_math]", "[-arch=sm_90]", Verdict::kBad},
    {"[--use_fast_math]", "[use_fast_math]", Verdict::kBad},
    {"[--use_fast_math]", "[-fmad=true]", Verdict::kBad},
    {"[--use_fast_math]", "[\"--pre-include=/etc/passwd\"]", Verdict::kBad},
    {"build: {std: c++14}", "build: {standard: c++14}", Verdict::kBad},
    {"alias: [[out, inp]]", "alias: []", Verdict::kGood},
    {"alias: [[out, inp]]", "alias: [out, inp]", Verdict::kBad},
    {"alias: [[out, inp]]", "alias: [[out]]", Verdict::kBad},
    {"alias: [[out, inp]]", "alias: [[inp, out]]", Verdict::kBeyond},
    {"require: [nvcc]", "require: [compute-sanitizer]", Verdict::kGood},
    {"require: [nvcc]", "require: [gcc]", Verdict::kBad},
    {"min_speedup: 1.1", "min_speedup: 0.9", Verdict::kBad},
    {"max_rounds: 5", "max_rounds: 0", Verdict::kBad},
    {"max_rounds: 5", "max_rounds: 5.5", Verdict::kBad},
    {"max_minutes: 10", "max_minutes: 0", Verdict::kBad},
    {"max_repairs: 0", "max_repairs: 101", Verdict::kBad},
    {"draft: true", "draft: yes", Verdict::kBad},
    {"labels: [speed]", "labels: speed", Verdict::kBad},
    {"labels: [speed]", "labels: [\"\"]", Verdict::kBad},
    {"labels: [speed]", "labels: []", Verdict::kGood},
    {"reviewers: [ann, \"team:gpu\"]", "reviewers: [\"@ann\"]", Verdict::kBad},
    {"reviewers: [ann, \"team:gpu\"]", "reviewers: [\"team:a/b\"]", Verdict::kBad},
    {"max_open: 1", "max_open: 101", Verdict::kBad},
    {"max_per_day: 2", "max_per_day: -1", Verdict::kBad},
    {"threshold: 1.05", "threshold: 0.5", Verdict::kBad},
    {"branch: warpwright-times", "branch: warpwright-a..b", Verdict::kBad},
    {"branch: warpwright-times", "branch: main", Verdict::kBad},
    {"branch: warpwright-times", "branch: warpwright/softmax", Verdict::kBad},
    {"branch: warpwright-times", "branch: refs/heads/main", Verdict::kBad},
    {"branch: warpwright-times", "branches: [history]", Verdict::kBad},
};

constexpr std::string_view kOperator = R"yaml(version: 1
state: /srv/warpwright
devices: [cuda:1, cuda]
listen: {webhooks: "0.0.0.0:8420", status: "127.0.0.1:9000"}
poll: {every: 30, at_most: 600}
github:
  api: https://ghe.example.com/api/v3
  app: {id: Iv23abc, key: {file: app.pem}}
  webhook_secret: {env: HOOK_SECRET}
nights: {at: "23 2 * * *", zone: Europe/Berlin}
limits: {max_minutes: 20, max_rounds: 8, max_open: 2, max_per_day: 4, queue: 50, model_dollars_per_day: 1.5}
author: {name: kernel bot, email: bot@example.com}
log: {format: text, level: debug}
models:
  writer: {transport: anthropic, model: claude-opus-4-8, key: {env: MODEL_KEY}, deadline: 300}
  small: {transport: openai_chat, base_url: "http://127.0.0.1:8000/v1", model: qwen3, price: unmetered}
  program: {transport: command, command: [claude, -p], price: {input: 3, output: 15}}
  desk: {transport: offline, folder: /srv/exchange}
agents:
  planner: {first: [built_in, small]}
repositories:
  - url: https://ghe.example.com/acme/kernels.git
    branches: [main, release/1.x]
  - url: git@ghe.example.com:acme/private.git
    ssh: {key: {file: /etc/warpwright/id}, known_hosts: /etc/warpwright/known_hosts}
    publish: branch
)yaml";

const Row kOperatorRows[] = {
    {", cuda]", ", cuda:0]", Verdict::kGood},
    {", cuda]", ", sim:h200]", Verdict::kGood},
    {"[cuda:1, cuda]", "[cuda:0, cuda]", Verdict::kBeyond},  // another name of cuda:0
    {", cuda]", ", cuda:1]", Verdict::kBad},
    {", cuda]", ", cuda:]", Verdict::kBad},
    {", cuda]", ", cuda:-1]", Verdict::kBad},
    {", cuda]", ", sim:h300]", Verdict::kBad},
    {"[cuda:1, cuda]", "[]", Verdict::kBad},
    {"state: /srv", "state: srv", Verdict::kBad},
    {"127.0.0.1:9000\"", "127.0.0.1\"", Verdict::kBad},
    {"\"127.0.0.1:9000\"", "off", Verdict::kGood},
    {"127.0.0.1:9000", "127.0.0.1:99999", Verdict::kBeyond},
    {"every: 30", "every: 0", Verdict::kBad},
    {"at_most: 600", "at_most: 6", Verdict::kBeyond},
    {"https://ghe.example.com/api/v3", "http://ghe.example.com/api/v3", Verdict::kBad},
    {"https://ghe.example.com/api/v3", "http://127.0.0.1:8080", Verdict::kGood},
    {"https://ghe.example.com/api/v3", "https://a:b@ghe.example.com", Verdict::kBad},
    {"app: {id: Iv23abc, key: {file: app.pem}}", "token: {env: TOKEN}", Verdict::kGood},
    {"app: {id: Iv23abc, key: {file: app.pem}}", "token: ghp_abc", Verdict::kBad},
    {"app: {id: Iv23abc", "token: {env: A}\n  app: {id: Iv23abc", Verdict::kBad},
    {"id: Iv23abc", "id: 12345", Verdict::kGood},
    {"id: Iv23abc", "id: \"a b\"", Verdict::kBad},
    {"{file: app.pem}", "{file: ../app.pem}", Verdict::kBad},
    {"{file: app.pem}", "{file: a/app.pem}", Verdict::kBad},
    {"{file: app.pem}", "{file: /a/b, env: X}", Verdict::kBad},
    {"{file: app.pem}", "{}", Verdict::kBad},
    {"env: HOOK_SECRET", "env: 1X", Verdict::kBad},
    {"\n  webhook_secret: {env: HOOK_SECRET}", "", Verdict::kBeyond},
    {"at: \"23 2 * * *\", ", "", Verdict::kBad},
    {"23 2 * * *", "23 2; x", Verdict::kBad},
    {"Europe/Berlin", "Europe.Berlin", Verdict::kBad},
    {"max_minutes: 20", "max_minutes: 0", Verdict::kBad},
    {"queue: 50", "queue: 0", Verdict::kBad},
    {"model_dollars_per_day: 1.5", "model_dollars: 1.5", Verdict::kBad},
    {"name: kernel bot", "name: \"a <b\"", Verdict::kBad},
    {"level: debug", "level: trace", Verdict::kBad},
    {"format: text", "format: xml", Verdict::kBad},
    {"- url: https://ghe.example.com/acme/kernels.git", "- url: http://ghe.example.com/acme/kernels.git",
     Verdict::kBad},
    {"- url: https://ghe.example.com/acme/kernels.git", "- url: https://tok@ghe.example.com/acme/kernels.git",
     Verdict::kBad},
    {"- url: https://ghe.example.com/acme/kernels.git", "- url: ext::sh", Verdict::kBad},
    {"- url: https://ghe.example.com/acme/kernels.git", "- url: /srv/a.git", Verdict::kGood},
    {"- url: https://ghe.example.com/acme/kernels.git", "- url: file:///srv/a.git", Verdict::kGood},
    {"- url: https://ghe.example.com/acme/kernels.git", "- url: ssh://git@h:22/a.git", Verdict::kGood},
    {"- url: https://ghe.example.com/acme/kernels.git", "- url: ssh://-oProxyCommand=x/a.git", Verdict::kBad},
    {"- url: https://ghe.example.com/acme/kernels.git", "- url: http://localhost:3000/a/b.git", Verdict::kGood},
    {"- url: https://ghe.example.com/acme/kernels.git", "- uri: /srv/a.git", Verdict::kBad},
    {"main, release/1.x", "main, main", Verdict::kBad},
    {"main, release/1.x", "warpwright/a", Verdict::kBad},
    {"main, release/1.x", "refs/heads/a", Verdict::kBad},
    {"main, release/1.x", "a.lock", Verdict::kBad},
    {"main, release/1.x", "a~1", Verdict::kBad},
    {"main, release/1.x", "", Verdict::kBad},
    {"{file: /etc/warpwright/id}", "{env: KEY}", Verdict::kBad},
    {"known_hosts: /etc", "known_hosts: etc", Verdict::kBad},
    {"publish: branch", "publish: merge", Verdict::kBad},
    {"publish: branch", "publish: none", Verdict::kGood},
    {"model_dollars_per_day: 1.5", "model_dollars_per_day: 0", Verdict::kBeyond},  // and a model that costs money
    {"model_dollars_per_day: 1.5",
     "model_dollars_per_day: 1.5, models: {call: {dollars: 1}, task: {calls: 60, minutes: 5}, day: {tokens: 9}}",
     Verdict::kGood},
    {"model_dollars_per_day: 1.5", "model_dollars_per_day: 1.5, models: {day: {dollars: 9}}", Verdict::kBad},
    {"model_dollars_per_day: 1.5", "model_dollars_per_day: 1.5, models: {call: {calls: 9}}", Verdict::kBad},
    {"model_dollars_per_day: 1.5", "model_dollars_per_day: 1.5, models: {task: {dollar: 9}}", Verdict::kBad},
    {"model_dollars_per_day: 1.5", "model_dollars_per_day: 1.5, models: {task: {dollars: -1}}", Verdict::kBad},
    {"transport: anthropic", "transport: antropic", Verdict::kBad},
    {"transport: anthropic", "transport: openai_responses", Verdict::kBeyond},  // which has no such model
    {"claude-opus-4-8", "claude-opus-4-8-20260401", Verdict::kGood},
    {"claude-opus-4-8", "claude-99", Verdict::kBeyond},  // of unknown price
    {"claude-opus-4-8", "claude-99, price: {input: 3, output: 15}", Verdict::kGood},
    {"claude-opus-4-8", "claude-99, price: {input: 3}", Verdict::kBad},
    {"claude-opus-4-8", "\"a b\"", Verdict::kBad},
    {"key: {env: MODEL_KEY}", "key: sk-abc", Verdict::kBad},
    {", key: {env: MODEL_KEY}", "", Verdict::kBad},
    {"deadline: 300", "deadline: 0", Verdict::kBad},
    {"deadline: 300", "token_limit: max_tokens", Verdict::kBeyond},  // a name of openai_chat
    {"http://127.0.0.1:8000/v1", "https://models.example.com/v1", Verdict::kGood},
    {"http://127.0.0.1:8000/v1", "https://a:b@models.example.com/v1", Verdict::kBad},
    {"http://127.0.0.1:8000/v1", "https://models.example.com/v1?api-version=2024-10-21", Verdict::kGood},
    {"http://127.0.0.1:8000/v1", "https://models.example.com/v1?a=b?c=d", Verdict::kBad},
    {"http://127.0.0.1:8000/v1", "https://models.example.com/v1#top", Verdict::kBad},
    {"http://127.0.0.1:8000/v1", "models.example.com", Verdict::kBad},
    {"key: {env: MODEL_KEY}", "key: {env: MODEL_KEY}, key_header: api-key", Verdict::kGood},
    {"key: {env: MODEL_KEY}", "key: {env: MODEL_KEY}, key_header: \"api-key: x\"", Verdict::kBad},
    {"price: unmetered", "price: unmetered, key_header: api-key", Verdict::kBeyond},  // without a key
    {"price: unmetered", "price: free", Verdict::kBad},
    {", price: unmetered", "", Verdict::kBeyond},
    {"command: [claude, -p]", "command: claude", Verdict::kBad},
    {"command: [claude, -p], ", "", Verdict::kBad},
    {"folder: /srv/exchange", "folder: exchange", Verdict::kBad},
    {"folder: /srv/exchange", "folder: /srv/exchange, command: [x]", Verdict::kBad},
    {"  small: ", "  built_in: ", Verdict::kBad},
    {"planner: {first", "planer: {first", Verdict::kBad},
    {"{first: [built_in, small]}", "{all: [writer, desk]}", Verdict::kGood},
    {"{first: [built_in, small]}", "{first: [small, nobody]}", Verdict::kBeyond},
    {"{first: [built_in, small]}", "{first: [small, small]}", Verdict::kBad},
    {"{first: [built_in, small]}", "{first: []}", Verdict::kBad},
    {"{first: [built_in, small]}", "{first: [small], all: [small]}", Verdict::kBad},
    {"{first: [built_in, small]}", "[built_in, small]", Verdict::kBad},
};

// Documents for the validator, and the expected results.
class Schemas : public testing::Test {
 protected:
  void Add(const std::string& name, const char* schema, const std::string& text, bool good) {
    auto root = config::ParseYaml(text, name);
    ASSERT_TRUE(root) << root.error().Format();
    documents_.push_back({{"name", name}, {"schema", kSchemas + schema}, {"document", ToJson(*root)}});
    expected_.push_back(good);
  }
  // Skips if the validator is missing.
  void Validate() {
    base::Command command;
    command.argv = {"/usr/bin/python3", "-c",  // Debian's own, which sees Debian's packages
                    "import json, sys\n"
                    "try:\n  import jsonschema\nexcept ImportError:\n  sys.exit(9)\n"
                    "out = []\n"
                    "for d in json.load(sys.stdin):\n"
                    "  s = json.load(open(d['schema']))\n"
                    "  jsonschema.Draft7Validator.check_schema(s)\n"
                    "  e = next(iter(jsonschema.Draft7Validator(s).iter_errors(d['document'])), None)\n"
                    "  out.append(e.message if e else '')\n"
                    "json.dump(out, sys.stdout)\n"};
    command.env = base::MinimalEnvironment();
    command.input = json(documents_).dump();
    auto done = warpwright::base::Run(command);
    if (!done || done->exit_code == 9 || done->exit_code == 127) GTEST_SKIP() << "python3-jsonschema is not installed";
    ASSERT_EQ(done->exit_code, 0) << done->err;
    const json verdicts = json::parse(done->out);
    ASSERT_EQ(verdicts.size(), expected_.size());
    for (size_t i = 0; i < expected_.size(); ++i)
      EXPECT_EQ(verdicts[i].get<std::string>().empty(), expected_[i]) << documents_[i]["name"] << "\n" << verdicts[i];
  }

  std::vector<json> documents_;
  std::vector<bool> expected_;
};

template <typename Parse>
void CheckRows(std::span<const Row> rows, std::string_view base, Parse parse,
               const std::function<void(const std::string&, const std::string&, bool)>& add) {
  for (const Row& row : rows) {
    std::string text(base);
    ASSERT_NE(text.find(row.from), std::string::npos) << row.from;
    text.replace(text.find(row.from), std::string_view(row.from).size(), row.to);
    const std::string name = std::string(row.from) + " => " + row.to;
    EXPECT_EQ(parse(text), row.verdict == Verdict::kGood) << name;
    add(name, text, row.verdict != Verdict::kBad);
  }
}

TEST_F(Schemas, AgreeWithTheParserOfRepositoryFiles) {
  CheckRows(
      kRepositoryRows, kRepository,
      [](const std::string& text) { return config::ParseManifest(text, "m.yml").has_value(); },
      [&](const std::string& name, const std::string& text, bool good) { Add(name, kRepositorySchema, text, good); });
  Validate();
}

TEST_F(Schemas, AgreeWithTheParserOfOperatorFiles) {
  CheckRows(
      kOperatorRows, kOperator,
      [](const std::string& text) { return config::ParseOperatorConfig(text, "c.yml").has_value(); },
      [&](const std::string& name, const std::string& text, bool good) { Add(name, kOperatorSchema, text, good); });
  Validate();
}

TEST_F(Schemas, AcceptTheExamples) {
  const std::string root = std::string(WW_SOURCE_DIR) + "/config/";
  const std::string example = ReadText(root + "operator.example.yml");
  auto config = config::ParseOperatorConfig(example, "operator.example.yml");
  EXPECT_TRUE(config) << config.error().Format();
  Add("operator.example.yml", kOperatorSchema, example, true);
  const std::string manifest = ReadText(root + "examples/kernels/.warpwright.yml");
  EXPECT_TRUE(config::ParseManifest(manifest, "m.yml"));
  Add("examples/kernels/.warpwright.yml", kRepositorySchema, manifest, true);
  Validate();
}

TEST(SchemaDefaults, AreTheParsers) {
  const json repository = json::parse(ReadText(kSchemas + kRepositorySchema))["definitions"];
  const core::Manifest manifest;
  const json policy = repository["policy"]["properties"], pull = repository["pull_requests"]["properties"],
             nightly = repository["nightly"]["properties"];
  EXPECT_EQ(policy["min_speedup"]["default"], manifest.policy.min_speedup);
  EXPECT_EQ(policy["max_rounds"]["default"], manifest.policy.max_rounds);
  EXPECT_EQ(policy["max_minutes"]["default"], manifest.policy.max_minutes);
  EXPECT_EQ(policy["max_repairs"]["default"], manifest.policy.max_repairs);
  EXPECT_EQ(pull["enabled"]["default"], manifest.pull_requests.enabled);
  EXPECT_EQ(pull["draft"]["default"], manifest.pull_requests.draft);
  EXPECT_EQ(pull["labels"]["default"], json(manifest.pull_requests.labels));
  EXPECT_EQ(pull["max_open"]["default"], manifest.pull_requests.max_open);
  EXPECT_EQ(pull["max_per_day"]["default"], manifest.pull_requests.max_per_day);
  EXPECT_EQ(nightly["enabled"]["default"], manifest.nightly.enabled);
  EXPECT_EQ(nightly["threshold"]["default"], manifest.nightly.threshold);
  EXPECT_EQ(nightly["branch"]["default"], manifest.nightly.branch);

  const json properties = json::parse(ReadText(kSchemas + kOperatorSchema))["properties"];
  const config::OperatorConfig config;
  EXPECT_EQ(properties["state"]["default"], config.state.string());
  EXPECT_EQ(properties["listen"]["properties"]["status"]["default"], config.listen_status);
  EXPECT_EQ(properties["poll"]["properties"]["every"]["default"], config.poll_every.count());
  EXPECT_EQ(properties["poll"]["properties"]["at_most"]["default"], config.poll_at_most.count());
  EXPECT_EQ(properties["github"]["properties"]["api"]["default"], config::GithubAccess().api);
  EXPECT_EQ(properties["nights"]["properties"]["zone"]["default"], config.nights_zone);
  const json limits = properties["limits"]["properties"];
  EXPECT_EQ(limits["max_minutes"]["default"], config.limits.max_minutes);
  EXPECT_EQ(limits["max_rounds"]["default"], config.limits.max_rounds);
  EXPECT_EQ(limits["max_open"]["default"], config.limits.max_open);
  EXPECT_EQ(limits["max_per_day"]["default"], config.limits.max_per_day);
  EXPECT_EQ(limits["queue"]["default"], config.limits.queue);
  EXPECT_EQ(limits["model_dollars_per_day"]["default"], config.limits.model_dollars_per_day);
  const json model = json::parse(ReadText(kSchemas + kOperatorSchema))["definitions"]["model"]["properties"];
  const config::ModelSettings settings;
  EXPECT_EQ(model["max_output_tokens"]["default"], settings.max_output_tokens);
  EXPECT_EQ(model["deadline"]["default"], settings.deadline.count());
  EXPECT_EQ(model["stall"]["default"], settings.stall.count());
  EXPECT_EQ(model["structured"]["default"], std::string(Name(settings.structured)));
  EXPECT_EQ(properties["author"]["properties"]["name"]["default"], config.author_name);
  EXPECT_EQ(properties["author"]["properties"]["email"]["default"], config.author_email);
  EXPECT_EQ(properties["log"]["properties"]["level"]["default"], config.log_level);
}

}  // namespace
}  // namespace warpwright
