/** Multinomial logistic regression with L2, fitted by L-BFGS: no randomness, so the same data give the same weights. */

export type Example = { readonly columns: Int32Array; readonly values: Float64Array; readonly label: number };
export type Fit = {
  readonly classes: number;
  readonly columns: number;
  readonly weights: Float64Array;
  readonly bias: Float64Array;
};

export type FitOptions = {
  /** The strength of the penalty on squared weights, per example. */
  readonly l2: number;
  readonly iterations: number;
};

/** Steps that L-BFGS remembers. */
const MEMORY = 10;

export function softmax(scores: Float64Array): Float64Array {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** All examples in three arrays, so that a pass over them allocates nothing. */
type Packed = {
  /** Where the entries of each example begin; one more than there are examples. */
  readonly starts: Int32Array;
  /** The first weight of each entry's column. */
  readonly rows: Int32Array;
  readonly values: Float64Array;
  readonly labels: Int32Array;
};

function pack(examples: readonly Example[], classes: number): Packed {
  const starts = new Int32Array(examples.length + 1);
  for (const [i, { columns }] of examples.entries()) starts[i + 1] = (starts[i] ?? 0) + columns.length;
  const entries = starts.at(-1) ?? 0;
  const packed = {
    starts,
    rows: new Int32Array(entries),
    values: new Float64Array(entries),
    labels: Int32Array.from(examples, ({ label }) => label),
  };
  for (const [i, { columns, values }] of examples.entries()) {
    packed.rows.set(
      columns.map((column) => column * classes),
      starts[i],
    );
    packed.values.set(values, starts[i]);
  }
  return packed;
}

/** The mean loss at `point` (weights by column and class, then biases) and its gradient. */
function lossAt(
  { starts, rows, values, labels }: Packed,
  classes: number,
  columns: number,
  l2: number,
  point: Float64Array,
  gradient: Float64Array,
): number {
  const biasAt = columns * classes;
  let loss = 0;
  for (let i = 0; i < biasAt; i += 1) {
    const weight = point[i]!;
    loss += 0.5 * l2 * weight * weight;
    gradient[i] = l2 * weight;
  }
  gradient.fill(0, biasAt);
  const scores = new Float64Array(classes);
  for (let i = 0; i < labels.length; i += 1) {
    const [from, to, label] = [starts[i]!, starts[i + 1]!, labels[i]!];
    for (let c = 0; c < classes; c += 1) scores[c] = point[biasAt + c]!;
    for (let j = from; j < to; j += 1) {
      const row = rows[j]!;
      const value = values[j]!;
      for (let c = 0; c < classes; c += 1) scores[c]! += value * point[row + c]!;
    }
    const shares = softmax(scores);
    loss -= Math.log(Math.max(shares[label]!, 1e-300)) / labels.length;
    for (let c = 0; c < classes; c += 1) shares[c] = (shares[c]! - (c === label ? 1 : 0)) / labels.length;
    for (let c = 0; c < classes; c += 1) gradient[biasAt + c]! += shares[c]!;
    for (let j = from; j < to; j += 1) {
      const row = rows[j]!;
      const value = values[j]!;
      for (let c = 0; c < classes; c += 1) gradient[row + c]! += value * shares[c]!;
    }
  }
  return loss;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i]! * b[i]!;
  return sum;
}

export function fit(
  examples: readonly Example[],
  classes: number,
  columns: number,
  { l2, iterations }: FitOptions,
): Fit {
  const size = (columns + 1) * classes;
  let point = new Float64Array(size);
  let gradient = new Float64Array(size);
  const packed = pack(examples, classes);
  let loss = lossAt(packed, classes, columns, l2, point, gradient);
  const steps: { s: Float64Array; y: Float64Array; rho: number }[] = [];
  for (let round = 0; round < iterations; round += 1) {
    const direction = gradient.map((g) => -g);
    const alphas: number[] = [];
    for (let i = steps.length - 1; i >= 0; i -= 1) {
      const { s, y, rho } = steps[i]!;
      const alpha = rho * dot(s, direction);
      alphas[i] = alpha;
      for (let j = 0; j < size; j += 1) direction[j]! -= alpha * y[j]!;
    }
    const last = steps.at(-1);
    if (last) {
      const scale = 1 / (last.rho * dot(last.y, last.y));
      for (let j = 0; j < size; j += 1) direction[j]! *= scale;
    }
    for (const [i, { s, y, rho }] of steps.entries()) {
      const beta = rho * dot(y, direction);
      for (let j = 0; j < size; j += 1) direction[j]! += s[j]! * (alphas[i]! - beta);
    }
    const slope = dot(gradient, direction);
    let step = last ? 1 : 1 / Math.sqrt(dot(gradient, gradient));
    let next = point,
      nextGradient = gradient,
      nextLoss = loss;
    for (let tries = 0; tries < 30; tries += 1) {
      next = point.map((value, j) => value + step * direction[j]!);
      nextGradient = new Float64Array(size);
      nextLoss = lossAt(packed, classes, columns, l2, next, nextGradient);
      if (nextLoss <= loss + 1e-4 * step * slope) break;
      step /= 2;
    }
    const s = next.map((value, j) => value - point[j]!);
    const y = nextGradient.map((value, j) => value - gradient[j]!);
    const curvature = dot(s, y);
    if (curvature > 1e-12) {
      steps.push({ s, y, rho: 1 / curvature });
      if (steps.length > MEMORY) steps.shift();
    }
    const gain = loss - nextLoss;
    [point, gradient, loss] = [next, nextGradient, nextLoss];
    if (gain < 1e-6 * Math.max(1, Math.abs(loss))) break;
  }
  return {
    classes,
    columns,
    weights: point.slice(0, columns * classes),
    bias: point.slice(columns * classes),
  };
}
