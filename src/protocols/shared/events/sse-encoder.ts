import { sseFrame } from '../../../http/sse.ts'
import { downgrade, downgradeEvent } from './downgrade.ts'
import type { EventEncoder } from './encoder.ts'
import type { Reader } from './protocol-version.ts'

/**
 * Server-sent events. A 1.x reader gets the stored text byte by byte.
 *
 * Entries are framed here and not by `sseFrame`: this is the hot path, and its checks cannot fail for an id of ours and for
 * stored JSON text, which never holds a raw line break.
 */
export function createSseEncoder(reader: Reader): EventEncoder {
  const old = reader === '0.x'
  return {
    entries(batch, sessionUlid) {
      let chunk = ''
      for (const { seq, kind, data } of batch) {
        if (kind === 'event') chunk += `id: ${sessionUlid}.${seq}\ndata: ${old ? downgrade(data) : data}\n\n`
      }
      return chunk === '' ? null : chunk
    },
    events: (events) =>
      events.map((event) => sseFrame({ data: JSON.stringify(old ? downgradeEvent(event) : event) })).join(''),
  }
}
