// Writes GitHub's example payloads (@octokit/webhooks-examples, of github.com and every Enterprise Server in it) as EVENT--NUMBER.json.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [source, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
let number = 0;
for (const server of readdirSync(source, { withFileTypes: true })) {
  if (!server.isDirectory()) continue;
  for (const event of JSON.parse(readFileSync(join(source, server.name, "index.json"), "utf8")))
    for (const example of event.examples) writeFileSync(join(folder, `${event.name}--${++number}.json`), JSON.stringify(example));
}
console.log(`${number} payloads`);
