// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.

import { type Environment, variable } from './env-file.ts'

export interface Substituted {
  text: string
  /** At least one variable was replaced, so the text may contain a secret and must not appear in a message. */
  replaced: boolean
  problems: string[]
}

/** An escaped `${`, a whole reference, or a `${` that starts no valid reference. */
const REFERENCE = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?/g

/** Replaces `${NAME}` and `${NAME:-default}`; `$${` is a literal `${`. Works on one parsed string, never on YAML text. */
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
      `the environment variable ${name} is not set. Set it, put ${name}=… into .env next to this file, ` +
        `or write \${${name}:-default} ($\${${name}} for the literal text).`,
    )
    return whole
  })
  return { text, replaced, problems }
}

/** Literal text, or a variable with its value. */
export type Part = string | { variable: string; value: string }

/**
 * A text with variables, as its author wrote it. Approvals are bound to this and not to the values of secrets. It is a class, so
 * that no plain data in a file can look like one.
 */
export class WrittenText {
  readonly parts: readonly Part[]

  constructor(parts: readonly Part[]) {
    this.parts = parts
  }

  variables(): string[] {
    return this.parts.flatMap((part) => (typeof part === 'string' ? [] : [part.variable]))
  }
}

/** Returns plain text if no variable had a value, because a default is part of the file. */
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
