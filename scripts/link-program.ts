// Puts this checkout's own program where npx looks first. `npm install` runs this as `prepare`. Without the link, npx installs the checkout
// into its cache before each start: four more seconds of CPU time, and npm's warning about an older Node, twice.

import { existsSync, lstatSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../node_modules/.bin')
const link = join(folder, 'quarterdeck')

// Windows lets only administrators make links, and needs a script instead. There npx takes its time.
if (process.platform !== 'win32' && existsSync(folder)) {
  if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) unlinkSync(link)
  symlinkSync('../../bin/quarterdeck.js', link)
}
