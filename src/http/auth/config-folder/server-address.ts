// The address of the server of a data directory, for commands that send it the operator's token. It is stored beside the tokens, because
// whoever can change it would receive the token. A guessed port could belong to somebody else.

import { z } from 'zod'
import type { Logger } from '../../../domain/logger.ts'
import { type ConfigFileOptions, createConfigFile } from './config-file.ts'

const ContentSchema = z.object({ url: z.url({ protocol: /^https?$/ }) })

export function createServerAddress(options: ConfigFileOptions) {
  const file = createConfigFile('server', options)
  return {
    /** Null if no server wrote its address, or if the file cannot be trusted. Means nothing while nobody holds the lock of the data directory. */
    read(): string | null {
      try {
        const text = file.read({ maxBytes: 10_000, refuse: (why, cause) => new Error(why, { cause }) })
        return text === null ? null : ContentSchema.parse(JSON.parse(text)).url
      } catch {
        // A file that cannot be trusted counts as missing.
        return null
      }
    },
    /** Only the holder of the lock may call it, and `forget`. If it cannot be stored, people have to give the address themselves. */
    tell(url: string, log: Logger): void {
      try {
        file.write(`${JSON.stringify({ data_dir: file.dataDir, url })}\n`)
      } catch (error) {
        log.debug('the config folder cannot be written', { error })
      }
    },
    forget(): void {
      try {
        file.remove()
      } catch {
        // A folder that this user may not change has nothing of ours.
      }
    },
  }
}

/** The URL that reaches a server on `host` from this machine. */
export function localUrl(scheme: 'http' | 'https', host: string, port: number): string {
  const anywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
  const name = anywhere[host] ?? host
  return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}`
}
