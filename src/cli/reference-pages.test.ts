import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createAppStarter } from './commands/serve/start-app.ts'
import { createProgram } from './program.ts'
import { referencePages } from './reference-pages.ts'
import { createTestIo } from './testing/test-io.ts'

const program = await createProgram({ version: '', startApp: createAppStarter(''), io: createTestIo(), settle() {} })

test.each(Object.entries(referencePages(program)))('%s is up to date', (file, generate) => {
  const current = readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
  expect(current, `${file} differs from what the code says; run: npm run generate`).toBe(generate(current))
})
