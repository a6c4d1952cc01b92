import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { plainTypes } from '../scripts/plain-types.ts'

const root = join(import.meta.dirname, '..')
const wire = join(root, 'src/client/wire.ts')

test('the published types are those of the schemas, and need no zod', { timeout: 60_000 }, async () => {
  const text = await plainTypes(wire)
  const names = [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name)
  const exported = [...readFileSync(wire, 'utf8').matchAll(/^export type \{([^}]*)\}/gm)]
    .flatMap(([, list = '']) => list.split(','))
    .flatMap((name) => name.trim() || [])
  expect(names).toEqual(exported)
  expect(text).not.toMatch(/\bimport\b|\bz\./)

  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-plain-types-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'plain.d.ts'), text)
  writeFileSync(
    join(folder, 'same.ts'),
    `import type * as plain from './plain.d.ts'
import type * as wire from '${wire}'
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never
${names.map((name) => `true satisfies Same<plain.${name}, wire.${name}>`).join('\n')}
`,
  )
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
      include: ['same.ts'],
    }),
  )
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
  expect(stdout).toBe('')
})
