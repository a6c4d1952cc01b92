// Keys in the URL of a file, for readers that cannot send a header, such as `<img src>`. A key is a signature over the file, its owner and
// an expiry time. Until then it lets the holder read this one file.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../domain/clock.ts'

export interface FileKeys {
  /** Makes keys for files of this owner. Each is valid for an hour. */
  signer(owner: string): Promise<(fileId: string) => string>
  /** The owner that the key names. Null if the key is for another file, was changed or has expired. */
  ownerOf(fileId: string, key: string): Promise<string | null>
}

interface FileKeysOptions {
  /** Called when the first key is made or checked. */
  secret: () => Promise<Uint8Array>
  clock: Pick<Clock, 'now'>
}

const VALID_MS = 60 * 60 * 1000
/** The owner is encoded: a name of an identity provider may have dots and slashes. */
const KEY = /^([0-9a-z]{1,11})\.([\w-]{1,300})\.([\w-]{43})$/

export function createFileKeys({ secret, clock }: FileKeysOptions): FileKeys {
  const macOf = (key: Uint8Array, fileId: string, owner: string, until: string): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify(['file', fileId, owner, until]))
      .digest()
  return {
    async signer(owner) {
      const own = await secret()
      const name = Buffer.from(owner).toString('base64url')
      return (fileId) => {
        const until = (clock.now() + VALID_MS).toString(36)
        return `${until}.${name}.${macOf(own, fileId, owner, until).toString('base64url')}`
      }
    },
    async ownerOf(fileId, key) {
      const [, until = '', name = '', mac = ''] = KEY.exec(key) ?? []
      const owner = Buffer.from(name, 'base64url').toString('utf8')
      if (until === '') return null
      const right = macOf(await secret(), fileId, owner, until)
      if (!timingSafeEqual(Buffer.from(mac, 'base64url'), right)) return null
      return Number.parseInt(until, 36) > clock.now() ? owner : null
    },
  }
}
