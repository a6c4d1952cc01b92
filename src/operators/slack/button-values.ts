// What a button carries. Slack hands it back with every press, and so could somebody who made it up: only a value that this server made
// is read.

import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a press means. Whoever reads it still has to compare it with the press: the room, the person and the time. */
export interface ButtonValue {
  /** The room that the button was posted to. */
  room: string
  /** Id of the record that is answered. */
  recordId: string
  /** What was shown beside the button; null: the record has no digest. */
  digest: string | null
  action: string
  /** Slack id of the only person who may press it; null: everybody who may answer. */
  user: string | null
  /** Epoch ms from which on it is void; null: as long as the record waits. */
  expiresAt: number | null
}

const MOST_CHARACTERS = 2_000
const VALUE = /^([\w-]{1,1900})\.([\w-]{43})$/

export function createButtonValues(secret: Uint8Array) {
  // The secret signs other things too. A key of its own makes sure that no other signature is a button.
  const key = createHmac('sha256', secret).update('quarterdeck slack button').digest()
  const macOf = (payload: string): Buffer => createHmac('sha256', key).update(payload).digest()
  return {
    /** At most 2,000 characters, as Slack demands. */
    value(of: Pick<ButtonValue, 'room' | 'recordId' | 'action'> & Partial<ButtonValue>): string {
      const { room, recordId, action, digest = null, user = null, expiresAt = null } = of
      const fields = [room, recordId, digest, action, user, expiresAt]
      const payload = Buffer.from(JSON.stringify(fields)).toString('base64url')
      const text = `${payload}.${macOf(payload).toString('base64url')}`
      if (!VALUE.test(text)) throw new RangeError('The value of a button would be too long for Slack.')
      return text
    },

    /** Null: it was not made with this secret, or it was changed. */
    read(text: string): ButtonValue | null {
      if (text.length > MOST_CHARACTERS) return null
      const [, payload = '', mac = ''] = VALUE.exec(text) ?? []
      if (payload === '' || !timingSafeEqual(Buffer.from(mac, 'base64url'), macOf(payload))) return null
      // The signature is ours, so the fields are as `value` wrote them.
      const [room, recordId, digest, action, user, expiresAt] = JSON.parse(Buffer.from(payload, 'base64url').toString())
      return { room, recordId, digest, action, user, expiresAt }
    },
  }
}

export type ButtonValues = ReturnType<typeof createButtonValues>
