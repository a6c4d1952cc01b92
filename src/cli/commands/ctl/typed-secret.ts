import { fstatSync, readSync } from 'node:fs'
import { isatty } from 'node:tty'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { askSecret } from '../../terminal/ask-secret.ts'
import type { Io } from '../../terminal/io.ts'

export interface SecretSource {
  /** Number of an open file descriptor, from a flag; for tests and for programs that are trusted with a secret. */
  fd: string | undefined
  /** The flag that gives it. */
  flag: string
}

const MAX_BYTES = 4_096

/**
 * Reads secrets that a person types at the terminal, one for each label. Never from an argument, the environment or standard input: an
 * agent that starts the command could give those. Throws `CliError` if there is no terminal.
 */
export async function typedSecrets(labels: readonly string[], { fd, flag }: SecretSource, io: Io): Promise<string[]> {
  if (fd !== undefined) return fromDescriptor(fd, flag, labels.length)
  const typed: string[] = []
  for (const label of labels) {
    const text = await askSecret(label, io)
    if (text === null) {
      const hasTerminal = io.stdin.isTTY === true && io.stderr.isTTY === true
      throw new CliError(
        exitCodes.failed.code,
        hasTerminal ? 'Nothing was typed.' : 'This has to be typed at a terminal, and there is none.',
      )
    }
    typed.push(text)
  }
  return typed
}

function fromDescriptor(text: string, flag: string, count: number): string[] {
  const refuse = (why: string): never => {
    throw new CliError(exitCodes.usage.code, `${flag} ${text}: ${why}`)
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
