// Checks a text or a number against the keywords that are only about texts or numbers.

import type { Meter } from './meter.ts'
import { cut, preview } from './problem.ts'
import type { SchemaNode } from './schema-node.ts'
import { textFormats } from './text-format.ts'

/** Formats look at a character several times. */
const FORMAT_WORK_PER_CHAR = 0.5

type Say = (text: string) => void

export function checkText(node: SchemaNode, value: string, say: Say, meter: Meter): void {
  if (node.minLength !== undefined || node.maxLength !== undefined) {
    meter.spendOn(value)
    const length = codePoints(value)
    if (length < (node.minLength ?? 0)) say(`must have at least ${node.minLength} characters, found ${length}`)
    if (length > (node.maxLength ?? length)) say(`must have at most ${node.maxLength} characters, found ${length}`)
  }
  if (node.pattern?.matcher && !node.pattern.matcher.foundIn(value, meter.spend)) {
    say(`must match ${cut(node.pattern.source, 100)}, found ${preview(value)}`)
  }
  const format = node.format === undefined ? undefined : textFormats.get(node.format)
  if (format === undefined) return
  meter.spend(value.length * FORMAT_WORK_PER_CHAR)
  if (!format.fits(value)) say(`must be ${format.name}, found ${preview(value)}`)
}

function codePoints(text: string): number {
  let pairs = 0
  for (let i = 0; i < text.length; i += 1) {
    const code = text.codePointAt(i)
    if (code !== undefined && code > 0xffff) {
      pairs += 1
      i += 1
    }
  }
  return text.length - pairs
}

export function checkNumber(node: SchemaNode, value: number, say: Say): void {
  const found = `, found ${value}`
  if (node.minimum !== undefined && value < node.minimum) say(`must be at least ${node.minimum}${found}`)
  if (node.maximum !== undefined && value > node.maximum) say(`must be at most ${node.maximum}${found}`)
  if (node.exclusiveMinimum !== undefined && value <= node.exclusiveMinimum) {
    say(`must be more than ${node.exclusiveMinimum}${found}`)
  }
  if (node.exclusiveMaximum !== undefined && value >= node.exclusiveMaximum) {
    say(`must be less than ${node.exclusiveMaximum}${found}`)
  }
  if (node.multipleOf !== undefined && !isMultiple(value, node.multipleOf)) {
    say(`must be a multiple of ${node.multipleOf}${found}`)
  }
}

/** 0.3 is a multiple of 0.1, although not in binary, so the remainder may be as large as the last digit of either number. */
function isMultiple(value: number, of: number): boolean {
  if (value % of === 0) return true
  // Whole numbers are exact. For large ones, the tolerance below would be more than 1.
  if (Number.isInteger(value) && Number.isInteger(of)) return false
  const times = value / of
  if (!Number.isFinite(times)) return false
  return Math.abs(times - Math.round(times)) <= Math.abs(times) * Number.EPSILON * 2
}
