// Compares the type that the client states for a file with its content. The content decides. A file whose stated type does not fit
// is refused, because the client meant to send another file.

import { ServerError } from '../../domain/errors.ts'
import { type FileType, isFileType, isText, readableTypes } from '../../domain/session/file.ts'

/** Labels without information. */
const UNKNOWN = new Set(['', 'application/octet-stream', 'binary/octet-stream'])
const aliases: Readonly<Record<string, FileType>> = {
  'image/jpg': 'image/jpeg',
  'text/x-markdown': 'text/markdown',
  'application/csv': 'text/csv',
}

/**
 * Labels of other texts: JSON, YAML, XML, HTML, code, RTF, mail, calendars, SVG. All texts are one family, so it does not matter
 * which of them a file is.
 */
const TEXT_LABEL =
  /^(?:text|message)\/|\+(?:json|xml|yaml)$|^application\/(?:x-)?(?:json5?|jsonl|jsonlines|ndjson|yaml|toml|xml|xml-dtd|html|javascript|ecmascript|typescript|rtf|richtext|sql|sh|bash|shellscript|csh|perl|php|httpd-php|python|python-code|ruby|ruby-script|java|java-source|csrc|c\+\+src|lua|rust|go|latex|tex|graphql|subrip|ics|patch|diff|ini|bat|powershell|log)$/

/** The system's type for a TypeScript file is that of a video stream. */
const isTypeScript = (type: string, name: string): boolean => type.startsWith('video/') && /\.[cm]?tsx?$/i.test(name)

/** The type that a label states; null when it states none. Throws `unsupported_media_type` for a type that we do not accept. */
export function declaredType(label: string | null, name: string): FileType | null {
  const [essence = ''] = (label ?? '').split(';')
  const type = essence.trim().toLowerCase()
  if (UNKNOWN.has(type)) return null
  if (isFileType(type)) return type
  const alias = Object.hasOwn(aliases, type) ? aliases[type] : undefined
  if (alias !== undefined) return alias
  // Browsers send this for a CSV file when Excel is installed.
  if (type === 'application/vnd.ms-excel' && /\.csv$/i.test(name)) return 'text/csv'
  if (TEXT_LABEL.test(type) || isTypeScript(type, name)) return 'text/plain'
  throw new ServerError(
    'unsupported_media_type',
    `${JSON.stringify(name)} is sent as ${JSON.stringify(essence.trim().slice(0, 100))}, which is not accepted. ${ACCEPTED}`,
    { details: { name, declared: essence.trim().slice(0, 100) } },
  )
}

/** The kind of text that a label states; null when it states something else, or nothing. */
export function statedText(label: string | null, name: string): FileType | null {
  try {
    const type = declaredType(label, name)
    return type !== null && isText(type) ? type : null
  } catch {
    return null
  }
}

/** The type to record for the file. `found` is `text/plain` for every text. Throws `unsupported_media_type`. */
export function agreedType(found: FileType, declared: FileType | null, name: string): FileType {
  if (declared === null) return isText(found) ? textTypeOf(name) : found
  if (declared === found || (isText(declared) && isText(found))) return declared
  throw mismatch(declared, found, name)
}

export const mismatch = (declared: FileType, found: string, name: string): ServerError =>
  new ServerError(
    'unsupported_media_type',
    `${JSON.stringify(name)} is sent as ${declared}, but its content is ${found}. Send it with its real type.`,
    { details: { name, declared, found } },
  )

/** For a file whose content has none of our types. */
export const unknownContent = (declared: FileType | null, found: string, name: string): ServerError =>
  declared === null
    ? new ServerError('unsupported_media_type', `${JSON.stringify(name)} is ${found}. ${ACCEPTED}`, {
        details: { name },
      })
    : mismatch(declared, found, name)

/** For a file that seems to be text. In the wrong encoding it would be nonsense that nobody notices. */
export const unknownEncoding = (name: string): ServerError =>
  new ServerError(
    'unsupported_media_type',
    `${JSON.stringify(name)} is text in an encoding that cannot be recognized, or not text at all. Save it as UTF-8 and send it again.`,
    { details: { name } },
  )

function textTypeOf(name: string): FileType {
  if (/\.(?:md|markdown)$/i.test(name)) return 'text/markdown'
  return /\.csv$/i.test(name) ? 'text/csv' : 'text/plain'
}

const ACCEPTED = `Send one of: ${readableTypes.join(', ')}, or another text such as JSON, HTML or code.`
