import type { StoredMessage } from '../../domain/message.ts'

/** A file that a message refers to. What the message says of it besides is the client's word. */
export interface FilePart {
  id: string
  /** For a file that is no longer there. */
  name: string
}

export function filePartsOf({ role, content }: Pick<StoredMessage, 'role' | 'content'>): FilePart[] {
  if (role !== 'user' || typeof content === 'string') return []
  return content.flatMap((part) =>
    part.type === 'text' || part.source.type !== 'file'
      ? []
      : [{ id: part.source.value, name: nameIn(part.metadata) ?? 'file' }],
  )
}

function nameIn(metadata: unknown): string | null {
  if (typeof metadata !== 'object' || metadata === null || !('filename' in metadata)) return null
  return typeof metadata.filename === 'string' ? metadata.filename : null
}
