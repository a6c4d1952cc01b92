// Attached files: the types we accept, what is stored about a file, and what is extracted from it.

/** What can be read. Every other text, such as JSON, code or mail, is `text/plain`. */
export const readableTypes = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'text/plain',
  'text/csv',
  'text/markdown',
] as const

/** Kept, but cannot be read. Only AG-UI takes such files; the model gets their names. */
export const UNREADABLE = 'application/octet-stream'

export const fileTypes = [...readableTypes, UNREADABLE] as const

export type FileType = (typeof fileTypes)[number]

export const isFileType = (type: string): type is FileType => fileTypes.some((one) => one === type)

export const isImage = (type: FileType): boolean => type.startsWith('image/')

/** The content of a text file does not say which of the text types it is. */
export const isText = (type: FileType): boolean => type.startsWith('text/')

/** Bytes are counted after decoding. */
export const fileLimits = {
  files: 10,
  base64Bytes: 10_000_000,
  multipartBytes: 50_000_000,
  totalBytes: 100_000_000,
} as const

/** An attached file. Its bytes are in the data directory, named by their hash. It is deleted with its session. */
export interface FileRecord {
  /** UUIDv7. */
  id: string
  owner: string
  /** Null: uploaded, but not sent with a message yet. Such a file is deleted after `files.unsent_ttl` (a day by default). */
  sessionId: string | null
  /** Name to show: one line, without a path, control characters or direction marks. */
  name: string
  /** The type that the content has. */
  mimeType: FileType
  bytes: number
  sha256: string
  createdAt: number
}

/** Files that a user has uploaded but not sent with a message yet. */
export interface UnsentFiles {
  files: number
  /** On disk, so the same content counts once. */
  bytes: number
  /** When the oldest was uploaded; null if there are none. */
  oldest: number | null
}

/** The text of a file, in the order in which a person reads it. */
export interface Extract {
  sections: ExtractSection[]
  /** What a reader must know, in whole sentences: the text was cut, scanned, or has no pictures. */
  notes: string[]
  /** Labels of sections that were not read because time ran out. They are read on demand. */
  unread?: string[]
}

export interface ExtractSection {
  /** `page 3`, `sheet Orders`, `slide 2`; empty if the file has no parts. */
  label: string
  /** Markdown. */
  text: string
}
