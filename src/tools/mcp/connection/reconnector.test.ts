import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../../models/testing/manual-clock.ts'
import { createLifeline, type Line } from './reconnector.ts'

const never = new AbortController().signal

function setUp(open: (attempt: number) => Promise<void> = async () => {}) {
  const clock = createManualClock()
  const opened: number[] = []
  const breakers: ((reason: string) => void)[] = []
  const lifeline = createLifeline({
    who: 'The server',
    clock,
    patienceMs: 5_000,
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

  test('is tried again in the background: after 1 s, then twice as long each time, up to 60 s', async () => {
    const { lifeline, opened, clock } = setUp(async () => {
      throw new Error('No luck.')
    })
    await lifeline.start()
    await clock.advance(190_000)

    expect(opened).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183].map((seconds) => seconds * 1_000))
  })

  test('after a failure nobody waits: each is told why there is none, until it is there', async () => {
    const { lifeline, opened, clock } = setUp(async (attempt) => {
      if (attempt < 4) throw new Error('No luck.')
    })
    await expect(lifeline.get(never)).rejects.toThrow('No luck.')
    const seen: (string | undefined)[] = []
    for (const rest of [0, 1_000, 2_000]) {
      await clock.advance(rest)
      await expect(lifeline.get(never)).rejects.toMatchObject({ code: 'tool_failed' })
      seen.push(lifeline.trouble?.message)
    }
    expect(seen).toEqual([
      'No luck. It is tried again in 1 s.',
      'No luck. It is tried again in 2 s.',
      'No luck. It is tried again in 4 s.',
    ])
    await clock.advance(4_000)

    expect(await lifeline.get(never)).toBe(lifeline.line)
    expect([lifeline.trouble, opened]).toEqual([null, [0, 1_000, 3_000, 7_000]])
  })

  test('a try that takes long is waited for 5 s, and goes on without those who waited', async () => {
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>()
    const { lifeline, opened, clock } = setUp(() => gate)
    const started = lifeline.start()
    const failed = expect(lifeline.get(never)).rejects.toThrow(
      'The server did not answer within 5 s. It is still being tried.',
    )
    await clock.advance(5_000)
    await Promise.all([started, failed])
    await expect(lifeline.get(never)).rejects.toMatchObject({ code: 'tool_failed' })
    openGate()
    await clock.advance(0)

    expect(await lifeline.get(never)).toBe(lifeline.line)
    expect(opened).toEqual([0])
  })

  test('after a break it is opened at once and waited for; from the second within a minute on it rests', async () => {
    const { lifeline, opened, clock, breakIt } = setUp()
    await lifeline.start()
    await breakIt('It ended.')
    await lifeline.get(never)
    await breakIt('It ended again.')
    await expect(lifeline.get(never)).rejects.toThrow('The server is gone. It ended again. It is tried again in 2 s.')
    await clock.advance(2_000)
    await lifeline.get(never)
    await clock.advance(60_000)
    await breakIt('It ended much later.')
    await lifeline.get(never)

    expect(opened).toEqual([0, 0, 2_000, 62_000])
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

  test('closing ends a rest and waits for a try to end', async () => {
    const resting = setUp(async () => {
      throw new Error('No luck.')
    })
    await resting.lifeline.start()
    await resting.lifeline.close()
    await resting.clock.advance(100_000)
    expect(resting.opened).toEqual([0])

    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>()
    const trying = setUp(() => gate)
    void trying.lifeline.start()
    const closed = trying.lifeline.close()
    openGate()
    await closed
    expect(trying.lifeline.line).toBe(null)
    await expect(trying.lifeline.get(never)).rejects.toMatchObject({ code: 'shutting_down' })
  })

  test('a try that ends long after the closing is the last one', async () => {
    const { promise: gate, reject: fail } = Promise.withResolvers<void>()
    const { clock, lifeline, opened } = setUp(() => gate)
    void lifeline.start()
    const closed = lifeline.close()
    await clock.advance(6_000)
    fail(new Error('No luck.'))
    await closed
    await clock.advance(100_000)

    expect(opened).toEqual([0])
    await expect(lifeline.get(never)).rejects.toMatchObject({ code: 'shutting_down' })
  })
})
