// Plots over time that share a cursor with the player; and one plane with any two quantities.
import uPlot from 'uplot';
import { el, number, section } from './dom.js';
import { label, pretty } from './names.js';

const colors = ['#1f77b4', '#d95f02', '#2a9d5c', '#c2185b', '#7b5cc4', '#8c564b', '#0f8b8d', '#6b6b6b'];
const MOST_CURVES = 8;
const works = ['impressed', 'dissipation', 'gyroscopic', 'ideal', 'nonideal', 'servo', 'explicit time', 'reset', 'impacts'];

// Is there anything to see, or only rounding?
function visible(values, scale) {
  const finite = values.filter(x => x !== null);
  if (!finite.length) return false;
  const high = Math.max(...finite), low = Math.min(...finite);
  return high - low > 3e-9 * Math.max(Math.abs(high), Math.abs(low), scale);
}

function panels(data, motion) {
  const all = group => (motion[group] ?? []).map((_, k) => motion.column(group, k));
  const named = (list, values, mark = '') => values.map((v, k) => ({ name: label(list[k]) + mark, values: v }));
  const energy = all('energy');
  const energies = [{ name: 'kinetic', values: energy[0] }, { name: 'potential', values: energy[1] }, { name: 'total', values: energy[2] },
    ...works.map((name, k) => ({ name: 'work, ' + name, values: energy[3 + k], onlyMoving: true }))];
  return [
    { title: 'Coordinates', curves: named(data.coordinates, all('q')) },
    { title: 'Velocities', curves: named(data.coordinates.map(c => ({ name: c.name + "'" })), all('v')) },
    { title: 'Auxiliary states', curves: named(data.states, all('z')) },
    { title: 'Outputs', curves: named(data.outputs, all('outputs')), each: true },
    { title: 'Energy', curves: energies },
    { title: 'Multipliers', curves: named(data.constraints, all('lambda')) },
    { title: 'Control forces', curves: named(data.coordinates, all('control')) },
    { title: 'Violation of constraints', curves: named(data.constraints, all('violation')), log: true },
  ];
}

function curvesOf(panel) {
  const there = panel.curves.filter(c => c.values && c.values.some(x => x !== null && x !== 0));
  const scale = Math.max(0, ...there.flatMap(c => c.values.map(x => Math.abs(x ?? 0))));
  const moving = there.filter(c => !c.onlyMoving || visible(c.values, scale));
  return { moving, some: moving.some(c => visible(c.values, 0)), scale };
}

const axisText = () => getComputedStyle(document.body).color;

class TimePlot {
  constructor(title, curves, motion, player, log) {
    this.box = el('div', { class: 'plot' });
    this.motion = motion;
    const series = [{ label: 't', value: (u, v) => number(v, 5) }, ...curves.map((c, k) => ({
      label: pretty(c.name), stroke: colors[k % colors.length], width: 1.5, points: { show: false }, value: (u, v) => number(v, 5) }))];
    const ink = axisText(), grid = { stroke: 'rgba(128,128,128,0.2)', width: 1 };
    const values = (u, ticks) => ticks.map(v => (v === null ? '' : number(v, 6)));
    const data = [motion.times, ...curves.map(c => (log ? c.values.map(x => (x > 1e-20 ? x : null)) : c.values))];
    this.plot = new uPlot({
      title, width: 480, height: 230, series,
      scales: { x: { time: false }, y: log ? { distr: 3 } : {} },
      axes: [{ stroke: ink, grid, values, label: 't', labelSize: 18, size: 36 }, { stroke: ink, grid, values, size: 64 }],
      cursor: { sync: { key: 'hamel' }, drag: { x: false, y: false } },
      legend: { live: true },
    }, data, this.box);
    this.mark = el('div', { class: 'now', 'aria-hidden': 'true' });
    this.plot.over.append(this.mark);
    this.plot.over.addEventListener('click', event => {
      const left = event.clientX - this.plot.over.getBoundingClientRect().left;
      player.seek(this.plot.posToVal(left, 'x'));
    });
    for (const c of this.box.querySelectorAll('canvas')) {
      c.setAttribute('role', 'img');
      c.setAttribute('aria-label', `${title} over time: ${curves.map(x => pretty(x.name)).join(', ')}`);
    }
  }

  resize(width) {
    this.plot.setSize({ width, height: 230 });
    this.show(this.time ?? this.motion.start);
  }

  show(time) {
    this.time = time;
    this.mark.style.left = this.plot.valToPos(time, 'x') + 'px';
  }
}

export function plots(data, motion, player) {
  const box = el('div', { class: 'plots' }), notes = [], made = [];
  const add = (title, curves, log) => {
    const plot = new TimePlot(title, curves, motion, player, log);
    made.push(plot);
    box.append(plot.box);
  };
  for (const panel of panels(data, motion)) {
    if (!panel.curves.length) continue;
    const { moving, some, scale } = curvesOf(panel);
    if (panel.log ? scale < 1e-14 : !some) {
      notes.push(panel.log ? `${panel.title}: never above ${number(Math.max(scale, 1e-16), 2)}.`
        : `${panel.title}: constant${moving.length && moving.length <= 4 ? ' (' + moving.map(c => `${pretty(c.name)} = ${number(c.values[0])}`).join(', ') + ')' : ''}.`);
      continue;
    }
    if (panel.each && moving.length <= 6) for (const curve of moving) visible(curve.values, 0) ? add(pretty(curve.name), [curve]) : notes.push(`${pretty(curve.name)} = ${number(curve.values[0])}, constant.`);
    else add(panel.title + (moving.length > MOST_CURVES ? ` (first ${MOST_CURVES} of ${moving.length})` : ''), moving.slice(0, MOST_CURVES), panel.log);
  }
  const fit = () => made.forEach(p => p.resize(Math.max(260, p.box.clientWidth)));
  new ResizeObserver(fit).observe(box);
  player.listen(time => made.forEach(p => p.show(time)));
  return section('Plots', el('p', { class: 'hint' }, 'A click into a plot sets the time of the animation.'), box, notes.length ? el('ul', {}, notes.map(n => el('li', {}, n))) : null);
}

// ---- a plane of two quantities ----

function quantities(data, motion) {
  const list = [{ name: 't', values: motion.times }];
  const add = (items, group, mark) => items.forEach((item, k) => {
    const values = motion.column(group, k);
    if (values && values[0] !== null) list.push({ name: pretty(item.name) + mark, values });
  });
  add(data.coordinates, 'q', '');
  add(data.coordinates, 'v', '′');
  add(data.states, 'z', '');
  add(data.outputs, 'outputs', '');
  return list;
}

const svg = (name, attributes, ...children) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
};

function range(values) {
  const finite = values.filter(Number.isFinite);
  let low = Math.min(...finite), high = Math.max(...finite);
  if (!(high > low)) { const pad = Math.abs(low) || 1; low -= pad; high += pad; }
  const pad = 0.06 * (high - low);
  return [low - pad, high + pad];
}

export function plane(data, motion, player, title = 'Configuration and phase space') {
  const list = quantities(data, motion), n = data.coordinates.length;
  const picture = svg('svg', { viewBox: '0 0 600 420', role: 'img', class: 'plane' });
  const choose = (text, first) => {
    const select = el('select', { 'aria-label': text }, list.map((q, k) => el('option', { value: k, selected: k === first }, q.name)));
    select.addEventListener('change', draw);
    return select;
  };
  const across = choose('horizontal axis', 1), up = choose('vertical axis', n > 1 ? 2 : 2);
  const frame = { x: 70, y: 14, w: 516, h: 360 };
  let place = () => null, dot = null;
  function draw() {
    const a = list[across.value], b = list[up.value];
    const [x0, x1] = range(a.values), [y0, y1] = range(b.values);
    place = (x, y) => [frame.x + frame.w * (x - x0) / (x1 - x0), frame.y + frame.h * (1 - (y - y0) / (y1 - y0))];
    const path = a.values.map((x, k) => place(x, b.values[k])).filter(p => p.every(Number.isFinite)).map(p => p.map(v => v.toFixed(1)).join(',')).join(' ');
    dot = svg('circle', { r: 6, class: 'dot' });
    const text = (x, y, anchor, value) => svg('text', { x, y, 'text-anchor': anchor }, value);
    picture.replaceChildren(svg('rect', { x: frame.x, y: frame.y, width: frame.w, height: frame.h, class: 'frame' }), svg('polyline', { points: path, class: 'path' }), dot,
      text(frame.x, 392, 'middle', number(x0, 3)), text(frame.x + frame.w, 392, 'end', number(x1, 3)), text(frame.x + frame.w / 2, 410, 'middle', a.name),
      text(frame.x - 6, frame.y + frame.h, 'end', number(y0, 3)), text(frame.x - 6, frame.y + 12, 'end', number(y1, 3)), text(frame.x - 6, frame.y + frame.h / 2, 'end', b.name));
    picture.setAttribute('aria-label', `${b.name} over ${a.name}`);
    show(player.time);
  }
  function show(time) {
    const where = motion.locate(time), at = values => values[where.row] + (values[where.next] - values[where.row]) * where.part;
    const [x, y] = place(at(list[across.value].values), at(list[up.value].values));
    if (dot && Number.isFinite(x + y)) { dot.setAttribute('cx', x); dot.setAttribute('cy', y); }
  }
  draw();
  player.listen(show);
  return section(title, el('p', { class: 'controls' }, el('label', {}, 'horizontal ', across), ' ', el('label', {}, 'vertical ', up)), picture);
}
