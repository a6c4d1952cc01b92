// Finds the schemas inside a schema and what `$ref` points to. References stay inside the document; nothing is ever fetched.

import { isRecord } from '../../domain/is-record.ts'
import { decoded } from '../../domain/text/decoded.ts'
import { describeValue } from '../describe-value.ts'
import { broken, escapePointer } from './problem.ts'

/** Strangers send schemas too. This is enough for any that a person or a generator wrote. The budget bounds how many there may be. */
const MAX_DEPTH = 100
/** Every schema inside one with a long `$id` has that text in its own name, so many of them would fill the memory. */
const MAX_URL = 500
/** Parsing a URL is the most expensive step of all. */
const MAX_URLS = 3_000

const placesOfOne = new Set([
  'not',
  'if',
  'then',
  'else',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'items',
  'additionalItems',
  'unevaluatedItems',
  'contains',
])
const placesOfMany = new Set(['allOf', 'anyOf', 'oneOf', 'items', 'prefixItems'])
const placesByName = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

export interface References {
  /** The schema that a reference in `from` points to. Throws `config_invalid`. */
  target(from: Record<string, unknown>, reference: string, pointer: string): unknown
}

export const EXAMPLE = 'Write e.g. $ref: "#/$defs/address"'

/** An anchor that needs no escapes in a URL. */
const ANCHOR = /^#[\w.-]+$/

export function createReferences(document: unknown, draft4: boolean): References {
  const bases = new Map<unknown, string>()
  const named = new Map<string, unknown>()
  let urls = 0

  const resolve = (reference: string, base: string, pointer: string): URL => {
    urls += 1
    if (urls > MAX_URLS) throw broken('', `it has more than ${MAX_URLS} names and references that are URLs.`)
    const url = reference.length > MAX_URL ? null : URL.parse(reference, base)
    if (url === null || url.href.length > MAX_URL)
      throw broken(pointer, `${describeValue(reference)} is not a reference that can be followed. ${EXAMPLE}`)
    return url
  }
  const addressOf = (anchor: string, base: string, pointer: string): string =>
    ANCHOR.test(anchor) && base.length + anchor.length <= MAX_URL ? base + anchor : resolve(anchor, base, pointer).href

  const visit = (raw: unknown, base: string, depth: number, pointer: string): void => {
    if (!isRecord(raw) || bases.has(raw)) return
    if (depth > MAX_DEPTH) throw broken('', `it is nested more than ${MAX_DEPTH} levels deep.`)
    const id = draft4 ? raw.id : raw.$id
    let own = base
    if (typeof id === 'string' && id !== '') {
      if (id.startsWith('#')) named.set(addressOf(id, base, `${pointer}/$id`), raw)
      else {
        const url = resolve(id, base, `${pointer}/$id`)
        url.hash = ''
        own = url.href
        named.set(own, raw)
      }
    }
    bases.set(raw, own)
    for (const anchor of [raw.$anchor, raw.$dynamicAnchor]) {
      if (typeof anchor === 'string') named.set(addressOf(`#${anchor}`, own, pointer), raw)
    }
    for (const [key, value] of Object.entries(raw)) {
      const at = `${pointer}/${key}`
      if (placesOfMany.has(key) && Array.isArray(value)) {
        for (const [i, inner] of value.entries()) visit(inner, own, depth + 1, `${at}/${i}`)
      } else if (placesOfOne.has(key)) visit(value, own, depth + 1, at)
      else if (placesByName.has(key) && isRecord(value)) {
        for (const [name, inner] of Object.entries(value)) visit(inner, own, depth + 1, `${at}/${escapePointer(name)}`)
      }
    }
  }

  const start = 'https://schema.invalid/'
  named.set(start, document)
  visit(document, start, 0, '')

  return {
    target(from, reference, pointer) {
      const own = bases.get(from) ?? start
      const anchored = ANCHOR.test(reference) ? named.get(own + reference) : undefined
      if (anchored !== undefined) return anchored
      // Nearly all references begin with #.
      const url = reference === '#' || reference.startsWith('#/') ? null : resolve(reference, own, pointer)
      const whole = url === null ? undefined : named.get(url.href)
      if (whole !== undefined) return whole
      const fragment = decoded(url === null ? reference.slice(1) : url.hash.slice(1))
      if (url !== null) url.hash = ''
      let base = url?.href ?? own
      let found = named.get(base)
      if (found === undefined || !(fragment === '' || fragment.startsWith('/'))) {
        const problem = `there is no ${describeValue(reference)} in this schema, and other documents are not fetched.`
        throw broken(pointer, `${problem} ${EXAMPLE}`)
      }
      for (const part of fragment.split('/').slice(1)) {
        const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
        const inside: unknown = found
        found = Array.isArray(inside)
          ? inside[Number(key)]
          : isRecord(inside) && Object.hasOwn(inside, key)
            ? inside[key]
            : undefined
        base = bases.get(found) ?? base
      }
      if (found === undefined) throw broken(pointer, `there is nothing at ${describeValue(reference)} in this schema.`)
      visit(found, base, 0, pointer)
      return found
    },
  }
}
