/* Elements. Texts become text nodes, whatever they hold. */

function fill(e, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined)
      continue;
    if (key.startsWith('on'))
      e.addEventListener(key.slice(2), value);
    else
      e.setAttribute(key, value);
  }
  for (const child of children)
    if (child !== null && child !== undefined)
      e.append(child);
  return e;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function sv(tag, attributes, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

const tip = document.getElementById('tip');

/* Shows `text` beside the pointer while it is over e. */
function withTip(e, text) {
  e.addEventListener('pointermove', event => {
    tip.textContent = typeof text === 'function' ? text(event) : text;
    tip.hidden = !tip.textContent;
    const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const y = event.clientY + 16 + tip.offsetHeight > innerHeight
      ? event.clientY - tip.offsetHeight - 10 : event.clientY + 16;
    tip.style.left = Math.max(4, x) + 'px';
    tip.style.top = y + 'px';
  });
  e.addEventListener('pointerleave', () => { tip.hidden = true; });
  return e;
}

function dot(fate) {
  return el('span', {class: 'dot', style: 'background: var(--' + fate + ')'});
}

function badge(fate) {
  return el('span', {class: 'badge', style: 'background: var(--' + fate + ')'}, fate);
}

function nodeLink(node, text) {
  return el('button', {class: 'link', onclick: () => selectNode(node)}, text || node.name);
}

/* A hint of which the second half is of no use on paper. */
function withUse(what, use) {
  return el('span', null, what, el('span', {class: 'use'}, ' ' + use));
}

function section(id, title, hint, ...children) {
  return el('section', {id}, el('h2', null, title), hint ? el('p', {class: 'hint'}, hint) : null,
            ...children);
}
