// Decodes the content parts of a user message that are not text. Pure. A run never fails because of a part, so a part that cannot
// be used says why instead of throwing.

import { isRecord } from '../../../domain/is-record.ts'
import { LongText } from '../../../http/body/long-text.ts'
import { type Base64, parseDataUrl } from '../../shared/request/sent-file.ts'
import { jsonPointer } from '../../shared/request/validate.ts'

/** As in AG-UI, except that the content may not be in memory. */
export interface FilePart {
  type: 'image' | 'document'
  source:
    | { type: 'data'; value: Base64; mimeType: string }
    | { type: 'file'; value: string }
    | { type: 'url'; value: string; mimeType?: string }
  /** Null: the part has no name. */
  name: string | null
  /** Why there is nothing to keep, as a sentence for people. The source is empty then. */
  unread: string | null
}

/** Null: this is not a file. */
export function decodeFilePart(sent: Record<string, unknown>): FilePart | null {
  const part = dropNulls(sent)
  if (part.type === 'binary') {
    const type = textIn(part.mimeType)?.startsWith('image/') === true ? 'image' : 'document'
    return partOf(type, binarySource(part), textIn(part.filename) ?? nameIn(part.metadata))
  }
  const source = isRecord(part.source) ? decodeSource(dropNulls(part.source)) : null
  const name = nameIn(part.metadata)
  switch (part.type) {
    case 'image':
    case 'document':
      return partOf(part.type, source ?? NO_CONTENT, name)
    case 'audio':
    case 'video':
      return partOf('document', source ?? NO_CONTENT, name ?? part.type)
    default:
      return source === null ? null : partOf('document', source, name)
  }
}

type Source = FilePart['source']

const NO_CONTENT = 'It was sent without content.'

/** A text instead of a source says why there is none. */
function partOf(type: FilePart['type'], source: Source | string, name: string | null): FilePart {
  if (typeof source !== 'string') return { type, source, name, unread: null }
  return { type: 'document', source: { type: 'data', value: '', mimeType: '' }, name, unread: source }
}

function decodeSource(source: Record<string, unknown>): Source | string {
  const value = contentIn(source.value)
  if (value === null) return NO_CONTENT
  const mimeType = textIn(source.mimeType)
  switch (source.type) {
    case 'data':
      return dataSource(value, mimeType)
    case 'file':
      return typeof value === 'string' ? { type: 'file', value } : 'Its id is not an id.'
    case 'url':
      return urlSource(value, mimeType)
    default:
      return 'Its source is of an unknown type.'
  }
}

/** The form of 0.x: data, id or url stand beside the type. */
function binarySource({ data, id, url, mimeType }: Record<string, unknown>): Source | string {
  const [content, reference, address] = [contentIn(data), textIn(id), contentIn(url)]
  if (content !== null) return dataSource(content, textIn(mimeType))
  if (address !== null) return urlSource(address, textIn(mimeType))
  return reference === null ? NO_CONTENT : { type: 'file', value: reference }
}

// Some clients send a whole data: URL where AG-UI expects base64.
function dataSource(value: string | LongText, mimeType: string | null): Source {
  const inUrl = parseDataUrl(value)
  return { type: 'data', value: inUrl?.base64 ?? value, mimeType: mimeType ?? inUrl?.mimeType ?? '' }
}

/** A data: URL contains the file. A setting decides whether other URLs are fetched. */
function urlSource(value: string | LongText, mimeType: string | null): Source | string {
  if (parseDataUrl(value) !== null) return dataSource(value, mimeType)
  if (typeof value !== 'string') return 'Its address is not an address.'
  return { type: 'url', value, ...(mimeType === null ? {} : { mimeType }) }
}

const contentIn = (value: unknown): string | LongText | null => (value instanceof LongText ? value : textIn(value))

const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

const nameIn = (metadata: unknown): string | null =>
  isRecord(metadata) ? (textIn(metadata.filename) ?? textIn(metadata.name)) : null

// Lenient decoding. Some clients (.NET, for example) send `null` for fields they leave out, so `null` counts as absent in AG-UI's own
// objects. Inside state, metadata and other data of the application a null is a value. What is left out becomes a warning.

type Fields = Record<string, unknown>

/** Returns the same object if it holds no null, which is nearly always. */
export function dropNulls(object: Fields): Fields {
  for (const key in object) {
    if (object[key] === null) return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
  }
  return object
}

/** `dropNulls` for each object of a list. The schema checks everything else. */
export function dropNullsEach(list: unknown): unknown {
  return Array.isArray(list) ? list.map((item) => (isRecord(item) ? dropNulls(item) : item)) : list
}

/** What was left out, for the log. Limited, so that a hostile body cannot fill the log. */
export interface Warnings {
  readonly list: readonly string[]
  /** The limit is reached. */
  isFull(): boolean
  add(what: string, path: readonly PropertyKey[]): void
}

const MAX_WARNINGS = 10
const MAX_POINTER = 120

export function createWarnings(): Warnings {
  const list: string[] = []
  return {
    list,
    isFull: () => list.length >= MAX_WARNINGS,
    add(what, path) {
      if (list.length < MAX_WARNINGS) list.push(`${what} at ${jsonPointer(path).slice(0, MAX_POINTER)}`)
    },
  }
}
