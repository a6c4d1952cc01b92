// Where a time is on the screen. Stretches in which nothing happened are folded, so that an hour of waiting does not push a second of
// work out of sight.

import type { Span } from './spans.ts'

/** A stretch that takes little space, however long it was. `at` and `width` are in the units of the axis. */
export interface Fold {
  from: number
  to: number
  at: number
  width: number
}

export interface Axis {
  /** Length of the whole axis, in milliseconds of shown time. */
  length: number
  folds: readonly Fold[]
  /** Where a time is on the axis, between 0 and `length`. */
  place(time: number): number
  /** The time at a place. Inside a fold: its middle. */
  timeAt(place: number): number
}

interface Stretch {
  from: number
  to: number
}

/** Shorter pauses are part of the work. */
const SHORTEST_FOLD_MS = 2_000
/** All folds together take at most this share of the axis. */
const FOLDS_SHARE = 0.25
const FOLD_SHARE = 0.03

export function createAxis(spans: readonly Span[], end: number, isFolding: boolean): Axis {
  const start = spans[0]?.start ?? end
  const gaps = isFolding ? gapsBetween(busyStretches(spans, end), start, end) : []
  const long = gaps.filter(({ from, to }) => to - from >= SHORTEST_FOLD_MS)
  const folded = long.reduce((sum, { from, to }) => sum + to - from, 0)
  const active = Math.max(1, end - start - folded)
  const width = active * Math.min(FOLD_SHARE, FOLDS_SHARE / Math.max(1, long.length))
  const folds: Fold[] = []
  let shift = 0
  for (const { from, to } of long) {
    folds.push({ from, to, at: from - start - shift, width })
    shift += to - from - width
  }
  const length = Math.max(1, end - start - shift)

  /** The last fold that begins at or before a value. Folds are in order. */
  function foldBefore(value: number, of: (fold: Fold) => number): Fold | undefined {
    let [low, high] = [0, folds.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (of(folds[middle] as Fold) <= value) low = middle + 1
      else high = middle
    }
    return folds[low - 1]
  }

  return {
    length,
    folds,
    place(time) {
      const fold = foldBefore(time, ({ from }) => from)
      if (fold === undefined) return clamp(time - start, length)
      if (time < fold.to) return fold.at + (fold.width * (time - fold.from)) / (fold.to - fold.from)
      return clamp(fold.at + fold.width + (time - fold.to), length)
    },
    timeAt(place) {
      const fold = foldBefore(place, ({ at }) => at)
      if (fold === undefined) return start + place
      if (place < fold.at + fold.width) return (fold.from + fold.to) / 2
      return fold.to + (place - fold.at - fold.width)
    },
  }
}

const clamp = (value: number, most: number): number => Math.min(most, Math.max(0, value))

/** When a model or a tool worked. A run around them says nothing: it may stand still, and a wait is the opposite. */
function busyStretches(spans: readonly Span[], end: number): Stretch[] {
  const stretches: Stretch[] = []
  for (const span of spans) {
    if (span.kind === 'wait') continue
    // The begin and the end of a run are events too.
    if (span.kind === 'run') {
      stretches.push({ from: span.start, to: span.start })
      if (span.end !== null) stretches.push({ from: span.end, to: span.end })
    } else if (span.status === 'waiting') stretches.push({ from: span.start, to: span.start })
    else stretches.push({ from: span.start, to: span.end ?? end })
  }
  return stretches.sort((a, b) => a.from - b.from)
}

function gapsBetween(stretches: readonly Stretch[], start: number, end: number): Stretch[] {
  const gaps: Stretch[] = []
  let busyUntil = start
  for (const { from, to } of stretches) {
    if (from > busyUntil) gaps.push({ from: busyUntil, to: from })
    busyUntil = Math.max(busyUntil, to)
  }
  if (end > busyUntil) gaps.push({ from: busyUntil, to: end })
  return gaps
}

/** A part of the axis that is shown. */
export interface AxisWindow {
  from: number
  width: number
}

/** So many rows fit beside each other before their bars become too thin. */
const ROWS_IN_WINDOW = 40

/** How much of the axis is shown at first: all of a short session, of a long one as much as fits some rows. */
export const firstZoom = (spans: number): number => Math.max(1, spans / ROWS_IN_WINDOW)

/** The window that shows the rows in sight: it goes along while one scrolls. */
export function windowFor(axis: Axis, zoom: number, firstTime: number): AxisWindow {
  const width = axis.length / Math.max(1, zoom)
  const from = axis.place(firstTime) - width * 0.02
  return { from: clamp(from, Math.max(0, axis.length - width)), width }
}

/** Round times for the marks of the axis, at least `count` apart. */
export function ticksOf(axis: Axis, { from, width }: AxisWindow, count: number): { at: number; ms: number }[] {
  const step = roundStep(width / count)
  const ticks: { at: number; ms: number }[] = []
  for (let at = Math.ceil(from / step) * step; at <= from + width; at += step) {
    if (axis.folds.some((fold) => at > fold.at && at < fold.at + fold.width)) continue
    ticks.push({ at, ms: axis.timeAt(at) })
  }
  return ticks
}

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500].flatMap((n) => [n])
const longSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400]

function roundStep(ms: number): number {
  return steps.find((step) => step >= ms) ?? (longSteps.find((step) => step * 1_000 >= ms) ?? 86_400) * 1_000
}
