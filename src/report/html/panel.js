/* What is known of one node, beside the picture. */

const panel = document.getElementById('panel');

function facts(...pairs) {
  const list = el('dl');
  for (const [name, value] of pairs)
    if (value !== null && value !== undefined && value !== '')
      list.append(el('dt', null, name), el('dd', null, value));
  return list;
}

function gridText(value) {
  if (!value.parts)
    return null;
  if (value.parts.length > 1)
    return value.parts.map(p => p.start + '…' + p.stop + ': ' + realText(p.scale) + ', ' + p.zero_point).join('; ');
  const p = value.parts[0];
  return 'scale ' + realText(p.scale) + ', zero point ' + p.zero_point;
}

function valueFacts(value, width) {
  const part = value.parts && value.parts.length === 1 ? value.parts[0] : null;
  const clipped = clippedShare(value);
  return el('div', null, el('h3', null, 'Value ', el('code', null, value.name)),
    facts(['stored', value.stored ? value.dtype + (value.bits && value.bits % 8 ? ', ' + value.bits + ' bits' : '')
                                  : 'never: it lives within the kernel'],
          ['shape', shapeText(value.shape)], ['grid', gridText(value)],
          ['range', part ? realText(part.low) + ' … ' + realText(part.high) : null],
          ['seen', value.min !== undefined ? realText(value.min) + ' … ' + realText(value.max) : null],
          ['clipped', clipped === null ? null : (100 * clipped).toFixed(clipped && clipped < 0.001 ? 4 : 2) + ' %'],
          ['equalized', value.equalized ? 'channels were made alike in size; numbers here include that' : null]),
    value.bins ? histogram(value, width) : null,
    value.bins ? el('p', {class: 'hint'}, 'Values seen in calibration, heights logarithmic. Shaded: the range that the grid can hold.') : null);
}

function callFacts(call) {
  return el('div', null, el('h3', null, 'Call ', el('code', null, call.name)),
    facts(['kernel', el('code', null, call.kernel)], ['MACs', call.macs ? call.macs.toLocaleString('en') : null],
          ['instructions', known(call)
            ? call.instructions.toLocaleString('en') + ' (' + (call.counted || 'estimate') + ')' : null],
          ['SQNR', sqnrOf(call) === null ? null : dbText(sqnrOf(call))],
          ['clipped', call.clipped > 0 ? (100 * call.clipped).toFixed(3) + ' % of the values that verify saw' : null],
          ['constants', call.weights_bytes.toLocaleString('en') + ' bytes'],
          ['scratch', call.scratch_bytes ? call.scratch_bytes.toLocaleString('en') + ' bytes' : null],
          ['arena', call.arena.map(([at, size]) => size.toLocaleString('en') + ' bytes at ' + at.toLocaleString('en')).join('; ')],
          ['runs', stripOf(call)]));
}

function stripOf(call) {
  const s = report.strips.find(s => s.calls.includes(call.name));
  return s ? 'in a strip of ' + s.calls.length + ' calls, ' + s.rows + ' rows at a time' : null;
}

function linkList(list) {
  const e = el('span');
  list.forEach((n, i) => e.append(i ? ', ' : '', nodeLink(n)));
  return list.length ? e : null;
}

/* What corten sensitivity found of the node. */
function costText(node) {
  const cost = sensitivity && sensitivity.nodes.find(n => n.name === node.name);
  return cost ? 'costs the output ' + cost.cost_db.toFixed(2) + ' dB' +
    (cost.can_be_int16 && cost.values !== 'int16' ? '; as int16 it takes ' + cost.bytes_more.toLocaleString('en') + ' bytes more' : '')
    : null;
}

function panelOf(node) {
  const width = Math.min(356, innerWidth - 40);
  const readers = nodes.filter(n => n.reads.includes(node.id));
  return [
    el('button', {class: 'close', onclick: closePanel, 'aria-label': 'close'}, '✕'),
    el('h2', null, node.name),
    el('p', null, badge(node.became), el('span', {class: 'soft'}, node.reason || fateMeaning[node.became])),
    facts(['operator', el('code', null, node.op)], ['module', node.module],
          ['line', node.source], ['numbers', node.numeric], ['because', node.numeric_reason], ['weights', node.weights],
          ['SQNR', node.sqnr_db === null ? null : dbText(node.sqnr_db) +
            (node.lost_db > 0.05 ? ', ' + node.lost_db.toFixed(1) + ' dB lost here' : '')],
          ['rounding', costText(node)],
          ['MACs', node.macs ? node.macs.toLocaleString('en') : null],
          ['reads', linkList(node.reads.filter(r => r >= 0).map(r => nodes[r]))],
          ['read by', linkList(readers)],
          ['together with', node.group.nodes.length > 1
            ? linkList(node.group.nodes.filter(n => n !== node)) : null]),
    node.text ? el('pre', null, node.text.trim()) : null,
    ...node.values.map(v => valueFacts(v, width)),
    ...node.tables.map(t => tableFacts(t, width)),
    ...node.calls.map(callFacts),
  ];
}

function tableText(table) {
  const kind = table.pieces ? ' quadratic pieces' : table.interpolated ? ' entries, interpolated' : ' entries';
  return table.entries + kind + ', error ≤ ' +
    table.error.toFixed(2) + ' steps';
}

function tableFacts(table, width) {
  return el('div', null, el('h3', null, 'Table: ' + table.body.join(' · ')), tablePlot(table, width, 190),
    el('p', {class: 'hint'}, 'The table (thick) against the function (thin): ' + tableText(table) + ' of the output.'));
}

/* An input or output of the model. */
function portPanel(group) {
  const port = group.port, width = Math.min(356, innerWidth - 40);
  const values = details.values.filter(v => v.nodes.includes(-1 - group.inputIndex));
  return [
    el('button', {class: 'close', onclick: closePanel, 'aria-label': 'close'}, '✕'),
    el('h2', null, group.label),
    facts(['type', port.dtype], ['shape', shapeText(port.shape)],
          ['scale', port.scale === null ? null : String(port.scale)],
          ['zero point', port.zero_point === null ? null : String(port.zero_point)],
          ['order', port.layout], ['SQNR', port.sqnr_db === undefined ? null : dbText(port.sqnr_db)],
          ['made by', group.maker ? nodeLink(group.maker) : null]),
    ...values.map(v => valueFacts(v, width)),
  ];
}

function openPanel(content) {
  panel.replaceChildren(...content.filter(Boolean));
  panel.hidden = false;
  panel.scrollTop = 0;
  tip.hidden = true;
}

function selectPort(group) {
  openPanel(portPanel(group));
  markChosen(null);
}

function selectNode(node) {
  if (!node)
    return;
  openPanel(panelOf(node));
  markChosen(node);
  showNode(node);
  history.replaceState(null, '', '#node=' + encodeURIComponent(node.name));
}

function closePanel() {
  panel.hidden = true;
  markChosen(null);
  history.replaceState(null, '', location.pathname + location.search);
}
