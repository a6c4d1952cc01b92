import { existsSync, fstatSync, readSync } from 'node:fs'
import { isatty } from 'node:tty'
import { findConfigDir } from '../../../config/config-dir.ts'
import { didYouMean } from '../../../domain/text/did-you-mean.ts'
import { createPassphrase } from '../../../http/auth/passphrase/passphrase.ts'
import { credentialNames, credentialProblem, credentialVariable } from '../../../operators/credentials/credentials.ts'
import { createKeychain, type Keychain } from '../../../operators/credentials/keychain.ts'
import { makeFolder } from '../../../store/make-folder.ts'
import { failure, usageError } from '../../cli-error.ts'
import type { Io } from '../../terminal/io.ts'
import { askSecret } from '../../terminal/terminal-prompt.ts'
import { ctlPlace } from './ctl-place.ts'

interface SecretSource {
  /** Number of an open file descriptor, from a flag; for tests and for programs that are trusted with a secret. */
  fd: string | undefined
  flag: string
}

const MAX_BYTES = 4_096

/**
 * Reads secrets that a person types at the terminal, one for each label. Never from an argument, the environment or standard input: an
 * agent that starts the command could give those. Throws `CliError` if there is no terminal.
 */
async function typedSecrets(labels: readonly string[], { fd, flag }: SecretSource, io: Io): Promise<string[]> {
  if (fd !== undefined) return fromDescriptor(fd, flag, labels.length)
  const typed: string[] = []
  for (const label of labels) {
    const text = await askSecret(label, io)
    if (text === null) {
      const hasTerminal = io.stdin.isTTY === true && io.stderr.isTTY === true
      throw failure(hasTerminal ? 'Nothing was typed.' : 'This has to be typed at a terminal, and there is none.')
    }
    typed.push(text)
  }
  return typed
}

function fromDescriptor(text: string, flag: string, count: number): string[] {
  const refuse = (why: string): never => {
    throw usageError(`${flag} ${text}: ${why}`)
  }
  const fd = /^\d{1,6}$/.test(text) ? Number(text) : refuse('expected the number of an open file descriptor.')
  if (fd <= 2) refuse('expected a number above 2; a passphrase does not come through standard input.')
  try {
    fstatSync(fd)
  } catch {
    refuse('this file descriptor is not open.')
  }
  if (isatty(fd)) refuse('this is a terminal. Leave the flag out, and you will be asked.')
  const lines = readAll(fd).split(/\r?\n/)
  const found = lines.slice(0, count).map((line) => line.trim())
  if (found.length < count || found.includes(''))
    refuse(`expected ${count === 1 ? 'one line' : `${count} lines`} of text.`)
  return found
}

function readAll(fd: number): string {
  const bytes = Buffer.alloc(MAX_BYTES)
  let size = 0
  while (size < MAX_BYTES) {
    const read = readSync(fd, bytes, size, MAX_BYTES - size, null)
    if (read === 0) break
    size += read
  }
  return bytes.toString('utf8', 0, size)
}

interface PassphrasePlace {
  dataDir?: string | undefined
  /** The file descriptor that it is read from, in place of the terminal. */
  passphraseFd?: string | undefined
}

/** Gives the new passphrase back. */
export async function setPassphrase({ dataDir: flag, passphraseFd }: PassphrasePlace, io: Io): Promise<string> {
  const { dataDir } = await ctlPlace({ dataDir: flag }, io)
  if (!existsSync(dataDir)) {
    throw usageError(`There is no data of Quarterdeck in ${dataDir}.`, [
      'Start the server once, or name the folder: --data-dir <folder> (a server prints it when it starts).',
    ])
  }
  const configDir = findConfigDir(io.env, process.platform)
  const passphrase = createPassphrase({ configDir, dataDir, makeFolder, clock: io.clock })
  const isChange = passphrase.isSet()
  const source = { fd: passphraseFd, flag: '--passphrase-fd' }
  const labels = isChange ? ['Old passphrase: ', 'New passphrase: '] : ['New passphrase: ']
  // A person who types blindly is asked twice.
  const asked = passphraseFd === undefined ? [...labels, 'Again: '] : labels
  const typed = await typedSecrets(asked, source, io)
  const [old = '', next = old] = isChange ? typed : ['', ...typed]
  if (passphraseFd === undefined && typed.at(-1) !== next) {
    throw failure('The two are not the same. Nothing has changed.')
  }
  await (isChange ? passphrase.change(old, next) : passphrase.set(next))
  io.stderr.write(`The passphrase is ${isChange ? 'changed' : 'set'}. Only its hash is kept, in ${passphrase.path}.\n`)
  return next
}

export async function setCredential(
  given: string,
  { valueFd }: { valueFd?: string },
  io: Io,
  keychain: Keychain = createKeychain(io.clock),
): Promise<void> {
  const name = knownName(given)
  const [value = ''] = await typedSecrets([`${name}: `], { fd: valueFd, flag: '--value-fd' }, io)
  const wrong = credentialProblem(name, value)
  if (wrong !== null) throw usageError(`${wrong} Nothing has changed.`)
  const problem = await keychain.set(name, value)
  if (problem !== null) {
    throw failure(`The keychain cannot be used here: ${problem}.`, [
      `Set ${credentialVariable(name)} in the environment of the server instead.`,
    ])
  }
  io.stderr.write(`${name} is in the keychain. The server reads it when it starts.\n`)
}

function knownName(given: string): string {
  const name = credentialNames.find((one) => one === given)
  if (name !== undefined) return name
  const near = didYouMean(given, credentialNames)
  const hint = near === null ? `Known: ${credentialNames.join(', ')}.` : `Did you mean ${near}?`
  throw usageError(`There is no credential ${JSON.stringify(given)}. ${hint}`)
}

/** As long as sudo keeps a password. A person who decides about ten things in a row types it once. */
const KEPT_MS = 5 * 60_000

/** The operator's passphrase, as a person types it. */
export function createTypedPassphrase({ dataDir, passphraseFd }: PassphrasePlace & { dataDir: string }, io: Io) {
  let kept: { text: string; at: number } | null = null
  const keep = (text: string): string => {
    kept = { text, at: io.clock.mono() }
    return text
  }

  return {
    /** The one that was typed in the last minutes, or null. */
    kept: () => (kept !== null && io.clock.mono() - kept.at < KEPT_MS ? kept.text : null),
    /** Asks for it. Where none is set, this is its first use: the person chooses one, twice. Throws `CliError`. */
    async ask(): Promise<string> {
      const configDir = findConfigDir(io.env, process.platform)
      if (!createPassphrase({ configDir, dataDir, makeFolder, clock: io.clock }).isSet()) {
        io.stderr.write('Decisions at this machine need a passphrase, and there is none yet. Choose one now.\n')
        return keep(await setPassphrase({ dataDir, passphraseFd }, io))
      }
      const [text = ''] = await typedSecrets(['Passphrase: '], { fd: passphraseFd, flag: '--passphrase-fd' }, io)
      return keep(text)
    },
    forget() {
      kept = null
    },
    /** Whether a person can be asked again. */
    canRepeat: passphraseFd === undefined,
  }
}
