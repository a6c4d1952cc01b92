// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.

import { type Environment, variable } from './env-file.ts'

export interface Substituted {
  text: string
  /** At least one reference was replaced, so the text may hold a secret and is never repeated in a message. */
  replaced: boolean
  problems: string[]
}

/** Either an escaped `${`, a whole reference, or the beginning of something that is none. */
export const REFERENCE = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?/g

/** Puts variables in: `${NAME}`, `${NAME:-default}`; `$${` is a literal `${`. Works on one parsed string, never on YAML. */
export function substitute(source: string, env: Environment): Substituted {
  const problems: string[] = []
  let replaced = false
  const text = source.replaceAll(REFERENCE, (whole, name: string | undefined, fallback: string | undefined) => {
    if (whole === '$${') return '${'
    if (name === undefined) {
      problems.push('${ begins a variable here. Write ${NAME}, ${NAME:-default}, or $${ for the two characters.')
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
