// The text of the model, with its words in colour.
import { el, folded, section } from './dom.js';

const words = new Set(('model param coord input state let body joint for gravity kinetic potential lagrangian dissipation mass ' +
  'gyroscopic force torque nonideal constraint servo friction initial simulate symmetry event output draw table include when').split(' '));
const token = /(#[^\n]*)|("(?:[^"\\\n]|\\.)*")|(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)/g;

export function highlighted(text) {
  const out = [];
  let last = 0;
  for (const match of text.matchAll(token)) {
    const [all, comment, string, digits, word] = match;
    const kind = comment ? 'comment' : string ? 'string' : digits ? 'number' : words.has(word) ? 'word' : null;
    if (!kind) continue;
    out.push(text.slice(last, match.index), el('span', { class: 'code-' + kind }, all));
    last = match.index + all.length;
  }
  out.push(text.slice(last));
  return el('pre', { class: 'wide code', tabindex: 0, role: 'region', 'aria-label': 'text of the model' }, el('code', {}, out));
}

export function source(data) {
  if (!data.text) return section('Model', el('p', {}, 'The text of the model could not be read again.'));
  const long = data.text.split('\n').length > 45;
  const code = highlighted(data.text.trimEnd());
  return section('Model', long ? folded('The whole text', code) : code);
}
