import { describe, expect, test } from 'vitest'
import { readTrace, runSpanId, writeTrace } from './trace-context.ts'

const id = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'

describe('a traceparent', () => {
  test('is read and written as it was, with its state', () => {
    const context = readTrace(`00-${id}-${span}-01`, 'rojo=1,congo=2')

    expect(context).toMatchObject({ traceId: id, spanId: span, traceFlags: 1, isRemote: true })
    expect(context === null ? null : writeTrace(context)).toEqual({
      traceparent: `00-${id}-${span}-01`,
      tracestate: 'rojo=1,congo=2',
    })
  })

  test('of a later version counts, and unknown flags are left out', () => {
    const context = readTrace(`cc-${id}-${span}-09-what-comes-later`, undefined)

    expect(context === null ? null : writeTrace(context)).toEqual({ traceparent: `00-${id}-${span}-01` })
  })

  test.each([
    [undefined],
    [''],
    ['00'],
    [['00-a', '00-b']],
    [`00-${id}-${span}`],
    [`ff-${id}-${span}-01`],
    [`00-${'0'.repeat(32)}-${span}-01`],
    [`00-${id}-${'0'.repeat(16)}-01`],
    [`00-${id.toUpperCase()}-${span}-01`],
    [`00-${id}-${span}-01-more`],
    [`00-${id}-${span}-01\r\nx: y`],
    ['x'.repeat(1_000_000)],
  ])('that is %j is ignored', (text) => {
    expect(readTrace(text, undefined)).toBe(null)
  })

  test.each([['x'.repeat(513)], ['bad\nstate'], [['a=1', 'b=2']], [' ']])(
    'with the state %j counts without it',
    (state) => {
      expect(readTrace(`00-${id}-${span}-01`, state)).toEqual({
        traceId: id,
        spanId: span,
        traceFlags: 1,
        isRemote: true,
      })
    },
  )
})

test('the span of a run has an id that every process finds', () => {
  const run = '019a8b1e-0000-7000-8000-000000000000'

  expect(runSpanId(run, 1)).toMatch(/^[0-9a-f]{16}$/)
  expect(runSpanId(run, 1)).toBe(runSpanId(run, 1))
  expect(runSpanId(run, 1)).not.toBe(runSpanId(run, 2))
})
