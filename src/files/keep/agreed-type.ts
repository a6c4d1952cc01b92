// What a file is said to be, against what it is. The content decides; a label that says something else is refused, because
// whoever wrote it would get another file than they meant.

import { ServerError } from '../../domain/errors.ts'
import { type FileType, fileTypes, isFileType, isText } from '../../domain/file.ts'

/** Labels that say nothing. */
const UNKNOWN = new Set(['', 'application/octet-stream', 'binary/octet-stream'])
/** Other words for our types. */
const aliases: Readonly<Record<string, FileType>> = {
  'image/jpg': 'image/jpeg',
  'text/x-markdown': 'text/markdown',
  'application/csv': 'text/csv',
}

/** The type behind a label; null when it says nothing. Throws `unsupported_media_type` when it is none of ours. */
export function declaredType(label: string | null, name: string): FileType | null {
  const [essence = ''] = (label ?? '').split(';')
  const type = essence.trim().toLowerCase()
  if (UNKNOWN.has(type)) return null
  if (isFileType(type)) return type
  const alias = Object.hasOwn(aliases, type) ? aliases[type] : undefined
  if (alias !== undefined) return alias
  // How browsers label a CSV file where Excel is installed.
  if (type === 'application/vnd.ms-excel' && /\.csv$/i.test(name)) return 'text/csv'
  throw new ServerError(
    'unsupported_media_type',
    `${JSON.stringify(name)} is said to be ${JSON.stringify(essence.trim().slice(0, 100))}, which is not taken. ${TAKEN}`,
    { details: { name, declared: essence.trim().slice(0, 100) } },
  )
}

/** The type that the file is kept as. `found` is `text/plain` for every text. Throws `unsupported_media_type`. */
export function agreedType(found: FileType, declared: FileType | null, name: string): FileType {
  if (declared === null) return isText(found) ? textTypeOf(name) : found
  if (declared === found || (isText(declared) && isText(found))) return declared
  throw mismatch(declared, found, name)
}

export const mismatch = (declared: FileType, found: string, name: string): ServerError =>
  new ServerError(
    'unsupported_media_type',
    `${JSON.stringify(name)} is said to be ${declared}, but its content is ${found}. Send it as what it is.`,
    { details: { name, declared, found } },
  )

/** For a file whose content is none of our types. */
export const unknownContent = (declared: FileType | null, found: string, name: string): ServerError =>
  declared === null
    ? new ServerError('unsupported_media_type', `${JSON.stringify(name)} is ${found}. ${TAKEN}`, { details: { name } })
    : mismatch(declared, found, name)

/** For what seems to be text; read in the wrong encoding it would be nonsense that nobody notices. */
export const strangeText = (name: string): ServerError =>
  new ServerError(
    'unsupported_media_type',
    `${JSON.stringify(name)} is text in an encoding that cannot be told for certain, or no text at all. Save it as UTF-8 and send it again.`,
    { details: { name } },
  )

function textTypeOf(name: string): FileType {
  if (/\.(?:md|markdown)$/i.test(name)) return 'text/markdown'
  return /\.csv$/i.test(name) ? 'text/csv' : 'text/plain'
}

const TAKEN = `Send one of: ${fileTypes.join(', ')}.`
