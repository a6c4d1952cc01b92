import { open } from 'node:fs/promises'
import { parse } from 'yaml'
import { ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import { systemErrorCode } from '../../../domain/system-error-code.ts'
import { decoded } from '../../../domain/text/decoded.ts'

/** An OpenAPI 3 document whose references all stay inside the document. */
export interface OpenApiDocument {
  /** Path of the file, for error messages. */
  readonly file: string
  readonly root: Readonly<Record<string, unknown>>
  /** Follows `$ref` until there is none. Throws `config_invalid` for one that leads nowhere, in a circle, or out of the file. */
  resolve(value: unknown): unknown
  /** What a reference points to, which may be another reference. Throws like `resolve`. */
  target(reference: string): unknown
}

/** The largest public documents (GitHub, Stripe) have 4 to 12 MB. */
const MAX_FILE_BYTES = 32 * 1_048_576
const MAX_HOPS = 32

/** Throws `config_invalid`, which says what is wrong with the file and what to do. */
export async function readOpenApiDocument(file: string): Promise<OpenApiDocument> {
  const refuse = (problem: string, cause?: unknown) =>
    new ServerError('config_invalid', `${file}: ${problem}`, { cause })
  const root = parseText(await readText(file, refuse), refuse)
  if (!isRecord(root)) throw refuse('this is not an OpenAPI document. It needs openapi and paths at the top level.')
  if ('swagger' in root) throw refuse('this is Swagger 2.0. Convert it to OpenAPI 3, e.g. with npx swagger2openapi.')
  // An unquoted 3.1 is a number to YAML.
  if (!/^3\.\d/.test(String(root.openapi)))
    throw refuse('this is not an OpenAPI 3 document: openapi must be a version like 3.1.0.')
  if (!isRecord(root.paths)) throw refuse('the document has no paths, so there is nothing to call.')

  const target = (reference: string): unknown => {
    if (!reference.startsWith('#'))
      throw refuse(
        `$ref ${reference} leads out of the file. Bundle the document first, e.g. with npx @redocly/cli bundle.`,
      )
    if (reference !== '#' && !reference.startsWith('#/'))
      throw refuse(`$ref ${reference} is not a path inside the document (#/…). Write it as one.`)
    let value: unknown = root
    for (const key of reference.split('/').slice(1).map(unescapeKey)) {
      const holder: unknown = value
      value =
        typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
          ? Reflect.get(holder, key)
          : undefined
    }
    if (value === undefined) throw refuse(`$ref ${reference} leads nowhere. Check the spelling.`)
    return value
  }
  return {
    file,
    root,
    target,
    resolve(value) {
      let current = value
      for (let hops = 0; isRecord(current) && typeof current.$ref === 'string'; hops += 1) {
        if (hops === MAX_HOPS) throw refuse(`$ref ${current.$ref} refers to itself in a circle.`)
        current = target(current.$ref)
      }
      return current
    },
  }
}

type Refuse = (problem: string, cause?: unknown) => ServerError

async function readText(file: string, refuse: Refuse): Promise<string> {
  try {
    await using handle = await open(file)
    const about = await handle.stat()
    if (!about.isFile()) throw refuse('this is not a file.')
    if (about.size > MAX_FILE_BYTES) throw refuse('the file is larger than 32 MB.')
    return await handle.readFile('utf8')
  } catch (error) {
    if (error instanceof ServerError) throw error
    const code = systemErrorCode(error)
    if (code === 'ENOENT') throw refuse('there is no such file.', error)
    throw refuse(`the file cannot be read (${code || 'unknown reason'}).`, error)
  }
}

function parseText(text: string, refuse: Refuse): unknown {
  // Reading JSON is ten times faster than reading the same text as YAML. What only begins like JSON may be a flow mapping of YAML.
  const json = /^\s*\{/.test(text) ? jsonIn(text) : undefined
  if (json !== undefined) return json
  try {
    return parse(text, { logLevel: 'error' })
  } catch (error) {
    const [why = ''] = error instanceof Error ? error.message.split('\n') : []
    throw refuse(`this is neither YAML nor JSON: ${why}`, error)
  }
}

const unescapeKey = (key: string): string => decoded(key.replaceAll('~1', '/').replaceAll('~0', '~'))
