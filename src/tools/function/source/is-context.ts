import type { Jsdoc } from './read-jsdoc.ts'
import type { Parameter } from './split-parameters.ts'
import type { Token } from './tokenize.ts'

const NAMES = ['context', 'ctx', '_context', '_ctx']

/** What a context has, for one that is taken apart without a type. */
const KEYS = new Set(
  'session run user agent callId signal log state setState emit activity progress forwardedProps'.split(' '),
)

/**
 * Whether a parameter is the context that the server gives, and not an argument that the model writes. Only the last one can be.
 * `context: string` is an argument: a tool may well need one of that name.
 */
export function isContext(tokens: readonly Token[], all: readonly Parameter[], index: number, jsdoc: Jsdoc): boolean {
  const parameter = all[index]
  if (parameter === undefined || index !== all.length - 1) return false
  const { name, type, parts, fallback } = parameter
  const told = jsdoc.parameters.find((found) => found.name === name)?.type ?? null
  const typeText =
    type === null
      ? told
      : tokens
          .slice(type.start, type.end)
          .map(({ text }) => text)
          .join('')
  if (typeText !== null && /^(?:[\w$]+\.|import\([^)]*\)\.)*\w*Context(?:<.*>)?$/.test(typeText)) return true
  if (name !== null && NAMES.includes(name))
    return (
      fallback === null && (typeText === null || !/^\(?(?:string|number|boolean|Array<|['"\d])|\]$/i.test(typeText))
    )
  if (typeText !== null || index === 0) return false
  if (parts !== null) return parts.length > 0 && parts.every(({ key }) => KEYS.has(key))
  // `({ city }, c) =>`: behind the one object there is only the context.
  const [first] = all
  const isObject = first?.parts != null || (first?.type != null && tokens[first.type.start]?.text === '{')
  return index === 1 && isObject && fallback === null
}
