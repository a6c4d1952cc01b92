// Arguments as they are edited: a text for each. A text argument is typed as it is, everything else as JSON.

export interface ArgumentField {
  name: string
  text: string
  isJson: boolean
}

export const argumentFields = (args: Readonly<Record<string, unknown>>): ArgumentField[] =>
  Object.entries(args).map(([name, value]) =>
    typeof value === 'string'
      ? { name, text: value, isJson: false }
      : { name, text: JSON.stringify(value, null, 2), isJson: true },
  )

export type EditedArguments =
  | { ok: true; arguments: Record<string, unknown> }
  | { ok: false; problems: Readonly<Record<string, string>> }

export function editedArguments(fields: readonly ArgumentField[]): EditedArguments {
  const problems: Record<string, string> = {}
  const values = fields.map(({ name, text, isJson }): [string, unknown] => {
    if (!isJson) return [name, text]
    const parsed = readJson(text)
    if (!parsed.ok) problems[name] = parsed.problem
    return [name, parsed.ok ? parsed.value : null]
  })
  return Object.keys(problems).length > 0
    ? { ok: false, problems }
    : { ok: true, arguments: Object.fromEntries(values) }
}

/** All arguments in one text. */
export function argumentsInJson(
  text: string,
): { ok: true; arguments: Record<string, unknown> } | { ok: false; problem: string } {
  const parsed = readJson(text)
  if (!parsed.ok) return parsed
  const { value } = parsed
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { ok: true, arguments: { ...value } }
    : { ok: false, problem: 'The arguments are an object: { … }.' }
}

function readJson(text: string): { ok: true; value: unknown } | { ok: false; problem: string } {
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    return { ok: false, problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}
