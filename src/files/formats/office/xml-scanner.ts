// Reads XML as a stream of tags and text, for the parts of Office documents. It builds no tree, so it needs no more memory than
// the longest tag. It knows no document types and only the five entities of XML: others can make a small file huge.

import { damaged, unreadable } from '../unreadable.ts'

export interface XmlHandler {
  /** `name` has no prefix. `attributes` is the raw text after the name; `attribute` reads it. */
  open?(name: string, attributes: string): void
  close?(name: string): void
  /** Gets the decoded text. One text may come in several pieces. */
  text?(text: string): void
}

/** What elements do to a reader's state when they open and when they close, by their names. */
export type ElementTable<Scan> = Readonly<Record<string, ElementActions<Scan>>>
export interface ElementActions<Scan> {
  open?(scan: Scan, attributes: string): void
  close?(scan: Scan): void
}

/** A Map, not an object: an element named `constructor` must find nothing. */
export const elementMap = <Scan>(...tables: ElementTable<Scan>[]): ReadonlyMap<string, ElementActions<Scan>> =>
  new Map(tables.flatMap((elements) => Object.entries(elements)))

const limits = { depth: 1_000, tag: 1_000_000 } as const

/** How many bytes from the start of a part `xmlEncodingOf` needs. */
export const ENCODING_BYTES = 2

/** Looks at the byte order mark, or at the first character, which is `<`. Office writes UTF-8, but some programs add UTF-16 parts. */
export function xmlEncodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return 'utf-16be'
  return 'utf-8'
}

/**
 * Calls `handler` in document order. Throws `file_unreadable` if the XML is not well-formed or is nested too deeply. The first
 * piece of `content` must have at least `ENCODING_BYTES`.
 */
export async function scanXml(content: AsyncIterable<Uint8Array>, handler: XmlHandler): Promise<void> {
  const scanner = createXmlScanner(handler)
  let decoder: InstanceType<typeof TextDecoder> | null = null
  for await (const chunk of content) {
    decoder ??= new TextDecoder(xmlEncodingOf(chunk))
    scanner.write(decoder.decode(chunk, { stream: true }))
  }
  scanner.write(decoder?.decode() ?? '')
  scanner.end()
}

function createXmlScanner(handler: XmlHandler) {
  const stack: string[] = []
  let rest = ''
  let seenRoot = false

  function text(raw: string): void {
    if (stack.length === 0) {
      if (raw.trim() !== '') throw damaged()
    } else if (raw !== '') handler.text?.(raw.includes('&') ? decode(raw) : raw)
  }

  function tag(body: string): void {
    if (body.startsWith('/')) {
      const name = localName(body.slice(1).trimEnd())
      if (stack.pop() !== name) throw damaged()
      handler.close?.(name)
      return
    }
    const empty = body.endsWith('/')
    const end = endOfName(body)
    const name = localName(body.slice(0, end))
    if (name === '' || (seenRoot && stack.length === 0)) throw damaged()
    seenRoot = true
    handler.open?.(name, body.slice(end, empty ? -1 : undefined))
    if (empty) handler.close?.(name)
    else if (stack.push(name) > limits.depth) {
      throw unreadable('The file is nested more deeply than documents that people write. It was not read.')
    }
  }

  /** Handles what begins with the `<` at `at`. Returns where it ends, or -1 if it is not complete. */
  function construct(xml: string, at: number): number {
    const close = (end: string, skip: number): number => {
      const found = xml.indexOf(end, at + skip)
      return found < 0 ? -1 : found + end.length
    }
    if (xml.startsWith('<?', at)) return close('?>', 2)
    if (xml.startsWith('<!--', at)) return close('-->', 4)
    if (xml.startsWith('<![CDATA[', at)) {
      const end = close(']]>', 9)
      if (end >= 0 && stack.length > 0) handler.text?.(xml.slice(at + 9, end - 3))
      return end
    }
    // This may be the start of a comment or CDATA whose rest has not arrived yet.
    if (xml.startsWith('<!', at)) {
      if (xml.length - at < 9) return -1
      throw damaged()
    }
    const end = endOfTag(xml, at + 1)
    if (end >= 0) tag(xml.slice(at + 1, end - 1))
    return end
  }

  return {
    write(chunk: string): void {
      const xml = rest + chunk
      let at = 0
      while (at < xml.length) {
        if (xml[at] !== '<') {
          const next = xml.indexOf('<', at)
          const end = next < 0 ? endOfWholeText(xml, at) : next
          text(xml.slice(at, end))
          at = end
          if (next < 0) break
        }
        const end = construct(xml, at)
        if (end < 0) break
        at = end
      }
      rest = xml.slice(at)
      if (rest.length > limits.tag) throw unreadable('The file has a tag that is too long to be read.')
    },
    end(): void {
      if (rest.trim() !== '' || stack.length > 0 || !seenRoot) throw damaged()
    },
  }
}

/** The end of the chunk may cut a reference such as `&amp;`. Then the text ends before it. */
function endOfWholeText(xml: string, from: number): number {
  const reference = xml.lastIndexOf('&')
  return reference >= from && xml.length - reference < 14 && !xml.includes(';', reference) ? reference : xml.length
}

/** The position after the `>`. A `>` inside quotes does not end a tag. -1: the tag is not complete. */
function endOfTag(xml: string, from: number): number {
  for (let at = from; at < xml.length; at += 1) {
    const char = xml[at]
    if (char === '>') return at + 1
    if (char === '<') throw damaged()
    if (char === '"' || char === "'") {
      at = xml.indexOf(char, at + 1)
      if (at < 0) return -1
    }
  }
  return -1
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** The value of an attribute. `name` includes the prefix. Written by hand for speed: a large sheet has millions of attributes. */
export function attribute(attributes: string, name: string): string | undefined {
  for (let at = attributes.indexOf(name); at >= 0; at = attributes.indexOf(name, at + 1)) {
    if (at > 0 && !isSpace(attributes.charCodeAt(at - 1))) continue
    let after = afterSpace(attributes, at + name.length)
    if (attributes[after] !== '=') continue
    after = afterSpace(attributes, after + 1)
    const quote = attributes[after]
    if (quote !== '"' && quote !== "'") continue
    const raw = attributes.slice(after + 1, attributes.indexOf(quote, after + 1))
    return raw.includes('&') ? decode(raw) : raw
  }
  return undefined
}

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13)

function afterSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at += 1
  return at
}

function endOfName(body: string): number {
  let at = 0
  while (at < body.length && body[at] !== '/' && !isSpace(body.charCodeAt(at))) at += 1
  return at
}

// A Map, not an object: a reference named `constructor` must find nothing.
const predefined = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

const decode = (text: string): string =>
  text.replace(/&([^;&\s]{0,12});?/g, (_, name: string) => {
    const known = predefined.get(name)
    if (known !== undefined) return known
    const number = /^#(?:x([0-9a-f]{1,6})|([0-9]{1,7}))$/i.exec(name)
    const code = number === null ? Number.NaN : Number.parseInt(number[1] ?? number[2] ?? '', number[1] ? 16 : 10)
    if (!(code <= 0x10ffff)) throw damaged()
    return String.fromCodePoint(code)
  })
