// Every Mermaid block of the Markdown files given must parse. Needs mermaid and jsdom.
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!doctype html>");
for (const name of ["Element", "Node", "HTMLElement", "SVGElement", "DocumentFragment"]) globalThis[name] = window[name];
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");

let blocks = 0, failed = 0;
for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, "utf8");
  for (const match of text.matchAll(/^(`{3,})mermaid\n([\s\S]*?)^\1$/gm)) {
    ++blocks;
    try {
      await mermaid.parse(match[2]);
    } catch (error) {
      ++failed;
      console.log(`${file}: ${error.message}`);
    }
  }
}
console.log(`${blocks} diagrams in ${process.argv.length - 2} files`);
process.exit(failed > 0 || blocks === 0 ? 1 : 0);
