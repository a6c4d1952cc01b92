// A run's events to one reader in the words of a door. The loop, its end in every case and the pace are `streamRun`'s.

import type { Entry } from '../../domain/entry.ts'
import { type RunEvent, type RunEventType, typeOfEventText } from '../../domain/event.ts'
import type { Logger } from '../../domain/logger.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { Engine, StoredEntry } from '../../engine/engine.ts'
import type { ByteStream } from '../../http/route.ts'
import { type SseEvent, sseFrame } from '../../http/sse.ts'
import { beforeFirst, type StreamDeps, streamRun } from '../ag-ui-wire/stream-run.ts'
import { failedResults, resultIdsIn } from './failed-results.ts'

/** A door's words for the events of one run; it may keep state, for it is shown each event of the run once and in order. */
export interface AnswerEncoder {
  /** The events it has words for; it is shown no others. */
  readonly reads: ReadonlySet<RunEventType>
  /**
   * `isFailed` tells of a TOOL_CALL_RESULT's message whether it is an error. A RUN_ERROR may also be made for this reader
   * alone, when the server stops or the stream breaks.
   */
  encode(event: RunEvent, isFailed: (messageId: string) => boolean): Omit<SseEvent, 'id'>[]
}

export interface AnswerReader {
  stream: ByteStream
  signal: AbortSignal
  log: Logger
}

export interface StreamAnswerDeps extends StreamDeps {
  engine: Pick<Engine, 'follow' | 'getRun' | 'entries' | 'knownMessages'>
}

const PAGE = 1_000

/**
 * Sends the run's events after `after`, then live, to its terminal event. An encoder that is resumed is first shown, for its
 * state, what the reader has seen. Resolves when all is said or the reader has gone; never rejects. The caller ends the stream.
 */
export async function streamAnswer(
  { engine, clock }: StreamAnswerDeps,
  run: RunRecord,
  after: number,
  { stream, signal, log }: AnswerReader,
  encoder: AnswerEncoder,
): Promise<void> {
  const failed = new Set<string>()
  const isFailed = (messageId: string) => failed.has(messageId)

  function encode({ kind, data }: Entry): Omit<SseEvent, 'id'>[] {
    if (kind !== 'event' || !encoder.reads.has(typeOfEventText(data))) return []
    return encoder.encode(JSON.parse(data), isFailed)
  }

  /** Asked before the batch is encoded: a result and its message were committed together. */
  async function noteFailed(batch: readonly Entry[]): Promise<void> {
    const ids = resultIdsIn(batch)
    if (ids.length === 0) return
    for (const id of await failedResults(engine, run.sessionId, ids)) failed.add(id)
  }

  async function* follow(...[target, until]: Parameters<Engine['follow']>) {
    for await (const seen of entriesUpTo(engine, run, after)) {
      await noteFailed([seen])
      encode(seen)
    }
    for await (const batch of engine.follow(target, until)) {
      await noteFailed(batch)
      yield batch
    }
  }

  await streamRun({ engine: { follow, getRun: (owner, id) => engine.getRun(owner, id) }, clock }, run, after, {
    stream,
    signal,
    log,
    encoder: {
      entries(batch, sessionUlid) {
        let chunk = ''
        for (const entry of batch) {
          const events = encode(entry)
          // Only the last carries the id: a reader that comes back behind it must have seen all of the entry.
          const last = events.pop()
          if (last === undefined) continue
          for (const event of events) chunk += sseFrame(event)
          // An id of ours needs none of `sseFrame`'s checks, and there is one per token.
          chunk += `id: ${sessionUlid}.${entry.seq}\n${sseFrame(last)}`
        }
        return chunk === '' ? null : chunk
      },
      events: (events) => events.flatMap((event) => encoder.encode(event, isFailed).map(sseFrame)).join(''),
    },
  })
}

/** What a reader that came up to `after` has seen of the run; of a compacted entry, the part that it has seen. */
async function* entriesUpTo(engine: Pick<Engine, 'entries'>, run: RunRecord, after: number): AsyncGenerator<Entry> {
  let position = beforeFirst(run)
  while (position < after) {
    const page = await engine.entries(run.sessionId, position, PAGE)
    if (page.length === 0) return
    for (const entry of page) {
      // A compacted entry stands at its last seq, and begins at its first.
      if ((entry.spans?.[0]?.[0] ?? entry.seq) > after) return
      if (entry.runId === run.id) yield seenOf(entry, after)
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
