// Decodes the content parts of a user message that are not text. Pure. A run never fails because of a part, so a part that cannot
// be used gives a reason instead of an error.

import { isRecord } from '../../../domain/is-record.ts'
import { LongText } from '../../../http/body/long-text.ts'
import { type Base64, parseDataUrl } from '../../shared/request/sent-file.ts'
import { dropNulls } from './lenient-input.ts'

/** As in AG-UI, except that the content may not be in memory. */
export interface FilePart {
  type: 'image' | 'document'
  source:
    | { type: 'data'; value: Base64; mimeType: string }
    | { type: 'file'; value: string }
    | { type: 'url'; value: string; mimeType?: string }
  metadata?: { filename: string }
}

/** The decoded part, or the reason why it cannot be used. */
export function decodeFilePart(sent: Record<string, unknown>): FilePart | string {
  const part = dropNulls(sent)
  switch (part.type) {
    case 'image':
    case 'document': {
      const source = isRecord(part.source) ? dropNulls(part.source) : null
      return source === null ? 'without a source' : partOf(part.type, decodeSource(source), nameIn(part.metadata))
    }
    case 'binary': {
      const type = textIn(part.mimeType)?.startsWith('image/') === true ? 'image' : 'document'
      return partOf(type, binarySource(part), textIn(part.filename) ?? nameIn(part.metadata))
    }
    case 'audio':
    case 'video':
      return `of the type ${part.type}`
    default:
      return ''
  }
}

type Source = FilePart['source']

function partOf(type: FilePart['type'], source: Source | string, filename: string | null): FilePart | string {
  if (typeof source === 'string') return source
  return { type, source, ...(filename === null ? {} : { metadata: { filename } }) }
}

function decodeSource(source: Record<string, unknown>): Source | string {
  const value = contentIn(source.value)
  if (value === null) return 'without content'
  const mimeType = textIn(source.mimeType)
  switch (source.type) {
    case 'data':
      return dataSource(value, mimeType)
    case 'file':
      return typeof value === 'string' ? { type: 'file', value } : 'with an id that is none'
    case 'url':
      return urlSource(value, mimeType)
    default:
      return 'with an unknown source'
  }
}

/** The form of 0.x: data, id or url stand beside the type. */
function binarySource({ data, id, url, mimeType }: Record<string, unknown>): Source | string {
  const [content, reference, address] = [contentIn(data), textIn(id), contentIn(url)]
  if (content !== null) return dataSource(content, textIn(mimeType))
  if (address !== null) return urlSource(address, textIn(mimeType))
  return reference === null ? 'without content' : { type: 'file', value: reference }
}

// Some clients send a whole data: URL where AG-UI expects base64.
function dataSource(value: string | LongText, mimeType: string | null): Source {
  const inUrl = parseDataUrl(value)
  return { type: 'data', value: inUrl?.base64 ?? value, mimeType: mimeType ?? inUrl?.mimeType ?? '' }
}

/** A data: URL contains the file. A setting decides whether other URLs are fetched. */
function urlSource(value: string | LongText, mimeType: string | null): Source | string {
  if (parseDataUrl(value) !== null) return dataSource(value, mimeType)
  if (typeof value !== 'string') return 'with an address that is none'
  return { type: 'url', value, ...(mimeType === null ? {} : { mimeType }) }
}

const contentIn = (value: unknown): string | LongText | null => (value instanceof LongText ? value : textIn(value))

const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

const nameIn = (metadata: unknown): string | null =>
  isRecord(metadata) ? (textIn(metadata.filename) ?? textIn(metadata.name)) : null
