// A report: reads the data that the page holds and shows it.
import 'katex/dist/katex.css';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { el } from './dom.js';
import { equations } from './equations.js';
import { Motion } from './motion.js';
import { Player } from './player.js';
import { plane, plots } from './plots.js';
import { animation } from './scene.js';
import { source } from './source.js';
import { classification, glance, linearization, parameters, run, symmetries } from './verdicts.js';

const read = id => JSON.parse(document.getElementById(id).textContent);

function show() {
  const data = read('data'), motion = new Motion(read('motion')), player = new Player(motion);
  const page = document.getElementById('report');
  const add = (...parts) => page.append(...parts.filter(Boolean));
  page.querySelector('h1').after(el('p', { class: 'by' }, `${data.model} · hamel ${data.version}`,
    data.set.length ? ` · ${data.set.map(s => `${s.name} = ${s.value}`).join(', ')}` : ''));
  const drawn = data.drawings.length > 0 && motion.rows > 0;
  add(glance(data));
  if (motion.rows > 0) {
    if (drawn) add(animation(data, motion, player));
    else add(plane(data, motion, player, 'Motion in configuration space'), player.bar);
    const curves = el('div');
    add(curves);
    curves.append(plots(data, motion, player));
    if (drawn) add(plane(data, motion, player));
  }
  add(equations(data.latex), classification(data), symmetries(data), linearization(data), run(data, motion), parameters(data), source(data));
  window.addEventListener('beforeprint', () => {
    for (const fold of document.querySelectorAll('details')) {
      fold.show?.();
      fold.open = true;
    }
  });
  // report.html#t=2.5 opens at that time
  const at = /[#&]t=([-+.\deE]+)/.exec(location.hash);
  if (at) player.seek(Number(at[1]));
  window.hamel = { data, motion, player };
  document.documentElement.dataset.ready = 'yes';
}

show();
