// Addresses of files that a page can show without sending headers.

import { isLoopback } from '../../../domain/is-loopback.ts'
import type { FileKeys } from '../../../http/auth/file-keys.ts'
import type { Request } from '../../../http/route.ts'
import { isEncrypted } from '../../../http/server/target.ts'

export interface FileLinks {
  /**
   * Makes addresses of files of this owner. Each is valid for an hour, for everybody who has it. Absolute, because the page may come
   * from another origin.
   */
  urlsFor(request: Asked, owner: string): Promise<FileUrl>
}

export type FileUrl = (fileId: string) => string

type Asked = Pick<Request, 'raw' | 'header'>

export interface FileLinksOptions {
  keys: Pick<FileKeys, 'signer'>
  /** Prefix of every path. */
  basePath: string
}

export function createFileLinks({ keys, basePath }: FileLinksOptions): FileLinks {
  return {
    async urlsFor(request, owner) {
      const keyOf = await keys.signer(owner)
      return (fileId) => `${originOf(request)}${basePath}/files/${fileId}?key=${keyOf(fileId)}`
    },
  }
}

/** The guard has checked the host. Old clients send none; then the address is a path. */
function originOf(request: Asked): string {
  const host = request.header('host')
  if (host === undefined) return ''
  const isTls = isEncrypted(request.raw.socket) || isBehindTls(host, request.header('origin'))
  return `${isTls ? 'https' : 'http'}://${host}`
}

/** A page over https can reach another machine only over https, so a proxy in front of us handles TLS. */
const isBehindTls = (host: string, origin = ''): boolean =>
  /^https:/i.test(origin) && !isLoopback(host.replace(/:\d+$/, ''))

const OWN_FILE = /\/files\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\?key=/i

/** The id in an address that we made; null for other addresses. The sender must still own the file. */
export const fileIdIn = (url: string): string | null => OWN_FILE.exec(url)?.[1] ?? null
