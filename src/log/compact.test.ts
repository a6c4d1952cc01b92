import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../test/tier.ts'
import type { Entry } from '../domain/session/entry.ts'
import type { StoredEntry } from '../store/ports/journal.ts'
import { compactEntries, createCompactedReader, sliceCompacted } from './compact.ts'

type Event = { type: string } & Record<string, unknown>

const entry = (seq: number, event: Event): StoredEntry => ({
  seq,
  runId: 'run-1',
  kind: 'event',
  data: JSON.stringify(event),
})
const start = (seq: number, messageId = 'm') =>
  entry(seq, { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', timestamp: seq })
const text = (seq: number, delta: string, messageId = 'm') =>
  entry(seq, { type: 'TEXT_MESSAGE_CONTENT', messageId, delta, timestamp: seq })
const end = (seq: number, messageId = 'm') => entry(seq, { type: 'TEXT_MESSAGE_END', messageId, timestamp: seq })

describe('compactEntries', () => {
  test('puts the text of a message at its last delta, in the shape and with the time of that one', () => {
    const log = [start(1), text(2, 'Hel'), text(3, 'lo '), text(4, 'you'), end(5)]

    expect(compactEntries(log)).toEqual([
      log[0],
      {
        seq: 4,
        runId: 'run-1',
        kind: 'event',
        data: '{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hello you","timestamp":4}',
        spans: [
          [2, 3],
          [3, 3],
          [4, 3],
        ],
      },
      log[4],
    ])
  })

  test('joins only what follows without anything in between, so that a reader may come back anywhere', () => {
    const reasoning = (seq: number, delta: string) =>
      entry(seq, { type: 'REASONING_MESSAGE_CONTENT', messageId: 'm', delta })
    const args = (seq: number, delta: string, toolCallId = 'm') =>
      entry(seq, { type: 'TOOL_CALL_ARGS', toolCallId, delta })
    const fact: StoredEntry = { seq: 9, runId: 'run-2', kind: 'fact', data: '{"fact":"run_accepted"}' }
    const turns = [text(1, 'a'), args(2, '{"q":'), reasoning(3, 'x'), text(4, 'b'), args(5, '1}'), args(6, '{}', 'n')]
    const apart = [text(7, 'c'), text(8, 'd'), fact, text(10, 'e')]

    expect(compactEntries([...turns, ...apart])).toEqual([
      ...turns,
      {
        ...text(8, 'cd'),
        spans: [
          [7, 1],
          [8, 1],
        ],
      },
      fact,
      text(10, 'e'),
    ])
  })

  test('leaves a text within its own start and end when an id is used twice, and within its run', () => {
    const otherRun = { ...text(8, 'd'), runId: 'run-2' }
    const log = [start(1), text(2, 'a'), end(3), start(4), text(5, 'b'), end(6), text(7, 'c'), otherRun]

    expect(compactEntries(log)).toEqual(log)
  })

  test('touches neither facts nor other events nor a lone delta', () => {
    const fact: StoredEntry = { seq: 2, runId: 'run-1', kind: 'fact', data: '{"fact":"tool_intent","delta":"no"}' }
    const odd = entry(5, { type: 'TEXT_MESSAGE_CONTENT', messageId: 'n' })
    const log = [
      entry(1, { type: 'RUN_STARTED', threadId: 't', runId: 'r' }),
      fact,
      text(3, 'whole'),
      entry(4, { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: 1 }] }),
      odd,
      odd,
      entry(7, { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }),
    ]

    expect(compactEntries(log)).toEqual(log)
  })

  test('joins a character whose halves came in two deltas', () => {
    const [merged] = compactEntries([text(1, '\ud83d'), text(2, '\ude00')])

    expect(merged?.data).toBe('{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"😀","timestamp":2}')
  })

  test('gives the same log whatever part of it was compacted before', () => {
    fc.assert(
      fc.property(sampleLog(), fc.nat(), (log, n) => {
        const cut = n % (log.length + 1)
        const again = compactEntries([...compactEntries(log.slice(0, cut)), ...log.slice(cut)])
        expect(again).toEqual(compactEntries(log))
      }),
    )
  })
})

describe('sliceCompacted', () => {
  const [merged] = compactEntries([text(2, 'Hel'), text(5, 'lo '), text(9, 'you')])
  if (merged === undefined) throw new Error('the sample is broken')
  const plain = (delta: string): Entry => text(9, delta)

  test.each([
    [0, plain('Hello you')],
    [1, plain('Hello you')],
    [2, plain('lo you')],
    [4, plain('lo you')],
    [5, plain('you')],
    [8, plain('you')],
    [9, null],
    [100, null],
  ])('a reader that has seen everything up to %i gets the rest', (after, rest) => {
    expect(sliceCompacted(merged, after)).toEqual(rest)
  })

  test('gives an entry that is not compacted whole or not at all', () => {
    expect(sliceCompacted(text(4, 'abc'), 3)).toEqual(text(4, 'abc'))
    expect(sliceCompacted(text(4, 'abc'), 4)).toBe(null)
  })

  test('has nothing left where only empty deltas were not seen', () => {
    const [entry] = compactEntries([text(1, 'all'), text(2, '')])

    expect(entry === undefined ? undefined : sliceCompacted(entry, 1)).toBe(null)
  })

  test('a reader that stopped between the halves of a character gets the second half', () => {
    const [entry] = compactEntries([text(1, 'a\ud83d'), text(2, '\ude00b')])

    expect(entry === undefined ? undefined : sliceCompacted(entry, 1)).toEqual(text(2, '\ude00b'))
  })

  test('across the compaction a reader sees each character once, wherever it stopped', () => {
    fc.assert(
      fc.property(sampleLog(), fc.nat(), (log, n) => {
        const seen = log.slice(0, n % (log.length + 1))
        const after = seen.at(-1)?.seq ?? 0
        const rest = compactEntries(log).flatMap((entry) => sliceCompacted(entry, after) ?? [])

        expect(view([...seen, ...rest])).toEqual(view(log))
      }),
    )
  })
})

describe('createCompactedReader', () => {
  test('shows each character once to a reader that left in the middle of a compacted log', () => {
    fc.assert(
      fc.property(sampleLog(), fc.nat(), (log, n) => {
        const compacted = compactEntries(log)
        const seen = compacted.slice(0, n % (compacted.length + 1))
        const after = seen.at(-1)?.seq ?? 0
        const rest = createCompactedReader(after)(compacted.filter(({ seq }) => seq > after))

        expect(view([...seen, ...rest])).toEqual(view(log))
      }),
    )
  })

  test('hands on a page without compacted entries as it is', () => {
    const page = [start(1), text(2, 'a')]

    expect(createCompactedReader(0)(page)).toBe(page)
  })

  test('shows each character once, whatever the pages and whenever the session is compacted between them', () => {
    fc.assert(
      fc.property(
        sampleLog(),
        fc.nat(),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        fc.nat({ max: 12 }),
        (log, n, sizes, compactedAt) => {
          const seen = log.slice(0, n % (log.length + 1))
          let position = seen.at(-1)?.seq ?? 0
          const read = createCompactedReader(position)
          const shown: Entry[] = [...seen]
          for (let page = 0; ; page += 1) {
            const stored = page < compactedAt ? log : compactEntries(log)
            const entries = stored.filter(({ seq }) => seq > position).slice(0, sizes[page % sizes.length])
            if (entries.length === 0) break
            shown.push(...read(entries))
            position = entries.at(-1)?.seq ?? position
          }

          expect(view(shown)).toEqual(view(log))
        },
      ),
      { numRuns: runs(500) },
    )
  })
})

/** What a person sees of a log: the texts, and the other events in order. */
function view(entries: readonly Entry[]): { texts: Record<string, string>; others: string[] } {
  const texts: Record<string, string> = {}
  const others: string[] = []
  for (const { runId, data } of entries) {
    const event: Event = JSON.parse(data)
    const { type, messageId, toolCallId, delta } = event
    if (typeof delta !== 'string') others.push(data)
    else {
      const name = `${runId} ${type} ${messageId ?? toolCallId}`
      texts[name] = (texts[name] ?? '') + delta
    }
  }
  return { texts, others }
}

/** Runs that end, one after the other, each with texts that take turns and break anywhere, also inside a character. */
function sampleLog(): fc.Arbitrary<StoredEntry[]> {
  const streams = [
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'b' },
    { type: 'REASONING_MESSAGE_CONTENT', messageId: 'a' },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'a' },
  ]
  const delta = fc.tuple(
    fc.constantFrom(...streams),
    fc.string({ unit: fc.constantFrom('a', '"', '\n', 'é', '😀'), maxLength: 4 }),
    fc.nat(),
  )
  const other = fc.constant({ type: 'CUSTOM', name: 'n', value: 1 })
  // Recovery goes on behind the reserved block, so a seq may be far from the one before it.
  const gap = fc.constantFrom(1, 1, 1, 1, 1_000)
  const run = fc.array(fc.tuple(fc.oneof({ weight: 5, arbitrary: delta }, other), gap), { maxLength: 20 })
  return fc.array(run, { maxLength: 3 }).map((runs) => {
    const entries: StoredEntry[] = []
    let seq = 0
    const add = (runId: string, event: object, step = 1) => {
      seq += step
      entries.push({ seq, runId, kind: 'event', data: JSON.stringify(event) })
    }
    runs.forEach((events, i) => {
      add(`run-${i}`, { type: 'RUN_STARTED' })
      for (const [event, step] of events) {
        if (!Array.isArray(event)) add(`run-${i}`, event, step)
        else {
          const [stream, whole, cut] = event
          const at = cut % (whole.length + 1)
          add(`run-${i}`, { ...stream, delta: whole.slice(0, at), timestamp: seq }, step)
          add(`run-${i}`, { ...stream, delta: whole.slice(at), timestamp: seq })
        }
      }
      add(`run-${i}`, { type: 'RUN_FINISHED' })
    })
    return entries
  })
}
