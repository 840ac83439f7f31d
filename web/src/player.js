// Time: play, pause, speed, scrub. Everything that moves listens to it.
import { el, number } from './dom.js';

export class Player {
  constructor(motion) {
    this.motion = motion;
    this.time = motion.start;
    this.listeners = [];
    this.playing = false;
    const span = motion.end - motion.start;
    this.base = span >= 2 && span <= 60 ? 1 : span / 10 || 1;
    this.speed = this.base;
    this.bar = this.controls();
  }

  listen(f) {
    this.listeners.push(f);
    f(this.time);
  }

  seek(time) {
    const { start, end } = this.motion;
    this.time = Math.min(end, Math.max(start, time));
    this.slider.value = this.time;
    this.slider.setAttribute('aria-valuetext', `t = ${number(this.time, 4)}`);
    this.shown.textContent = `t = ${this.time.toFixed(this.digits)}`;
    for (const f of this.listeners) f(this.time);
  }

  play(on) {
    if (on && this.time >= this.motion.end) this.seek(this.motion.start);
    this.playing = on;
    this.button.textContent = on ? 'Pause' : 'Play';
    this.last = null;
    if (on) requestAnimationFrame(now => this.tick(now));
  }

  tick(now) {
    if (!this.playing) return;
    if (this.last !== null) this.seek(this.time + this.speed * Math.min(0.1, (now - this.last) / 1000));
    this.last = now;
    if (this.time >= this.motion.end) {
      if (!this.loop.checked) return this.play(false);
      this.seek(this.motion.start);
    }
    requestAnimationFrame(next => this.tick(next));
  }

  controls() {
    const { start, end } = this.motion, span = end - start;
    this.digits = Math.min(6, Math.max(1, 3 - Math.floor(Math.log10(span || 1))));
    this.button = el('button', { type: 'button', class: 'play', onclick: () => this.play(!this.playing) }, 'Play');
    this.slider = el('input', { type: 'range', min: start, max: end, step: 'any', value: start, 'aria-label': 'time', oninput: () => this.seek(Number(this.slider.value)) });
    this.shown = el('output', { class: 'time' }, `t = ${start.toFixed(this.digits)}`);
    const speeds = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16];
    const select = el('select', { 'aria-label': 'speed', onchange: () => { this.speed = Number(select.value); } },
      speeds.map(s => el('option', { value: s * this.base, selected: s === 1 }, `× ${number(s * this.base, 3)}`)));
    this.loop = el('input', { type: 'checkbox' });
    return el('div', { class: 'controls', role: 'group', 'aria-label': 'animation' }, this.button, this.slider, this.shown, el('label', {}, 'speed ', select), el('label', {}, this.loop, ' repeat'));
  }
}
