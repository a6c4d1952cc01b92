// Builds `packages/client/dist`, as quarterdeck-client is published: the client's own modules and all types that they need.

import { execFileSync } from 'node:child_process'
import { globSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { plainTypes, reachableTypes } from './plain-types.ts'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'packages/client/dist')

rmSync(dist, { recursive: true, force: true })
execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'packages/client'], { cwd: root, stdio: 'inherit' })
writeFileSync(join(dist, 'client/wire.d.ts'), await plainTypes(join(root, 'src/client/wire.ts')))
const { files, packages } = reachableTypes([join(dist, 'client/client.d.ts')])
if (packages.size > 0) throw new Error(`the types need ${[...packages].join(', ')}, but the client has no dependencies`)
// The compiler also writes the modules from which only types are taken.
for (const file of globSync('**/*.{js,d.ts}', { cwd: dist })) {
  const path = join(dist, file)
  if (!files.has(path) && !/^client[\\/][\w-]+\.js$/.test(file)) rmSync(path)
}
