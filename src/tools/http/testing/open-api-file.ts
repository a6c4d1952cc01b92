import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type OpenApiDocument, readOpenApiDocument } from '../open-api/document.ts'

/** Writes a document to a temporary file, calls `use` with its path, and removes it. */
export async function withOpenApiFile<T>(content: string | object, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-openapi-'))
  try {
    const file = join(folder, 'api.yaml')
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
    return await use(file)
  } finally {
    await rm(folder, { recursive: true })
  }
}

export const openApiDocument = (more: object): Promise<OpenApiDocument> =>
  withOpenApiFile({ openapi: '3.0.3', paths: {}, ...more }, readOpenApiDocument)
