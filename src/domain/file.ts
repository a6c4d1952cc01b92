// What people attach: the types we take, what is kept of a file, and what is read out of it.

export const fileTypes = [
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

export type FileType = (typeof fileTypes)[number]

export const isFileType = (type: string): type is FileType => fileTypes.some((one) => one === type)

export const isImage = (type: FileType): boolean => type.startsWith('image/')

/** The three are one family: nothing in a text says which of them it is. */
export const isText = (type: FileType): boolean => type.startsWith('text/')

/** MB = 1,000,000 bytes, after decoding. */
export const fileLimits = {
  files: 10,
  base64Bytes: 10_000_000,
  multipartBytes: 50_000_000,
  totalBytes: 100_000_000,
} as const

/** An attached file. Its bytes lie in the data directory under their hash; it lives and dies with its session. */
export interface FileRecord {
  /** UUIDv7. */
  id: string
  owner: string
  /** Null: uploaded and not yet sent with a message; then it is purged after a while, a day unless the server is set otherwise. */
  sessionId: string | null
  /** As it is shown: one line, no path, no control or direction marks. */
  name: string
  /** What it is by its content. */
  mimeType: FileType
  bytes: number
  sha256: string
  createdAt: number
}

/** What somebody has uploaded and not sent with a message yet. */
export interface UnsentFiles {
  files: number
  /** On disk: the same content counts once. */
  bytes: number
  /** When the first of them came; null when there is none. */
  oldest: number | null
}

/** The words of a file, in the order in which a person reads them. */
export interface Extract {
  sections: ExtractSection[]
  /** What a reader must know: cut, scanned, pictures left out. Whole sentences. */
  notes: string[]
  /** Labels of the sections whose words are not here because the time was over: they are read when they are asked for. */
  unread?: string[]
}

export interface ExtractSection {
  /** `page 3`, `sheet Orders`, `slide 2`; empty where the file has no parts. */
  label: string
  /** Markdown. */
  text: string
}
