/* Tables that sort by any column and keep the rows that hold all of the given words. */

/* columns: {title, of(row), text(value, row), num}; `of` gives what is sorted by. */
function sortable(rows, columns, label) {
  const body = el('tbody'), count = el('span', {class: 'soft'});
  let sorted = -1, down = false, shown = rows;
  const cells = new Map();
  const cell = (row, column) => {
    const value = column.of(row);
    const content = column.text ? column.text(value, row) : value === null || value === undefined ? '–' : value;
    return el('td', {class: column.num ? 'num' : column.long ? 'long' : null,
                     title: column.long ? String(value || '') : null}, content);
  };
  const line = row => {
    if (!cells.has(row))
      cells.set(row, el('tr', null, ...columns.map(c => cell(row, c))));
    return cells.get(row);
  };
  const render = () => {
    body.replaceChildren(...shown.map(line));
    count.textContent = shown.length === rows.length ? rows.length + ' rows' : shown.length + ' of ' + rows.length;
  };
  const sort = k => {
    down = sorted === k ? !down : !!columns[k].num;
    sorted = k;
    const of = columns[k].of, known = v => v !== null && v !== undefined;
    shown = [...shown].sort((a, b) => {
      const x = of(a), y = of(b);
      if (!known(x) || !known(y))
        return known(y) - known(x); /* what is unknown stands last either way */
      const order = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
      return down ? -order : order;
    });
    heads.forEach((h, i) => i === k ? h.setAttribute('aria-sort', down ? 'descending' : 'ascending')
      : h.removeAttribute('aria-sort'));
    render();
  };
  const heads = columns.map((c, k) => el('th', {class: c.num ? 'num' : null, title: c.hint},
    el('button', {onclick: () => sort(k)}, c.title)));
  const texts = new Map(rows.map(row => [row, columns.map(c => String(c.of(row) ?? '')).join(' ').toLowerCase()]));
  const filter = el('input', {type: 'search', placeholder: 'filter ' + label, 'aria-label': 'filter ' + label,
    oninput: () => keep(filter.value)});
  const keep = text => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    shown = rows.filter(row => words.every(w => texts.get(row).includes(w)));
    if (sorted >= 0) {
      down = !down;
      sort(sorted);
    } else {
      render();
    }
  };
  render();
  const whole = el('div', {class: 'rows'}, el('div', {class: 'tools'}, filter, count),
    el('div', {class: 'grid', tabindex: 0,
               style: 'contain-intrinsic-size: auto ' + Math.min(560, 30 + 28 * rows.length) + 'px'},
       el('table', null, el('thead', null, el('tr', null, ...heads)), body)));
  whole.keep = text => {
    filter.value = text;
    keep(text);
  };
  return whole;
}
