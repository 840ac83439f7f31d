// The animation: the drawings of the model as solids in a scene, over time.
//
// Numbers of the drawings come with the motion; `parts` say where each argument is. In the plane
// everything lies at z = 0 under a camera that looks straight down.
import {
  AmbientLight, BoxGeometry, BufferAttribute, BufferGeometry, CanvasTexture, Color, ConeGeometry, CylinderGeometry, DirectionalLight, DoubleSide,
  GridHelper, Group, Line, LineBasicMaterial, Matrix4, Mesh, MeshLambertMaterial, OrthographicCamera, PerspectiveCamera,
  Quaternion, Scene, SphereGeometry, SRGBColorSpace, Vector3, WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { el, number, section } from './dom.js';

const palette = ['#3b7dbd', '#d9752b', '#3a9d6a', '#b4457a', '#7d62c0', '#8a6a55', '#2b8f94', '#8b8f2c'];
const X = new Vector3(1, 0, 0), Y = new Vector3(0, 1, 0), Z = new Vector3(0, 0, 1);
const forceKinds = [['ideal', 'constraint force', '#c0392b'], ['nonideal', 'friction and other non-ideal forces', '#b7791f'], ['control', 'control', '#6b46c1']];

// ---- values ----

class Values {
  constructor(motion) {
    this.motion = motion;
    this.where = motion.locate(motion.start);
  }

  number(part) { return this.motion.value('drawings', part.first, this.where) ?? 0; }

  vector(part, out = new Vector3()) {
    const at = k => (k < part.rows ? this.motion.value('drawings', part.first + k, this.where) ?? 0 : 0);
    return out.set(at(0), at(1), at(2));
  }

  // Rotations are turned from one frame to the next, not averaged.
  turn(part, row) {
    const n = part.rows, at = (i, j) => (i < n && j < n ? this.motion.at('drawings', part.first + i * n + j, row) ?? 0 : i === j ? 1 : 0);
    return new Quaternion().setFromRotationMatrix(new Matrix4().set(
      at(0, 0), at(0, 1), at(0, 2), 0, at(1, 0), at(1, 1), at(1, 2), 0, at(2, 0), at(2, 1), at(2, 2), 0, 0, 0, 0, 1));
  }

  frame(part) {
    const { row, next, part: s } = this.where, q = this.turn(part, row);
    return s > 0 ? q.slerp(this.turn(part, next), s) : q;
  }
}

// ---- extent: what the camera must see ----

function extent(data, motion) {
  const low = new Vector3(Infinity, Infinity, Infinity), high = new Vector3(-Infinity, -Infinity, -Infinity), p = new Vector3();
  const values = new Values(motion), step = Math.max(1, Math.floor(motion.rows / 200));
  let size = 0;
  for (let row = 0; row < motion.rows; row += step) {
    values.where = { row, next: row, part: 0 };
    for (const d of data.drawings) {
      if (d.kind === 'ground') continue;
      const solid = { sphere: 1, box: 1, disc: 1, cylinder: 1 }[d.kind];
      const radius = d.kind === 'sphere' ? values.number(d.parts[1]) : d.kind === 'disc' || d.kind === 'cylinder' ? values.number(d.parts[2])
        : d.kind === 'box' ? values.vector(d.parts[2], p).length() / 2 : 0;
      if (solid) size = Math.max(size, radius);
      const places = d.kind === 'line' ? d.parts : d.kind === 'cylinder' ? d.parts.slice(0, 2) : d.parts.slice(0, 1);
      for (const part of places) {
        values.vector(part, p);
        if (![p.x, p.y, p.z].every(Number.isFinite)) continue;
        low.min(p.clone().subScalar(radius));
        high.max(p.clone().addScalar(radius));
      }
    }
  }
  if (!(low.x <= high.x)) { low.set(-1, -1, -1); high.set(1, 1, 1); }
  const center = low.clone().add(high).multiplyScalar(0.5), span = high.clone().sub(low);
  return { low, high, center, span, size: Math.max(span.x, span.y, span.z) || 1, solid: size };
}

// ---- objects ----

const material = (color, opacity = 1) => new MeshLambertMaterial({ color: new Color(color), transparent: opacity < 1, opacity, side: DoubleSide });

// Halves in two shades, so that one sees a ball or a disc turn.
function patched(color) {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const pen = canvas.getContext('2d');
  pen.fillStyle = '#' + new Color(color).getHexString();
  pen.fillRect(0, 0, 64, 64);
  pen.fillStyle = 'rgba(255,255,255,0.45)';
  for (let k = 0; k < 4; k++) pen.fillRect(16 * k, k % 2 ? 0 : 32, 16, 32);
  const map = new CanvasTexture(canvas);
  map.colorSpace = SRGBColorSpace;
  return new MeshLambertMaterial({ map, side: DoubleSide });
}

function colorOf(d, k) {
  if (!d.color) return palette[k % palette.length];
  const probe = document.createElement('canvas').getContext('2d');
  probe.fillStyle = palette[k % palette.length];
  probe.fillStyle = d.color; // a colour that CSS does not know leaves it as it was
  return probe.fillStyle;
}

// A rod between two points, of unit length before it is stretched.
class Rod {
  constructor(radius, color) {
    this.mesh = new Mesh(new CylinderGeometry(radius, radius, 1, 14), material(color));
    this.along = new Vector3();
  }

  set(from, to) {
    this.along.copy(to).sub(from);
    const length = this.along.length();
    this.mesh.visible = length > 0;
    if (!length) return;
    this.mesh.position.copy(from).addScaledVector(this.along, 0.5);
    this.mesh.scale.set(1, length, 1);
    this.mesh.quaternion.setFromUnitVectors(Y, this.along.divideScalar(length));
  }
}

class Arrow {
  constructor(radius, color) {
    this.group = new Group();
    this.shaft = new Mesh(new CylinderGeometry(radius, radius, 1, 10), material(color));
    this.head = new Mesh(new ConeGeometry(2.8 * radius, 8 * radius, 14), material(color));
    this.group.add(this.shaft, this.head);
    this.radius = radius;
  }

  set(from, vector) {
    const length = vector.length();
    this.group.visible = length > 2 * this.radius;
    if (!this.group.visible) return;
    const head = 8 * this.radius, shaft = Math.max(length - head, 1e-9);
    this.shaft.scale.set(1, shaft, 1);
    this.shaft.position.set(0, shaft / 2, 0);
    this.head.position.set(0, Math.max(length, head) - head / 2, 0);
    this.group.position.copy(from);
    this.group.quaternion.setFromUnitVectors(Y, vector.clone().divideScalar(length));
  }
}

function largest(motion, group, indices) {
  let most = 0;
  for (let row = 0; row < motion.rows; row++) {
    let sum = 0;
    for (const k of indices) sum += (motion.at(group, k, row) ?? 0) ** 2;
    most = Math.max(most, sum);
  }
  return Math.sqrt(most);
}

// ---- the stage ----

class Stage {
  constructor(data, motion) {
    Object.assign(this, { data, motion, values: new Values(motion), extent: extent(data, motion), updates: [], traces: [], forces: [] });
    this.planar = data.drawings.every(d => d.kind === 'ground' || d.parts[0].rows === 2);
    this.scene = new Scene();
    this.unit = this.extent.size;
    this.scene.add(new AmbientLight(0xffffff, 1.7));
    const sun = new DirectionalLight(0xffffff, 2.0);
    const down = data.gravity && data.gravity[2] > 0 ? -1 : 1;
    this.up = this.planar ? Y.clone() : Z.clone().multiplyScalar(down);
    sun.position.set(1, -2, this.planar ? 4 : 3 * down);
    this.scene.add(sun);
    data.drawings.forEach((d, k) => this.add(d, k));
    this.addForces();
    this.addGround();
  }

  add(d, k) {
    const make = this['make_' + d.kind];
    if (make) make.call(this, d, colorOf(d, k));
  }

  solid(mesh, update) {
    this.scene.add(mesh);
    this.updates.push(() => update(mesh));
  }

  make_point(d, color) {
    const mesh = new Mesh(new SphereGeometry(0.014 * this.unit * (d.weight || 1), 24, 16), material(color));
    this.solid(mesh, m => this.values.vector(d.parts[0], m.position));
  }

  make_sphere(d, color) {
    const turned = d.parts.length > 2;
    const mesh = new Mesh(new SphereGeometry(1, 32, 24), turned ? patched(color) : material(color));
    this.solid(mesh, m => {
      this.values.vector(d.parts[0], m.position);
      m.scale.setScalar(Math.max(1e-9, Math.abs(this.values.number(d.parts[1]))));
      if (turned) m.quaternion.copy(this.values.frame(d.parts[2]));
    });
  }

  make_box(d, color) {
    const mesh = new Mesh(new BoxGeometry(1, 1, 1), material(color, 0.9)), edges = new Vector3();
    this.solid(mesh, m => {
      this.values.vector(d.parts[0], m.position);
      m.quaternion.copy(this.values.frame(d.parts[1]));
      this.values.vector(d.parts[2], edges);
      if (this.planar) edges.z = 0.01 * this.unit;
      m.scale.set(...[edges.x, edges.y, edges.z].map(e => Math.max(1e-9, Math.abs(e))));
    });
  }

  make_disc(d, color) {
    const geometry = new CylinderGeometry(1, 1, 0.12, 48);
    geometry.rotateX(Math.PI / 2); // across the third axis
    const mesh = new Mesh(geometry, patched(color));
    this.solid(mesh, m => {
      this.values.vector(d.parts[0], m.position);
      m.quaternion.copy(this.values.frame(d.parts[1]));
      m.scale.setScalar(Math.max(1e-9, Math.abs(this.values.number(d.parts[2]))));
    });
  }

  make_cylinder(d, color) {
    const rod = new Rod(1, color), from = new Vector3(), to = new Vector3();
    this.solid(rod.mesh, () => {
      const r = Math.max(1e-9, Math.abs(this.values.number(d.parts[2])));
      rod.set(this.values.vector(d.parts[0], from), this.values.vector(d.parts[1], to));
      rod.mesh.scale.x = rod.mesh.scale.z = r;
    });
  }

  make_line(d, color) {
    for (let k = 0; k + 1 < d.parts.length; k++) {
      const rod = new Rod(0.004 * this.unit, d.color ? color : '#7a848d'), from = new Vector3(), to = new Vector3();
      this.solid(rod.mesh, () => rod.set(this.values.vector(d.parts[k], from), this.values.vector(d.parts[k + 1], to)));
    }
  }

  make_arrow(d, color) {
    const arrow = new Arrow(0.005 * this.unit, color), from = new Vector3(), F = new Vector3();
    const part = d.parts[1], most = largest(this.motion, 'drawings', Array.from({ length: part.rows }, (_, k) => part.first + k));
    const scale = most > 0 ? 0.25 * this.unit / most : 0;
    this.solid(arrow.group, () => arrow.set(this.values.vector(d.parts[0], from), this.values.vector(part, F).multiplyScalar(scale)));
  }

  make_trace(d, color) {
    const rows = this.motion.rows, positions = new Float32Array(3 * (rows + 1)), p = new Vector3();
    for (let row = 0; row < rows; row++) {
      this.values.where = { row, next: row, part: 0 };
      this.values.vector(d.parts[0], p).toArray(positions, 3 * row);
    }
    const whole = new BufferGeometry().setAttribute('position', new BufferAttribute(positions.slice(0, 3 * rows), 3));
    const past = new BufferGeometry().setAttribute('position', new BufferAttribute(positions, 3));
    const faint = new Line(whole, new LineBasicMaterial({ color: new Color(color), transparent: true, opacity: 0.25 }));
    const line = new Line(past, new LineBasicMaterial({ color: new Color(color) }));
    line.frustumCulled = false;
    this.traces.push(faint, line);
    this.scene.add(faint, line);
    const kept = whole.attributes.position.array;
    let changed = 0;
    this.updates.push(() => {
      const { row } = this.values.where, end = 3 * (row + 1);
      if (changed + 3 <= kept.length) positions.set(kept.subarray(changed, changed + 3), changed);
      changed = end;
      this.values.vector(d.parts[0], p).toArray(positions, end); // the present place ends the trace
      past.attributes.position.needsUpdate = true;
      past.setDrawRange(0, row + 2);
    });
  }

  // Forces where a drawn place consists of coordinates: Q of these coordinates is a force there.
  addForces() {
    const places = new Map();
    for (const d of this.data.drawings) {
      const used = d.place.filter(k => k >= 0);
      if (d.kind !== 'ground' && used.length === d.parts[0].rows && used.length > 1) places.set(used.join(), { indices: used, part: d.parts[0] });
    }
    for (const [group, text, color] of forceKinds) {
      const there = this.motion[group]?.length ?? 0;
      const list = [...places.values()].filter(p => p.indices.every(k => k < there));
      const most = Math.max(0, ...list.map(p => largest(this.motion, group, p.indices)));
      if (!(most > 1e-12)) continue;
      const arrows = new Group(), from = new Vector3(), F = new Vector3();
      for (const { indices, part } of list) {
        const arrow = new Arrow(0.0045 * this.unit, color);
        arrows.add(arrow.group);
        this.updates.push(() => {
          const at = k => this.motion.value(group, indices[k], this.values.where) ?? 0;
          F.set(at(0), at(1), indices.length > 2 ? at(2) : 0).multiplyScalar(0.22 * this.unit / most);
          arrow.set(this.values.vector(part, from), F);
        });
      }
      this.scene.add(arrows);
      this.forces.push({ text, color, arrows, most });
    }
  }

  addGround() {
    const ground = this.data.drawings.find(d => d.kind === 'ground');
    const { center, low, span } = this.extent;
    const size = 1.6 * this.unit, height = ground ? this.values.number(ground.parts[0]) : null;
    if (this.planar) {
      if (height === null) return;
      const rod = new Rod(0.004 * this.unit, '#8a949d');
      rod.set(new Vector3(center.x - size, height, 0), new Vector3(center.x + size, height, 0));
      this.scene.add(rod.mesh);
      return;
    }
    const grid = new GridHelper(size, 20, 0x8a949d, 0xb9c1c8);
    grid.rotation.x = Math.PI / 2;
    const floor = this.up.z > 0 ? low.z : low.z + span.z;
    grid.position.set(center.x, center.y, height ?? floor);
    grid.material.transparent = true;
    grid.material.opacity = ground ? 0.9 : 0.45;
    this.scene.add(grid);
  }

  show(time) {
    this.values.where = this.motion.locate(time);
    for (const update of this.updates) update();
  }

  // The middle of what is drawn now, for a camera that follows.
  middle(out) {
    const p = new Vector3();
    let count = 0;
    out.set(0, 0, 0);
    for (const d of this.data.drawings) {
      if (!['point', 'sphere', 'box', 'disc', 'cylinder'].includes(d.kind)) continue;
      out.add(this.values.vector(d.parts[0], p));
      count++;
    }
    return count ? out.divideScalar(count) : out.copy(this.extent.center);
  }
}

// ---- cameras ----

class View {
  constructor(stage, canvas) {
    this.stage = stage;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
    const far = 100 * stage.unit;
    this.camera = stage.planar ? new OrthographicCamera(-1, 1, 1, -1, 0.001 * stage.unit, far) : new PerspectiveCamera(38, 1, 0.002 * stage.unit, far);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableRotate = !stage.planar;
    this.controls.addEventListener('change', () => this.render());
    this.last = null;
    this.reset();
  }

  reset() {
    const { stage, camera } = this, { center } = stage.extent;
    camera.up.copy(stage.up);
    camera.zoom = 1;
    this.controls.target.copy(center);
    if (stage.planar) camera.position.set(center.x, center.y, 10 * stage.unit);
    else camera.position.copy(center).add(new Vector3(0.75, -1.25, 0.6 * stage.up.z).normalize().multiplyScalar(1.75 * Math.max(stage.unit, stage.extent.span.length() * 0.85)));
    this.fit();
    this.controls.update();
    this.render();
  }

  fit() {
    const canvas = this.renderer.domElement, width = canvas.parentElement?.clientWidth || 960, height = canvas.parentElement?.clientHeight || 540;
    this.renderer.setSize(width, height, false);
    const aspect = width / height, { span } = this.stage.extent, camera = this.camera;
    if (this.stage.planar) {
      const half = 0.56 * Math.max(span.y, span.x / aspect, 0.2 * this.stage.unit);
      Object.assign(camera, { left: -half * aspect, right: half * aspect, top: half, bottom: -half });
    } else camera.aspect = aspect;
    camera.updateProjectionMatrix();
    this.render();
  }

  follow(on) {
    const now = this.stage.middle(new Vector3());
    if (on && this.last) {
      const moved = now.clone().sub(this.last);
      this.camera.position.add(moved);
      this.controls.target.add(moved);
      this.camera.lookAt(this.controls.target);
    }
    this.last = now;
  }

  render() {
    if (this.ready) this.renderer.render(this.stage.scene, this.camera);
    this.onRender?.();
  }
}

// A length of the model as a bar, in the plane.
function scaleBar(view) {
  const bar = el('i'), text = el('span'), box = el('div', { class: 'scale', 'aria-hidden': 'true' }, bar, text);
  view.onRender = () => {
    const width = view.renderer.domElement.clientWidth, c = view.camera, perPixel = (c.right - c.left) / c.zoom / (width || 1);
    const wanted = 120 * perPixel, ten = 10 ** Math.floor(Math.log10(wanted)), round = [5, 2, 1].map(k => k * ten).find(k => k <= wanted) ?? ten;
    bar.style.width = round / perPixel + 'px';
    text.textContent = number(round, 3);
  };
  return box;
}

const check = (text, on, change, color) => {
  const input = el('input', { type: 'checkbox', checked: on, onchange: () => change(input.checked) });
  const mark = color ? el('span', { 'aria-hidden': 'true' }, ' ➜') : null;
  if (mark) mark.style.color = color;
  return el('label', {}, input, ' ' + text, mark);
};

export function animation(data, motion, player) {
  const canvas = el('canvas', { role: 'img', 'aria-label': `animation of ${data.title ?? data.model}` });
  const box = el('div', { class: 'stage' }, canvas);
  let stage, view;
  try {
    stage = new Stage(data, motion);
    view = new View(stage, canvas);
  } catch (error) {
    return section('Motion', el('p', {}, `This browser cannot draw in 3D (${error.message}); the plots below show the motion.`), player.bar);
  }
  if (stage.planar) box.append(scaleBar(view));
  let following = false;
  const options = el('div', { class: 'controls', role: 'group', 'aria-label': 'what is shown' },
    el('button', { type: 'button', onclick: () => view.reset() }, 'Reset camera'),
    check('follow', false, on => { following = on; }),
    stage.traces.length ? check('paths', true, on => { stage.traces.forEach(t => { t.visible = on; }); view.render(); }) : null,
    stage.forces.map(f => check(f.text, true, on => { f.arrows.visible = on; view.render(); }, f.color)));
  player.listen(time => {
    stage.show(time);
    view.follow(following);
    view.ready = true;
    view.render();
  });
  new ResizeObserver(() => view.fit()).observe(box);
  const forces = stage.forces.map(f => `longest arrow of ${f.text}: ${number(f.most, 3)}`).join('; ');
  return section('Motion', box, player.bar, options,
    el('p', { class: 'hint' }, (stage.planar ? 'Drag moves, the wheel zooms.' : 'Drag turns, the wheel zooms, the right button moves.') + (forces ? ' Forces: ' + forces + '.' : '')));
}
