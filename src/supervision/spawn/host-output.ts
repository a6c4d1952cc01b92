// What a host writes: its lines, the newest of them in files, and its last words.

import { chmodSync } from 'node:fs'
import { appendFile, rename, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { looksSecret, MASKED } from '../../domain/text/secret-name.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import type { ProcessEnd } from '../../tools/process/process-groups.ts'

/** A longer line is shown in parts. */
const MAX_LINE = 8_192

/**
 * The lines of a stream, without their line breaks. Waits for `take` before it reads on, so that a host that writes fast waits too.
 * `secrets` are masked: hosts print their configuration when something is wrong with it.
 */
export async function readLines(
  stream: Readable,
  secrets: readonly string[],
  take: (lines: readonly string[]) => Promise<void>,
): Promise<void> {
  const decoder = new TextDecoder()
  const clean = (text: string): string => secrets.reduce((left, one) => left.replaceAll(one, '[masked]'), text)
  /** What may be the beginning of a secret is held back. */
  const held = Math.max(0, ...secrets.map((one) => one.length))
  let rest = ''
  try {
    for await (const chunk of stream) {
      const lines = clean(rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/)
      rest = lines.pop() ?? ''
      if (rest.length > 2 * MAX_LINE) {
        lines.push(rest.slice(0, -held || undefined))
        rest = held === 0 ? '' : rest.slice(-held)
      }
      if (lines.length > 0) await take(lines.flatMap(partsOf))
    }
  } catch {
    // The pipe broke because the host has ended.
  }
  rest = clean(rest + decoder.decode())
  if (rest !== '') await take(partsOf(rest))
}

function partsOf(line: string): string[] {
  const count = Math.max(1, Math.ceil(line.length / MAX_LINE))
  return Array.from({ length: count }, (_, i) => line.slice(i * MAX_LINE, (i + 1) * MAX_LINE))
}

/** For each of the two files. */
const HALF_BYTES = 512 * 1024

/** The newest output of a host, in two files of a limited size: the current one, and the one before it. */
export interface OutputRing {
  readonly path: string
  /** Resolves when the lines are written, or could not be: the output is worth less than the work it reports. */
  write(lines: readonly string[]): Promise<void>
}

/** `failed` is called once, when the disk takes no more. A new ring drops what an older one left at this path. */
export function createOutputRing(path: string, failed: (error: unknown) => void, halfBytes = HALF_BYTES): OutputRing {
  let size = 0
  let isBroken = false
  let last: Promise<void> = clear(path).catch(giveUp)

  function giveUp(error: unknown): void {
    if (!isBroken) failed(error)
    isBroken = true
  }

  async function append(lines: readonly string[]): Promise<void> {
    if (isBroken) return
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    if (size > 0 && size + bytes.length > halfBytes) {
      await rename(path, before(path))
      size = 0
    }
    await appendFile(path, bytes, { mode: 0o600 })
    // The mode of an older file would stay.
    if (size === 0) chmodSync(path, 0o600)
    size += bytes.length
  }

  return {
    path,
    write(lines) {
      last = last.then(() => append(lines)).catch(giveUp)
      return last
    },
  }
}

const before = (path: string): string => `${path}.1`

async function clear(path: string): Promise<void> {
  await Promise.all([rm(path, { force: true }), rm(before(path), { force: true })])
}

const MOST_LINES = 8
const MOST_LINE = 300
const NAMED = /([A-Za-z0-9_-]+)(["']?\s*[:=]\s*)((?:(?:bearer|basic|token)\s+)?[^\s,;}\]]+)/gi
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi
const KEY = /\b(?:sk|pk|qd|gh[a-z]|github_pat|xox[a-z]|AIza)[-_]?[\w-]{16,}/g
const IN_ADDRESS = /(:\/\/)[^\s/@]+@/g

/** What a host wrote to stderr last: the reason of its crash, as people see it. Few lines, every character visible, no secrets. */
export function createLastWords() {
  let lines: string[] = []
  return {
    add(line: string): void {
      const plain = stripVTControlCharacters(line).trim()
      if (plain !== '') lines = [...lines, plain].slice(-MOST_LINES)
    },
    /** One line of text. Null: it wrote nothing. */
    text: (): string | null => (lines.length === 0 ? null : lines.map(shown).join(' / ')),
  }
}

const shown = (line: string): string => {
  const text = visibleText(masked(line))
  return text.length > MOST_LINE ? `${text.slice(0, MOST_LINE)}…` : text
}

const masked = (line: string): string =>
  line
    .replace(NAMED, (whole, name: string, between: string) =>
      looksSecret(name) ? `${name}${between}${MASKED}` : whole,
    )
    .replace(BEARER, `$1 ${MASKED}`)
    .replace(KEY, MASKED)
    .replace(IN_ADDRESS, `$1${MASKED}@`)

/** How a process ended, in words. */
export const codeOf = (end: ProcessEnd): string => {
  switch (end.kind) {
    case 'exit':
      return `exit code ${end.code}`
    case 'signal':
      return `signal ${end.signal}`
    default:
      return `not started (${end.code})`
  }
}
