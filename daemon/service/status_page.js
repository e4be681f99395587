// Renders /api/snapshot. All text becomes text nodes or attributes through el() and svg(): nothing is ever parsed as HTML.
'use strict';

const kBusyMs = 2000, kIdleMs = 8000, kLostMs = 15000, kHistoryRows = 15, kAttemptRows = 8;
const kOutcomes = {improved: 'improved', unchanged: 'no improvement', refused: 'refused', error: 'error', superseded: 'superseded', cancelled: 'cancelled', ignored: 'ignored',
                   checked: 'checked', regression: 'regression'};
const kVerdicts = {compile_failed: 'does not compile', refused: 'refused', wrong_result: 'wrong result', faulted: 'faulted', measured: 'verified'};

let snapshot = null;       // the last one received
let fetchedAt = 0;         // by performance.now()
let failures = 0, failure = '';
let paused = false, timer = 0, loading = false;
const trajectories = new Map();  // job -> {data, error, at}
const openJobs = new Set();      // in the history, whose trajectory is shown
let wholeHistory = false;
const drawn = new Map();         // section -> what it shows, so that nothing is redrawn (and no focus lost) without need

const byId = (id) => document.getElementById(id);

// Without control characters and characters that reorder text.
const clean = (text) => String(text ?? '').replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '\ufffd');

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(clean(child)));
  }
  return node;
}
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined && value !== false) node.setAttribute(name, clean(value));
  return append(node, children);
}
function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, clean(value));
  return append(node, children);
}
// Untrusted text, isolated from its surroundings regardless of its direction.
const outside = (text) => el('bdi', {}, text);
// A night's message has a line for each kernel that became slower.
const lines = (text) => text.split('\n').map((line, i) => [i > 0 ? el('br') : null, outside(line)]);
// Of one kernel, or of all of them.
const subject = (job) => job.kernel ? outside(job.kernel) : job.kind === 'nightly' ? 'nightly run' : 'all kernels';

function link(url, ...children) {
  let parsed = null;
  try { parsed = new URL(url); } catch { return el('span', {}, ...children); }
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') return el('span', {}, ...children);
  return el('a', {href: parsed.href, rel: 'noopener noreferrer'}, ...children);
}

const plural = (count, one, many) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
const factor = (gain) => `${gain >= 99.95 ? Math.round(gain).toLocaleString('en') : gain >= 9.995 ? gain.toFixed(1) : gain.toFixed(2)}x`;
function micro(us) {
  if (us >= 1e6) return `${(us / 1e6).toPrecision(3)} s`;
  if (us >= 1e3) return `${(us / 1e3).toPrecision(3)} ms`;
  return `${us >= 100 ? us.toFixed(0) : us.toPrecision(3)} µs`;
}
function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s / 3600) % 24} h`;
}
// The daemon's clock, not the browser's.
const nowMs = () => Date.parse(snapshot.now) + (performance.now() - fetchedAt);
function ago(utc, words = (text) => `${text} ago`) {
  const then = Date.parse(utc);
  if (!Number.isFinite(then)) return el('span', {class: 'soft'}, 'never');
  const node = el('time', {datetime: utc, title: new Date(then).toLocaleString()});
  node.dataset.words = words('\u0001');
  tellTime(node);
  return node;
}
function tellTime(node) {
  const text = node.dataset.words.replace('\u0001', span((nowMs() - Date.parse(node.dateTime)) / 1000));
  if (node.textContent !== text) node.textContent = text;
}

function table(columns, rows) {
  const head = el('tr', {role: 'row'}, columns.map((c) => el('th', {role: 'columnheader', scope: 'col', class: c.kind}, c.name)));
  const body = el('tbody', {role: 'rowgroup'});
  for (const row of rows) {
    if (row.nested) {
      body.append(el('tr', {role: 'row', class: 'nested'}, el('td', {role: 'cell', colspan: columns.length}, row.nested)));
      continue;
    }
    body.append(el('tr', {role: 'row'}, columns.map((c, i) => el('td', {role: 'cell', 'data-label': c.name, class: c.kind}, el('div', {}, row[i])))));
  }
  return el('table', {role: 'table', class: 'rows'}, el('thead', {role: 'rowgroup'}, head), body);
}
const empty = (...text) => el('div', {class: 'card empty'}, el('p', {}, ...text));
const facts = (pairs) => el('dl', {class: 'facts'}, pairs.filter(Boolean).map(([name, ...value]) => el('div', {}, el('dt', {}, name), el('dd', {}, ...value))));
const pill = (state, text) => el('span', {class: 'pill', 'data-state': state}, text);

// Redraws a section when its content changed, and restores the focus to the control that had it.
function draw(id, shown, build) {
  const key = JSON.stringify(shown);
  if (drawn.get(id) === key) return;
  drawn.set(id, key);
  const node = byId(id), active = document.activeElement;
  const focused = node.contains(active) ? active.id || active.getAttribute('href') : null;
  const open = new Set([...node.querySelectorAll('details[open]')].map((d) => d.id));
  node.replaceChildren(...[build()].flat(Infinity).filter(Boolean));
  for (const details of node.querySelectorAll('details')) if (open.has(details.id)) details.open = true;
  if (focused) [...node.querySelectorAll('[id], [href]')].find((n) => n.id === focused || n.getAttribute('href') === focused)?.focus({preventScroll: true});
}

// --- Charts

function frame(width, height, label) {
  return svg('svg', {viewBox: `0 0 ${width} ${height}`, height, role: 'img', 'aria-label': label});
}
const chartWidth = (inset) => Math.max(260, byId('main').clientWidth - inset);

// Times of the attempts, in order: a dot for each, a line for the best so far.
function attemptChart(data, width) {
  const tried = data.steps.filter((s) => s.kind === 'evaluate' && !s.running);
  const passed = tried.filter((s) => s.verdict === 'measured' && s.time_us > 0);
  if (!(data.original_us > 0) || tried.length === 0) return null;
  const height = 120, left = 4, right = 84, top = 14, bottom = 14;
  const best = passed.reduce((least, s) => Math.min(least, s.time_us), data.original_us);
  const high = Math.min(data.original_us * 1.6, Math.max(data.original_us, ...passed.map((s) => s.time_us))), low = best * 0.97;
  const x = (i) => left + (i / Math.max(1, tried.length)) * (width - left - right);
  const y = (us) => top + ((high - Math.min(us, high)) / Math.max(1e-9, high - low)) * (height - top - bottom);
  const chart = frame(width, height, `Times of ${plural(tried.length, 'attempt', 'attempts')}: original ${micro(data.original_us)}, best verified ${micro(best)}`);
  chart.append(svg('line', {class: 'original', x1: left, x2: width - right, y1: y(data.original_us), y2: y(data.original_us)}));
  let line = `M${x(0)} ${y(data.original_us)}`, least = data.original_us;
  const marks = [];
  tried.forEach((step, index) => {
    const at = x(index + 1), title = svg('title', {}, `round ${step.round}, ${step.method}: ${step.time_us > 0 ? micro(step.time_us) : kVerdicts[step.verdict] ?? step.verdict}`);
    if (step.verdict === 'measured' && step.time_us > 0) {
      if (step.time_us < least) line += `H${at}V${y((least = step.time_us))}`;
      marks.push(svg('circle', {class: step.accepted ? 'taken' : 'passed', cx: at, cy: y(step.time_us), r: step.accepted ? 4.5 : 3.5}, title));
    } else {
      const c = height - bottom + 6;
      marks.push(svg('path', {class: 'failed', d: `M${at - 3} ${c - 3}l6 6m0 -6l-6 6`}, title));
    }
  });
  chart.append(svg('path', {class: 'best', d: `${line}H${width - right}`}), ...marks);
  const originalY = y(data.original_us) + 4, bestY = Math.max(y(best) + 4, originalY + 14);
  chart.append(svg('text', {x: width - right + 8, y: originalY}, micro(data.original_us)));
  if (best < data.original_us) chart.append(svg('text', {class: 'strong', x: width - right + 8, y: bestY}, micro(best)));
  return el('div', {class: 'chart'}, chart);
}

// Gains of the jobs that ended, over time.
function gainChart(jobs, width) {
  const height = 170, left = 44, right = 8, top = 10, bottom = 26;
  // What was superseded, cancelled or ignored says nothing about a gain.
  const ended = jobs.filter((j) => Number.isFinite(Date.parse(j.finished)) && ['improved', 'unchanged', 'refused', 'error'].includes(j.outcome)).reverse();
  const improved = ended.filter((j) => j.outcome === 'improved' && j.gain > 1);
  if (improved.length === 0) return null;
  const begin = Date.parse(ended[0].finished), end = Math.max(Date.parse(ended.at(-1).finished), begin + 60000);
  const most = Math.max(1.2, ...improved.map((j) => Math.max(j.gain, j.gain_high || 0))) * 1.04;
  const x = (utc) => left + 6 + ((Date.parse(utc) - begin) / (end - begin)) * (width - left - right - 12);
  const y = (gain) => height - bottom - (Math.log(Math.max(1, gain)) / Math.log(most)) * (height - top - bottom);
  const chart = frame(width, height, `Gains of ${plural(improved.length, 'improved job', 'improved jobs')}, the largest ${factor(Math.max(...improved.map((j) => j.gain)))}; the table below has the latest`);
  let last = Infinity;
  for (const tick of [1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100]) {
    if (tick > most || last - y(tick) < 22) continue;
    last = y(tick);
    chart.append(svg('line', {class: 'grid', x1: left, x2: width - right, y1: last, y2: last}), svg('text', {x: left - 8, y: last + 4, 'text-anchor': 'end'}, `${tick}x`));
  }
  for (const job of ended) {
    const title = svg('title', {}, `${job.kernel}: ${job.outcome === 'improved' ? factor(job.gain) + (job.modelled ? ' modelled' : '') : kOutcomes[job.outcome] ?? job.outcome}`);
    const at = x(job.finished);
    if (job.outcome === 'improved' && job.gain > 1) {
      if (job.gain_low > 0 && job.gain_high > job.gain_low) chart.append(svg('line', {class: 'range', x1: at, x2: at, y1: y(job.gain_low), y2: y(job.gain_high)}));
      chart.append(svg('circle', {class: job.modelled ? 'modelled' : 'taken', cx: at, cy: y(job.gain), r: 4.5}, title));
    } else {
      chart.append(svg('line', {class: job.outcome === 'error' ? 'failed' : 'nothing', x1: at, x2: at, y1: y(1) - 4, y2: y(1) + 4}, title));
    }
  }
  const day = (ms) => new Date(ms).toLocaleString('en-GB', end - begin < 86400000 ? {hour: '2-digit', minute: '2-digit'} : {day: 'numeric', month: 'short'});
  chart.append(svg('text', {x: left, y: height - 6}, day(begin)), svg('text', {x: width - right, y: height - 6, 'text-anchor': 'end'}, day(end)));
  const key = (text, ...shape) => el('li', {}, svg('svg', {viewBox: '0 0 14 14', 'aria-hidden': 'true'}, ...shape), text);
  return el('div', {class: 'chart'}, chart,
            el('ul', {class: 'legend'}, key('measured', svg('circle', {class: 'taken', cx: 7, cy: 7, r: 4.5})), key('modelled', svg('circle', {class: 'modelled', cx: 7, cy: 7, r: 4.5})),
               key('no improvement or refused', svg('line', {class: 'nothing', x1: 7, x2: 7, y1: 3, y2: 11})), key('error', svg('line', {class: 'failed', x1: 7, x2: 7, y1: 3, y2: 11}))));
}

// --- A trajectory

function attemptResult(step) {
  if (step.running) return pill('running', 'running');
  if (step.verdict !== 'measured') return el('span', {class: 'bad'}, kVerdicts[step.verdict] ?? (step.kind === 'rewrite' ? 'not applicable' : step.verdict ?? step.kind));
  if (step.refused) return el('span', {class: 'bad', title: step.refused}, 'refused in the end');
  return step.accepted ? pill('improved', 'new base') : el('span', {class: 'soft'}, 'verified, not taken');
}
function attemptTable(data, id) {
  const steps = data.steps.filter((s) => s.kind === 'evaluate' || (s.kind === 'rewrite' && !s.running && s.summary)).reverse();
  if (steps.length === 0) return null;
  const columns = [{name: 'Round', kind: 'num'}, {name: 'Method'}, {name: 'Result', kind: 'narrow'}, {name: 'Gain', kind: 'num'}, {name: 'Note'}];
  const row = (s) => [s.round, el('span', {}, outside(s.method || 'original'), s.attempt > 0 ? ` (repair ${s.attempt})` : ''), attemptResult(s),
                      s.gain > 0 ? el('span', {class: s.gain > 1 ? 'gain' : 'loss'}, factor(s.gain)) : '', s.summary ? el('span', {class: 'soft'}, outside(s.summary)) : ''];
  const out = [table(columns, steps.slice(0, kAttemptRows).map(row))];
  if (steps.length > kAttemptRows) {
    const hidden = data.left_out > 0 ? ` (${data.left_out} older steps are not shown)` : '';
    out.push(el('details', {id: `${id}-older`}, el('summary', {}, `${plural(steps.length - kAttemptRows, 'earlier attempt', 'earlier attempts')}${hidden}`), table(columns, steps.slice(kAttemptRows).map(row))));
  }
  return out;
}
// What language models were asked, in the order in which it was; an unknown cost is not nothing.
function conversation(data, id) {
  const asked = data.steps.filter((s) => s.kind === 'ask');
  if (asked.length === 0) return null;
  const known = asked.filter((s) => typeof s.asked.dollars === 'number'), total = known.reduce((sum, s) => sum + s.asked.dollars, 0);
  const unknown = asked.filter((s) => !s.running).length - known.length;
  const cost = (s) => (s.running ? '' : typeof s.asked.dollars === 'number' ? `$${s.asked.dollars.toFixed(4)}` : 'unknown');
  const answer = (s) => (s.asked.answer ? el('details', {id: `${id}-asked-${s.asked.question}`}, el('summary', {}, outside(s.summary)), el('p', {class: 'mono'}, outside(s.asked.answer)))
                                        : el('span', {class: 'soft'}, s.running ? 'waits for an answer' : outside(s.summary)));
  const asks = {feature_extractor: 'What the source shows', generator: 'A first version', planner: 'What to try next', optimizer: 'Carry out the plan', diagnoser: 'Why did it fail', repairer: 'Mend what failed', critic: 'Would it be refused'};
  const question = (s) => el('details', {id: `${id}-about-${s.asked.question}`}, el('summary', {}, asks[s.method] ?? 'A question'),
                             el('p', {class: 'mono lines'}, outside(s.asked.about)), el('p', {class: 'soft'}, `Its id begins with ${s.asked.question}.`));
  const columns = [{name: 'Agent'}, {name: 'Question'}, {name: 'Model', kind: 'narrow'}, {name: 'Answer'}, {name: 'Cost', kind: 'num'}];
  const row = (s) => [outside(s.method), question(s), outside(s.asked.model ?? ''), answer(s), cost(s)];
  return el('details', {id: `${id}-conversation`},
            el('summary', {}, `${plural(asked.length, 'question', 'questions')} to language models, $${total.toFixed(2)}${unknown > 0 ? `, and ${unknown} of unknown cost` : ''}`), table(columns, asked.map(row)));
}
function trajectoryView(job, inset) {
  const known = trajectories.get(job.id);
  if (!known) return el('p', {class: 'soft more'}, 'Loading its trajectory…');
  if (known.error) return el('p', {class: 'soft more'}, known.error);
  const data = known.data, tried = data.steps.filter((s) => s.kind === 'evaluate' && !s.running);
  const accepted = tried.filter((s) => s.accepted).length, failed = tried.filter((s) => s.verdict !== 'measured').length;
  const times = tried.filter((s) => s.verdict === 'measured' && s.time_us > 0).map((s) => s.time_us);
  const best = Math.min(data.original_us ?? Infinity, ...times), gain = data.original_us > 0 ? data.original_us / best : 1;
  return [facts([['Round', data.steps.reduce((most, s) => Math.max(most, s.round), 0)], ['Attempts', tried.length], ['Taken', accepted], ['Rejected', failed],
                 data.original_us > 0 && ['Best so far', gain > 1.001 ? el('span', {class: 'gain'}, factor(gain)) : 'the original', job.modelled && gain > 1.001 ? el('span', {class: 'soft'}, ' modelled') : '']]),
          attemptChart(data, chartWidth(inset)), attemptTable(data, `job-${job.id}`), conversation(data, `job-${job.id}`)];
}

// --- Sections

function drawFigures() {
  const count = (state) => snapshot.jobs.filter((j) => j.state === state).length;
  const improved = snapshot.counters.jobs_total?.improved ?? snapshot.jobs.filter((j) => j.outcome === 'improved' && j.state === 'done').length;
  const figures = [['Running', count('running')], ['Queued', snapshot.queued], ['Publishing', count('publishing')], ['Held back', count('waiting')], ['Improved', improved],
                   ['GPU today', (snapshot.spend.gpu_minutes_today ?? 0).toFixed(0), 'min']];
  draw('figures', figures, () => figures.map(([name, value, unit]) => el('div', {}, el('dt', {}, name), el('dd', {}, Number(value).toLocaleString('en'), unit ? el('small', {}, unit) : null))));
}

function drawRunning() {
  const jobs = snapshot.jobs.filter((j) => j.state === 'running');
  draw('running', [jobs, jobs.map((j) => trajectories.get(j.id)), chartWidth(0)], () => {
    if (jobs.length === 0) return empty(snapshot.queued > 0 ? 'No job is running: those in the queue wait for a free device.' : 'No job is running. One starts when a watched branch moves, at night, or when someone requests it.');
    return jobs.map((job) => el('article', {class: 'card', 'aria-labelledby': `job-${job.id}`},
      el('div', {class: 'job-head'}, el('h3', {id: `job-${job.id}`}, subject(job)), el('span', {class: 'where'}, outside(job.repository), ' on ', outside(job.device || 'no device')),
         el('span', {class: 'since'}, job.kind === 'nightly' ? 'nightly, ' : '', ago(job.started, (t) => `for ${t}`))),
      job.progress ? el('p', {class: 'progress mono'}, outside(job.progress)) : null, trajectoryView(job, 34)));
  });
}

function drawQueue() {
  const order = {publishing: 0, waiting: 1, queued: 2};
  const jobs = snapshot.jobs.filter((j) => j.state in order).sort((a, b) => order[a.state] - order[b.state] || a.id - b.id);
  draw('queue', [jobs, snapshot.queued_left_out], () => {
    if (jobs.length === 0) return empty('No job is waiting.');
    const words = {publishing: 'publishing', waiting: 'held back', queued: 'queued'};
    const rows = jobs.map((j) => [[subject(j), el('span', {class: 'sub'}, outside(j.repository))], j.kind, pill(j.state, words[j.state]), ago(j.queued, (t) => t), j.message ? outside(j.message) : j.state === 'queued' ? 'waits for a device' : '']);
    return el('div', {class: 'card'}, table([{name: 'Kernel', kind: 'name'}, {name: 'Kind', kind: 'narrow'}, {name: 'State', kind: 'narrow'}, {name: 'Age', kind: 'narrow'}, {name: 'Reason'}], rows),
              snapshot.queued_left_out > 0 ? el('p', {class: 'soft more'}, `${plural(snapshot.queued_left_out, 'later job is', 'later jobs are')} not shown.`) : null);
  });
}

function historyRow(job) {
  const interval = job.gain_low > 0 && job.gain_high > 0 ? `${job.gain_low.toFixed(2)} to ${job.gain_high.toFixed(2)}` : '';
  const gain = job.outcome === 'improved' && job.gain > 0 ? [el('span', {class: 'gain'}, factor(job.gain)), el('span', {class: 'sub'}, job.modelled ? 'modelled' : interval)] : '';
  const shown = openJobs.has(job.id);
  const button = job.has_trajectory ? el('button', {type: 'button', id: `show-${job.id}`, 'data-job': job.id, 'aria-expanded': shown}, shown ? 'Hide' : 'Show', el('span', {class: 'hidden'}, ` what was tried for ${job.kernel}`)) : '';
  const where = job.pull_request_url ? link(job.pull_request_url, 'pull request') : job.branch ? el('span', {class: 'mono'}, outside(job.branch)) : '';
  const rows = [[[subject(job), el('span', {class: 'sub'}, outside(job.repository))], [pill(job.outcome, kOutcomes[job.outcome] ?? job.outcome), job.message ? el('span', {class: 'sub'}, lines(job.message)) : null],
                 gain, where, ago(job.finished), button]];
  if (shown) rows.push({nested: el('div', {class: 'box'}, trajectoryView(job, 64))});
  return rows;
}
function drawHistory() {
  const jobs = snapshot.jobs.filter((j) => j.state === 'done');
  draw('history', [jobs, [...openJobs].map((id) => [id, trajectories.get(id)]), wholeHistory, chartWidth(0)], () => {
    if (jobs.length === 0) return empty('No job has ended yet.');
    const columns = [{name: 'Kernel', kind: 'name'}, {name: 'Outcome'}, {name: 'Gain', kind: 'num'}, {name: 'Result', kind: 'result'}, {name: 'Ended', kind: 'narrow'}, {name: 'Attempts', kind: 'narrow'}];
    const shown = wholeHistory ? jobs : jobs.slice(0, kHistoryRows);
    const more = jobs.length > kHistoryRows ? el('p', {class: 'more'}, el('button', {type: 'button', id: 'whole-history', 'aria-expanded': wholeHistory}, wholeHistory ? 'Show fewer' : `Show all ${jobs.length}`)) : null;
    return el('div', {class: 'card'}, gainChart(jobs, chartWidth(34)), table(columns, shown.flatMap(historyRow)), more);
  });
}

function whyLimited(r) {
  const out = [];
  if (r.max_open > 0 && r.open_pull_requests >= r.max_open) out.push('the limit of open pull requests is reached: merge or close one');
  if (r.max_per_day > 0 && r.opened_today >= r.max_per_day) out.push('no more pull requests today');
  return out;
}
function drawRepositories() {
  draw('repositories', [snapshot.repositories, snapshot.repositories_left_out], () => {
    if (snapshot.repositories.length === 0) return empty('No repository is watched. Add one under ', el('code', {}, 'repositories:'), ' in the operator\u2019s file and send SIGHUP.');
    const rows = snapshot.repositories.map((r) => {
      const limits = whyLimited(r), tips = Object.entries(r.tips);
      return [[outside(r.name), el('span', {class: 'sub'}, outside(r.url))],
              tips.length === 0 ? el('span', {class: 'soft'}, 'none seen') : el('ul', {class: 'plain'}, tips.map(([branch, commit]) => el('li', {}, outside(branch), ' ', el('code', {class: 'soft'}, commit.slice(0, 9))))),
              [`${r.open_pull_requests}${r.max_open > 0 ? ` of ${r.max_open}` : ''} open`, el('span', {class: 'sub'}, `${r.opened_today}${r.max_per_day > 0 ? ` of ${r.max_per_day}` : ''} today`)],
              [ago(r.last_seen), r.last_error ? el('span', {class: 'sub bad'}, outside(r.last_error)) : null],
              [limits.map((why) => el('span', {class: 'sub'}, why)), r.ignored.length > 0 ? el('span', {class: 'sub'}, 'ignored: ', outside(r.ignored.join(', ')), r.ignored_count > r.ignored.length ? ' …' : '') : null]];
    });
    return el('div', {class: 'card'}, table([{name: 'Repository', kind: 'name'}, {name: 'Branches'}, {name: 'Pull requests', kind: 'narrow'}, {name: 'Last poll'}, {name: 'Held back'}], rows),
              snapshot.repositories_left_out > 0 ? el('p', {class: 'soft more'}, `${snapshot.repositories_left_out} more are not shown.`) : null);
  });
}

function drawMemoryAndSpend() {
  draw('memory', snapshot.experiences, () => snapshot.experiences > 0
    ? el('div', {class: 'card'}, facts([['Measured experience', plural(snapshot.experiences, 'line', 'lines')]]), el('p', {class: 'soft more'}, 'Earlier measurements rank the methods for the next kernel.'))
    : empty('Nothing has been measured yet. Every verdict adds a line of experience.'));
  const s = snapshot.spend;
  // An unknown cost is not nothing.
  const models = (when) => {
    const unknown = s[`model_unknown_costs_${when}`] ?? 0, dollars = `$${(s[`model_dollars_${when}`] ?? 0).toFixed(2)}`;
    if (unknown > 0 && unknown === s[`model_questions_${when}`]) return 'unknown';
    return unknown > 0 ? `${dollars}, and ${plural(unknown, 'answer', 'answers')} of unknown cost` : dollars;
  };
  const perGain = s.model_gains_total > 0 && !(s.model_unknown_costs_total > 0) && s.model_questions_total > 0;
  draw('spend', s, () => el('div', {class: 'card'}, facts([['GPU today', `${(s.gpu_minutes_today ?? 0).toFixed(1)} min`], ['GPU in all', `${((s.gpu_minutes_total ?? 0) / 60).toFixed(1)} h`],
    ['Models today', models('today')], s.model_dollars_total !== undefined && ['Models in all', models('total')],
    perGain && ['Models, each version taken', `$${(s.model_dollars_total / s.model_gains_total).toFixed(2)}`]])));
}

function drawState() {
  const lost = failures > 0;
  const state = lost ? (failure === '' ? ['stopped', 'Not responding'] : ['error', 'Error']) : !snapshot ? ['loading', 'Loading'] : snapshot.ready ? ['ready', 'Ready'] : ['not-ready', 'Not ready'];
  const node = byId('state');
  if (node.dataset.state !== state[0]) {
    node.dataset.state = state[0];
    node.textContent = state[1];
  }
  document.body.classList.toggle('blank', snapshot === null);
  document.body.classList.toggle('stale', lost && snapshot !== null);
  document.title = lost ? 'stopped · warpwright' : snapshot && snapshot.jobs.some((j) => j.state === 'running') ? 'running · warpwright' : 'warpwright';
  draw('banner', [lost, failure, snapshot?.not_ready, snapshot?.now], () => {
    if (lost) {
      const then = snapshot ? ['The data shown is from ', ago(snapshot.now), '.'] : ['It has not responded since this page was opened.'];
      return el('div', {class: 'banner bad'}, el('p', {}, failure === '' ? 'The daemon has stopped, or cannot be reached. ' : `The daemon responded with an error (${failure}). `, then, ' This page keeps polling.'));
    }
    if (snapshot && !snapshot.ready)
      return el('div', {class: 'banner'}, el('p', {}, snapshot.not_ready.length > 0 ? 'The daemon does not accept new work:' : 'The daemon is not ready yet.'), snapshot.not_ready.length > 0 ? el('ul', {}, snapshot.not_ready.map((why) => el('li', {}, outside(why)))) : null);
    return [];
  });
}

function drawAll() {
  drawState();
  if (!snapshot) return;
  draw('about', [snapshot.version, snapshot.started], () => el('span', {}, `version ${snapshot.version}`, snapshot.started ? [', ', ago(snapshot.started, (t) => `up for ${t}`)] : ''));
  drawFigures();
  drawRunning();
  drawQueue();
  drawHistory();
  drawRepositories();
  drawMemoryAndSpend();
  tick();
}
function tick() {
  if (!snapshot) return;
  for (const node of document.querySelectorAll('time')) tellTime(node);
  const text = `updated ${span((performance.now() - fetchedAt) / 1000)} ago`;
  if (byId('updated').textContent !== text) byId('updated').textContent = text;
}

// --- Fetching

async function getJson(url) {
  const answer = await fetch(url, {cache: 'no-store', signal: AbortSignal.timeout(10000)});
  return {status: answer.status, json: answer.status === 200 ? await answer.json() : null};
}
async function loadTrajectories() {
  const wanted = snapshot.jobs.filter((j) => j.state === 'running' || (openJobs.has(j.id) && !trajectories.get(j.id)?.data));
  await Promise.all(wanted.slice(0, 16).map(async (job) => {
    try {
      const {status, json} = await getJson(`/api/trajectory/${job.id}`);
      trajectories.set(job.id, json ? {data: json} : {error: status === 204 ? 'Nothing has been tried yet.' : `Its trajectory cannot be read (${status}).`});
    } catch {
      if (!trajectories.has(job.id)) trajectories.set(job.id, {error: 'Its trajectory could not be fetched.'});
    }
  }));
  const kept = new Set(snapshot.jobs.filter((j) => j.state === 'running' || openJobs.has(j.id)).map((j) => j.id));
  for (const id of trajectories.keys()) if (!kept.has(id)) trajectories.delete(id);
}
async function refresh() {
  if (loading) return;
  loading = true;
  clearTimeout(timer);
  try {
    const {status, json} = await getJson('/api/snapshot');
    if (json === null) {
      failures += 1;
      failure = String(status);
    } else {
      snapshot = json;
      fetchedAt = performance.now();
      failures = 0;
      failure = '';
      await loadTrajectories();
    }
  } catch {
    failures += 1;
    failure = '';
  }
  loading = false;
  drawAll();
  if (!paused && !document.hidden) timer = setTimeout(refresh, failures > 0 ? Math.min(kLostMs, kBusyMs * failures) : snapshot.jobs.some((j) => j.state === 'running') ? kBusyMs : kIdleMs);
}

byId('pause').addEventListener('click', () => {
  paused = !paused;
  byId('pause').setAttribute('aria-pressed', paused);
  byId('pause').textContent = paused ? 'Paused' : 'Pause';
  if (paused) clearTimeout(timer);
  else refresh();
});
document.addEventListener('click', (event) => {
  const button = event.target.closest('button');
  if (button?.id === 'whole-history') {
    wholeHistory = !wholeHistory;
    drawHistory();
  } else if (button?.dataset.job) {
    const id = Number(button.dataset.job);
    if (openJobs.has(id)) openJobs.delete(id);
    else openJobs.add(id);
    drawHistory();
    loadTrajectories().then(drawHistory);
  }
});
document.addEventListener('visibilitychange', () => { if (!document.hidden && !paused) refresh(); });
window.addEventListener('resize', () => { if (snapshot) drawAll(); });
setInterval(tick, 1000);
refresh();
