// Texts with `{argument}` in them. `{{argument}}` becomes a plain `{argument}`, for texts that need the braces.

export type Template = readonly TemplatePart[]
type TemplatePart = string | { argument: string }

export type Arguments = Readonly<Record<string, unknown>>

export function parseTemplate(text: string): Template {
  const parts: TemplatePart[] = []
  let position = 0
  for (const match of text.matchAll(/\{(\{)?([A-Za-z_][\w.-]*)\}(\})?/g)) {
    const [whole, before = '', argument = '', after = ''] = match
    parts.push(text.slice(position, match.index))
    if (before !== '' && after !== '') parts.push(`{${argument}}`)
    else parts.push(before, { argument }, after)
    position = match.index + whole.length
  }
  parts.push(text.slice(position))
  return parts.filter((part) => part !== '')
}

export const argumentsIn = (template: Template): string[] =>
  template.flatMap((part) => (typeof part === 'string' ? [] : [part.argument]))

/** The argument of a template that is exactly one argument. Null for any other. */
export function soleArgument(template: Template): string | null {
  const [part] = template
  return template.length === 1 && typeof part === 'object' ? part.argument : null
}

/** Undefined if it was left out. Models also write null for what they leave out, so null counts as left out too. */
export function argumentOf(args: Arguments, name: string): unknown {
  const value = Object.hasOwn(args, name) ? args[name] : undefined
  return value === null ? undefined : value
}

/** Null when an argument was left out. */
export function fillTemplate(template: Template, args: Arguments, encode: (text: string) => string): string | null {
  let result = ''
  for (const part of template) {
    if (typeof part === 'string') {
      result += part
      continue
    }
    const value = argumentOf(args, part.argument)
    if (value === undefined) return null
    result += encode(textOf(value))
  }
  return result
}

export function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.toWellFormed()
}
