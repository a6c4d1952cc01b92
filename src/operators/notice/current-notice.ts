// What a delivery has to show now. The record may have changed since the item was made, so only its present state counts.

import { isWaiting } from '../../domain/records/record.ts'
import type { Delivery } from '../../domain/supervision/delivery.ts'
import { sha256 } from '../../json/digest.ts'
import type { ConsoleLink } from '../console-link.ts'
import type { OperatorDesk } from '../operator.ts'
import { type Notice, noticeOf, sessionNotice, summaryOf } from './notice.ts'

export interface Reader {
  /** Name of the channel, under which it is noted what was shown. */
  channel: string
  /** Name of the operator. */
  person: string
  find: OperatorDesk['find']
  link: ConsoleLink
}

interface CurrentNotice {
  notice: Notice
  /** What the channel noted when it showed the record before; null: it has not. */
  ref: string | null
  /** Stands for the text. A channel ends its note with it, so that the same text is not shown again. */
  mark: string
}

/** Null: nothing is to be shown. It is over and was never shown, or it is shown already as it is. */
export async function currentNotice(
  { n, item, count }: Delivery,
  { channel, person, find, link }: Reader,
): Promise<CurrentNotice | null> {
  if (item === null) return current(summaryOf(count, { n, link }), null)
  if (item.kind === 'session') return current(sessionNotice(item, link), null)
  const wait = await find(item)
  if (wait === null) return null
  const ref = wait.messageRefs[channel] ?? null
  if (ref === null && !isWaiting(wait)) return null
  const found = current(noticeOf(wait, { reader: person, link }), ref)
  return ref?.endsWith(found.mark) === true ? null : found
}

const current = (notice: Notice, ref: string | null): CurrentNotice => ({
  notice,
  ref,
  mark: sha256(JSON.stringify([notice.title, notice.body])).slice(0, 16),
})
