// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.

import { type Environment, variable } from './env-file.ts'

export interface Substituted {
  text: string
  /** At least one reference was replaced, so the text may hold a secret and is never repeated in a message. */
  replaced: boolean
  problems: string[]
}

/** Either an escaped `${`, a whole reference, or the beginning of something that is none. */
const REFERENCE = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?/g

/** Puts variables in: `${NAME}`, `${NAME:-default}`; `$${` is a literal `${`. Works on one parsed string, never on YAML. */
export function substitute(source: string, env: Environment): Substituted {
  const problems: string[] = []
  let replaced = false
  const text = source.replaceAll(REFERENCE, (whole, name: string | undefined, fallback: string | undefined) => {
    if (whole === '$${') return '${'
    if (name === undefined) {
      problems.push(
        '${ starts a variable, but this one is incomplete. Write ${NAME} or ${NAME:-default}; for a literal ${, write $${.',
      )
      return whole
    }
    replaced = true
    const value = variable(env, name) ?? fallback
    if (value !== undefined) return value
    problems.push(
      `the environment variable ${name} is not set. Set it, put ${name}=… into .env beside this file, ` +
        `or write \${${name}:-default} ($\${${name}} for the literal text).`,
    )
    return whole
  })
  return { text, replaced, problems }
}

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
