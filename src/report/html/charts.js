/* Charts: histograms, activation tables, memory over time, and the run call by call. Each function
 * returns an SVG of the width it is given. */

function ticks(low, high, count) {
  const raw = (high - low) / count, base = Math.pow(10, Math.floor(Math.log10(raw || 1)));
  const step = [1, 2, 5, 10].map(k => k * base).find(s => s >= raw) || 1;
  const list = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-6; t += step)
    list.push(Math.abs(t) < step * 1e-6 ? 0 : t);
  return list;
}

function tickText(t) {
  return Number(t.toPrecision(4)).toString();
}

/* The view box lets the printer give it another size. */
function picture(width, height, label) {
  return sv('svg', {width, height, viewBox: '0 0 ' + width + ' ' + height, role: 'img', 'aria-label': label});
}

/* ---- histogram with the chosen range ---------------------------------------------------------- */

function histogram(value, width) {
  const [low, step, counts] = value.bins, height = 118, base = height - 18;
  const part = value.parts && value.parts.length === 1 ? value.parts[0] : null;
  const x0 = Math.min(low, part ? part.low : low);
  const x1 = Math.max(low + step * counts.length, part ? part.high : 0);
  const x = v => 4 + (width - 8) * (v - x0) / (x1 - x0 || 1);
  const most = Math.log1p(Math.max(...counts));
  const svg = picture(width, height, 'histogram of the values');
  if (part)
    svg.append(sv('rect', {x: x(part.low), y: 2, width: Math.max(1, x(part.high) - x(part.low)),
                           height: base - 2, style: 'fill: var(--fused)', 'fill-opacity': 0.14}));
  counts.forEach((n, i) => {
    if (!n)
      return;
    const h = Math.max(1, (base - 8) * Math.log1p(n) / most);
    const outside = part && (low + step * i >= part.high || low + step * (i + 1) <= part.low);
    svg.append(withTip(sv('rect', {
      x: x(low + step * i), y: base - h, height: h,
      width: Math.max(0.6, x(low + step * (i + 1)) - x(low + step * i) - 0.5),
      style: 'fill: var(--' + (outside ? 'float' : 'kernel') + ')',
    }), n + ' values in [' + realText(low + step * i) + ', ' + realText(low + step * (i + 1)) + ')'));
  });
  if (part)
    for (const edge of [part.low, part.high])
      svg.append(sv('line', {x1: x(edge), x2: x(edge), y1: 2, y2: base, style: 'stroke: var(--fused)',
                             'stroke-width': 1.6}));
  svg.append(sv('line', {class: 'axis', x1: 0, x2: width, y1: base, y2: base}));
  for (const t of ticks(x0, x1, Math.max(2, width / 80)))
    svg.append(sv('text', {x: Math.min(width - 14, Math.max(10, x(t))), y: height - 5, 'text-anchor': 'middle'}, tickText(t)));
  return svg;
}

/* Of the values seen, the share that lies outside of the chosen range; by bins. */
function clippedShare(value) {
  if (!value.bins || !value.parts || value.parts.length !== 1)
    return null;
  const [low, step, counts] = value.bins, {low: from, high: to} = value.parts[0];
  let all = 0, out = 0;
  counts.forEach((n, i) => {
    all += n;
    if (low + step * i >= to || low + step * (i + 1) <= from)
      out += n;
  });
  return all ? out / all : null;
}

/* ---- an activation table against its function -------------------------------------------------- */

function tablePlot(table, width, height) {
  const points = table.entry.map((q, i) => [table.low + table.step * i, table.scale * (q - table.zero_point)]);
  const real = table.function.map((y, i) => [table.low + table.step * i, y]);
  const low = table.least, high = table.most;
  const finite = real.map(r => r[1]).filter(y => y !== null && y >= low - (high - low) && y <= high + (high - low));
  const ys = points.map(p => p[1]).concat(finite);
  const y0 = Math.min(...ys), y1 = Math.max(...ys), x0 = points[0][0], x1 = points[points.length - 1][0];
  const x = v => 34 + (width - 40) * (v - x0) / (x1 - x0 || 1);
  const y = v => 6 + (height - 26) * (y1 - v) / (y1 - y0 || 1);
  const svg = picture(width, height, 'table ' + table.name);
  for (const t of ticks(y0, y1, 4))
    svg.append(sv('line', {class: 'axis', x1: 34, x2: width - 4, y1: y(t), y2: y(t)}),
               sv('text', {x: 30, y: y(t) + 4, 'text-anchor': 'end'}, tickText(t)));
  for (const t of ticks(x0, x1, Math.max(2, width / 70)))
    svg.append(sv('text', {x: Math.min(width - 12, x(t)), y: height - 4, 'text-anchor': 'middle'}, tickText(t)));
  let d = '';
  points.forEach(([px, py], i) => {
    const half = table.interpolated ? 0 : table.step / 2;
    d += (i ? 'L' : 'M') + x(Math.max(x0, px - half)).toFixed(1) + ' ' + y(py).toFixed(1) +
      'H' + x(Math.min(x1, px + half)).toFixed(1);
  });
  svg.append(sv('path', {d, fill: 'none', style: 'stroke: var(--table)', 'stroke-width': 2.4, 'stroke-opacity': 0.55}));
  d = '';
  let pen = 'M';
  for (const [px, py] of real) {
    if (py === null || py < low - (high - low) || py > high + (high - low)) {
      pen = 'M';
      continue;
    }
    d += pen + x(px).toFixed(1) + ' ' + y(py).toFixed(1);
    pen = 'L';
  }
  svg.append(sv('path', {d, fill: 'none', style: 'stroke: var(--ink)', 'stroke-width': 1.1}));
  return svg;
}

/* ---- memory over time -------------------------------------------------------------------------- */

const bufferColour = {value: 'kernel', ring: 'fused', scratch: 'moved', input: 'table', output: 'table'};

function bufferTip(b) {
  const name = m => m < 1 ? 'the inputs' : m > report.calls.length ? 'the outputs' : report.calls[m - 1].name;
  return b.name + '  (' + b.kind + ')\n' + b.bytes.toLocaleString('en') + ' bytes at ' +
    (arenas.length > 1 ? b.memory + ' + ' : '') + b.offset.toLocaleString('en') + '\nfrom ' + name(b.first) + ' to ' + name(b.last) +
    (b.overwrites ? '\noverwrites ' + b.overwrites + ' while that is read' : '');
}

function timeline(width) {
  const moments = report.calls.length + 2, height = 330, left = 58, base = height - 22;
  const top = Math.max(report.arena_bytes, ...buffers.map(b => b.top), 1);
  const x = m => left + (width - left - 6) * m / moments, y = v => base - (base - 10) * v / top;
  const svg = picture(width, height, 'buffers over the calls');
  for (const t of ticks(0, top / 1024, 6))
    if (t * 1024 <= top)
      svg.append(sv('line', {class: 'axis', x1: left, x2: width, y1: y(t * 1024), y2: y(t * 1024)}),
                 sv('text', {x: left - 6, y: y(t * 1024) + 4, 'text-anchor': 'end'}, tickText(t) + ' KiB'));
  svg.append(sv('rect', {x: x(peak.moment), y: 6,
                         width: Math.max(2, x(peak.moment + 1) - x(peak.moment)), height: base - 6,
                         style: 'fill: var(--float)', 'fill-opacity': 0.16}));
  for (const b of buffers) {
    const node = b.node;
    svg.append(withTip(sv('rect', {
      class: node ? 'mark' : null, x: x(b.first), y: y(b.top),
      width: Math.max(1, x(b.last + 1) - x(b.first) - 0.6),
      height: Math.max(0.8, y(b.top - b.bytes) - y(b.top) - 0.6), rx: 1.5,
      style: 'fill: var(--' + (bufferColour[b.kind] || 'kernel') + '); fill-opacity: ' +
        (livesAt(b, peak.moment) ? 0.95 : 0.55),
      onclick: node ? () => selectNode(node) : null,
    }), bufferTip(b)));
  }
  for (const m of arenas.length > 1 ? arenas : [])
    svg.append(sv('line', {x1: left, x2: width, y1: y(m.base), y2: y(m.base),
                           style: 'stroke: var(--ink)', 'stroke-dasharray': '5 4'}),
               sv('text', {x: width - 4, y: y(m.base) - 4, 'text-anchor': 'end',
                           style: 'fill: var(--ink); font-weight: 600'}, m.name));
  for (const t of ticks(0, report.calls.length - 1, Math.min(report.calls.length, width / 110)))
    if (Number.isInteger(t)) // the inputs come before call 0
      svg.append(sv('text', {x: x(t + 1.5), y: height - 6, 'text-anchor': 'middle'}, 'call ' + t));
  return svg;
}

/* ---- the run, call by call --------------------------------------------------------------------- */

function lanes(width) {
  const calls = report.calls, left = 92, step = (width - left - 4) / Math.max(1, calls.length);
  const counted = calls.some(known);
  const kinds = [
    {name: 'RAM in use', colour: 'moved', of: c => live[c.index + 1], text: bytesText},
    {name: counted ? 'instructions' : 'MACs', colour: 'kernel',
     of: c => counted ? c.instructions || 0 : c.macs, text: countText},
    {name: 'constants', colour: 'table', of: c => c.weights_bytes, text: bytesText},
    {name: 'SQNR', colour: 'float', of: c => sqnrOf(c), text: dbText, low: true},
  ].filter(k => !k.low || calls.some(c => k.of(c) !== null));
  const lane = 62, gap = 16, height = kinds.length * (lane + gap) + 6;
  const svg = picture(width, height, 'the run, call by call');
  kinds.forEach((kind, k) => {
    const base = k * (lane + gap) + lane + 8, most = Math.max(1e-9, ...calls.map(c => kind.low ? Math.min(60, kind.of(c) || 0) : kind.of(c)));
    svg.append(sv('text', {x: 0, y: base - lane + 14, style: 'fill: var(--ink); font-weight: 600'}, kind.name),
               sv('text', {x: 0, y: base - lane + 30}, (kind.low ? 'up to ' : 'max ') + kind.text(most)),
               sv('line', {class: 'axis', x1: left, x2: width, y1: base, y2: base}));
    calls.forEach((c, i) => {
      const v = kind.of(c);
      if (v === null || v === undefined)
        return;
      const h = lane * Math.min(1, Math.max(0, v) / most);
      const bad = kind.low && v < 15;
      svg.append(kind.low
        ? sv('circle', {cx: left + step * (i + 0.5), cy: base - h, r: Math.min(3.4, Math.max(1.6, step / 2.4)),
                        style: 'fill: var(--' + (bad ? 'float' : 'fused') + ')'})
        : sv('rect', {x: left + step * i, y: base - h, width: Math.max(0.7, step - (step > 4 ? 1 : 0.2)),
                      height: h, style: 'fill: var(--' + kind.colour + ')'}));
    });
  });
  calls.forEach((c, i) => svg.append(withTip(sv('rect', {
    class: 'mark', x: left + step * i, y: 0, width: step, height, 'fill-opacity': 0,
    onclick: () => selectNode(nodeOfCall(c)),
  }), c.name + '  ' + c.kernel + '\n' + kinds.map(k => k.name + ' ' +
     (k.of(c) === null || k.of(c) === undefined ? '–' : k.text(k.of(c)))).join('\n'))));
  return svg;
}

function nodeOfCall(call) {
  return nodes.find(n => n.fate === 'kernel' && n.calls.includes(call)) ||
    nodes.find(n => n.calls.includes(call)) || null;
}

function sqnrOf(call) {
  if (call.sqnr_db !== undefined && call.sqnr_db !== null)
    return call.sqnr_db;
  const node = nodeOfCall(call);
  return node ? node.sqnr_db : null;
}
