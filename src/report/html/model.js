'use strict';
/* The data of the report, indexed: which calls, values and tables belong to a node. What comes from
 * the archive is text throughout; nothing here makes markup. */

const data = JSON.parse(document.getElementById('data').textContent);
const report = data.report;
const details = data.details;
const verify = data.verify;
const sensitivity = data.sensitivity;

const callByName = new Map(report.calls.map((call, i) => [call.name, Object.assign(call, {index: i})]));

/* Measured by verify, where it was; otherwise what the compile knew. */
function takeVerified() {
  for (const call of report.calls)
    call.instructions = call.instructions_estimate;
  if (!verify)
    return;
  for (const c of verify.calls_sqnr || [])
    if (callByName.has(c.call))
      Object.assign(callByName.get(c.call), {sqnr_db: c.sqnr_db, clipped: c.clipped});
  for (const c of (verify.instructions || {calls: []}).calls)
    if (callByName.has(c.name)) {
      callByName.get(c.name).instructions = c.n;
      callByName.get(c.name).counted = c.shared ? "its part of a strip's, counted on QEMU" : 'counted on QEMU';
    }
}
takeVerified();

const nodes = report.nodes.map((node, id) => Object.assign(node, {
  id,
  calls: node.into.map(name => callByName.get(name)).filter(Boolean),
  reads: details.sources[id].reads.filter(r => r < id && -1 - r < report.inputs.length),
  text: details.sources[id].text,
  values: [],
  tables: [],
}));

for (const value of details.values)
  for (const id of value.nodes)
    if (id >= 0 && nodes[id])
      nodes[id].values.push(value);
for (const table of details.tables)
  for (const id of table.nodes)
    if (nodes[id])
      nodes[id].tables.push(table);

/* Is the number of its instructions known? */
function known(call) {
  return call.instructions !== null && call.instructions !== undefined;
}

/* What became of a node, in the words of the report; a table is a kernel or a part of one. */
for (const node of nodes) {
  node.became = node.numeric === 'float' ? 'float'
    : node.tables.length && (node.fate === 'kernel' || node.fate === 'fused') ? 'table' : node.fate;
  if (node.sqnr_db === null || (verify && node.fate === 'kernel'))
    for (const call of node.fate === 'kernel' || node.fate === 'fused' ? node.calls : [])
      if (call.sqnr_db !== undefined && call.sqnr_db !== null)
        node.sqnr_db = call.sqnr_db;
  const own = node.fate === 'kernel' ? node.calls : [];
  node.constants = own.reduce((sum, c) => sum + c.weights_bytes, 0);
  node.instructions = own.some(known)
    ? own.reduce((sum, c) => sum + (c.instructions || 0), 0) : null;
  const last = node.values[node.values.length - 1];
  node.shape = last ? last.shape : null;
}

/* How much worse a node's result is than the worst it reads, in dB: what is lost here and not
 * before. Nodes of which nothing was measured hand on what they read, exact ones that nothing is lost. */
const handedOn = [];
for (const node of nodes) {
  const before = Math.min(...node.reads.map(r => r >= 0 ? handedOn[r] : Infinity));
  const own = node.sqnr_db === null ? before : node.sqnr_db;
  node.lost_db = node.sqnr_db !== null && Number.isFinite(before) ? Math.max(0, before - own) : null;
  handedOn.push(own >= 999 ? Infinity : own);
}

/* Buffers have the names of the values in them. */
const buffers = report.memory.buffers;
const valueByName = new Map(details.values.map(v => [v.name, v]));
/* Where there are several memories with an arena, one is drawn above the other. */
const arenas = report.memories.filter(m => m.arena > 0);
arenas.reduce((top, m) => (m.base = top, top + m.arena), 0);
const baseOf = new Map(arenas.map(m => [m.name, m.base]));
for (const buffer of buffers) {
  buffer.top = baseOf.get(buffer.memory) + buffer.offset + buffer.bytes;
  const value = valueByName.get(buffer.name);
  const id = value && value.nodes.length ? value.nodes[value.nodes.length - 1] : -1;
  buffer.node = id >= 0 ? nodes[id] : null;
}
const live = report.memory.live, peak = report.memory.peak;

function livesAt(buffer, moment) {
  return buffer.first <= moment && moment <= buffer.last;
}

const fates = ['kernel', 'table', 'fused', 'moved', 'folded', 'removed', 'float'];
const fateMeaning = {
  kernel: 'computed by kernel calls of its own',
  table: 'a look-up table, alone or in the store of its producer',
  fused: 'computed within the kernel of another node',
  moved: 'moves data without a call: an alias, or written straight into place',
  folded: 'taken into constants or neighbours before anything runs',
  removed: 'has no effect on the result',
  float: 'stays in float on the chip',
};

function shortOp(node) {
  return node.op.replace(/^aten\./, '');
}

/* ---- groups: the boxes of the picture ----------------------------------------------------------
 * A box is one node that computes or moves, with those that were fused or folded into it. */

function leaders() {
  const ofCall = new Map();
  for (const node of nodes)
    if (node.fate === 'kernel')
      for (const call of node.calls)
        ofCall.set(call.name, node.id);
  const leader = nodes.map(node => node.id);
  for (const node of nodes) {
    const into = details.sources[node.id].into;
    if (node.fate === 'fused' || node.fate === 'folded') {
      const call = node.calls.find(c => ofCall.has(c.name));
      if (call)
        leader[node.id] = ofCall.get(call.name);
      else if (into >= 0 && into < nodes.length)
        leader[node.id] = into;
    } else if (node.fate === 'removed' && node.reads.length === 1 && node.reads[0] >= 0) {
      leader[node.id] = node.reads[0];
    }
  }
  for (let i = 0; i < nodes.length; i++) { /* chains, and what an edited report may loop */
    let k = i, steps = 0;
    while (leader[k] !== k && steps++ < nodes.length)
      k = leader[k];
    leader[i] = k;
  }
  return leader;
}

function makeGroups() {
  const leader = leaders(), byLeader = new Map(), groups = [];
  const add = group => (groups.push(Object.assign(group, {index: groups.length, from: new Set()})), group);
  const inputs = report.inputs.map((input, k) => input.shape
    ? add({nodes: [], port: input, inputIndex: k, label: 'input ' + k + '  ' + (input.name || '')}) : null);
  for (const node of nodes) {
    const l = leader[node.id];
    if (!byLeader.has(l))
      byLeader.set(l, add({nodes: []}));
    node.group = byLeader.get(l);
    node.group.nodes.push(node);
  }
  for (const node of nodes)
    for (const r of node.reads) {
      const from = r >= 0 ? nodes[r].group : inputs[-1 - r];
      if (from && from !== node.group)
        node.group.from.add(from.index);
    }
  report.outputs.forEach((output, k) => {
    const id = details.outputs[k];
    if (id === null || id === undefined || (id >= 0 && !nodes[id]))
      return;
    const port = add({nodes: [], port: output, maker: id >= 0 ? nodes[id] : null,
                      label: 'output ' + k + '  ' + (output.name || '')});
    const from = id >= 0 ? nodes[id].group : inputs[-1 - id];
    if (from)
      port.from.add(from.index);
  });
  return groups;
}

/* ---- numbers for people ------------------------------------------------------------------------ */

function bytesText(n) {
  if (n < 1024)
    return n + ' B';
  return n < 1024 * 1024 ? (n / 1024).toFixed(n < 10240 ? 2 : 1) + ' KiB'
    : (n / 1048576).toFixed(2) + ' MiB';
}

function countText(n) {
  if (n === null || n === undefined)
    return '–';
  const units = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
  for (const [size, unit] of units)
    if (n >= size)
      return (n / size).toPrecision(3) + ' ' + unit;
  return String(n);
}

function realText(x) {
  if (x === null || x === undefined)
    return '–';
  return Number(x.toPrecision(5)).toString();
}

/* JSON has no infinity: 999 dB are equal numbers, -999 what is all zero in float and not here. */
function dbFigure(db) {
  return db === null || db === undefined ? '–' : db >= 999 ? 'exact' : db <= -999 ? 'none' : db.toFixed(1);
}

function dbText(db) {
  return dbFigure(db) + (Math.abs(db ?? 999) < 999 ? ' dB' : '');
}

function shapeText(shape) {
  return shape && shape.length ? shape.join('×') : shape ? 'scalar' : '–';
}
