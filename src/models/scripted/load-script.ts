import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Document, parseDocument } from 'yaml'
import { ServerError } from '../../domain/errors.ts'
import { readScript, type Script } from './script.ts'

/** Reads a script in YAML or JSON. The path is relative to the agent's folder. */
export async function loadScript(file: string, directory: string): Promise<Script> {
  const path = resolve(directory, file)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw new ServerError('config_invalid', `model.script: ${path} cannot be read. Check the path.`, {
      details: { file: path },
      cause,
    })
  }
  const document = parseDocument(text)
  const [error] = document.errors
  if (error !== undefined) {
    throw new ServerError('config_invalid', `${path}: ${error.message}`, { details: { file: path }, cause: error })
  }
  return readScript(contentOf(document, path), path)
}

/** Throws when aliases would expand without end. */
function contentOf(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (cause) {
    throw new ServerError('config_invalid', `${file} has too many YAML aliases. Write the parts out.`, {
      details: { file },
      cause,
    })
  }
}
