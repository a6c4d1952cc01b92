// What the chart of usage shows: a value for each day, of everything together or of its largest parts.

import type { Usage } from 'quarterdeck/client'
import { everyDay } from '../../data/usage-range.ts'

export type Figure = 'cost' | 'tokens' | 'speed' | 'errors'
type Row = Pick<Usage['rows'][number], 'key' | 'part' | 'runs' | 'failed_runs' | 'p50_ms' | 'p95_ms'> &
  Pick<Usage['rows'][number], 'input_tokens' | 'output_tokens' | 'cost'>

export interface ChartData {
  days: string[]
  series: { name: string; values: (number | null)[] }[]
  /** Bars that stand on each other. False: lines. */
  isStacked: boolean
}

/** Colours that one can tell apart. */
const MOST_PARTS = 5

const values: Readonly<Record<Figure, (row: Row) => number | null>> = {
  cost: ({ cost }) => cost,
  tokens: (row) => row.input_tokens + row.output_tokens,
  speed: ({ p95_ms }) => p95_ms,
  errors: ({ runs, failed_runs }) => (runs === 0 ? null : (failed_runs / runs) * 100),
}

export function seriesOf(usage: Pick<Usage, 'rows' | 'from' | 'to'>, what: Figure): ChartData {
  const isStacked = what === 'cost' || what === 'tokens'
  const days = everyDay([], usage, (key) => key)
  const valuesOf = (rows: readonly Row[], value: (row: Row) => number | null) =>
    everyDay(rows, usage, () => null).map((row) => (row === null ? (isStacked ? 0 : null) : value(row)))
  const parts = Map.groupBy(usage.rows, ({ part }) => part)
  if (parts.has(undefined) || parts.size === 0) {
    const lines: readonly (readonly [name: string, value: (row: Row) => number | null])[] =
      what === 'tokens'
        ? [
            ['Input', (row) => row.input_tokens],
            ['Output', (row) => row.output_tokens],
          ]
        : what === 'speed'
          ? [
              ['95 % of the runs', values.speed],
              ['Half of the runs', ({ p50_ms }) => p50_ms],
            ]
          : [[what === 'cost' ? 'Cost' : 'Runs that failed', values[what]]]
    return { days, isStacked, series: lines.map(([name, value]) => ({ name, values: valuesOf(usage.rows, value) })) }
  }
  const size = (rows: readonly Row[]) =>
    rows.reduce((sum, row) => sum + (isStacked ? (values[what](row) ?? 0) : row.runs), 0)
  const ordered = [...parts].sort(([, a], [, b]) => size(b) - size(a))
  const series = ordered
    .slice(0, MOST_PARTS)
    .map(([part = '', rows]) => ({ name: part === '/' ? 'No model' : part, values: valuesOf(rows, values[what]) }))
  const others = ordered.slice(MOST_PARTS).map(([, rows]) => valuesOf(rows, values[what]))
  // Shares and times of several cannot be added up.
  if (others.length > 0 && isStacked) {
    series.push({ name: 'Others', values: days.map((_, i) => others.reduce((sum, one) => sum + (one[i] ?? 0), 0)) })
  }
  return { days, isStacked, series }
}
