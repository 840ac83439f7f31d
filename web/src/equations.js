// The derivation: the LaTeX document that `hamel derive --format latex` writes, set by KaTeX.
import katex from 'katex';
import { el, section } from './dom.js';

const LONG = 5000; // characters of a part that is folded

function render(latex, display) {
  const box = el(display ? 'div' : 'span', display ? { class: 'wide equation', tabindex: 0, role: 'region', 'aria-label': 'equations' } : {});
  // `trust` stays off: no command of KaTeX that makes links or loads anything works.
  katex.render(latex, box, { displayMode: display, throwOnError: false, strict: 'ignore', output: 'htmlAndMathml', maxExpand: 1e5 });
  return box;
}

// Text with $...$ in it.
function sentence(text) {
  const plain = t => t.replace(/\\([%&#_{}$])/g, '$1').replace(/~/g, '\u00a0').replace(/\\textbackslash\s*/g, '\\');
  return text.split(/(\$[^$]*\$)/).map(part =>
    part.startsWith('$') && part.length > 1 ? render(part.slice(1, -1), false) : plain(part));
}

// Blocks of a part: align environments and paragraphs between them.
function blocks(body) {
  return body.split(/(\\begin\{align\*\}[\s\S]*?\\end\{align\*\})/).map(piece => piece.trim()).filter(Boolean);
}

function renderPart(body) {
  return blocks(body).map(block => block.startsWith('\\begin{align*}')
    ? render(block, true)
    : el('p', {}, sentence(block)));
}

function part(title, body) {
  const heading = el('h3', {}, sentence(title));
  if (body.length <= LONG) return el('div', { class: 'part' }, heading, renderPart(body));
  const fold = el('details', { class: 'part' }, el('summary', {}, heading, el('small', {}, `long: ${Math.round(body.length / 1000)} kB`)));
  let done = false;
  fold.show = () => {
    if (!done) fold.append(...renderPart(body));
    done = true;
  };
  fold.addEventListener('toggle', () => fold.open && fold.show());
  return fold;
}

export function equations(latex) {
  if (!latex)
    return section('Equations', el('p', {}, 'The derivation is too long for a page; hamel derive writes it.'));
  const document_ = latex.replace(/^[\s\S]*?\\begin\{document\}/, '').replace(/\\end\{document\}[\s\S]*$/, '');
  const pieces = document_.split(/\\subsection\*\{/).slice(1).map(piece => {
    const end = piece.indexOf('}\n');
    return [piece.slice(0, end), piece.slice(end + 2)];
  });
  return section('Equations', pieces.map(([title, body]) => part(title, body)));
}
