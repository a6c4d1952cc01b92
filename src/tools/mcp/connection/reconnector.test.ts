import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../../models/testing/manual-clock.ts'
import { type Connection, createReconnector } from './reconnector.ts'

const never = new AbortController().signal

function setUp(open: (attempt: number) => Promise<void> = async () => {}) {
  const clock = createManualClock()
  const opened: number[] = []
  const breakers: ((reason: string) => void)[] = []
  const reconnector = createReconnector({
    who: 'The server',
    clock,
    soFar: () => '',
    patienceMs: 5_000,
    open: async () => {
      opened.push(clock.mono())
      await open(opened.length)
      const { promise, resolve } = Promise.withResolvers<string>()
      breakers.push(resolve)
      return { gone: promise, close: async () => resolve('closed') } satisfies Connection
    },
  })
  const breakIt = async (reason: string) => {
    breakers.at(-1)?.(reason)
    await clock.advance(0)
  }
  return { clock, reconnector, opened, breakIt }
}

describe('a reconnector', () => {
  test('opens one connection for all callers, at the first call', async () => {
    const { reconnector, opened } = setUp()
    expect(opened).toEqual([])

    const connections = await Promise.all([reconnector.get(never), reconnector.get(never)])
    expect(connections[0]).toBe(connections[1])
    expect(await reconnector.get(never)).toBe(connections[0])
    expect(opened).toEqual([0])
  })

  test('tries again in the background after 1 s, then waits twice as long each time, up to 60 s', async () => {
    const { reconnector, opened, clock } = setUp(async () => {
      throw new Error('No luck.')
    })
    await reconnector.start()
    await clock.advance(190_000)

    expect(opened).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183].map((seconds) => seconds * 1_000))
  })

  test('after a failure nobody waits: callers are told why there is no connection until there is one', async () => {
    const { reconnector, opened, clock } = setUp(async (attempt) => {
      if (attempt < 4) throw new Error('No luck.')
    })
    await expect(reconnector.get(never)).rejects.toThrow('No luck.')
    const seen: (string | undefined)[] = []
    for (const pauseMs of [0, 1_000, 2_000]) {
      await clock.advance(pauseMs)
      await expect(reconnector.get(never)).rejects.toMatchObject({ code: 'tool_failed' })
      seen.push(reconnector.trouble?.message)
    }
    expect(seen).toEqual([
      'No luck. Next attempt in 1 s.',
      'No luck. Next attempt in 2 s.',
      'No luck. Next attempt in 4 s.',
    ])
    await clock.advance(4_000)

    expect(await reconnector.get(never)).toBe(reconnector.connection)
    expect([reconnector.trouble, opened]).toEqual([null, [0, 1_000, 3_000, 7_000]])
  })

  test('callers wait 5 s for a slow attempt, which then goes on without them', async () => {
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>()
    const { reconnector, opened, clock } = setUp(() => gate)
    const started = reconnector.start()
    const failed = expect(reconnector.get(never)).rejects.toThrow(
      'The server did not answer within 5 s. Still trying to connect.',
    )
    await clock.advance(5_000)
    await Promise.all([started, failed])
    await expect(reconnector.get(never)).rejects.toMatchObject({ code: 'tool_failed' })
    openGate()
    await clock.advance(0)

    expect(await reconnector.get(never)).toBe(reconnector.connection)
    expect(opened).toEqual([0])
  })

  test('reconnects at once after a break, and pauses first when it breaks again within a minute', async () => {
    const { reconnector, opened, clock, breakIt } = setUp()
    await reconnector.start()
    await breakIt('It ended.')
    await reconnector.get(never)
    await breakIt('It ended again.')
    await expect(reconnector.get(never)).rejects.toThrow('The server is gone. It ended again. Next attempt in 2 s.')
    await clock.advance(2_000)
    await reconnector.get(never)
    await clock.advance(60_000)
    await breakIt('It ended much later.')
    await reconnector.get(never)

    expect(opened).toEqual([0, 0, 2_000, 62_000])
  })

  test('a caller that gives up does not cancel the connection for the others', async () => {
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>()
    const { reconnector, opened } = setUp(() => gate)
    const impatient = new AbortController()
    const first = reconnector.get(impatient.signal)
    const second = reconnector.get(never)
    impatient.abort(new Error('enough'))
    await expect(first).rejects.toThrow('enough')
    openGate()
    await second

    expect(opened).toEqual([0])
  })

  test('does not reconnect after it was closed', async () => {
    const { reconnector, opened } = setUp()
    const connection = await reconnector.get(never)
    await reconnector.close()

    expect(await connection.gone).toBe('closed')
    await expect(reconnector.get(never)).rejects.toMatchObject({ code: 'shutting_down' })
    expect(opened).toEqual([0])
  })

  test('closing ends a pause, and waits for an attempt to end', async () => {
    const pausing = setUp(async () => {
      throw new Error('No luck.')
    })
    await pausing.reconnector.start()
    await pausing.reconnector.close()
    await pausing.clock.advance(100_000)
    expect(pausing.opened).toEqual([0])

    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>()
    const trying = setUp(() => gate)
    void trying.reconnector.start()
    const closed = trying.reconnector.close()
    openGate()
    await closed
    expect(trying.reconnector.connection).toBe(null)
    await expect(trying.reconnector.get(never)).rejects.toMatchObject({ code: 'shutting_down' })
  })

  test('an attempt that ends long after closing is the last one', async () => {
    const { promise: gate, reject: fail } = Promise.withResolvers<void>()
    const { clock, reconnector, opened } = setUp(() => gate)
    void reconnector.start()
    const closed = reconnector.close()
    await clock.advance(6_000)
    fail(new Error('No luck.'))
    await closed
    await clock.advance(100_000)

    expect(opened).toEqual([0])
    await expect(reconnector.get(never)).rejects.toMatchObject({ code: 'shutting_down' })
  })
})
