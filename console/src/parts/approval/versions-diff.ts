// The difference between two versions of some texts, as a diff that the diff view shows. In a chunk of its own.

import { createTwoFilesPatch } from 'diff'

export interface Version {
  name: string
  /** Null: there is none of this name. */
  before: string | null
  after: string | null
}

/** One "file" for each text. The end of a text counts as the end of a line, so that no notes about missing line ends stand between. */
export function versionsDiff(versions: readonly Version[]): string {
  return versions.map(patchOf).join('')
}

/** The time grows with its square: this many take a tenth of a second. */
const MOST_EDITS = 1_000

function patchOf({ name, before, after }: Version): string {
  const [from, to] = [textOf(before), textOf(after)]
  const names = [before === null ? '/dev/null' : `a/${name}`, after === null ? '/dev/null' : `b/${name}`] as const
  const options = {
    context: 3,
    maxEditLength: MOST_EDITS,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  }
  const patch = createTwoFilesPatch(names[0], names[1], from, to, undefined, undefined, options)
  // Two texts that have nothing in common: all of one, then all of the other.
  return patch ?? `--- ${names[0]}\n+++ ${names[1]}\n${wholeStretch(from, to)}`
}

const textOf = (text: string | null): string => (text === null ? '' : `${text}\n`)

function wholeStretch(from: string, to: string): string {
  const [old, now] = [linesOf(from), linesOf(to)]
  const lines = [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)]
  return `@@ -1,${old.length} +1,${now.length} @@\n${lines.join('\n')}\n`
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.slice(0, -1).split('\n'))
