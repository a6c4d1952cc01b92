import { readFileSync } from 'node:fs'
import { ServerError } from '../../domain/errors.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'

/** A certificate, followed by its intermediate certificates, and its private key. Both are PEM text. */
export interface TlsPair {
  cert: string
  key: string
}

/** Reads the two files. Throws `config_invalid` if one cannot be read or they do not belong together. */
export function readTlsPair(paths: TlsPair): TlsPair {
  const pair = { cert: read('tls.cert', paths.cert), key: read('tls.key', paths.key) }
  try {
    process.getBuiltinModule('node:tls').createSecureContext(pair)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ServerError(
      'config_invalid',
      `tls.cert ${paths.cert} and tls.key ${paths.key} cannot be used together: ${reason}. ` +
        'Both must be PEM files, and the key must belong to the certificate.',
      { details: { ...paths }, cause },
    )
  }
  return pair
}

function read(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const reason = systemErrorCode(cause) || 'unknown'
    throw new ServerError(
      'config_invalid',
      `${setting}: ${path} cannot be read (${reason}). Give the path of a PEM file.`,
      {
        details: { setting, path, reason },
        cause,
      },
    )
  }
}
