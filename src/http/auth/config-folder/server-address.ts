// Where the server of a data directory listens, for the commands of its user that send it the operator's token. It lies beside the
// tokens: whoever could change it would be sent the token. A port that is only guessed may be somebody else's.

import { z } from 'zod'
import type { Logger } from '../../../domain/logger.ts'
import { type ConfigFileOptions, createConfigFile } from './config-file.ts'

export interface ServerAddress {
  /** Null when no server has told, or what is there cannot be trusted. It says nothing while nobody holds the lock of the data directory. */
  read(): string | null
  /** Only for whoever holds the lock, as is `forget`. Where it cannot be kept, people have to name the address themselves. */
  tell(url: string, log: Logger): void
  forget(): void
}

const ContentSchema = z.object({ url: z.url({ protocol: /^https?$/ }) })

export function createServerAddress(options: ConfigFileOptions): ServerAddress {
  const file = createConfigFile('server', options)
  return {
    read() {
      try {
        const text = file.read({ maxBytes: 10_000, refuse: (why, cause) => new Error(why, { cause }) })
        return text === null ? null : ContentSchema.parse(JSON.parse(text)).url
      } catch {
        // What cannot be trusted says nothing.
        return null
      }
    },
    tell(url, log) {
      try {
        file.write(`${JSON.stringify({ data_dir: file.dataDir, url })}\n`)
      } catch (error) {
        log.debug('the config folder cannot be written', { error })
      }
    },
    forget() {
      try {
        file.remove()
      } catch {
        // A folder that this user may not change holds nothing of ours.
      }
    },
  }
}

/** The address on this machine of a server that listens on `host`. */
export function localUrl(scheme: 'http' | 'https', host: string, port: number): string {
  const anywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
  const name = anywhere[host] ?? host
  return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}`
}
