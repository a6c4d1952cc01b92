// The part of the package that tests use. It comes without types.

declare module 'http_ece' {
  import type { ECDH } from 'node:crypto'

  export function decrypt(body: Buffer, options: { version: 'aes128gcm'; privateKey: ECDH; authSecret: string }): Buffer
}
