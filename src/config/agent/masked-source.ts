// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// An agent file as it was written, for people to read. Variables stay as they are. A secret that somebody typed into it is masked.

import { type Document, isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import { looksSecret, MASKED } from '../../domain/text/secret-name.ts'

/** Keys whose values, and everything inside them, are never shown. */
export const secretKeys: readonly string[] = ['api_key', 'headers', 'env', 'proxy']

/** A value that is nothing but a variable, or that says that there is none. */
const NO_SECRET = /^(?:(?:bearer|basic|token) +)?\$\{[A-Za-z_][A-Za-z0-9_]*\}$|^none$/i
/** `key: value` or `KEY=value` in a comment. The value ends with the line, or before a closing bracket. */
const IN_COMMENT = /([A-Za-z0-9_-]+)(["']?\s*[:=]\s*)([^\s,}\]][^,}\]\n]*)/g

/** Times, not tokens. */
const TIMES: readonly string[] = ['first_token_timeout', 'token_timeout']

type Place = readonly [start: number, end: number]

/** Works on a text that is valid YAML. */
export function maskedSource(text: string): string {
  const document: Document = parseDocument(text, { logLevel: 'silent' })
  const places: Place[] = []
  mask(document.contents, { isSecret: false, isInside: false }, document, places)
  let shown = text
  // From the end, so that the places before stay where they are.
  for (const [start, end] of [...new Map(places.map((place) => [place[0], place])).values()].sort(
    (a, b) => b[0] - a[0],
  )) {
    const lineEnd = /\s*$/.exec(shown.slice(start, end))?.[0] ?? ''
    shown = `${shown.slice(0, start)}${MASKED}${lineEnd}${shown.slice(end)}`
  }
  return maskedComments(shown)
}

/** `isSecret`: the value of a secret key. `isInside`: anywhere inside one of `secretKeys`. */
interface Around {
  isSecret: boolean
  isInside: boolean
}

function mask(node: unknown, around: Around, document: Document, places: Place[]): void {
  const { isSecret, isInside } = around
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : ''
      // A proxy is an address, which may have a password in it.
      const isPlainProxy = name === 'proxy' && isScalar(value) && !String(value.value).includes('@')
      const inside = isInside || (secretKeys.includes(name) && !isPlainProxy)
      const secret = inside || (looksSecret(name) && !TIMES.includes(name))
      mask(value, { isSecret: secret, isInside: inside }, document, places)
    }
  } else if (isSeq(node)) {
    for (const item of node.items) mask(item, { isSecret: isInside, isInside }, document, places)
  } else if (isAlias(node)) {
    if (isSecret) mask(node.resolve(document), around, document, places)
  } else if (isScalar(node) && isSecret && node.value !== null && !NO_SECRET.test(String(node.value).trim())) {
    if (node.range != null) places.push([node.range[0], node.range[1]])
  }
}

/** Whoever tries another key puts a # before the old one. */
const maskedComments = (text: string): string =>
  text.replace(/(^|[ \t])#[^\n]*/gm, (comment) =>
    comment.replace(IN_COMMENT, (whole, name: string, between: string, value: string) =>
      looksSecret(name) && !NO_SECRET.test(value.trim()) ? `${name}${between}${MASKED}` : whole,
    ),
  )
