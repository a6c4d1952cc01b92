// JSON from strangers. What JSON.parse accepts but the rest of the server must never meet is refused here. The checks are
// ordered by cost: an ordinary body pays for a few native searches of its text.

import { ServerError } from '../domain/errors.ts'

const MAX_DEPTH = 100

/** Throws `malformed_json`. `placeOf` says where in the body a character of the text is, should something be wrong with it. */
export function parseJson(text: string, placeOf: (position: number) => number = (position) => position): unknown {
  if (isDeeperThan(text, MAX_DEPTH)) throw malformed(`The body is nested deeper than ${MAX_DEPTH} levels.`)
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

// V8 quotes the text around the fault in its message; only the position goes back.
function positionOf(error: unknown, placeOf: (position: number) => number): string {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
  return position === undefined ? '' : ` (character ${placeOf(Number(position))})`
}

function isDeeperThan(text: string, limit: number): boolean {
  // With fewer brackets than levels, strings included, there is nothing to measure.
  if (!hasMoreThan(limit, text, '{', '[')) return false
  let depth = 0
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i)
    if (char === 0x22) i = endOfString(text, i)
    else if (char === 0x7b || char === 0x5b) {
      depth += 1
      if (depth > limit) return true
    } else if (char === 0x7d || char === 0x5d) depth -= 1
  }
  return false
}

function hasMoreThan(limit: number, text: string, ...marks: string[]): boolean {
  let count = 0
  for (const mark of marks) {
    for (let i = text.indexOf(mark); i >= 0; i = text.indexOf(mark, i + 1)) {
      count += 1
      if (count > limit) return true
    }
  }
  return false
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i += 1) {
    const char = text.charCodeAt(i)
    if (char === 0x5c) i += 1
    else if (char === 0x22) return i
  }
  return text.length
}

// The decoded body is well-formed, so a lone surrogate can only come from an escape (`\ud…`); any character of a
// forbidden key can be escaped, too (`\u00…`).
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
          throw malformed(`The body holds the key ${JSON.stringify(key)}, which is not allowed.`)
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
  if (!text.isWellFormed()) throw malformed('A string of the body holds half a character (a lone surrogate).')
}
