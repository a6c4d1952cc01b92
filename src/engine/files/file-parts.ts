import type { StoredMessage } from '../../domain/message.ts'

/** A file that a message refers to. The client wrote this, so it is not to be trusted. */
export interface FilePart {
  id: string
  /** Shown if the file no longer exists. */
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
