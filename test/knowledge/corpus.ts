// The fetched documents as the other programs of this folder see them.

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Kind, Language } from './packages.ts'

export const root = resolve(import.meta.dirname, '../..')
/** Nothing of it is committed. */
export const corpusFolder = resolve(
  process.env.QUARTERDECK_CORPUS ?? join(root, 'node_modules/.cache/quarterdeck-knowledge'),
)
export const documentsFolder = join(corpusFolder, 'documents')
export const manifestPath = join(corpusFolder, 'manifest.json')
/** What was made before the first measurement. Committed. */
export const sealPath = join(import.meta.dirname, 'seal.json')

export interface Manifest {
  packages: { name: string; version: string; sha256: string }[]
  documents: CorpusDocument[]
}

export interface CorpusDocument {
  /** Relative to `documentsFolder`, with `/`. */
  file: string
  kind: Kind
  language: Language
  package: string
  /** Of the file in the package. */
  path: string
  bytes: number
  sha256: string
}

export interface Seal {
  manifest: string
  open: string
  sealed: string
  documents: number
  questions: { open: number; sealed: number }
}

export const readManifest = (): Manifest => JSON.parse(readFileSync(manifestPath, 'utf8'))
export const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}
