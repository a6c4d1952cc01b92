// Where the schemas inside of a schema lie, and what `$ref` means: inside of the document alone, nothing is ever fetched.

import { isRecord } from '../../domain/is-record.ts'
import { broken, shown } from './broken.ts'

/** Schemas come from strangers too: enough for any that a person or a generator wrote. How many there may be is the budget's to say. */
const MAX_DEPTH = 100
/** Every schema inside of one with a long `$id` has that in its own name, so many would fill the memory. */
const MAX_URL = 500
/** Taking a URL apart is the dearest step of all. */
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

const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

export interface References {
  /** The schema that a reference in `from` leads to. Throws `config_invalid`. */
  target(from: Record<string, unknown>, reference: string, pointer: string): unknown
}

/** The name of an anchor as it stands in a URL, too. */
const ANCHOR = /^#[\w.-]+$/

export function createReferences(document: unknown, draft4: boolean): References {
  const bases = new Map<unknown, string>()
  const named = new Map<string, unknown>()
  let urls = 0

  const resolve = (reference: string, base: string, pointer: string): URL => {
    urls += 1
    if (urls > MAX_URLS) throw broken('', `has more than ${MAX_URLS} names and references that are URLs`)
    const url = reference.length > MAX_URL ? null : URL.parse(reference, base)
    if (url === null || url.href.length > MAX_URL)
      throw broken(pointer, `is no reference that can be followed: ${shown(reference)}`)
    return url
  }
  const addressOf = (anchor: string, base: string, pointer: string): string =>
    ANCHOR.test(anchor) && base.length + anchor.length <= MAX_URL ? base + anchor : resolve(anchor, base, pointer).href

  const visit = (raw: unknown, base: string, depth: number, pointer: string): void => {
    if (!isRecord(raw) || bases.has(raw)) return
    if (depth > MAX_DEPTH) throw broken('', `is nested more than ${MAX_DEPTH} levels deep`)
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
        for (const [name, inner] of Object.entries(value)) visit(inner, own, depth + 1, `${at}/${escapeKey(name)}`)
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
      // Nearly all are like this.
      const url = reference === '#' || reference.startsWith('#/') ? null : resolve(reference, own, pointer)
      const whole = url === null ? undefined : named.get(url.href)
      if (whole !== undefined) return whole
      const fragment = decoded(url === null ? reference.slice(1) : url.hash.slice(1))
      if (url !== null) url.hash = ''
      let base = url?.href ?? own
      let found = named.get(base)
      if (found === undefined || !(fragment === '' || fragment.startsWith('/'))) {
        throw broken(pointer, `leads to ${shown(reference)}, which is not in it; other documents are not fetched`)
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
      if (found === undefined) throw broken(pointer, `leads to ${shown(reference)}, and there is nothing`)
      visit(found, base, 0, pointer)
      return found
    },
  }
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
