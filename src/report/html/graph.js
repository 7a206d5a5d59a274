/* The network: drawn once, then moved and scaled as a whole. */

const graph = {scale: 1, x: 0, y: 0, rowOf: new Map(), boxOf: new Map(), edges: [], parts: []};

function edgePath(route) {
  let [p, ...rest] = route, x = p.x, y = p.y + p.height / 2, d = 'M' + x.toFixed(1) + ' ' + y.toFixed(1);
  for (const q of rest) {
    const top = q.y - q.height / 2, middle = (y + top) / 2;
    d += Math.abs(q.x - x) < 0.5 ? 'V' + top.toFixed(1)
      : 'C' + [x, middle, q.x, middle, q.x, top].map(v => v.toFixed(1)).join(' ');
    x = q.x;
    y = top;
    if (q.height && q !== rest[rest.length - 1]) {
      y = q.y + q.height / 2;
      d += 'V' + y.toFixed(1);
    }
  }
  return d;
}

function clip(text, length) {
  return text.length > length ? text.slice(0, length - 1) + '…' : text;
}

function drawRow(node, k) {
  const quiet = node.became === 'folded' || node.became === 'removed';
  const size = node.group.nodes[node.group.nodes.length - 1] === node ? shapeText(node.shape) : '';
  const row = sv('g', {
    class: 'row' + (quiet ? ' quiet' : ''), transform: 'translate(0 ' + (4 + k * ROW_HEIGHT) + ')',
    'data-node': node.name, tabindex: 0, role: 'button', 'aria-label': node.name + ', ' + node.became,
    onclick: () => graph.dragged || selectNode(node),
    onkeydown: event => event.key === 'Enter' && selectNode(node),
  }, sv('rect', {x: 1, width: BOX_WIDTH - 2, height: ROW_HEIGHT, rx: 4}),
     sv('circle', {cx: 12, cy: ROW_HEIGHT / 2, r: 4.2, style: 'fill: var(--' + node.became + ')'}),
     sv('text', {x: 22, y: 13.5}, clip(shortOp(node), size === '–' || !size ? 26 : 16)),
     size && size !== '–' ? sv('text', {class: 'size', x: BOX_WIDTH - 8, y: 13.5}, clip(size, 15)) : null);
  withTip(row, node.name + '\n' + node.op + (node.module ? '\n' + node.module : '') + '\n' +
    node.became + (node.sqnr_db !== null ? ', ' + dbText(node.sqnr_db) : ''));
  graph.rowOf.set(node.id, row);
  return row;
}

/* What a box is from afar: float above all, then what computes. */
function mainFate(group) {
  return ['float', 'kernel', 'table', 'moved', 'fused', 'folded'].find(f =>
    group.nodes.some(n => n.became === f)) || 'removed';
}

function drawBox(place) {
  const g = place.group, left = place.x - place.width / 2, top = place.y - place.height / 2;
  const box = sv('g', {
    class: 'box' + (g.port ? ' port' : ''),
    transform: 'translate(' + left.toFixed(1) + ' ' + top.toFixed(1) + ')',
    style: '--fate: var(--' + (g.port ? 'soft' : mainFate(g)) + ')',
  }, sv('rect', {width: place.width, height: place.height, rx: 7}),
     sv('rect', {class: 'heat', width: place.width, height: place.height, rx: 7, 'fill-opacity': 0}));
  if (g.port) {
    fill(box, {tabindex: 0, role: 'button', 'aria-label': g.label, onclick: () => graph.dragged || selectPort(g),
               onkeydown: event => event.key === 'Enter' && selectPort(g)}, []);
    box.append(sv('text', {x: 10, y: 17}, clip(g.label, 20)),
               sv('text', {x: place.width - 8, y: 17, 'text-anchor': 'end'},
                  clip(shapeText(g.port.shape), 15)));
  }
  g.nodes.forEach((node, k) => box.append(drawRow(node, k)));
  g.place = place;
  graph.boxOf.set(g.index, box);
  return box;
}

function moveTo(scale, x, y) {
  graph.scale = Math.min(4, Math.max(0.01, scale));
  graph.x = x;
  graph.y = y;
  graph.layer.setAttribute('transform',
    'translate(' + x.toFixed(2) + ' ' + y.toFixed(2) + ') scale(' + graph.scale.toFixed(5) + ')');
  graph.layer.classList.toggle('far', graph.scale < 0.33);
  const {width, height} = frameSize(), s = graph.scale;
  showParts(-x / s, -y / s, (width - x) / s, (height - y) / s);
}

/* Only what lies within the frame is drawn, so that moving stays smooth however large the network
 * is. */
function showParts(left, top, right, bottom) {
  for (const part of graph.parts) {
    const shown = part.right >= left && part.left <= right && part.bottom >= top && part.top <= bottom;
    if (shown !== part.shown)
      part.element.style.display = shown ? '' : 'none';
    part.shown = shown;
  }
}

function addPart(element, places) {
  graph.parts.push({
    element, shown: true,
    left: Math.min(...places.map(p => p.x - p.width / 2)) - 4,
    right: Math.max(...places.map(p => p.x + p.width / 2)) + 4,
    top: Math.min(...places.map(p => p.y - p.height / 2)),
    bottom: Math.max(...places.map(p => p.y + p.height / 2)),
  });
}

function zoomAt(factor, px, py) {
  const scale = Math.min(4, Math.max(0.01, graph.scale * factor)), k = scale / graph.scale;
  moveTo(scale, px - k * (px - graph.x), py - k * (py - graph.y));
}

function frameSize() {
  return {width: graph.frame.clientWidth || 800, height: graph.frame.clientHeight || 600};
}

function fitAll() {
  const {width, height} = frameSize(), p = graph.picture;
  const scale = Math.min(1, (width - 40) / p.width, (height - 40) / p.height);
  moveTo(scale, (width - scale * p.width) / 2, (height - scale * p.height) / 2);
}

/* The beginning, at a size that can be read; all of it where that is no smaller. */
function showStart() {
  fitAll();
  if (graph.scale >= 0.5)
    return;
  const {width} = frameSize(), first = graph.picture.places[0];
  const scale = Math.min(0.85, Math.max(0.5, (width - 40) / graph.picture.width));
  moveTo(scale, width / 2 - scale * first.x, 20 - scale * (first.y - first.height / 2));
}

/* The part of the frame that the panel and the window's edges leave free. */
function freePart() {
  const {width, height} = frameSize(), r = graph.frame.getBoundingClientRect();
  const panel = document.getElementById('panel').getBoundingClientRect(), beside = innerWidth > 720;
  const right = panel.width && beside ? Math.min(width, panel.left - r.left) : width;
  const bottom = Math.min(height, (panel.width && !beside ? panel.top : innerHeight) - r.top);
  const top = Math.max(0, -r.top);
  return right > 200 && bottom - top > 90 ? {width: right, top, bottom} : {width, top: 0, bottom: height};
}

function showNode(node) {
  const p = node.group.place, free = freePart();
  const scale = Math.max(0.75, Math.min(1.2, graph.scale));
  moveTo(scale, free.width / 2 - scale * p.x, (free.top + free.bottom) / 2 - scale * p.y);
}

/* ---- pointers ---------------------------------------------------------------------------------- */

function listenToPointers(svg) {
  const down = new Map();
  let moved = 0;
  const at = event => {
    const r = svg.getBoundingClientRect();
    return {x: event.clientX - r.left, y: event.clientY - r.top};
  };
  svg.addEventListener('pointerdown', event => {
    down.set(event.pointerId, at(event));
    if (down.size === 1) {
      moved = 0;
      graph.dragged = false;
    }
  });
  svg.addEventListener('pointermove', event => {
    const before = down.get(event.pointerId);
    if (!before)
      return;
    const now = at(event), others = [...down].filter(([id]) => id !== event.pointerId);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (moved > 6 && !graph.dragged) {
      graph.dragged = true;
      svg.setPointerCapture(event.pointerId);
    }
    if (others.length === 1) {
      const o = others[0][1];
      const grown = Math.hypot(now.x - o.x, now.y - o.y) / Math.hypot(before.x - o.x, before.y - o.y);
      zoomAt(grown || 1, o.x, o.y);
    } else if (graph.dragged) {
      moveTo(graph.scale, graph.x + now.x - before.x, graph.y + now.y - before.y);
    }
    down.set(event.pointerId, now);
  });
  for (const end of ['pointerup', 'pointercancel'])
    svg.addEventListener(end, event => down.delete(event.pointerId));
  svg.addEventListener('wheel', event => {
    if (!event.ctrlKey && !event.metaKey && !graph.active)
      return; /* the page scrolls until the picture has been clicked */
    event.preventDefault();
    const p = at(event);
    zoomAt(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0018)), p.x, p.y);
  }, {passive: false});
  document.addEventListener('pointerdown', event => { graph.active = svg.contains(event.target); });
}

/* ---- search and colours ------------------------------------------------------------------------ */

function nodeMatches(node, words) {
  const all = (node.name + ' ' + node.op + ' ' + (node.module || '') + ' ' + (node.source || '') +
               ' ' + node.became + ' ' + node.numeric).toLowerCase();
  return words.every(w => all.includes(w));
}

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  graph.found = words.length ? nodes.filter(n => nodeMatches(n, words)) : [];
  graph.foundAt = -1;
  for (const [, row] of graph.rowOf)
    row.classList.remove('found');
  for (const node of graph.found)
    graph.rowOf.get(node.id).classList.add('found');
  return words.length ? graph.found.length : -1;
}

function showNextFound() {
  if (!graph.found || !graph.found.length)
    return;
  graph.foundAt = (graph.foundAt + 1) % graph.found.length;
  selectNode(graph.found[graph.foundAt]);
}

function arenaOf(node) {
  return node.fate === 'kernel'
    ? Math.max(0, ...node.calls.map(c => c.arena.reduce((s, [, size]) => s + size, 0))) : 0;
}

/* Each colouring: what a node weighs, from 0 to 1. */
const colourings = {
  'what became of it': null,
  'distance from float (SQNR)': node => node.sqnr_db === null ? 0 : Math.min(1, Math.max(0, (45 - node.sqnr_db) / 35)),
  'accuracy lost here': node => Math.min(1, (node.lost_db || 0) / 12),
  'MACs': node => node.macs,
  'instructions': node => node.instructions || 0,
  'bytes of constants': node => node.constants,
  'bytes in the arena': arenaOf,
};

function colour(name) {
  const weigh = colourings[name];
  const weights = graph.picture.places.filter(p => p.group).map(p =>
    [p.group, weigh ? Math.max(0, ...p.group.nodes.map(weigh)) : 0]);
  const largest = /SQNR|lost/.test(name) ? 1 : Math.max(1e-9, ...weights.map(([, w]) => w));
  for (const [group, weight] of weights)
    graph.boxOf.get(group.index).querySelector('.heat')
      .setAttribute('fill-opacity', (0.75 * Math.sqrt(weight / largest)).toFixed(3));
}

/* ---- the section ------------------------------------------------------------------------------- */

function drawGraph() {
  const p = graph.picture = layoutGraph(makeGroups());
  graph.layer = sv('g');
  const lines = sv('g'), boxes = sv('g');
  for (const route of p.routes) {
    const path = sv('path', {class: 'edge', d: edgePath(route)});
    addPart(path, route);
    graph.edges.push({from: route[0].group, to: route[route.length - 1].group, path});
    lines.append(path);
  }
  for (const place of p.places)
    if (place.group) {
      const box = drawBox(place);
      addPart(box, [place]);
      boxes.append(box);
    }
  graph.layer.append(lines, boxes);
  const svg = sv('svg', {'aria-label': 'the network', role: 'group'}, graph.layer);
  const zoom = factor => () => zoomAt(factor, frameSize().width / 2, frameSize().height / 2);
  graph.frame = el('div', {id: 'graph'}, svg, el('div', {class: 'zoom'},
    el('button', {onclick: zoom(1.4), title: 'larger'}, '+'),
    el('button', {onclick: zoom(1 / 1.4), title: 'smaller'}, '−'),
    el('button', {onclick: fitAll, title: 'show all'}, 'all'),
    el('button', {onclick: showStart, title: 'back to the inputs'}, 'start'),
    el('button', {onclick: () => document.fullscreenElement ? document.exitFullscreen()
      : document.documentElement.requestFullscreen && graph.frame.requestFullscreen(),
                  title: 'whole screen'}, 'full')));
  listenToPointers(svg);
  return graph.frame;
}

function graphTools() {
  const count = el('span', {class: 'soft'});
  const input = el('input', {
    type: 'search', placeholder: 'search name, operator, module, line', 'aria-label': 'search nodes',
    oninput: event => {
      const found = search(event.target.value);
      count.textContent = found < 0 ? '' : found + ' of ' + nodes.length;
    },
    onkeydown: event => event.key === 'Enter' && showNextFound(),
  });
  const known = {'instructions': nodes.some(n => n.instructions !== null),
                 'distance from float (SQNR)': nodes.some(n => n.sqnr_db !== null),
                 'accuracy lost here': nodes.some(n => n.lost_db !== null)};
  const choose = el('select', {'aria-label': 'colour by', onchange: event => colour(event.target.value)},
    ...Object.keys(colourings).filter(k => known[k] !== false).map(k => el('option', {value: k}, 'colour: ' + k)));
  graph.searchInput = input;
  return el('div', {class: 'tools'}, input, count, choose);
}

function markChosen(node) {
  if (graph.chosen)
    graph.rowOf.get(graph.chosen.id).classList.remove('chosen');
  graph.chosen = node;
  if (node)
    graph.rowOf.get(node.id).classList.add('chosen');
  for (const edge of graph.edges)
    edge.path.classList.toggle('near', !!node && (edge.from === node.group || edge.to === node.group));
}
