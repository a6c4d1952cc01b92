import { expect, test } from 'vitest'
import { createAxis, firstZoom, ticksOf, windowFor } from './axis.ts'
import type { Span, SpanKind, SpanStatus } from './spans.ts'

const span = (kind: SpanKind, start: number, end: number | null, status: SpanStatus = 'done'): Span => ({
  ...{ id: `${kind}${start}`, kind, name: kind, start, end, status, depth: 0, seq: 1, lastSeq: 1 },
  ...{ runId: null, usage: [], text: null, firstAnswerAt: null, callId: null, asked: null, subagent: null },
})

const HOUR = 3_600_000

test('two hours of waiting take little room, and work keeps its proportions', () => {
  const end = 2 * HOUR + 20_000
  const spans = [
    span('run', 0, 10_000),
    span('model', 0, 10_000),
    span('wait', 10_000, 2 * HOUR + 10_000),
    span('run', 2 * HOUR + 10_000, end),
    span('tool', 2 * HOUR + 10_000, end),
  ]
  const axis = createAxis(spans, end, true)

  expect(axis.folds).toEqual([{ from: 10_000, to: 2 * HOUR + 10_000, at: 10_000, width: 600 }])
  expect(axis.length).toBe(20_600)
  expect([0, 10_000, 2 * HOUR + 10_000, end].map(axis.place)).toEqual([0, 10_000, 10_600, 20_600])
  expect(axis.timeAt(10_300)).toBe(HOUR + 10_000)
  expect(axis.timeAt(20_600)).toBe(end)
})

test('without folding every stretch has its real length', () => {
  const axis = createAxis([span('model', 0, 10), span('wait', 10, HOUR)], HOUR, false)

  expect(axis.folds).toEqual([])
  expect(axis.place(HOUR / 2)).toBe(HOUR / 2)
})

test('a run that stands still for hours is folded, a tool that works for hours is not', () => {
  const idle = createAxis([span('run', 0, HOUR), span('note', 100, 100)], HOUR, true)
  const busy = createAxis([span('run', 0, HOUR), span('tool', 100, HOUR)], HOUR, true)

  expect(idle.folds.map(({ from, to }) => [from, to])).toEqual([[100, HOUR]])
  expect(busy.folds).toEqual([])
})

test('a thousand folds leave most of the axis to the work', () => {
  const spans = Array.from({ length: 1_000 }, (_, i) => span('model', i * HOUR, i * HOUR + 1_000))
  const end = 999 * HOUR + 1_000
  const axis = createAxis(spans, end, true)

  expect(axis.folds).toHaveLength(999)
  expect(axis.length).toBeCloseTo(1_000_000 * 1.25, -4)
  expect(axis.place(end)).toBeCloseTo(axis.length)
})

test('the window of a long session goes along with the rows and stays on the axis', () => {
  const spans = Array.from({ length: 400 }, (_, i) => span('model', i * 1_000, i * 1_000 + 1_000))
  const axis = createAxis(spans, 400_000, true)
  const zoom = firstZoom(spans.length)

  expect(zoom).toBe(10)
  expect(windowFor(axis, zoom, 0)).toEqual({ from: 0, width: 40_000 })
  expect(windowFor(axis, zoom, 200_000).from).toBe(199_200)
  expect(windowFor(axis, zoom, 399_000).from).toBe(360_000)
  expect(windowFor(axis, 1, 399_000)).toEqual({ from: 0, width: 400_000 })
})

test('marks stand at round times', () => {
  const axis = createAxis([span('model', 0, 47_000)], 47_000, true)

  expect(ticksOf(axis, { from: 0, width: axis.length }, 5).map(({ at }) => at)).toEqual([
    0, 10_000, 20_000, 30_000, 40_000,
  ])
})
