// The content of a server's answer as the text that a model reads. Pure.

import type { ContentBlock, EmbeddedResource } from '@modelcontextprotocol/client'
import { unreachable } from '../../../domain/unreachable.ts'
import { boundedJson } from '../../../json/bounded-json.ts'

export const MAX_RESULT_CHARS = 1_000_000

/** Text stays as it is, everything else is described. Structured content is shown only when there is no text. */
export function contentText(content: readonly ContentBlock[], structured: unknown): string {
  const parts = content.map(blockText)
  const written = content.some((block) => block.type === 'text')
  if (structured !== undefined && !written) parts.push(boundedJson(structured, MAX_RESULT_CHARS + 1).text ?? '')
  return bounded(parts.length === 0 ? '[no content]' : parts.join('\n'))
}

export function bounded(text: string, max: number = MAX_RESULT_CHARS): string {
  if (text.length <= max) return text
  return `${text.slice(0, max)}\n[cut here: the whole text has ${text.length} characters]`
}

export function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}, ${sizeOfBase64(block.data)}]`
    case 'resource':
      return resourceText(block.resource)
    case 'resource_link':
      return `[resource: ${[block.name, block.uri, block.mimeType].filter((part) => part !== undefined).join(', ')}]`
    default:
      return unreachable(block)
  }
}

export function resourceText(resource: EmbeddedResource['resource']): string {
  if ('text' in resource) return resource.text
  return `[resource: ${resource.uri}, ${resource.mimeType ?? 'unknown type'}, ${sizeOfBase64(resource.blob)}]`
}

function sizeOfBase64(data: string): string {
  const bytes = Math.floor((data.replace(/=+$/, '').length * 3) / 4)
  if (bytes < 1_000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
