// Parses JSON from strangers. It refuses what JSON.parse accepts but the rest of the server must never see. Cheap checks come first: for
// an ordinary body, they are a few native searches of its text. `json-meter.ts` has already checked size and depth.

import { ServerError } from '../../domain/errors.ts'

/** Throws `malformed_json`. `placeOf` turns a position in the text into a position in the body, for the error message. */
export function parseJson(text: string, placeOf: (position: number) => number = (position) => position): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw malformed(`The body is not valid JSON${positionOf(error, placeOf)}.`)
  }
  if (isSuspicious(text)) checkTree(value)
  return value
}

export const malformed = (detail: string): ServerError => new ServerError('malformed_json', detail)

// V8's message quotes the text around the error. Only the position is sent back.
function positionOf(error: unknown, placeOf: (position: number) => number): string {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
  return position === undefined ? '' : ` (character ${placeOf(Number(position))})`
}

// The decoded body is well-formed, so a lone surrogate can only come from an escape (`\ud…`). Characters of a forbidden key can be
// escaped, too (`\u00…`).
function isSuspicious(text: string): boolean {
  return (
    text.includes('__proto__') ||
    text.includes('"constructor"') ||
    text.includes('\\u00') ||
    text.includes('\\ud') ||
    text.includes('\\uD')
  )
}

function checkTree(root: unknown): void {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string') checkString(value)
    else if (Array.isArray(value)) for (const item of value) open.push(item)
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        checkString(key)
        if (key === '__proto__' || (key === 'constructor' && hasPrototype(member))) {
          throw malformed(`The body has the key ${JSON.stringify(key)}, which is not allowed.`)
        }
        open.push(member)
      }
    }
  }
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

function checkString(text: string): void {
  if (!text.isWellFormed()) throw malformed('A string in the body contains half a character (a lone surrogate).')
}
