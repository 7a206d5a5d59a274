/* A layered picture of the network: boxes in layers by their longest path from the inputs, long
 * edges through a place in each layer between, orders by barycentres, and x by the least squares
 * that the order and the boxes' widths allow. Linear but for sorting, so that a thousand boxes take
 * a fraction of a second. */

const BOX_WIDTH = 214, ROW_HEIGHT = 19, BOX_GAP = 26, LANE_GAP = 9, LAYER_GAP = 34;

/* Edges [from, to] without those that close a cycle, which an edited report might have. */
function acyclicEdges(groups) {
  const state = new Array(groups.length).fill(0), edges = [];
  for (const root of groups) {
    const stack = state[root.index] ? [] : [[root.index, [...root.from], 0]];
    if (stack.length)
      state[root.index] = 1;
    while (stack.length) {
      const top = stack[stack.length - 1];
      if (top[2] === top[1].length) {
        state[top[0]] = 2;
        stack.pop();
        continue;
      }
      const from = top[1][top[2]++];
      if (state[from] === 1)
        continue;
      edges.push([from, top[0]]);
      if (state[from] === 0) {
        state[from] = 1;
        stack.push([from, [...groups[from].from], 0]);
      }
    }
  }
  return edges;
}

function assignLayers(count, edges) {
  const layer = new Array(count).fill(0), waiting = new Array(count).fill(0);
  const next = Array.from({length: count}, () => []);
  for (const [a, b] of edges) {
    next[a].push(b);
    waiting[b]++;
  }
  const order = [];
  for (let i = 0; i < count; i++)
    if (waiting[i] === 0)
      order.push(i);
  for (let k = 0; k < order.length; k++)
    for (const b of next[order[k]]) {
      layer[b] = Math.max(layer[b], layer[order[k]] + 1);
      if (--waiting[b] === 0)
        order.push(b);
    }
  const isFirst = new Array(count).fill(true);
  for (const [, b] of edges)
    isFirst[b] = false;
  for (let k = order.length - 1; k >= 0; k--) { /* what reads nothing stands near its reader */
    const i = order[k];
    if (isFirst[i] && next[i].length)
      layer[i] = Math.min(...next[i].map(b => layer[b])) - 1;
  }
  return layer;
}

/* Places: boxes, and lanes in the layers that edges cross: one for all edges from the same box, so
 * that what many read is one line with branches. */
function makePlaces(groups, edges, layer) {
  const places = groups.map(g => ({
    group: g, layer: layer[g.index], width: BOX_WIDTH,
    height: g.port ? 26 : 8 + ROW_HEIGHT * g.nodes.length, up: [], down: [],
  }));
  const routes = [], lanesOf = groups.map(() => new Map());
  const link = (a, b) => {
    a.down.push(b);
    b.up.push(a);
  };
  for (const [from, to] of edges) {
    const route = [places[from]], lanes = lanesOf[from];
    for (let l = layer[from] + 1; l < layer[to]; l++) {
      if (!lanes.has(l)) {
        const lane = {group: null, layer: l, width: 0, height: 0, up: [], down: []};
        lanes.set(l, lane);
        places.push(lane);
        link(route[route.length - 1], lane);
      }
      route.push(lanes.get(l));
    }
    link(route[route.length - 1], places[to]);
    route.push(places[to]);
    routes.push(route);
  }
  return {places, routes};
}

function byLayer(places) {
  const layers = [];
  for (const p of places) {
    while (layers.length <= p.layer)
      layers.push([]);
    layers[p.layer].push(p);
  }
  return layers;
}

function number(layer) {
  layer.forEach((p, i) => { p.at = i; });
}

function orderLayers(layers) {
  layers.forEach(number);
  const sweep = (layer, side) => {
    for (const p of layer)
      p.weight = p[side].length ? p[side].reduce((s, q) => s + q.at, 0) / p[side].length : p.at;
    layer.sort((a, b) => a.weight - b.weight || a.at - b.at);
    number(layer);
  };
  for (let round = 0; round < 10; round++) {
    for (let l = 1; l < layers.length; l++)
      sweep(layers[l], 'up');
    for (let l = layers.length - 2; l >= 0; l--)
      sweep(layers[l], 'down');
  }
}

/* x of a layer: nearest, in least squares, to the means of its neighbours, in the given order and
 * without overlap (pools of adjacent violators, after the widths are taken out). Lanes look only
 * back, so that a sweep carries them straight on. */
function placeLayer(layer, back, sides) {
  let offset = 0;
  const pools = [];
  layer.forEach((p, i) => {
    if (i > 0) {
      const gap = p.group || layer[i - 1].group ? BOX_GAP : LANE_GAP;
      offset += (layer[i - 1].width + p.width) / 2 + gap;
    }
    p.offset = offset;
    let sum = 0, weight = 0;
    for (const side of p.group ? sides : [back])
      for (const q of p[side]) {
        const w = !p.group && !q.group ? 16 : p.group && q.group ? 2 : 1;
        sum += w * q.x;
        weight += w;
      }
    pools.push({sum: weight ? sum - weight * offset : 1e-3 * (p.x - offset), weight: weight || 1e-3,
                count: 1});
    while (pools.length > 1) {
      const b = pools[pools.length - 1], a = pools[pools.length - 2];
      if (a.sum / a.weight <= b.sum / b.weight)
        break;
      pools.pop();
      a.sum += b.sum;
      a.weight += b.weight;
      a.count += b.count;
    }
  });
  let i = 0;
  for (const pool of pools)
    for (let k = 0; k < pool.count; k++, i++)
      layer[i].x = pool.sum / pool.weight + layer[i].offset;
}

function placeAll(layers) {
  for (const layer of layers) {
    let x = 0;
    for (const p of layer) {
      p.x = x + p.width / 2;
      x += p.width + (p.group ? BOX_GAP : LANE_GAP);
    }
    for (const p of layer)
      p.x -= x / 2;
  }
  for (let round = 0; round < 12; round++) {
    const both = round > 3 ? ['up', 'down'] : null;
    for (let l = 1; l < layers.length; l++)
      placeLayer(layers[l], 'up', both || ['up']);
    for (let l = layers.length - 2; l >= 0; l--)
      placeLayer(layers[l], 'down', both || ['down']);
  }
  let y = 0;
  for (const layer of layers) {
    const height = Math.max(...layer.map(p => p.height));
    for (const p of layer)
      p.y = y + height / 2;
    y += height + LAYER_GAP;
  }
  return y - LAYER_GAP;
}

function layoutGraph(groups) {
  const edges = acyclicEdges(groups);
  const {places, routes} = makePlaces(groups, edges, assignLayers(groups.length, edges));
  const layers = byLayer(places).filter(layer => layer.length);
  orderLayers(layers);
  const height = layers.length ? placeAll(layers) : 0;
  const left = Math.min(0, ...places.map(p => p.x - p.width / 2));
  const right = Math.max(0, ...places.map(p => p.x + p.width / 2));
  for (const p of places)
    p.x -= left;
  return {places, routes, width: right - left, height};
}
