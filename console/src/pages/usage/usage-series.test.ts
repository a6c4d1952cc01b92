import { expect, test } from 'vitest'
import { seriesOf } from './usage-series.ts'

const row = (key: string, part: string | undefined, cost: number, runs = 1) => ({
  ...{ key, label: key, runs, failed_runs: 1, cancelled_runs: 0, p50_ms: 100, p95_ms: 900, cost },
  ...{ input_tokens: 10, output_tokens: 5, cached_input_tokens: 0, cache_write_input_tokens: 0, reasoning_tokens: 0 },
  ...(part === undefined ? {} : { part }),
})
const range = { from: '2026-11-01', to: '2026-11-03' }
const days = ['2026-11-01', '2026-11-02', '2026-11-03']

test('a day without runs has no bar, and no point in a line', () => {
  const rows = [row('2026-11-02', undefined, 3, 4)]
  expect(seriesOf({ ...range, rows }, 'cost')).toEqual({
    days,
    isStacked: true,
    series: [{ name: 'Cost', values: [0, 3, 0] }],
  })
  expect(seriesOf({ ...range, rows }, 'errors').series).toEqual([
    { name: 'Runs that failed', values: [null, 25, null] },
  ])
  expect(seriesOf({ ...range, rows }, 'speed').series.map(({ values }) => values[1])).toEqual([900, 100])
  expect(seriesOf({ ...range, rows: [] }, 'tokens').series[0]?.values).toEqual([0, 0, 0])
})

test('the largest parts have a colour, and the others share one where they can be added up', () => {
  const rows = [1, 2, 3, 4, 5, 6, 7].map((cost) => row('2026-11-01', `m/${cost}`, cost, 8 - cost))
  const split = (what: 'cost' | 'speed') => seriesOf({ ...range, rows }, what).series.map(({ name }) => name)
  expect(split('cost')).toEqual(['m/7', 'm/6', 'm/5', 'm/4', 'm/3', 'Others'])
  expect(seriesOf({ ...range, rows }, 'cost').series.at(-1)?.values).toEqual([3, 0, 0])
  expect(split('speed')).toEqual(['m/1', 'm/2', 'm/3', 'm/4', 'm/5'])
})
