import { describe, expect, test } from 'vitest'
import { runNotFound, ServerError } from '../../../domain/errors.ts'
import { ulidOf } from '../../../domain/ids.ts'
import type { Entry } from '../../../domain/session/entry.ts'
import type { RunRecord, RunStatus } from '../../../domain/session/run.ts'
import { collectLines, type LogLine } from '../../../http/testing/server-fixture.ts'
import { createSseEncoder } from './encode-events.ts'
import { beforeFirst, isOver, streamRun } from './stream-events.ts'

const session = '0192f3a1-7b2c-7def-8abc-0123456789ab'

const runOf = (status: RunStatus, lastSeq: number | null): RunRecord => ({
  id: 'run',
  sessionId: session,
  owner: 'ada',
  agent: 'a',
  wireId: 'w',
  parentRunId: null,
  status,
  origin: 'reader',
  input: { messages: [], instructions: [], context: [], clientTools: [] },
  createdAt: 0,
  startedAt: 0,
  finishedAt: null,
  usage: [],
  error: null,
  cancelRequested: false,
  firstSeq: 2,
  lastSeq,
  fence: 1,
  leaseOwner: null,
})

const started: Entry = { seq: 2, runId: 'run', kind: 'event', data: '{"type":"RUN_STARTED"}' }
const finished: Entry = { seq: 3, runId: 'run', kind: 'event', data: '{"type":"RUN_FINISHED"}' }
const frame = ({ seq, data }: Entry) => `id: ${ulidOf(session)}.${seq}\ndata: ${data}\n\n`

/** Streams a run that shows these batches and then does `atEnd`; says what was written and logged. */
async function streamed(
  batches: Entry[][],
  {
    atEnd = () => {},
    status = 'running',
    write = () => undefined,
    signal = new AbortController().signal,
    handsOver = false,
    comesBack = false,
    isDeleted = false,
  }: {
    atEnd?: () => void
    status?: RunStatus
    write?: () => Promise<void> | undefined
    signal?: AbortSignal
    handsOver?: boolean
    comesBack?: boolean
    isDeleted?: boolean
  } = {},
) {
  const written: string[] = []
  const lines: LogLine[] = []
  const runs = {
    handsOver,
    async *follow() {
      yield* batches
      atEnd()
    },
    async get() {
      if (isDeleted) throw runNotFound('run')
      return runOf(status, batches.flat().at(-1)?.seq ?? null)
    },
  }
  const stream = {
    write(chunk: string | Uint8Array) {
      written.push(String(chunk))
      return write()
    },
    end() {},
    drop() {},
  }
  const reader = { stream, encoder: createSseEncoder('1.x'), signal, log: collectLines(lines) }
  await streamRun({ engine: { runs }, clock: { now: () => 5 }, comesBack }, runOf('running', null), 1, reader)
  return { written, lines }
}

const fail = (error: Error) => () => {
  throw error
}

describe('streaming a run', () => {
  test('writes once for what was committed together, and nothing behind the terminal event', async () => {
    expect(await streamed([[started, finished]])).toEqual({ written: [frame(started) + frame(finished)], lines: [] })
  })

  test('tells the reader of a run that was suspended how to go on', async () => {
    const { written } = await streamed([[started]])

    expect(written).toEqual([
      frame(started),
      `data: ${JSON.stringify({
        type: 'RUN_ERROR',
        message: `The server is stopping. The run continues after its restart: read GET /runs/run/events with the header Last-Event-ID: ${ulidOf(session)}.2.`,
        code: 'shutting_down',
        timestamp: 5,
      })}\n\n`,
    ])
  })

  test('ends without a word when another process goes on with the run and the reader comes back by itself', async () => {
    expect((await streamed([[started]], { handsOver: true, comesBack: true })).written).toEqual([frame(started)])
    expect((await streamed([[started]], { handsOver: true })).written).toHaveLength(2)
  })

  test('ends with an error when another process has deleted the run before its end could be shown', async () => {
    const { written } = await streamed([[started]], { handsOver: true, comesBack: true, isDeleted: true })

    expect(written[0]).toBe(frame(started))
    expect(written.slice(1).join()).toContain('"type":"RUN_ERROR","message":"There is no run')
  })

  test('adds nothing when the reader has seen all of a run that is over', async () => {
    const { written } = await streamed([[started]], { status: 'completed' })

    expect(written).toEqual([frame(started)])
  })

  test('ends with the error that the caller can act on', async () => {
    const { written } = await streamed([[started]], { atEnd: fail(new ServerError('events_gone', 'It is gone.')) })

    expect(written[1]).toBe('data: {"type":"RUN_ERROR","message":"It is gone.","code":"events_gone","timestamp":5}\n\n')
  })

  test('keeps the text of an unexpected error in the log', async () => {
    const error = new Error('password=hunter2')
    const { written, lines } = await streamed([[started]], { atEnd: fail(error) })

    expect(written[1]).toContain('"code":"internal_error"')
    expect(written.join()).not.toContain('hunter2')
    expect(lines).toEqual([{ level: 'error', message: 'a stream of events failed', error }])
  })

  test('stops when the reader has gone, and says nothing to nobody', async () => {
    const gone = await streamed([[started], [finished]], { write: () => Promise.reject(new Error('gone')) })
    expect(gone).toEqual({ written: [frame(started)], lines: [] })

    const left = await streamed([], { signal: AbortSignal.abort(), atEnd: fail(new Error('aborted')) })
    expect(left).toEqual({ written: [], lines: [] })
  })

  test('waits for a slow reader before it sends more', async () => {
    const order: string[] = []
    await streamed([[started], [finished]], {
      write: async () => {
        order.push('begin')
        await Promise.resolve()
        order.push('end')
      },
    })

    expect(order).toEqual(['begin', 'end', 'begin', 'end'])
  })
})

describe('where a run begins and ends', () => {
  test('is before its first event, and at the beginning when it has none', () => {
    expect(beforeFirst(runOf('running', null))).toBe(1)
    expect(beforeFirst({ ...runOf('queued', null), firstSeq: null })).toBe(0)
  })

  test.each([
    ['completed', 9, 9, true],
    ['completed', 9, 8, false],
    ['waiting', 9, 9, true],
    ['running', 9, 9, false],
    ['queued', null, 0, false],
    ['cancelled', null, 0, false],
  ] as const)('%s with its last entry at %s is over behind %d: %s', (status, lastSeq, after, over) => {
    expect(isOver(runOf(status, lastSeq), after)).toBe(over)
  })
})
