import { expect, test } from 'vitest'
import { figureOf, markdownTable, skipped, textTable } from './figure.ts'
import { median, percentilesOf } from './percentiles.ts'

const measured = {
  scenario: 'full',
  what: 'CPU per run',
  base: '1.00 ms',
  server: '2.00 ms',
  limit: 2,
  unit: '×',
} as const

test('a figure is met up to its limit, and missed beyond it', () => {
  expect(figureOf({ ...measured, value: 2 }).outcome).toBe('met')
  expect(figureOf({ ...measured, value: 2.004 })).toEqual({
    scenario: 'full',
    what: 'CPU per run',
    base: '1.00 ms',
    server: '2.00 ms',
    value: '2.00×',
    target: '≤ 2×',
    outcome: 'missed',
    note: '',
  })
})

test('a figure is missed when runs failed or nothing was measured, whatever its value', () => {
  expect(figureOf({ ...measured, value: 1, problems: ['server: 1 of 9 runs failed'], note: '5 rounds' })).toMatchObject(
    {
      outcome: 'missed',
      note: 'server: 1 of 9 runs failed; 5 rounds',
    },
  )
  expect(figureOf({ ...measured, value: Number.NaN })).toMatchObject({ outcome: 'missed', value: '–' })
})

test('the tables show every figure, and the reason when one was skipped', () => {
  const figures = [figureOf({ ...measured, value: 1.5, note: 'a | b' }), skipped('slow-disk', 'no cc')]

  expect(markdownTable(figures)).toBe(
    [
      '| scenario | what | floor or before | server | figure | target |  | note |',
      '|---|---|---|---|---|---|---|---|',
      '| full | CPU per run | 1.00 ms | 2.00 ms | 1.50× | ≤ 2× | met | a \\| b |',
      '| slow-disk |  |  |  |  |  | skipped | no cc |',
    ].join('\n'),
  )
  expect(textTable(figures)).toBe(
    [
      'scenario   what         floor or before  server   figure  target',
      'full       CPU per run  1.00 ms          2.00 ms  1.50×   ≤ 2×    met',
      '    a | b',
      'slow-disk                                                         skipped',
      '    no cc',
    ].join('\n'),
  )
})

test('percentiles take the nearest rank, the median the middle', () => {
  const samples = Array.from({ length: 200 }, (_, index) => 200 - index)

  expect(percentilesOf(samples)).toEqual({ p50: 100, p95: 190, p99: 198, max: 200 })
  expect(percentilesOf([])).toBe(null)
  expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5])
})
