// Imported before the server: answers whoever asks over the channel which files were loaded so far.

import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

const files = new Set<string>()
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) files.add(url)
    return next(url, context)
  },
})
// The launcher loads some files of the built program itself, past the hooks.
const { cache } = createRequire(import.meta.url)
process.on('message', () => {
  for (const path of Object.keys(cache)) files.add(pathToFileURL(path).href)
  process.send?.([...files])
})
process.channel?.unref()
