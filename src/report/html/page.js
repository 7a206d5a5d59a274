/* The page: its sections in order, then the first picture. */

function tile(title, figure, ...lines) {
  return el('div', {class: 'card tile'}, el('h3', null, title), el('b', null, figure),
            ...lines.filter(Boolean).map(l => el('small', null, l)));
}

/* ---- at a glance ------------------------------------------------------------------------------- */

function accuracyTile() {
  if (verify) {
    const dbs = verify.output_sqnr_db.map(dbText).join(', '), top = verify.top1;
    return tile('Accuracy', top ? (100 * top.integer).toFixed(2) + ' %' : dbs,
      top ? 'top-1; float ' + (100 * top.float).toFixed(2) + ' %' : 'SQNR against float',
      top ? 'SQNR ' + dbs : null, verify.samples + ' samples, by corten verify');
  }
  const known = report.outputs.filter(o => o.sqnr_db !== null && o.sqnr_db !== undefined);
  if (known.length)
    return tile('Accuracy', known.map(o => dbText(o.sqnr_db)).join(', '),
                'SQNR of the outputs on calibration data');
  return tile('Accuracy', '–', 'not measured yet:', el('code', null, 'corten verify DIR -i DATA'));
}

function workTile() {
  const counted = verify && verify.instructions ? verify.instructions.total : null;
  const each = report.calls.filter(known), sum = each.reduce((s, c) => s + c.instructions, 0);
  if (counted !== null)
    return tile('Work', countText(counted) + ' instr.', 'counted on QEMU', countText(report.macs) + ' MACs');
  if (each.length)
    return tile('Work', countText(sum) + ' instr.', each.length === report.calls.length ? 'estimated'
      : 'estimated, without ' + (report.calls.length - each.length) + ' calls of unknown cost', countText(report.macs) + ' MACs');
  return tile('Work', countText(report.macs) + ' MACs', report.calls.length + ' kernel calls');
}

function flashTile() {
  const image = verify && verify.image_flash_bytes;
  const code = report.bytes.kernel_code === null ? null : report.bytes.kernel_code + report.bytes.model_code;
  return tile('Flash', bytesText(report.bytes.rodata + (code || 0)),
              code === null ? 'constants, without code' : 'constants ' + bytesText(report.bytes.rodata),
              code === null ? null : 'code ' + bytesText(code),
              image ? 'whole image ' + bytesText(image) : null);
}

/* What compile warned of, also where -q kept it from the terminal. */
function warnings() {
  const item = w => {
    const node = nodes.find(n => n.name === w.node);
    return el('li', null, w.message, node ? ', node ' : null, node ? nodeLink(node) : null,
              w.detail ? el('small', null, w.detail) : null);
  };
  return report.warnings.length ? el('div', {class: 'card warnings'}, el('h3', null, 'Warnings'),
                                     el('ul', null, ...report.warnings.map(item))) : null;
}

function glance() {
  const counts = fates.map(f => [f, nodes.filter(n => n.became === f).length]).filter(([, n]) => n);
  const floats = nodes.filter(n => n.became === 'float').length;
  return el('section', {id: 'glance'},
    el('div', {class: 'tiles'},
      tile('RAM', bytesText(report.arena_bytes + report.state_bytes),
           report.arena_bytes === report.arena_lower_bound_bytes ? 'equal to the lower bound'
             : 'lower bound ' + bytesText(report.arena_lower_bound_bytes + report.state_bytes),
           peak.call ? 'peak at ' + peak.call : null,
           report.bytes.stack ? 'and a stack of at most ' + bytesText(report.bytes.stack) : null,
           report.state_bytes ? 'state ' + bytesText(report.state_bytes) : null),
      flashTile(), workTile(), accuracyTile(),
      tile('Nodes', String(nodes.length), floats ? floats + ' stay in float' : 'all in integers',
           report.calls.length + ' kernel calls')),
    warnings(),
    el('div', {class: 'fates', role: 'img', 'aria-label': 'what became of the nodes'},
      ...counts.map(([f, n]) => withTip(el('span', {style: 'flex: ' + n + '; background: var(--' + f + ')'}),
                                        n + ' ' + f + ': ' + fateMeaning[f]))),
    el('div', {class: 'legend'}, ...counts.map(([f, n]) => withTip(el('button', {
      onclick: () => {
        nodeTable.keep(f);
        document.getElementById('nodes').scrollIntoView();
      },
    }, dot(f), n + ' ' + f), fateMeaning[f]))));
}

function whereList(title, hint, items, text) {
  const most = Math.max(1e-9, ...items.map(i => i.weight));
  return el('div', {class: 'card'}, el('h3', null, title), items.length ? el('ol', null, ...items.map(i =>
    el('li', null, el('span', {class: 'name'}, i.node ? nodeLink(i.node, i.name) : i.name),
       el('span', {class: 'num'}, text(i.value)),
       el('span', {class: 'bar'}, el('i', {style: 'width: ' + (100 * i.weight / most).toFixed(1) + '%'})))))
    : el('p', {class: 'soft'}, hint));
}

function heaviest(items, count) {
  return items.filter(i => i.weight > 0).sort((a, b) => b.weight - a.weight).slice(0, count);
}

function where() {
  const calls = report.calls, counted = calls.some(known);
  const ofCall = weigh => heaviest(calls.map(c => ({name: c.name, node: nodeOfCall(c), value: weigh(c), weight: weigh(c)})), 8);
  const lost = heaviest(nodes.filter(n => n.lost_db >= 0.05)
    .map(n => ({name: n.name, node: n, value: n, weight: n.lost_db})), 8);
  const lostText = n => '−' + n.lost_db.toFixed(1) + ' to ' + dbText(n.sqnr_db);
  const atPeak = buffers.filter(b => livesAt(b, peak.moment))
    .map(b => ({name: b.name, node: b.node, value: b.bytes, weight: b.bytes}));
  const kinds = ['weights', 'biases', 'multipliers_and_shifts', 'tables', 'numbers', 'padding', 'call_structs',
                 'strip_tables', 'initial_state', 'kernel_code', 'model_code']
    .map(k => ({name: k.replace(/_/g, ' '), node: null, value: report.bytes[k], weight: report.bytes[k] || 0}));
  return el('div', {class: 'where'},
    whereList('Where accuracy goes', 'Known once the model was calibrated or verified on data.', lost, lostText),
    whereList('Where RAM goes: at the peak', 'The arena is empty.', heaviest(atPeak, 8), bytesText),
    whereList(counted ? 'Where instructions go' : 'Where MACs go', 'No call multiplies.',
              ofCall(c => counted ? c.instructions || 0 : c.macs), countText),
    whereList('Where flash goes', 'There are no constants.', ofCall(c => c.weights_bytes), bytesText),
    whereList('Flash by kind', 'There are no constants.', heaviest(kinds, 8), bytesText));
}

/* ---- sections whose charts follow the width ---------------------------------------------------- */

const drawn = [];

/* A chart that is drawn again when the page changes its width. */
function chart(draw) {
  const holder = el('div', {class: 'chart'});
  drawn.push(() => holder.replaceChildren(draw(Math.max(300, holder.clientWidth || 800))));
  return holder;
}

function memorySection() {
  const legend = el('div', {class: 'legend'}, ...Object.keys(bufferColour)
    .filter(kind => buffers.some(b => b.kind === kind))
    .map(kind => el('span', null, dot(bufferColour[kind]), kind === 'ring' ? 'ring: a few rows at a time' : kind)));
  return section('memory', 'Memory over the run',
    'Each block is a buffer: how long it lives, from left to right, and where it lies in the arena' +
    (arenas.length > 1 ? ', memory upon memory. ' : '. ') +
    'Marked: the peak, ' + bytesText(peak.bytes) + (peak.call ? ' at ' + peak.call : '') + '.',
    el('div', {class: 'card'}, chart(timeline), legend),
    report.memories.length > 2 ? el('div', {style: 'margin-top: 12px'}, memoryTable()) : null,
    report.strips.length ? el('div', {style: 'margin-top: 12px'}, stripTable()) : null,
    el('div', {style: 'margin-top: 12px'}, bufferTable()));
}

/* What runs a few rows at a time, what that saves and what it costs. */
function stripTable() {
  const count = v => v.toLocaleString('en');
  const more = s => s.instructions_estimate - s.instructions_whole_estimate;
  return sortable(report.strips, [
    {title: 'in strips', of: s => s.calls.join(', ')},
    {title: 'rows', of: s => s.rows, num: true},
    {title: 'steps', of: s => s.steps, num: true},
    {title: 'bytes in rings', of: s => s.ring_bytes, num: true, text: count},
    {title: 'instead of', of: s => s.value_bytes, num: true, text: count},
    {title: 'rows recomputed', of: s => s.rows_recomputed, num: true, text: count},
    {title: 'bytes moved', of: s => s.bytes_moved, num: true, text: count},
    {title: 'more instructions', of: more, num: true, text: (v, s) => s.instructions_whole_estimate
      ? count(v) + ' (' + (100 * v / s.instructions_whole_estimate).toFixed(1) + ' %)' : '?'},
  ], 'strips');
}

/* What --memory describes, and what was placed there. */
function memoryTable() {
  const count = v => v.toLocaleString('en');
  return sortable(report.memories, [
    {title: 'memory', of: m => m.name},
    {title: 'wait states', of: m => m.wait_states, num: true},
    {title: 'arena', of: m => m.arena, num: true, text: count},
    {title: 'state', of: m => m.state, num: true, text: count},
    {title: 'constants', of: m => m.constants, num: true, text: count},
    {title: 'all', of: m => m.bytes, num: true, text: count},
    {title: 'of', of: m => m.limit || 0, num: true, text: v => v ? count(v) : ''},
    {title: 'section', of: m => m.section || m.constants_section || ''},
    {title: 'hottest constants', of: m => [...m.placed].sort((a, b) => b.accesses_per_byte - a.accesses_per_byte)
      .slice(0, 4).map(c => c.name).join(', ')},
  ], 'memories');
}

function bufferTable() {
  const name = m => m < 1 ? 'inputs' : m > report.calls.length ? 'outputs' : report.calls[m - 1].name;
  return sortable(buffers, [
    {title: 'buffer', of: b => b.name, text: (v, b) => b.node ? nodeLink(b.node, v) : v},
    {title: 'kind', of: b => b.kind},
    {title: 'bytes', of: b => b.bytes, num: true, text: v => v.toLocaleString('en')},
    ...arenas.length > 1 ? [{title: 'memory', of: b => b.memory}] : [],
    {title: 'offset', of: b => b.offset, num: true, text: v => v.toLocaleString('en')},
    {title: 'from', of: b => b.first, text: v => name(v)},
    {title: 'to', of: b => b.last, text: v => name(v)},
    {title: 'overwrites', of: b => b.overwrites || ''},
    {title: 'at the peak', of: b => livesAt(b, peak.moment) ? 'yes' : ''},
  ], 'buffers');
}

/* Plots are drawn when they come into view, or all of them for the printer. */
function tablesSection() {
  const waiting = new Map();
  const draw = figure => {
    const t = waiting.get(figure);
    waiting.delete(figure);
    if (t)
      figure.prepend(tablePlot(t, Math.max(200, figure.clientWidth - 34), 172));
  };
  const seen = new IntersectionObserver(entries => entries.forEach(e => e.isIntersecting && draw(e.target)),
                                        {rootMargin: '300px'});
  const figures = details.tables.map(t => {
    const node = nodes[t.nodes[t.nodes.length - 1]];
    const figure = el('figure', {class: 'card', onclick: () => selectNode(node)},
      el('figcaption', null, el('b', null, t.body.join(' · ')), ' ', el('span', {class: 'soft'}, t.name)),
      el('div', {class: 'soft num', style: 'font-size: .8rem; text-align: left'},
         tableText(t)));
    waiting.set(figure, t);
    seen.observe(figure);
    return figure;
  });
  addEventListener('beforeprint', () => figures.forEach(draw));
  return section('tables', 'Activation tables',
    figures.length ? 'What the table holds (thick) against the function it stands for (thin), over all inputs it can meet.'
      : 'This model needs no table.', el('div', {class: 'plots'}, ...figures));
}

/* ---- tables ------------------------------------------------------------------------------------ */

const bytesColumn = v => v ? v.toLocaleString('en') : '–';

function callsSection() {
  return section('calls', 'Kernel calls', 'In the order in which they run.', sortable(report.calls, [
    {title: 'call', of: c => c.name, text: (v, c) => nodeOfCall(c) ? nodeLink(nodeOfCall(c), v) : v},
    {title: '#', of: c => c.index, num: true},
    {title: 'kernel', of: c => c.kernel, text: v => el('code', null, v)},
    {title: 'MACs', of: c => c.macs, num: true, text: bytesColumn},
    {title: 'instructions', of: c => c.instructions ?? null, num: true, text: v => v === null ? '–' : v.toLocaleString('en')},
    {title: 'SQNR dB', of: c => sqnrOf(c), num: true, text: dbFigure},
    {title: 'constants', of: c => c.weights_bytes, num: true, text: bytesColumn},
    {title: 'scratch', of: c => c.scratch_bytes, num: true, text: bytesColumn},
    {title: 'arena', of: c => c.arena.reduce((s, a) => s + a[1], 0), num: true, text: bytesColumn,
     hint: 'bytes of the arena that the call touches'},
  ], 'calls'));
}

const nodeTable = sortable(nodes, [
  {title: 'node', of: n => n.name, text: (v, n) => nodeLink(n, v)},
  {title: 'became', of: n => n.became, text: v => el('span', null, dot(v), v)},
  {title: 'operator', of: n => shortOp(n), text: v => el('code', null, v)},
  {title: 'numbers', of: n => n.numeric},
  {title: 'shape', of: n => n.shape ? shapeText(n.shape) : null},
  {title: 'module', of: n => n.module, long: true},
  {title: 'line', of: n => n.source, long: true},
  {title: 'MACs', of: n => n.macs, num: true, text: bytesColumn},
  {title: 'SQNR dB', of: n => n.sqnr_db, num: true, text: dbFigure},
  {title: 'lost dB', of: n => n.lost_db, num: true, text: dbFigure,
   hint: 'how much worse than the worst that it reads'},
  {title: 'into', of: n => n.into.join(', '), long: true},
  {title: 'why', of: n => n.reason || n.numeric_reason, long: true},
], 'nodes');

function precisionSection() {
  const rows = details.values.filter(v => v.parts || v.dtype.startsWith('float')).map(v => ({
    v, node: v.nodes.length && v.nodes[v.nodes.length - 1] >= 0 ? nodes[v.nodes[v.nodes.length - 1]] : null,
    part: v.parts ? v.parts[0] : null, clipped: clippedShare(v)}));
  return section('precision', 'Precision', 'Every value with its grid, and what calibration saw of it.', sortable(rows, [
    {title: 'value', of: r => r.v.name, text: (v, r) => r.node ? nodeLink(r.node, v) : v},
    {title: 'stored', of: r => r.v.stored ? r.v.dtype : 'within the kernel'},
    {title: 'bits', of: r => r.v.bits ?? null, num: true},
    {title: 'scale', of: r => r.part ? r.part.scale : null, num: true, text: realText},
    {title: 'zero point', of: r => r.part ? r.part.zero_point : null, num: true},
    {title: 'parts', of: r => r.v.parts ? r.v.parts.length : null, num: true},
    {title: 'low', of: r => r.part ? r.part.low : null, num: true, text: realText},
    {title: 'high', of: r => r.part ? r.part.high : null, num: true, text: realText},
    {title: 'least seen', of: r => r.v.min ?? null, num: true, text: realText},
    {title: 'most seen', of: r => r.v.max ?? null, num: true, text: realText},
    {title: 'clipped %', of: r => r.clipped, num: true, text: v => v === null ? '–' : (100 * v).toFixed(3)},
    {title: 'SQNR dB', of: r => r.node ? r.node.sqnr_db : null, num: true, text: dbFigure},
    {title: 'pinned', of: r => r.v.pinned ? 'yes' : ''},
  ], 'values'));
}

function sensitivitySection() {
  if (!sensitivity)
    return section('sensitivity', 'Sensitivity', null, el('div', {class: 'card'},
      el('p', null, 'What the rounding of each node costs the outputs by itself was not measured yet. This adds it here:'),
      el('code', null, 'corten sensitivity DIR -c calib.npz')));
  return section('sensitivity', 'Sensitivity', 'What the rounding of each node costs the worst output, measured by corten sensitivity on ' +
    sensitivity.samples + ' samples. --precision gives the costliest int16, --accuracy-budget chooses them.', sortable(sensitivity.nodes, [
    {title: 'node', of: s => s.name, text: v => { const n = nodes.find(n => n.name === v); return n ? nodeLink(n, v) : v; }},
    {title: 'costs dB', of: s => s.cost_db, num: true, text: v => v === null ? '–' : v.toFixed(2),
     hint: 'what the worst output would gain without the rounding of this node'},
    {title: 'values alone dB', of: s => s.values_alone_db, num: true, text: dbFigure,
     hint: 'the SQNR of the output if nothing but these values were rounded'},
    {title: 'weights alone dB', of: s => s.weights_alone_db, num: true, text: dbFigure},
    {title: 'values', of: s => s.values},
    {title: 'int16 adds', of: s => s.can_be_int16 && s.values !== 'int16' ? s.bytes_more : null, num: true, text: bytesColumn},
    {title: 'module', of: s => s.module, long: true},
    {title: 'line', of: s => s.source, long: true},
  ], 'nodes'));
}

/* ---- NPU ---------------------------------------------------------------------------------------- */

/* A figure of Vela's summary by the name that it has there. */
const velaColumn = (title, name, scale) => ({title, of: p => p.vela[name] === undefined ? null : Math.round(scale * p.vela[name]),
                                             num: true, text: v => v === null ? '–' : v.toLocaleString('en')});

function npuSection() {
  const npu = report.npu, count = v => v.toLocaleString('en'), nodeNamed = name => nodes.find(n => n.name === name);
  const stays = npu.on_cpu.length ? sortable(npu.on_cpu, [
    {title: 'node', of: s => s.node, text: v => nodeNamed(v) ? nodeLink(nodeNamed(v), v) : v},
    {title: 'operator', of: s => s.op, text: v => el('code', null, v)},
    {title: 'line', of: s => s.source, long: true},
    {title: 'why', of: s => s.reason, long: true},
  ], 'nodes on the CPU') : null;
  return section('npu', 'NPU', 'What Vela says of the parts that run on the ' + npu.name + '. ' +
    (stays ? 'The rest stays on the ' + npu.cpu + '.' : 'No node stays on the ' + npu.cpu + '.'),
    el('div', {class: 'tiles'},
      tile('NPU', count(npu.cycles) + ' cycles', npu.programs.length + (npu.programs.length > 1 ? ' parts' : ' part'), npu.name),
      tile('SRAM', bytesText(npu.sram_bytes), npu.memory_mode), tile('DRAM', bytesText(npu.dram_bytes), npu.system_config),
      tile('Flash', bytesText(npu.flash_bytes), 'weights and commands')),
    el('div', {style: 'margin-top: 12px'}, sortable(npu.programs, [
      {title: 'part', of: p => p.name},
      {title: 'nodes', of: p => p.nodes.length, num: true},
      velaColumn('cycles', 'cycles_total', 1), velaColumn('on the NPU', 'cycles_npu', 1),
      velaColumn('SRAM', 'sram_memory_used', 1024), velaColumn('DRAM', 'dram_memory_used', 1024),
      velaColumn('flash', 'off_chip_flash_memory_used', 1024),
      {title: 'commands', of: p => p.command_bytes, num: true, text: bytesColumn},
      {title: 'weights', of: p => p.weight_bytes, num: true, text: bytesColumn},
      {title: 'scratch', of: p => p.scratch_bytes + p.fast_scratch_bytes, num: true, text: bytesColumn},
      {title: 'from', of: p => p.inputs.map(i => i.name).join(', '), long: true},
      {title: 'to', of: p => p.outputs.map(o => o.name).join(', '), long: true},
    ], 'parts')), stays ? el('div', {style: 'margin-top: 12px'}, stays) : null);
}

/* ---- accuracy and origin ----------------------------------------------------------------------- */

function accuracySection() {
  if (!verify)
    return section('accuracy', 'Accuracy', null, el('div', {class: 'card'},
      el('p', null, 'Nothing was measured on data of yours yet. This adds it here: SQNR of each call and output, ' +
         'top-1 where labels are given, instructions per call on the simulated chip.'),
      el('code', null, 'corten verify DIR -i test.npz --labels label --on qemu')));
  const top = verify.top1, percent = v => (100 * v).toFixed(2) + ' %';
  return section('accuracy', 'Accuracy', 'Measured by corten verify on ' + verify.samples + ' samples.', el('div', {class: 'card'}, facts(
    ...verify.output_sqnr_db.map((db, k) => ['SQNR of output ' + k + (report.outputs[k] && report.outputs[k].name
      ? ' (' + report.outputs[k].name + ')' : ''), dbText(db)]),
    ...(verify.inputs_clipped || []).map((share, k) => share > 0
      ? ['beyond the range of input ' + k, percent(share) + ' of its numbers, ' +
         percent((verify.inputs_unseen || [])[k] || 0) + ' beyond what calibration has seen'] : ['', null]),
    ['top-1, float', top ? percent(top.float) : null], ['top-1, integer', top ? percent(top.integer) : null],
    ['agreement', top ? percent(top.agreement) : null],
    ['host and chip', verify.bit_exact === null ? 'not compared (--on qemu does)'
      : verify.bit_exact ? 'equal bit for bit' : 'DIFFER'],
    ['instructions', verify.instructions ? verify.instructions.total.toLocaleString('en') + ' per inference' : null],
    ['stack', verify.stack_bytes ? verify.stack_bytes.toLocaleString('en') + ' bytes' : null],
    ['whole image', verify.image_flash_bytes ? verify.image_flash_bytes.toLocaleString('en') + ' bytes of flash, ' +
      verify.image_ram_bytes.toLocaleString('en') + ' of RAM' : null])));
}

function originSection() {
  const port = p => (p.name || '') + ': ' + (p.shape === null ? 'no tensor: a constant, or kept as state'
    : p.dtype + ' ' + shapeText(p.shape)) +
    (p.scale === null ? '' : ', scale ' + p.scale + ', zero point ' + p.zero_point);
  return section('origin', 'Inputs, outputs, origin', null, el('div', {class: 'card'}, facts(
    ...report.inputs.map((p, k) => ['input ' + k, port(p)]), ...report.outputs.map((p, k) => ['output ' + k, port(p)]),
    ['archive', report.model], ['SHA-256', report.model_sha256 ? el('code', null, report.model_sha256) : null],
    ['target', report.target + ' (' + report.isa + ')'],
    ['raised to int16', report.accuracy_budget ? report.accuracy_budget.raised.join(', ') || 'nothing' : null],
    ['instructions', report.instructions_origin], ['code', report.bytes.code_origin],
    ['options', Object.entries(report.options).filter(([, v]) => v && (!Array.isArray(v) || v.length))
      .map(([k, v]) => k.replace(/_/g, '-') + (v === true ? '' : ' ' + v)).join(', ')],
    ['seconds', Object.entries(report.seconds).filter(([, v]) => v > 0).map(([k, v]) => k + ' ' + v).join(', ')],
    ['written by', 'Corten ' + report.corten])));
}

/* ---- start ------------------------------------------------------------------------------------- */

function build() {
  document.title = report.name + ' · Corten';
  document.getElementById('head').append(el('h1', null, report.name),
    el('div', {class: 'soft'}, 'int8 C for ' + report.target + ' (' + report.isa + ') · Corten ' + report.corten));
  const sections = [
    ['glance', 'At a glance', glance()],
    ['run', 'The run', section('run', 'The run, call by call', withUse('From the first kernel call to the last.', 'A click shows the node.'),
      el('div', {class: 'card'}, chart(lanes)), where())],
    ...report.npu ? [['npu', 'NPU', npuSection()]] : [],
    ['network', 'Network', section('network', 'The network',
      withUse('A box is what runs as one; its lines are the nodes of your model that went into it.',
              'Drag to move, ctrl and wheel (or a click first) to zoom.'),
      graphTools(), drawGraph())],
    ['memory', 'Memory', memorySection()],
    ['tables', 'Activations', tablesSection()],
    ['calls', 'Calls', callsSection()],
    ['nodes', 'Nodes', section('nodes', 'Nodes', 'Every node of the exported model, exactly once.', nodeTable)],
    ['precision', 'Precision', precisionSection()],
    ['sensitivity', 'Sensitivity', sensitivitySection()],
    ['accuracy', 'Accuracy', accuracySection()],
    ['origin', 'Origin', originSection()],
  ];
  document.getElementById('nav').append(...sections.map(([id, title]) => el('a', {href: '#' + id}, title)));
  document.getElementById('main').append(...sections.map(s => s[2]));
}

function redraw() {
  drawn.forEach(draw => draw());
}

/* "#node=NAME" names a node to be shown. */
function followHash() {
  const match = /^#node=(.*)$/.exec(location.hash);
  if (!match)
    return;
  const name = decodeURIComponent(match[1]), node = nodes.find(n => n.name === name);
  if (node) {
    document.getElementById(innerWidth > 720 ? 'network' : 'graph').scrollIntoView();
    selectNode(node);
  }
}

build();
redraw();
showStart();
followHash();
let resizing = 0, widthBefore = innerWidth;
addEventListener('resize', () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => {
    if (innerWidth !== widthBefore)
      redraw();
    widthBefore = innerWidth;
  }, 120);
});
addEventListener('beforeprint', fitPaper);
addEventListener('afterprint', leavePaper);
addEventListener('hashchange', followHash);
addEventListener('keydown', event => {
  if (event.key === 'Escape' && !panel.hidden)
    closePanel();
  if (event.key === '/' && !/INPUT|SELECT/.test(document.activeElement.tagName)) {
    event.preventDefault();
    graph.searchInput.focus();
  }
});
document.documentElement.dataset.ready = Math.round(performance.now());
