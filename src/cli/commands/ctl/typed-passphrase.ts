import { findConfigDir } from '../../../config/config-dir.ts'
import { createPassphrase, type PassphraseOptions } from '../../../http/auth/passphrase/passphrase.ts'
import { makeFolder } from '../../../store/make-folder.ts'
import type { Io } from '../../terminal/io.ts'
import { setPassphrase } from './set-passphrase.ts'
import { typedSecrets } from './typed-secret.ts'

/** The operator's passphrase, as a person types it. */
export interface TypedPassphrase {
  /** The one that was typed in the last minutes, or null. */
  kept(): string | null
  /** Asks for it. Where none is set, this is its first use: the person chooses one, twice. Throws `CliError`. */
  ask(): Promise<string>
  forget(): void
  /** Whether a person can be asked again. */
  readonly canRepeat: boolean
}

/** As long as sudo keeps a password. A person who decides about ten things in a row types it once. */
const KEPT_MS = 5 * 60_000

interface Options {
  dataDir: string
  passphraseFd?: string
  /** For tests. */
  cost?: PassphraseOptions['cost']
}

export function createTypedPassphrase({ dataDir, passphraseFd, cost }: Options, io: Io): TypedPassphrase {
  const fd = passphraseFd === undefined ? {} : { passphraseFd }
  let kept: { text: string; at: number } | null = null
  const keep = (text: string): string => {
    kept = { text, at: io.clock.mono() }
    return text
  }

  return {
    kept: () => (kept !== null && io.clock.mono() - kept.at < KEPT_MS ? kept.text : null),
    async ask() {
      const configDir = findConfigDir(io.env, process.platform)
      if (!createPassphrase({ configDir, dataDir, makeFolder, clock: io.clock }).isSet()) {
        io.stderr.write('Decisions at this machine need a passphrase, and there is none yet. Choose one now.\n')
        return keep(await setPassphrase({ dataDir, ...fd, ...(cost === undefined ? {} : { cost }) }, io))
      }
      const [text = ''] = await typedSecrets(['Passphrase: '], { fd: passphraseFd, flag: '--passphrase-fd' }, io)
      return keep(text)
    },
    forget() {
      kept = null
    },
    canRepeat: passphraseFd === undefined,
  }
}
