// Keys in the URL of a file, for readers that cannot send a header, such as `<img src>`. A key is a signature over the file, its owner and
// an expiry time. Until then it lets the holder read this one file.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../domain/clock.ts'

export interface FileKeys {
  /** Valid for an hour. */
  sign(fileId: string, owner: string): string
  /** The owner that the key names. Null if the key is for another file, was changed or has expired. */
  ownerOf(fileId: string, key: string): string | null
}

interface FileKeysOptions {
  /** Called when the first key is made or checked. */
  secret: () => Uint8Array
  clock: Pick<Clock, 'now'>
}

const VALID_MS = 60 * 60 * 1000
/** The owner is encoded: a name of an identity provider may have dots and slashes. */
const KEY = /^([0-9a-z]{1,11})\.([\w-]{1,300})\.([\w-]{43})$/

export function createFileKeys({ secret, clock }: FileKeysOptions): FileKeys {
  const macOf = (fileId: string, owner: string, until: string): Buffer =>
    createHmac('sha256', secret())
      .update(JSON.stringify(['file', fileId, owner, until]))
      .digest()
  return {
    sign(fileId, owner) {
      const until = (clock.now() + VALID_MS).toString(36)
      const name = Buffer.from(owner).toString('base64url')
      return `${until}.${name}.${macOf(fileId, owner, until).toString('base64url')}`
    },
    ownerOf(fileId, key) {
      const [, until = '', name = '', mac = ''] = KEY.exec(key) ?? []
      const owner = Buffer.from(name, 'base64url').toString('utf8')
      if (until === '' || !timingSafeEqual(Buffer.from(mac, 'base64url'), macOf(fileId, owner, until))) return null
      return Number.parseInt(until, 36) > clock.now() ? owner : null
    },
  }
}
