// Builds the web console into `dist/console`. `npm install` in a checkout runs this as `prepare`. A published package carries the built
// console, and an install without development packages has no Vite: then there is nothing to do.

import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

if (existsSync(join(root, 'console/vite.config.ts')) && existsSync(join(root, 'node_modules/vite'))) {
  const { build } = await import('vite')
  await build({ configFile: join(root, 'console/vite.config.ts'), logLevel: 'warn' })
} else {
  // Programs read what npm writes to stdout.
  process.stderr.write('The console is not built here: Vite is not installed.\n')
}
