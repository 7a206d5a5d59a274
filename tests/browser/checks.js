/* Appended to a copy of a report: uses it as a person would, and leaves the first fault, or "ok",
 * in the attribute data-checks of the page. */
(() => {
  const found = [];
  const check = (good, what) => good || found.push(what);
  const all = (selector, root) => [...(root || document).querySelectorAll(selector)];
  const one = (selector, root) => all(selector, root)[0];

  const everyNodeOpens = () => {
    const rows = all('[data-node]');
    check(rows.length === report.nodes.length, 'rows of the picture: ' + rows.length);
    check(new Set(rows.map(r => r.dataset.node)).size === rows.length, 'a node is drawn twice');
    for (const row of rows) {
      row.dispatchEvent(new MouseEvent('click', {bubbles: true}));
      const title = one('#panel h2');
      check(!one('#panel').hidden && title && title.textContent === row.dataset.node,
            'the panel does not show ' + row.dataset.node);
    }
    for (const port of all('.box.port')) {
      port.dispatchEvent(new MouseEvent('click', {bubbles: true}));
      check(one('#panel h2').textContent === port.getAttribute('aria-label'), 'a port does not open');
    }
    document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));
    check(one('#panel').hidden, 'Escape leaves the panel open');
  };

  const searchFinds = () => {
    const input = one('#network input[type=search]'), word = report.nodes[0].op.split('.')[1];
    input.value = word;
    input.dispatchEvent(new Event('input'));
    const want = report.nodes.filter(n => n.op.includes(word)).length;
    check(all('.row.found').length >= want, 'search finds ' + all('.row.found').length + ' of ' + want);
    input.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));
    check(!one('#panel').hidden, 'Enter does not go to what was found');
    input.value = '';
    input.dispatchEvent(new Event('input'));
    check(all('.row.found').length === 0, 'an empty search still marks rows');
  };

  const tablesSortAndFilter = () => {
    for (const id of ['memory', 'npu', 'calls', 'nodes', 'precision', 'sensitivity'].filter(id => one('#' + id + ' table'))) {
      const table = one('#' + id + ' table'), heads = all('th', table);
      heads.forEach((head, k) => {
        one('button', head).click();
        check(head.hasAttribute('aria-sort'), id + ' does not sort by column ' + k);
      });
      const filter = one('#' + id + ' .tools input');
      filter.value = 'no such row anywhere';
      filter.dispatchEvent(new Event('input'));
      check(all('tbody tr', table).length === 0, id + ' keeps rows that do not match');
      filter.value = '';
      filter.dispatchEvent(new Event('input'));
    }
    const numbers = all('#nodes tbody tr').length;
    check(numbers === report.nodes.length, 'the table of nodes has ' + numbers + ' rows');
    const bytes = all('#calls tbody tr').map(r => r.cells[1].textContent);
    check(bytes.length === report.calls.length, 'the table of calls has ' + bytes.length + ' rows');
  };

  /* Scratch memory lives during one call, but for strips: its block stands above that call's number. */
  const memoryNamesItsCalls = () => {
    const svg = one('#memory svg'), labels = all('text', svg).filter(t => t.textContent.startsWith('call '));
    check(labels.length > 0, 'no call is named below the memory');
    for (const label of labels) {
      const call = report.calls[label.textContent.slice(5)], at = Number(label.getAttribute('x'));
      const blocks = call && buffers.filter(b => b.name === call.name + '_scratch');
      check(call, label.textContent + ' stands below the memory, but there is no such call');
      for (const block of blocks || []) {
        const rect = all('rect', svg)[1 + buffers.indexOf(block)]; // the first is the peak
        const left = Number(rect.getAttribute('x')), right = left + Number(rect.getAttribute('width'));
        check(left < at && at < right, label.textContent + ' does not stand below the scratch of ' + call.name);
      }
    }
  };

  const pictureMoves = () => {
    const place = () => graph.layer.getAttribute('transform'), seen = new Set([place()]);
    for (const button of all('#graph .zoom button').slice(0, 4)) {
      button.click();
      seen.add(place());
    }
    check(seen.size > 1, 'the buttons of the picture do nothing');
    const box = one('#graph svg').getBoundingClientRect(), before = place();
    const at = (type, x) => one('#graph svg').dispatchEvent(new PointerEvent(type,
      {pointerId: 1, clientX: box.left + x, clientY: box.top + 50, bubbles: true}));
    one('#graph svg').setPointerCapture = () => {};
    at('pointerdown', 50);
    at('pointermove', 120);
    at('pointerup', 120);
    check(place() !== before, 'the picture cannot be dragged');
  };

  const coloursChange = () => {
    const choose = one('#network select');
    for (const option of all('option', choose)) {
      choose.value = option.value;
      choose.dispatchEvent(new Event('change'));
    }
    choose.value = 'bytes in the arena';
    choose.dispatchEvent(new Event('change'));
    check(all('.heat').some(h => h.getAttribute('fill-opacity') > 0.5), 'no box is coloured');
  };

  const printsWhole = () => {
    dispatchEvent(new Event('beforeprint'));
    check(all('#tables figure').length === all('#tables figure svg').length, 'tables are missing in print');
    const pieces = all('.paper svg').map(s => s.getAttribute('viewBox').split(' ').map(Number));
    const within = p => pieces.filter(([, top, , height]) => p.y - p.height / 2 >= top && p.y + p.height / 2 <= top + height);
    for (const place of graph.picture.places.filter(p => p.group))
      check(within(place).length === 1, 'a box is in ' + within(place).length + ' pieces of the printed picture');
    const scales = all('.paper svg').map((s, k) => parseFloat(s.style.width) / 100 * 700 / pieces[k][2]);
    check(scales.every(s => s > 0.33 && s < 1.01), 'the printed picture has scales of ' + scales);
    check(pieces.every(([, , , height], k) => height * scales[k] <= 900), 'a piece is higher than paper');
    dispatchEvent(new Event('afterprint'));
    check(all('.paper').length === 0, 'paper stays on the screen');
  };

  const fits = () => {
    const wide = document.documentElement.scrollWidth;
    check(wide <= innerWidth + 1, 'the page is ' + wide + ' wide in a window of ' + innerWidth);
  };

  const nothingInjected = () => {
    check(!window.injected && document.title !== 'injected', 'a name of the archive ran as a script');
    check(all('img, iframe, object, link, script[src]').length === 0, 'a name of the archive became an element');
  };

  for (const step of [fits, everyNodeOpens, searchFinds, tablesSortAndFilter, memoryNamesItsCalls, pictureMoves, coloursChange, printsWhole,
                      nothingInjected, fits])
    try {
      step();
    } catch (e) {
      found.push(step.name + ': ' + e);
    }
  document.documentElement.dataset.checks = found.length ? found[0] : 'ok';
  if (parent !== window)
    parent.postMessage(found.length ? found[0] : 'ok', '*');
})();
