// Sends the events of a run to one reader, in the words of a protocol. `streamRun` does the loop, the end and the flow control.

import type { Entry, Fact } from '../../../domain/session/entry.ts'
import {
  isTerminalText,
  plainTextEvent,
  type RunEvent,
  type RunEventType,
  type TerminalEvent,
  typeOfEventText,
} from '../../../domain/session/event.ts'
import type { RunRecord } from '../../../domain/session/run.ts'
import { isOfSubagent } from '../../../domain/session/run-answer.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { StoredEntry } from '../../../engine/ports/sessions.ts'
import { type SseEvent, sseFrame } from '../../../http/sse.ts'
import { beforeFirst, type EventReader, type StreamDeps, streamRun } from '../events/stream-events.ts'

/** Encodes the events of one run in the words of a protocol. It may keep state, because it gets every event once and in order. */
export interface AnswerEncoder {
  /** The events that it encodes; it gets no others. */
  readonly reads: ReadonlySet<RunEventType>
  /** It also gets what sub-agents do. */
  readonly readsSubagents?: true
  /** A RUN_ERROR may also be made for this reader only, when the server stops or the stream breaks. */
  encode(event: RunEvent): Omit<SseEvent, 'id'>[]
  /** For protocols that show facts too. */
  encodeFact?(fact: Fact): Omit<SseEvent, 'id'>[]
  /** Awaited before the end of a run is encoded, to look up what the events do not say. */
  beforeEnd?(terminal: TerminalEvent): Promise<void>
}

export interface StreamAnswerDeps extends StreamDeps {
  engine: Pick<Engine, 'runs' | 'sessions'>
}

/** What a reader gets: the events of one run, unless the protocol shows more. */
export interface AnswerSource {
  /** What the reader has already seen, for the state of the encoder. */
  seen(): AsyncIterable<Entry>
  follow: Engine['runs']['follow']
}

const PAGE = 1_000
const PAGE_CHARS = 256 * 1024

/**
 * Sends the events of a run after `after`, then live, up to its terminal event. For its state, the encoder first gets the events that
 * the reader has already seen. Resolves at the end, or when the reader is gone; never rejects. The caller ends the stream.
 */
export async function streamAnswer(
  { engine, clock }: StreamAnswerDeps,
  run: RunRecord,
  after: number,
  { stream, signal, log }: Omit<EventReader, 'encoder'>,
  encoder: AnswerEncoder,
  source: AnswerSource = {
    seen: () => entriesUpTo(engine, [run], after),
    follow: (target, until) => engine.runs.follow(target, until),
  },
): Promise<void> {
  async function* follow(...[target, until]: Parameters<Engine['runs']['follow']>) {
    for await (const entry of source.seen()) {
      await prepareEncoder(encoder, [entry])
      encodeEntry(encoder, entry)
    }
    for await (const batch of source.follow(target, until)) {
      if (encoder.beforeEnd !== undefined) await prepareEncoder(encoder, batch)
      yield batch
    }
  }

  const reader = {
    stream,
    signal,
    log,
    encoder: {
      entries(batch: readonly Entry[], sessionUlid: string) {
        let chunk = ''
        for (const entry of batch) {
          const events = encodeEntry(encoder, entry)
          // Only the last event has the id, so that a reader that resumes after it has seen the whole entry.
          const last = events.pop()
          if (last === undefined) continue
          for (const event of events) chunk += sseFrame(event)
          // There is one per token, and our ids do not need the checks of `sseFrame`.
          chunk += `id: ${sessionUlid}.${entry.seq}\n${sseFrame(last)}`
        }
        return chunk === '' ? null : chunk
      },
      events: (events: readonly RunEvent[]) => events.flatMap((event) => encoder.encode(event).map(sseFrame)).join(''),
    },
  }
  await streamRun({ engine, clock, comesBack: false }, run, after, reader, follow)
}

/** Await it before these entries are encoded. */
export async function prepareEncoder(encoder: AnswerEncoder, entries: readonly Entry[]): Promise<void> {
  if (encoder.beforeEnd === undefined) return
  for (const { kind, data } of entries) {
    if (kind === 'event' && isTerminalText(data)) await encoder.beforeEnd(JSON.parse(data))
  }
}

export function encodeEntry(encoder: AnswerEncoder, { kind, data }: Entry): Omit<SseEvent, 'id'>[] {
  if (kind === 'fact') return encoder.encodeFact?.(JSON.parse(data)) ?? []
  const text = plainTextEvent(data)
  if (text !== null) return encoder.reads.has(text.type) ? encoder.encode(text) : []
  if (!encoder.reads.has(typeOfEventText(data))) return []
  const event: RunEvent = JSON.parse(data)
  return isOfSubagent(event) && encoder.readsSubagents !== true ? [] : encoder.encode(event)
}

/** The entries of these runs up to `after`. Of a compacted entry, only the part up to `after`. */
export async function* entriesUpTo(
  engine: Pick<Engine, 'sessions'>,
  runs: readonly [RunRecord, ...RunRecord[]],
  after: number,
): AsyncGenerator<Entry> {
  const [first] = runs
  const ids: ReadonlySet<string | null> = new Set(runs.map(({ id }) => id))
  let position = beforeFirst(first)
  while (position < after) {
    const page = await engine.sessions.entries(first.sessionId, position, PAGE, PAGE_CHARS)
    if (page.length === 0) return
    for (const entry of page) {
      // A compacted entry has the seq of its last part, and begins at that of its first.
      if ((entry.spans?.[0]?.[0] ?? entry.seq) > after) return
      if (ids.has(entry.runId)) yield seenOf(entry, after)
      position = entry.seq
    }
  }
}

function seenOf(entry: StoredEntry, after: number): Entry {
  if (entry.spans === undefined || entry.seq <= after) return entry
  const seen = entry.spans.reduce((sum, [seq, length]) => (seq <= after ? sum + length : sum), 0)
  const event: { delta: string } = JSON.parse(entry.data)
  return { ...entry, data: JSON.stringify({ ...event, delta: event.delta.slice(0, seen) }) }
}
