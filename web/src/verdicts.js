// What `hamel check` and `hamel linearize` found, in tables and sentences.
import { el, folded, number, section, table } from './dom.js';
import { label, pretty } from './names.js';

const yes = b => (b === null || b === undefined ? 'not known' : b ? 'yes' : 'no');
const code = text => (text === null || text === undefined ? '–' : el('code', {}, pretty(text)));

function evidence(e) {
  if (!e) return '–';
  if (e.points === 0) return 'by its form';
  return `${e.proved ? 'proved' : 'agrees'} at ${e.points} random points, ${e.bits} bits`;
}

export function glance(data) {
  const check = data.check, set = check?.set;
  const facts = [
    ['coordinates', data.coordinates.map(c => pretty(c.name) + (c.text ? ` (${c.text})` : '')).slice(0, 24).join(', ') +
      (data.coordinates.length > 24 ? ` … (${data.coordinates.length})` : '')],
    data.states.length ? ['auxiliary states', data.states.map(c => pretty(c.name)).join(', ')] : null,
    ['degrees of freedom', set ? String(set.degrees_of_freedom) : 'not known'],
    ['dimension of the reachable configurations', set ? String(set.configuration_dimension) : 'not known'],
    ['constraints', check ? (check.constraints.length ? check.constraints.slice(0, 24).map(c => `${c.name}: ${c.class}`).join('; ') +
      (check.constraints.length > 24 ? ` … (${check.constraints.length})` : '') : 'none') : 'not classified'],
    check?.servos?.length ? ['servos', check.servos.map(c => c.name).join(', ')] : null,
    ['well-posed', check ? yes(check.wellposed) : 'not known'],
    ['energy', check?.energy?.conserved === true ? 'conserved'
      : check?.energy?.conserved === false ? 'not conserved: ' + Object.keys(check.energy.changed_by).join(', ') : 'not known'],
  ].filter(Boolean);
  return section('At a glance', el('dl', { class: 'facts' }, facts.map(([name, text]) => [el('dt', {}, name), el('dd', {}, text)])));
}

export function parameters(data) {
  if (!data.parameters.length) return null;
  const changed = new Set(data.set.map(s => s.name));
  const rows = data.parameters.map(p => [pretty(p.name), number(p.value, 10), p.text ?? '', changed.has(p.name) ? 'changed by --set' : '']);
  const made = table(['name', 'value', 'meaning', ''], rows, 'Parameters');
  return section('Parameters', rows.length > 20 ? folded(`${rows.length} parameters`, made) : made);
}

function principles(p) {
  const list = [
    ['d’Alembert–Lagrange, ideal forces', p.dalembert], ['δ and d/dt exchanged (Hamilton’s form)', p.hamilton_semiholonomic],
    ['multiplier rule (vakonomic form)', p.multiplier_rule], ['Chetaev’s rule needed', p.chetaev], ['Gauss’ principle needed', p.gauss],
  ];
  return table(['principle', 'holds here'], list.map(([name, value]) => [name, yes(value)]), 'Principles');
}

export function classification(data) {
  const c = data.check;
  if (!c) return section('Classification', el('p', {}, 'The model could not be classified.'));
  const rows = c.constraints.map(x => [x.name, x.level, x.class, x.time, x.linear ? 'linear' : 'nonlinear', x.sided === 'one' ? 'one-sided' : 'two-sided', code(x.potential ?? x.leaf), evidence(x.evidence)]);
  const s = c.set;
  return section('Classification',
    rows.length ? table(['constraint', 'level', 'class', 'time', 'in velocities', 'sides', 'integral', 'evidence'], rows, 'Constraints')
      : el('p', {}, 'There are no constraints.'),
    s && rows.length ? el('p', {}, `The set as a whole has rank ${s.rank}; its growth vector is (${s.growth.join(', ')})${s.growth_in_time ? ' in (q, t)' : ''}; ` +
      `${s.holonomic_part} of its rows ${s.holonomic_part === 1 ? 'is' : 'are'} holonomic together. Evidence: ${evidence(s.evidence)}.`) : null,
    rows.length ? principles(c.principles) : null,
    c.remarks.length + c.warnings.length ? el('ul', {}, [...c.remarks, ...c.warnings].map(t => el('li', {}, t))) : null);
}

export function symmetries(data) {
  const c = data.check;
  if (!c || !c.symmetries) return null;
  const conserved = (c.conserved ?? []).map(x => [code(x.expression), x.from, x.drift === null ? '–' : number(x.drift, 2)]);
  const found = c.symmetries.map(x => [x.name, Object.entries(x.generator).map(([k, v]) => `${pretty(k)}: ${pretty(v)}`).join(', '),
    yes(x.lagrangian_invariant), yes(x.distribution_invariant), yes(x.horizontal), yes(x.conserved), code(x.momentum)]);
  return section('Symmetries and conserved quantities',
    conserved.length ? table(['quantity', 'because', 'drift in a test run'], conserved, 'Conserved quantities') : el('p', {}, 'No conserved quantity was found.'),
    found.length ? table(['symmetry', 'generator', 'L invariant', 'constraints invariant', 'horizontal', 'conserved', 'momentum'], found, 'Symmetries') : null);
}

export function linearization(data) {
  const l = data.linearization;
  if (!l) return null;
  const verdict = l.stable === true ? 'stable' : l.stable === false ? 'unstable' : l.stable === 'marginal' ? 'not decided by the linearisation (marginal)' : 'undecided';
  const rows = l.eigenvalues.filter(e => e.im >= 0).map((e, k) => [String(k + 1), number(Math.abs(e.re) <= e.error ? 0 : e.re),
    e.im > e.error ? '± ' + number(e.im) + ' i' : '0', number(e.error, 2)]);
  return section('Linearisation at the initial state',
    el('p', {}, `The initial state is ${/^[aeiou]/.test(l.motion) ? 'an' : 'a'} ${l.motion}; ${l.dimension} independent variables. Verdict: ${verdict}${l.reason ? ': ' + l.reason : ''}.`),
    table(['', 'real part', 'imaginary part', 'error bound'], rows, 'Eigenvalues'));
}

export function run(data, motion) {
  const r = data.run;
  const lines = [
    `${r.status}: t = ${number(r.t_start)} … ${number(r.t_end)}, ${r.steps} steps by ${r.method}, rtol ${number(r.rtol)}, atol ${number(r.atol)}, drift ${r.drift}.`,
    r.message || null,
    motion.stride > 1 ? `Shown is every ${motion.stride}th output.` : null,
    ...r.warnings,
  ].filter(Boolean);
  const moved = r.moved.map(m => [pretty(m.name), number(m.from, 10), number(m.to, 10)]);
  const events = [...r.events.map(e => [e.name, e.t, '']), ...r.impacts.map(i => [i.names.join(', '), i.t, `impact, energy lost ${number(i.energy_lost)}`])]
    .sort((a, b) => a[1] - b[1]);
  const rows = events.slice(0, 200).map(([name, t, what]) => [name, number(t, 10), what]);
  const ledger = Object.entries(r.energy.work ?? {}).filter(([, w]) => w).map(([kind, w]) => ['work, ' + kind.replace('_', ' '), number(w, 8)]);
  const violated = Object.entries(r.violation).slice(0, 60).map(([name, v]) => [name, number(v, 2)]);
  return section('Run',
    lines.map(text => el('p', {}, text)),
    moved.length ? table(['value', 'as written', 'moved onto the constraints'], moved, 'Initial values') : null,
    r.energy.initial === null ? null : table(['energy', ''], [['initial', number(r.energy.initial, 8)], ...ledger, ['final', number(r.energy.final, 8)], ['balance error', number(r.energy.balance_error, 2)]], 'Energy ledger'),
    violated.length ? table(['constraint', 'largest violation'], violated, 'Violation') : null,
    rows.length ? folded(`${events.length} events and impacts`, table(['name', 't', ''], rows, 'Events')) : null);
}

export { label };
