/* The network on paper: cut between layers into pieces that are as wide as the paper at most and
 * lie side by side where they are narrow, so that its words can be read. */

const PAPER_WIDTH = 700, PAPER_HEIGHT = 840, EDGE = 8;

/* Where the picture can be cut: in the middle between two layers. */
function possibleCuts(picture) {
  const ends = [];
  for (const {layer, y, height} of picture.places) {
    const e = ends[layer] ||= {layer, top: Infinity, bottom: -Infinity};
    e.top = Math.min(e.top, y - height / 2);
    e.bottom = Math.max(e.bottom, y + height / 2);
  }
  const layers = ends.filter(Boolean).sort((a, b) => a.top - b.top);
  return layers.slice(1).map((e, k) => (layers[k].bottom + e.top) / 2);
}

/* [top, bottom] of the pieces of a picture, each no higher than `most` if there is a cut for it. */
function cutPieces(picture, most) {
  const pieces = [], cuts = [...possibleCuts(picture), picture.height + EDGE];
  let top = -EDGE, last = top;
  for (const cut of cuts) {
    if (cut - top > most && last > top) {
      pieces.push([top, last]);
      top = last;
    }
    last = cut;
  }
  return [...pieces, [top, last]];
}

/* No more pieces than the paper's height asks for, and all about as high. */
function evenPieces(picture, most) {
  const {length} = cutPieces(picture, most);
  let high = (picture.height + 2 * EDGE) / length;
  while (high < most && cutPieces(picture, high).length > length)
    high *= 1.02;
  return cutPieces(picture, Math.min(high, most));
}

function fitPaper() {
  const picture = graph.picture, width = picture.width + 2 * EDGE, height = picture.height + 2 * EDGE;
  let scale = Math.min(1, PAPER_WIDTH / width);
  if (scale * height < 1.3 * PAPER_HEIGHT) /* one piece, a little smaller */
    scale = Math.min(scale, PAPER_HEIGHT / height);
  graph.before = [graph.scale, graph.x, graph.y];
  moveTo(1, 0, 0);
  showParts(-Infinity, -Infinity, Infinity, Infinity);
  graph.layer.classList.toggle('far', scale < 0.33);
  graph.layer.id = 'network-layer';
  const share = (100 * width * scale / PAPER_WIDTH).toFixed(2) + '%';
  graph.paper = el('div', {class: 'paper'}, ...evenPieces(picture, PAPER_HEIGHT / scale).map(([top, bottom]) =>
    sv('svg', {viewBox: [-EDGE, top, width, bottom - top].join(' '), style: 'width: ' + share},
       sv('use', {href: '#network-layer'}))));
  graph.frame.append(graph.paper);
}

function leavePaper() {
  graph.paper.remove();
  moveTo(...graph.before);
}
