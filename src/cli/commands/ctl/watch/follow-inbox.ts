import { ClientError, jsonObject } from '../../../../client/client-error.ts'
import type { SseMessage } from '../../../../client/read-sse.ts'
import { resumingStream } from '../../../../client/resuming-stream.ts'
import type { CtlServer } from '../ctl-server.ts'
import { allWaiting } from '../find-by-prefix.ts'
import type { ShownRecord } from '../records.ts'

/** The server sends something at least every 15 s. */
const SILENCE_MS = 45_000

/**
 * Yields what waits, now and whenever it changes, until the signal aborts. A server that goes away is waited for: `onAway` hears of each
 * try. Throws what the server refuses.
 */
export async function* followInbox(
  server: Pick<CtlServer, 'get' | 'patientConnection'>,
  signal: AbortSignal,
  onAway: () => void,
): AsyncGenerator<readonly ShownRecord[]> {
  const connection = server.patientConnection(onAway)
  const patient = {
    get: (path: string): Promise<unknown> =>
      connection.patiently({ method: 'GET', path, signal }, (response) => response.json()),
  }
  let { items, cursor } = await allWaiting(server)
  yield items
  while (!signal.aborted) {
    const stream = resumingStream({
      connection,
      open: (lastId) =>
        connection.once({
          method: 'GET',
          path: '/inbox/events',
          headers: { Accept: 'text/event-stream', 'Last-Event-ID': lastId ?? cursor },
          signal,
        }),
      after: cursor,
      kindOf: (message) => (typeOf(message) === 'error' ? 'away' : 'message'),
      signal,
      silenceMs: SILENCE_MS,
    })
    try {
      // Also after the first message, which only says that the stream is open: something may have changed while nobody was connected.
      for await (const _ of stream) yield (await allWaiting(patient)).items
    } catch (error) {
      if (signal.aborted) return
      // The server has forgotten what came after the cursor, so the list is read anew.
      if (!(error instanceof ClientError) || error.code !== 'events_gone') throw error
    }
    ;({ items, cursor } = await allWaiting(patient))
    yield items
  }
}

const typeOf = ({ data }: SseMessage): unknown => jsonObject(data)?.type
