import { describe, expect, test } from 'vitest'
import { type LogFields, type Logger, silentLogger } from '../../../domain/logger.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { type Stoppable, untilStopped } from './stop.ts'

/** A server that closes when the test says so. */
function createServer(activeRuns = 0) {
  const closes: { drainMs: number }[] = []
  let settle: { resolve(): void; reject(error: Error): void } | undefined
  const server: Stoppable = {
    activeRuns: () => activeRuns,
    close: (options) =>
      new Promise((resolve, reject) => {
        closes.push(options)
        settle = { resolve, reject }
      }),
  }
  return { server, closes, closed: () => settle?.resolve(), failed: (error: Error) => settle?.reject(error) }
}

function recordingLogger(): Logger & { lines: [string, LogFields | undefined][] } {
  const lines: [string, LogFields | undefined][] = []
  return { ...silentLogger, error: (message, fields) => void lines.push([message, fields]), lines }
}

/** Lets pending promises settle. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('stopping a server', () => {
  test('after the first signal it drains, says what it waits for and ends with 0', async () => {
    const io = createTestIo()
    const { server, closes, closed } = createServer(2)

    const stopped = untilStopped(server, 5000, silentLogger, io)
    io.signal('SIGINT')
    closed()

    expect([await stopped, closes, io.complained()]).toEqual([
      0,
      [{ drainMs: 5000 }],
      'Stopping: 2 answers still running, with up to 5 s to finish. Ctrl-C again stops at once.\n',
    ])
  })

  test('an idle server stops silently', async () => {
    const io = createTestIo()
    const { server, closed } = createServer()

    const stopped = untilStopped(server, 5000, silentLogger, io)
    io.signal('SIGTERM')
    closed()

    expect([await stopped, io.complained()]).toEqual([0, 'Stopping.\n'])
  })

  test('the second signal does not wait: 130 after SIGINT, 143 after SIGTERM', async () => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const io = createTestIo()
      const { server, closes } = createServer(1)

      const stopped = untilStopped(server, 5000, silentLogger, io)
      io.signal('SIGTERM')
      io.signal(signal)

      expect([await stopped, closes.length]).toEqual([code, 1])
    }
  })

  test('logs an unexpected failure, flushes the store and ends with 70', async () => {
    const io = createTestIo({ clock: { now: () => 0, mono: () => 0, after: () => () => {}, soon: setImmediate } })
    const log = recordingLogger()
    const { server, closes, closed } = createServer(3)
    const error = new Error('a bug')

    let code: number | undefined
    const stopped = untilStopped(server, 5000, log, io).then((result) => {
      code = result
    })
    io.crash(error)
    await turn()
    expect(code).toBeUndefined()
    closed()
    await stopped

    expect([code, closes, log.lines]).toEqual([
      70,
      [{ drainMs: 0, crashed: true }],
      [['unexpected failure, the server stops', { error }]],
    ])
  })

  test('waits at most two seconds for a store that hangs after a failure', async () => {
    const waits: number[] = []
    const io = createTestIo({
      clock: {
        now: () => 0,
        mono: () => 0,
        after(ms, fire) {
          waits.push(ms)
          setImmediate(fire)
          return () => {}
        },
        soon: setImmediate,
      },
    })

    const stopped = untilStopped(createServer().server, 5000, silentLogger, io)
    io.crash(new Error('a bug'))

    expect([await stopped, waits]).toEqual([70, [2000]])
  })

  test('logs a close that fails and ends with 70', async () => {
    const io = createTestIo()
    const log = recordingLogger()
    const { server, failed } = createServer()
    const error = new Error('disk gone')

    const stopped = untilStopped(server, 5000, log, io)
    io.signal('SIGTERM')
    failed(error)

    expect([await stopped, log.lines]).toEqual([70, [['the server did not stop cleanly', { error }]]])
  })
})
