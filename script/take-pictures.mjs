// Pictures of a page in Chromium: light and dark, at the width of a desktop and of a phone, from top to bottom.
//   node script/take-pictures.mjs BROWSER URL PREFIX DESKTOP_WIDTH      writes PREFIX-desktop-light.png and three others
// Prints a line for each. Exits with 1 if a page is wider than its window or said in `window.problems` what is wrong with it.
// `window.finished`, where a page has it, is a promise that is waited for.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const [browser, url, prefix, desktop] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), 'take-pictures.'));
const chromium = spawn(browser, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run', '--hide-scrollbars',
  '--remote-debugging-pipe', '--user-data-dir=' + profile], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});

// The DevTools protocol over descriptors 3 and 4: JSON, each message ended by a NUL.
const waiting = new Map();
let last = 0, buffered = '';
chromium.stdio[4].setEncoding('utf8').on('data', (data) => {
  const messages = (buffered + data).split('\0');
  buffered = messages.pop();
  for (const message of messages.map((text) => JSON.parse(text))) {
    const key = message.id ?? message.method, {resolve, reject} = waiting.get(key) ?? {};
    waiting.delete(key);
    if (message.error) reject?.(new Error(message.error.message));
    else resolve?.(message.result ?? message.params);
  }
});
const next = (key) => new Promise((resolve, reject) => waiting.set(key, {resolve, reject}));
let sessionId;
function ask(method, params = {}) {
  chromium.stdio[3].write(JSON.stringify({id: ++last, method, params, sessionId}) + '\0');
  return next(last);
}
async function valueOf(expression) {
  const {result, exceptionDetails} = await ask('Runtime.evaluate', {expression, awaitPromise: true, returnByValue: true});
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}

async function takePicture(name, width, theme) {
  await ask('Emulation.setDeviceMetricsOverride', {width, height: 900, deviceScaleFactor: 1, mobile: width < 600});
  await ask('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: theme}]});
  const loaded = next('Page.loadEventFired');
  await ask('Page.navigate', {url});
  await loaded;
  // A status page asks for its figures after it was loaded.
  await valueOf('window.finished ?? new Promise((resolve) => setTimeout(resolve, 1500))');
  const [wide, height, problems] =
      await valueOf('[document.documentElement.scrollWidth, document.documentElement.scrollHeight, window.problems ?? []]');
  const clip = {x: 0, y: 0, width: Math.max(wide, width), height, scale: 1};
  const {data} = await ask('Page.captureScreenshot', {captureBeyondViewport: true, clip});
  writeFileSync(name, Buffer.from(data, 'base64'));
  console.log(`${name} (${width} x ${height})`);
  if (wide > width) problems.push(`the page is ${wide} wide in a window of ${width}`);
  for (const problem of problems) console.error(`take-pictures: ${name}: ${problem}`);
  return problems.length;
}

let problems = 0;
const limit = setTimeout(() => { console.error('take-pictures: Chromium did not finish'); chromium.kill(); process.exit(3); }, 120000);
try {
  const {targetId} = await ask('Target.createTarget', {url: 'about:blank'});
  ({sessionId} = await ask('Target.attachToTarget', {targetId, flatten: true}));
  await ask('Page.enable');
  for (const [device, width] of [['desktop', Number(desktop)], ['phone', 390]])
    for (const theme of ['light', 'dark']) problems += await takePicture(`${prefix}-${device}-${theme}.png`, width, theme);
} finally {
  clearTimeout(limit);
  // It ends its own processes, which write to the profile; the last of them may be a moment later.
  const ended = new Promise((resolve) => chromium.on('exit', resolve));
  sessionId = undefined;
  ask('Browser.close').catch(() => chromium.kill());
  await ended;
  rmSync(profile, {recursive: true, force: true, maxRetries: 20, retryDelay: 100});
}
process.exit(problems ? 1 : 0);
