import { createJsonMask } from '../../../../src/domain/text/masked-json.ts'

/** Longer JSON stays as it came: laying it out would hold up the page. */
const LONGEST = 500_000

/** JSON without the values whose names stand for secrets. They are masked where one decides, so they are masked beside it. */
export const withoutSecrets = (json: string): string => createJsonMask()(json)

/** JSON with line breaks. A text that is not JSON, or not all of it yet, stays as it is. */
export function prettyJson(text: string): string {
  if (text.length > LONGEST || !/^\s*[[{]/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** The beginning of the arguments in one line, for a card that is folded. Empty: there are none. */
export function argumentLine(args: string, longest = 120): string {
  try {
    const value: unknown = JSON.parse(args.length > LONGEST ? '' : args)
    if (typeof value !== 'object' || value === null) return cut(args, longest)
    const parts = Object.entries(value).map(([name, inner]) => `${name}: ${cut(textIn(inner), 60)}`)
    return cut(parts.join(', '), longest)
  } catch {
    return cut(args, longest)
  }
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

function cut(text: string, longest: number): string {
  const line = text.slice(0, longest * 4).replace(/\s+/g, ' ')
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line
}
