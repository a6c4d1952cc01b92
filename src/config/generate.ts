// Makes the files that are derived from the schemas: `npm run generate`, or `node src/config/generate.ts`.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { agentPage } from './agent/agent-doc.ts'
import { settingsPage } from './settings/settings-doc.ts'
import { agentJsonSchema, settingsJsonSchema } from './source/json-schema.ts'

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** What each derived file should say, given what it says now (the pages are written by hand around their tables). */
export const generators: Readonly<Record<string, (current: string) => string>> = {
  'schema/agent.schema.json': () => json(agentJsonSchema()),
  'schema/quarterdeck.schema.json': () => json(settingsJsonSchema()),
  'docs/settings.md': settingsPage,
  'docs/agent-yaml.md': agentPage,
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..')
  for (const [file, generate] of Object.entries(generators)) {
    const path = join(root, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, generate(file.endsWith('.md') ? readFileSync(path, 'utf8') : ''))
    process.stdout.write(`${file}\n`)
  }
}
