import { ServerError } from '../../../domain/errors.ts'

/** The AG-UI version that a client can read. `0.x` clients reject some shapes of 1.0; see `downgrade.ts`. */
export type Reader = '0.x' | '1.x'

/**
 * The reader for an input's `protocolVersion`. Absent means 0.x. A newer minor version or an unreadable value means 1.x, as the
 * specification asks. Another major version is refused before the run.
 */
export function readerOf(protocolVersion: string | undefined): Reader {
  if (protocolVersion === undefined) return '0.x'
  const major = /^(\d{1,9})\.\d{1,9}$/.exec(protocolVersion)?.[1]
  if (major === undefined || Number(major) === 1) return '1.x'
  if (Number(major) === 0) return '0.x'
  const detail = 'This server speaks AG-UI 1.0 and reads 0.x; send "1.0" or leave it out.'
  throw new ServerError('invalid_request', `AG-UI ${protocolVersion} is not supported. ${detail}`, {
    problems: [{ pointer: '/protocolVersion', detail }],
  })
}
