// The vendors' own clients against our stand-in for their servers: what they read from it is what they would read from
// theirs, so that what we read from it is tested against the real protocol. Needs openai and @anthropic-ai/sdk.
//   node models.mjs ADDRESS KEY
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const [address, apiKey] = process.argv.slice(2);
const anthropic = new Anthropic({ apiKey, baseURL: address, maxRetries: 0 });
const openai = new OpenAI({ apiKey, baseURL: `${address}/v1`, maxRetries: 0 });

const text = "A kernel of β,\n“tiled”.";
const structured = { method: "tile", factor: 4, why: "β fits" };
const schema = {
  type: "object",
  properties: { method: { type: "string" }, factor: { type: "integer" }, why: { type: "string" } },
  required: ["method", "factor", "why"],
  additionalProperties: false,
};
const messages = [{ role: "user", content: "Which method?" }];
const message = (model, more = {}) => ({ model, max_tokens: 100, messages, ...more });
const tool = { tools: [{ name: "plan", input_schema: schema }], tool_choice: { type: "tool", name: "plan" } };
const chat = (model, more = {}) => ({ model, messages, ...more });
const format = { response_format: { type: "json_schema", json_schema: { name: "plan", strict: true, schema } } };
const response = (model, more = {}) => ({ model, input: "Which method?", store: false, ...more });
const textFormat = { text: { format: { type: "json_schema", name: "plan", strict: true, schema } } };

const checks = {
  "anthropic, whole": async () => {
    const answer = await anthropic.messages.create(message("plain"));
    assert.equal(answer.content[0].text, text);
    assert.equal(answer.stop_reason, "end_turn");
    assert.equal(answer.usage.cache_read_input_tokens, 1000);
  },
  "anthropic, streamed": async () => {
    const stream = anthropic.messages.stream(message("plain"));
    let seen = "";
    stream.on("text", (piece) => (seen += piece));
    const answer = await stream.finalMessage();
    assert.equal(seen, text);
    assert.equal(answer.content[0].text, text);
    assert.equal(answer.usage.output_tokens, 57);
    assert.equal(answer.usage.input_tokens, 120);
  },
  "anthropic, tool": async () => {
    const answer = await anthropic.messages.stream(message("structured", tool)).finalMessage();
    assert.deepEqual(answer.content[0].input, structured);
    assert.equal(answer.stop_reason, "tool_use");
  },
  "anthropic, truncated and refused": async () => {
    assert.equal((await anthropic.messages.stream(message("truncated")).finalMessage()).stop_reason, "max_tokens");
    assert.equal((await anthropic.messages.stream(message("refusal")).finalMessage()).stop_reason, "refusal");
  },
  "anthropic, errors": async () => {
    await assert.rejects(anthropic.messages.create(message("rate-limited-seconds")), (e) => e instanceof Anthropic.RateLimitError && e.headers.get("retry-after") === "7");
    await assert.rejects(anthropic.messages.create(message("status-529")), (e) => e.status === 529 && e.error.error.type === "overloaded_error");
    await assert.rejects(anthropic.messages.create(message("status-401")), Anthropic.AuthenticationError);
    await assert.rejects(anthropic.messages.create(message("spend-limit")), (e) => /credit balance is too low/.test(e.message));
    await assert.rejects(anthropic.messages.stream(message("overloaded-in-stream")).finalMessage(), (e) => /overloaded_error/.test(e.message));
    await assert.rejects(anthropic.messages.stream(message("cut")).finalMessage());
    await assert.rejects(new Anthropic({ apiKey: "sk-wrong", baseURL: address, maxRetries: 0 }).messages.create(message("plain")), Anthropic.AuthenticationError);
  },
  "anthropic, retries": async () => {
    const patient = new Anthropic({ apiKey, baseURL: address, maxRetries: 1 });
    assert.equal((await patient.messages.create(message("status-500-once"))).content[0].text, text);
  },
  "openai chat, whole": async () => {
    const answer = await openai.chat.completions.create(chat("plain"));
    assert.equal(answer.choices[0].message.content, text);
    assert.equal(answer.usage.prompt_tokens_details.cached_tokens, 1000);
  },
  "openai chat, streamed": async () => {
    const stream = openai.chat.completions.stream(chat("plain", { stream_options: { include_usage: true } }));
    assert.equal((await stream.finalChatCompletion()).choices[0].message.content, text);
    assert.equal((await stream.totalUsage()).completion_tokens, 57);
  },
  "openai chat, schema": async () => {
    const answer = await openai.chat.completions.parse(chat("structured", format));
    assert.deepEqual(JSON.parse(answer.choices[0].message.content), structured);
  },
  "openai chat, truncated and refused": async () => {
    let finish, refusal = "";
    for await (const chunk of await openai.chat.completions.create(chat("truncated", { stream: true }))) finish = chunk.choices[0]?.finish_reason ?? finish;
    assert.equal(finish, "length");
    for await (const chunk of await openai.chat.completions.create(chat("refusal", { stream: true }))) refusal += chunk.choices[0]?.delta.refusal ?? "";
    assert.equal(refusal, "I cannot help with that.");
  },
  "openai chat, errors": async () => {
    await assert.rejects(openai.chat.completions.create(chat("spend-limit")), (e) => e instanceof OpenAI.RateLimitError && e.code === "insufficient_quota");
    await assert.rejects(openai.chat.completions.create(chat("too-long")), (e) => e instanceof OpenAI.BadRequestError && e.code === "context_length_exceeded");
    await assert.rejects(openai.chat.completions.create(chat("status-401")), OpenAI.AuthenticationError);
    await assert.rejects(openai.chat.completions.create(chat("plain", { max_tokens: 1, max_completion_tokens: 1 })), OpenAI.BadRequestError);
    await assert.rejects(async () => {
      for await (const chunk of await openai.chat.completions.create(chat("overloaded-in-stream", { stream: true }))) void chunk;
    }, (e) => e.code === "server_error");
  },
  "openai responses, whole": async () => {
    const answer = await openai.responses.create(response("plain"));
    assert.equal(answer.output_text, text);
    assert.equal(answer.usage.input_tokens_details.cached_tokens, 1000);
  },
  "openai responses, streamed": async () => {
    const stream = openai.responses.stream(response("plain"));
    let seen = "";
    stream.on("response.output_text.delta", (event) => (seen += event.delta));
    const answer = await stream.finalResponse();
    assert.equal(seen, text);
    assert.equal(answer.output_text, text);
    assert.equal(answer.status, "completed");
  },
  "openai responses, schema": async () => {
    const answer = await openai.responses.parse(response("structured", textFormat));
    assert.deepEqual(answer.output_parsed ?? JSON.parse(answer.output_text), structured);
  },
  "openai responses, truncated and refused": async () => {
    const cut = await openai.responses.stream(response("truncated")).finalResponse();
    assert.equal(cut.status, "incomplete");
    assert.equal(cut.incomplete_details.reason, "max_output_tokens");
    const refused = await openai.responses.stream(response("refusal")).finalResponse();
    assert.equal(refused.output[0].content[0].refusal, "I cannot help with that.");
  },
  "openai responses, errors": async () => {
    await assert.rejects(openai.responses.create(response("rate-limited")), OpenAI.RateLimitError);
    await assert.rejects(openai.responses.create(response("status-503")), OpenAI.InternalServerError);
  },
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
  } catch (error) {
    ++failed;
    console.log(`${name}: ${error.stack ?? error}`);
  }
}
console.log(`${Object.keys(checks).length} exchanges, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
