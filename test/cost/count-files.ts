// Imported before the server: answers whoever asks over the channel which files were loaded so far.

import { registerHooks } from 'node:module'

const files = new Set<string>()
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) files.add(url)
    return next(url, context)
  },
})
process.on('message', () => process.send?.([...files]))
process.channel?.unref()
