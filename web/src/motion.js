// The columns of the motion, and their values at any time.
export class Motion {
  constructor(columns) {
    Object.assign(this, columns);
    this.times = this.t[0] ?? [];
    if (this.times.length === 1) this.times = Array(this.rows).fill(this.times[0]);
    this.start = this.times[0] ?? 0;
    this.end = this.times[this.times.length - 1] ?? 0;
  }

  // A column in full: one number stands for a column that does not change.
  column(group, k) {
    const values = this[group][k];
    return !values ? null : values.length === 1 && this.rows > 1 ? Array(this.rows).fill(values[0]) : values;
  }

  at(group, k, row) {
    const values = this[group][k];
    return values ? (values.length === 1 ? values[0] : values[row]) : null;
  }

  // The row at or before a time, and how far it is to the next one.
  locate(time) {
    const t = this.times;
    let low = 0, high = t.length - 1;
    if (high <= 0 || time <= t[0]) return { row: 0, next: 0, part: 0 };
    if (time >= t[high]) return { row: high, next: high, part: 0 };
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (t[middle] <= time) low = middle; else high = middle;
    }
    const gap = t[high] - t[low];
    return { row: low, next: high, part: gap > 0 ? (time - t[low]) / gap : 0 };
  }

  value(group, k, where) {
    const a = this.at(group, k, where.row), b = this.at(group, k, where.next);
    return a === null || b === null ? a : a + (b - a) * where.part;
  }
}
