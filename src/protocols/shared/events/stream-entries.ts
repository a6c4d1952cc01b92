import type { Entry } from '../../../domain/entry.ts'
import { isTerminalText } from '../../../domain/event.ts'
import { ulidOf } from '../../../domain/ids.ts'
import type { EventReader } from './open-event-stream.ts'

export interface Streamed {
  /** False once the reader has gone: there is nobody left to say anything to. */
  reading: boolean
  /** Whether the last event that was sent is in the middle of a run. */
  inRun: boolean
  lastSeq: number
}

/** Sends what comes, one write for what was committed together, at the reader's pace. Throws only what `source` throws. */
export async function streamEntries(
  source: AsyncIterable<readonly Entry[]>,
  sessionId: string,
  { stream, encoder }: EventReader,
  from: { lastSeq: number; inRun: boolean },
): Promise<Streamed> {
  const session = ulidOf(sessionId)
  let { lastSeq, inRun } = from

  /** By itself, so that the text of a large batch is not kept while the next one is waited for. */
  function send(batch: readonly Entry[]): Promise<void> | undefined {
    const chunk = encoder.entries(batch, session)
    if (chunk === null) return undefined
    const last = batch.findLast(({ kind }) => kind === 'event')
    if (last !== undefined) {
      lastSeq = last.seq
      inRun = !isTerminalText(last.data)
    }
    return stream.write(chunk)
  }

  for await (const batch of source) {
    const blocked = send(batch)
    if (blocked !== undefined && !(await drained(blocked))) return { reading: false, inRun, lastSeq }
  }
  return { reading: true, inRun, lastSeq }
}

const drained = (blocked: Promise<void>): Promise<boolean> =>
  blocked.then(
    () => true,
    () => false,
  )
