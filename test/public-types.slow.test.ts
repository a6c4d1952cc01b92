import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PUBLIC_TYPES, publicTypes } from '../scripts/public-types.ts'
import { whatToDo } from '../scripts/version-rule.ts'
import { readVersion } from '../src/config/version.ts'
import * as library from '../src/index.ts'

const root = join(import.meta.dirname, '..')

test('docs/public-types.txt has the types that the package exports', { timeout: 300_000 }, async () => {
  const snapshot = readFileSync(join(root, PUBLIC_TYPES), 'utf8')
  const built = await publicTypes(root)
  expect(snapshot === built, whatToDo(PUBLIC_TYPES, snapshot, built, await readVersion())).toBe(true)

  const [own = ''] = built.split('# quarterdeck/client')
  const values = [...own.matchAll(/^export (?:class|function|const) (\w+)/gm)].map(([, name]) => name)
  expect(new Set(values)).toEqual(new Set(Object.keys(library)))
})
