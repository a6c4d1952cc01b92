import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { createLifeline, type Line } from './lifeline.ts'

const never = new AbortController().signal

function setUp(open: (attempt: number) => Promise<void> = async () => {}) {
  const clock = createManualClock()
  const opened: number[] = []
  const breakers: ((reason: string) => void)[] = []
  const lifeline = createLifeline({
    who: 'The server',
    clock,
    open: async () => {
      opened.push(clock.mono())
      await open(opened.length)
      const { promise, resolve } = Promise.withResolvers<string>()
      breakers.push(resolve)
      return { gone: promise, close: async () => resolve('closed') } satisfies Line
    },
  })
  const breakIt = async (reason: string) => {
    breakers.at(-1)?.(reason)
    await clock.advance(0)
  }
  return { clock, lifeline, opened, breakIt }
}

describe('a lifeline', () => {
  test('opens once for all who ask, and not before', async () => {
    const { lifeline, opened } = setUp()
    expect(opened).toEqual([])

    const lines = await Promise.all([lifeline.get(never), lifeline.get(never)])
    expect(lines[0]).toBe(lines[1])
    expect(await lifeline.get(never)).toBe(lines[0])
    expect(opened).toEqual([0])
  })

  test('rests 1 s after a failure, then twice as long each time, up to 60 s', async () => {
    const { lifeline, opened, clock } = setUp(async () => {
      throw new Error('No luck.')
    })
    for (const _ of Array(190)) {
      lifeline.get(never).catch(() => {})
      await clock.advance(1_000)
    }

    expect(opened).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183].map((seconds) => seconds * 1_000))
  })

  test('a caller waits for a short rest and is told of a long one', async () => {
    const { lifeline, opened, clock } = setUp(async (attempt) => {
      if (attempt < 6) throw new Error('No luck.')
    })
    for (const rest of [0, 1_000, 2_000, 4_000]) {
      const line = lifeline.get(never)
      const failed = expect(line).rejects.toThrow('No luck.')
      await clock.advance(rest)
      await failed
    }
    expect(opened).toEqual([0, 1_000, 3_000, 7_000])

    await expect(lifeline.get(never)).rejects.toMatchObject({
      code: 'tool_failed',
      message: 'The server is not available; it is tried again in 8 s. No luck.',
    })
    await clock.advance(8_000)
    await expect(lifeline.get(never)).rejects.toThrow('No luck.')
    await clock.advance(16_000)
    await lifeline.get(never)
    expect(opened).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000])
  })

  test('forgets old failures once it has held for a minute', async () => {
    const { lifeline, opened, clock, breakIt } = setUp()
    await lifeline.get(never)
    await breakIt('It ended.')
    const second = lifeline.get(never)
    await clock.advance(1_000)
    await second
    await clock.advance(60_000)
    await breakIt('It ended.')
    const third = lifeline.get(never)
    await clock.advance(1_000)
    await third

    expect(opened).toEqual([0, 1_000, 62_000])
  })

  test('a caller who gives up leaves the others their connection', async () => {
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>()
    const { lifeline, opened } = setUp(() => gate)
    const impatient = new AbortController()
    const first = lifeline.get(impatient.signal)
    const second = lifeline.get(never)
    impatient.abort(new Error('enough'))
    await expect(first).rejects.toThrow('enough')
    openGate()
    await second

    expect(opened).toEqual([0])
  })

  test('once closed it is not opened again', async () => {
    const { lifeline, opened } = setUp()
    const line = await lifeline.get(never)
    await lifeline.close()

    expect(await line.gone).toBe('closed')
    await expect(lifeline.get(never)).rejects.toMatchObject({ code: 'shutting_down' })
    expect(opened).toEqual([0])
  })
})
