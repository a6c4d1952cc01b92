// A text of a file in which variables were put, as its author wrote it. Approvals are bound to it and not to the values of secrets.

import { type Environment, variable } from './env-file.ts'
import { REFERENCE } from './substitute.ts'

/** What stands there, and each variable by its name with what it gave. */
export type Part = string | { variable: string; value: string }

/** Stands in a tree of plain data for a text with variables. A class, so that nothing in a file looks like one. */
export class WrittenText {
  readonly parts: readonly Part[]

  constructor(parts: readonly Part[]) {
    this.parts = parts
  }
}

/** The text itself where no variable gave a value: a default is text of the file. */
export function writtenText(source: string, env: Environment): string | WrittenText {
  const parts: Part[] = []
  let text = ''
  let end = 0
  for (const match of source.matchAll(REFERENCE)) {
    const [whole, name, fallback] = match
    const value = name === undefined ? undefined : variable(env, name)
    text += source.slice(end, match.index)
    end = match.index + whole.length
    if (name === undefined || value === undefined) text += whole === '$${' ? '${' : (fallback ?? whole)
    else {
      parts.push(text, { variable: name, value })
      text = ''
    }
  }
  text += source.slice(end)
  return parts.length === 0 ? text : new WrittenText([...parts, text])
}
