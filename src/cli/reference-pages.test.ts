import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { referencePages } from './reference-pages.ts'

test.each(Object.entries(referencePages))('%s is up to date', (file, generate) => {
  const current = readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
  expect(current, `${file} differs from what the code says; run: npm run generate`).toBe(generate(current))
})
