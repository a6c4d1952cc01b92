// Stores an extract as a file with one short JSON value on each line, so that reading it back does not block the event loop.

import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Extract } from '../../domain/session/file.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'

/** Text is cut into pieces of this many characters. */
const PIECE = 32_768

type Line = { notes: string[]; unread?: string[] } | { label: string; text: string } | { more: string } | { end: true }

export async function writeExtract(path: string, extract: Extract): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  for (const line of linesOf(extract)) await file.write(`${JSON.stringify(line)}\n`)
}

function* linesOf(extract: Extract): Generator<Line> {
  const { notes, unread } = extract
  yield { notes, ...(unread && { unread }) }
  for (const { label, text } of extract.sections) {
    yield { label, text: text.slice(0, PIECE) }
    for (let at = PIECE; at < text.length; at += PIECE) yield { more: text.slice(at, at + PIECE) }
  }
  yield { end: true }
}

/** Null when there is no such file, or when the extract is not complete. */
export async function readExtract(path: string): Promise<Extract | null> {
  const found: Found = { notes: [], unread: [], sections: [], whole: false }
  try {
    for await (const line of linesIn(path)) if (!take(found, JSON.parse(line))) return null
  } catch (error) {
    if (error instanceof SyntaxError || systemErrorCode(error) === 'ENOENT') return null
    throw error
  }
  if (!found.whole) return null
  return {
    sections: found.sections.map(({ label, pieces }) => ({ label, text: pieces.join('') })),
    notes: found.notes,
    ...(found.unread.length > 0 && { unread: found.unread }),
  }
}

interface Found {
  notes: string[]
  unread: string[]
  sections: { label: string; pieces: string[] }[]
  whole: boolean
}

function take(found: Found, line: unknown): boolean {
  if (typeof line !== 'object' || line === null || found.whole) return false
  if ('more' in line && typeof line.more === 'string') {
    const last = found.sections.at(-1)
    last?.pieces.push(line.more)
    return last !== undefined
  }
  if ('label' in line && 'text' in line && typeof line.label === 'string' && typeof line.text === 'string') {
    found.sections.push({ label: line.label, pieces: [line.text] })
    return true
  }
  if ('notes' in line && isStrings(line.notes)) {
    found.notes.push(...line.notes)
    if ('unread' in line && isStrings(line.unread)) found.unread.push(...line.unread)
    return true
  }
  found.whole = 'end' in line
  return found.whole
}

const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

// Not `node:readline`: it also breaks lines at U+2028, which JSON does not escape.
async function* linesIn(path: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}
