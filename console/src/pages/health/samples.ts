// The figures of the last hour, kept in the tab: the server keeps none of them.

import type { Stats } from 'quarterdeck/client'

export interface Sample {
  /** Milliseconds. */
  at: number
  stats: Stats
}

export const HOUR_MS = 3_600_000

/** The samples of the last hour with a new one. The same answer twice counts once. */
export function withSample(samples: readonly Sample[], { at, stats }: Sample): Sample[] {
  const kept = samples.filter((one) => one.at > at - HOUR_MS)
  return kept.at(-1)?.stats.at === stats.at ? kept : [...kept, { at, stats }]
}

export interface Point {
  at: number
  value: number
}

interface SparkBox {
  width: number
  height: number
  /** The time at the end of the line. */
  until: number
  /** The time that the whole width stands for. */
  spanMs: number
  /** Points that are further apart than this are not joined. */
  gapMs: number
}

/** The path of a line through points, from zero to the highest one. Where nothing was measured it has a gap. Empty: no points. */
export function sparkPath(points: readonly Point[], { width, height, until, spanMs, gapMs }: SparkBox): string {
  const inSight = points.filter(({ at }) => at >= until - spanMs && at <= until)
  const highest = inSight.reduce((most, { value }) => Math.max(most, value), 0)
  let path = ''
  let before: number | null = null
  for (const { at, value } of inSight) {
    const x = round(width - ((until - at) / spanMs) * width)
    const y = round(highest === 0 ? height : height - (value / highest) * height)
    const isJoined = before !== null && at - before <= gapMs
    // A line of no length is drawn as a dot, if its ends are round.
    path += isJoined ? `L${x} ${y}` : `M${x} ${y}h0`
    before = at
  }
  return path
}

const round = (value: number): number => Math.round(value * 10) / 10
