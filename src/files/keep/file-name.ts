import { type FileType, UNREADABLE } from '../../domain/session/file.ts'

const MAX_CHARS = 120
/** A longer one is not an extension, but part of the name. */
const MAX_EXTENSION_CHARS = 12

/** Invisible characters, and those that change how the text around them looks: controls, direction marks, zero-width characters. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu

/** The name that browsers give to content without one. */
const NO_NAME = 'blob'

/**
 * The name of a file as people see it: the last part of a path, in one line, without invisible characters, at most 120
 * characters. Null when nothing is left. The name is only a label and never part of a path on disk.
 */
export function safeName(text: string | null): string | null {
  const [base = ''] = (text ?? '').split(/[/\\]/).slice(-1)
  const visible = base.replaceAll(/[\t-\r\p{Z}]/gu, ' ').replaceAll(INVISIBLE, '')
  const line = visible.normalize('NFC').replaceAll(/ +/g, ' ').trim()
  return /^\.*$/.test(line) || line === NO_NAME ? null : shortened([...line])
}

function shortened(chars: readonly string[]): string {
  if (chars.length <= MAX_CHARS) return chars.join('')
  const dot = chars.lastIndexOf('.')
  const extension = dot > 0 && chars.length - dot <= MAX_EXTENSION_CHARS ? chars.slice(dot) : []
  return (
    chars
      .slice(0, MAX_CHARS - extension.length)
      .join('')
      .trimEnd() + extension.join('')
  )
}

/** The name of a file that came without one, by its content. */
export const nameByType: Readonly<Record<FileType, string>> = {
  'image/png': 'image.png',
  'image/jpeg': 'image.jpg',
  'image/gif': 'image.gif',
  'image/webp': 'image.webp',
  'application/pdf': 'document.pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'document.docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'workbook.xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'presentation.pptx',
  'text/plain': 'text.txt',
  'text/csv': 'table.csv',
  'text/markdown': 'text.md',
  [UNREADABLE]: 'file',
}
