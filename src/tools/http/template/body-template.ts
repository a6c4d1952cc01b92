// A body with arguments in it. Each argument is encoded for its place, so that it cannot change anything else in the body.

import type { ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { formText } from './parameter-style.ts'
import { type Arguments, argumentsIn, fillTemplate, parseTemplate, soleArgument } from './template.ts'

export interface BodyTemplate {
  readonly arguments: readonly string[]
  readonly contentType: string
  /** Null when there is nothing to send. */
  fill(args: Arguments): string | null
}

/** `contentType` is what the headers say. Null: JSON. */
export function parseBodyTemplate(
  template: unknown,
  contentType: string | null,
  refuse: (problem: string) => ServerError,
): BodyTemplate {
  const type = contentType ?? 'application/json'
  const names = new Set<string>()
  const build = parseValue(template, names)
  const result = { arguments: [...names], contentType: type }

  if (/[/+]json\b/.test(type)) {
    if (typeof template === 'string' && soleArgument(parseTemplate(template)) === null)
      throw refuse(
        'body is a string. Write keys and values instead, or add a Content-Type header for a body that is not JSON.',
      )
    return { ...result, fill: (args) => JSON.stringify(build(args)) ?? null }
  }
  if (type.startsWith('application/x-www-form-urlencoded') && isRecord(template)) {
    return {
      ...result,
      fill(args) {
        const value = build(args)
        return isRecord(value) ? formText(value) : null
      },
    }
  }
  if (typeof template !== 'string')
    throw refuse(
      `body must be a string, because the Content-Type is ${type}. Or leave out the Content-Type and send JSON.`,
    )
  const text = parseTemplate(template)
  return { ...result, fill: (args) => fillTemplate(text, args, encoderFor(type)) }
}

/** Undefined: left out. */
type Build = (args: Arguments) => unknown

function parseValue(template: unknown, names: Set<string>): Build {
  if (typeof template === 'string') return parseText(template, names)
  if (Array.isArray(template)) {
    const items = template.map((item) => parseValue(item, names))
    return (args) => items.map((build) => build(args)).filter((value) => value !== undefined)
  }
  if (isRecord(template)) {
    const entries = Object.entries(template).map(([key, value]) => [key, parseValue(value, names)] as const)
    return (args) =>
      Object.fromEntries(entries.map(([key, build]) => [key, build(args)]).filter(([, value]) => value !== undefined))
  }
  return () => template
}

function parseText(text: string, names: Set<string>): Build {
  const template = parseTemplate(text)
  for (const name of argumentsIn(template)) names.add(name)
  const sole = soleArgument(template)
  // Here null is a value like any other, because JSON has one.
  if (sole !== null) return (args) => (Object.hasOwn(args, sole) ? args[sole] : undefined)
  return (args) => fillTemplate(template, args, (value) => value) ?? undefined
}

function encoderFor(type: string): (text: string) => string {
  if (type.startsWith('application/x-www-form-urlencoded')) return encodeURIComponent
  if (/[/+]xml\b/.test(type)) return (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  return (text) => text
}
