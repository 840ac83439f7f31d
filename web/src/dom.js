// Small helpers to make elements. Texts are always set as text, never as HTML.
export function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? '' : value);
  }
  e.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined));
  return e;
}

export function section(title, ...children) {
  const id = title.toLowerCase().replace(/[^a-z]+/g, '-');
  return el('section', { 'aria-labelledby': id }, el('h2', { id }, title), ...children);
}

export function table(head, rows, caption) {
  return el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': caption },
    el('table', {},
      el('caption', {}, caption),
      el('thead', {}, el('tr', {}, head.map(h => el('th', { scope: 'col' }, h)))),
      el('tbody', {}, rows.map(row => el('tr', {}, row.map((cell, k) =>
        k === 0 ? el('th', { scope: 'row' }, cell) : el('td', {}, cell)))))));
}

export const folded = (title, ...children) => el('details', {}, el('summary', {}, title), ...children);

// A number as people write it: six digits, no noise.
export function number(x, digits = 6) {
  if (x === null || x === undefined || !Number.isFinite(x)) return '–';
  if (x === 0) return '0';
  const text = Number(x.toPrecision(digits));
  const size = Math.abs(text);
  return (size >= 1e6 || size < 1e-4 ? text.toExponential() : String(text)).replace(/-/g, '−');
}
