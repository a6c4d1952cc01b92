// A host's config file: read, compared with what was shown, and replaced in one step.

import {
  closeSync,
  copyFileSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { structuredPatch } from 'diff'
import { systemErrorCode } from '../../../domain/system-error-code.ts'
import { makeFolder } from '../../../store/make-folder.ts'
import { CliError, cannotCreate } from '../../cli-error.ts'
import { realOrSame } from '../../program-name.ts'
import type { Style } from '../../terminal/style.ts'
import { terminalText } from '../../terminal/terminal-text.ts'

/** What a file has, and what it will have. Null: no file. */
export interface FileChange {
  path: string
  what: string
  before: string | null
  after: string | null
}

/** Far more than any host's config. */
const LARGEST = 64 * 1024 * 1024

/** Null if there is no file. */
export function readConfigFile(path: string): string | null {
  try {
    if (statSync(path).size > LARGEST) throw cannot(path, 'it is too large')
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error instanceof CliError ? error : cannot(path, `it cannot be read (${systemErrorCode(error)})`)
  }
}

export const backupOf = (path: string): string => `${path}.before-quarterdeck`

/**
 * Keeps the old text beside the file, and the file's mode. A link stays a link. A crash leaves the old file or the new one. Refuses
 * if the file is not what the person was shown.
 */
export function changeConfigFile({ path, before, after }: FileChange): void {
  if (before === after) return
  if (readConfigFile(path) !== before) throw cannot(path, 'it has changed in the meantime. Run the command again')
  try {
    if (before !== null) copyFileSync(path, backupOf(path))
    if (after === null) rmSync(path, { force: true })
    else replaceFile(path, after)
  } catch (error) {
    throw cannot(path, `it cannot be written (${systemErrorCode(error) || String(error)})`)
  }
}

/** A crash leaves the old file or the new one. */
export function replaceFile(path: string, text: string): void {
  makeFolder(dirname(path), 0o700)
  const target = realOrSame(path)
  const mode = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o600
  const draft = `${target}.quarterdeck-new`
  rmSync(draft, { force: true })
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      writeFileSync(file, text)
      fchmodSync(file, mode & 0o777)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, target)
  } catch (error) {
    // It may hold a token.
    rmSync(draft, { force: true })
    throw error
  }
}

const cannot = (path: string, why: string): CliError => cannotCreate(`${path} was not changed: ${why}.`)

/** What will change in the host's config, line by line. */
export function showChanges(changes: readonly FileChange[], style: Style): string {
  return changes.map((change) => `${heading(change, style)}\n${diffLines(change, style).join('\n')}\n`).join('\n')
}

function heading({ path, what, before, after }: FileChange, style: Style): string {
  const how = before === null ? 'new file' : after === null ? 'goes away' : `the old one is kept as ${backupOf(path)}`
  return `${style.bold(terminalText(path))}  ${what} (${how})`
}

function diffLines({ before, after }: FileChange, style: Style): string[] {
  const { hunks } = structuredPatch('', '', before ?? '', after ?? '', undefined, undefined, { context: 2 })
  return hunks.flatMap(({ oldStart, lines }) => [
    style.dim(`  line ${Math.max(1, oldStart)}:`),
    ...lines.map((line) => {
      const text = `  ${terminalText(line)}`
      return line.startsWith('+') ? style.green(text) : line.startsWith('-') ? style.red(text) : text
    }),
  ])
}
