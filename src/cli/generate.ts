// `npm run generate`: writes all files that are derived from the code.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { generators } from '../config/generate.ts'
import { readVersion } from '../config/version.ts'
import { jsonText } from './json-text.ts'
import { servedDocument } from './served-document.ts'

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..')
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
    process.stdout.write(`${file}\n`)
  }
  for (const [file, generate] of Object.entries(generators)) {
    write(file, generate(file.endsWith('.md') ? readFileSync(join(root, file), 'utf8') : ''))
  }
  write('docs/openapi.json', jsonText(await servedDocument(await readVersion())))
}
