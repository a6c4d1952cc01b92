// What `import 'quarterdeck'` leads to. It must parse on Node 18, so it loads the library only when it knows that Node can run it. A
// `require` can wait for that, and an `import` cannot: Node reads all that a module imports before it runs a line of it.

import { createRequire } from 'node:module'

const NEEDED_MAJOR = 24
const { node } = process.versions

if (Number.parseInt(node, 10) < NEEDED_MAJOR) {
  throw new Error(
    `quarterdeck needs Node ${NEEDED_MAJOR} or newer, this is Node ${node}. Install it from https://nodejs.org, ` +
      `or run your program with it: npx -y node@${NEEDED_MAJOR} <file>. quarterdeck/client runs on this Node too.`,
  )
}

export const {
  AskError,
  ConfigError,
  ServerError,
  ToolError,
  codeTool,
  createEventLog,
  createQuarterdeck,
  createRateLimit,
  createRedaction,
  createRunMetadata,
  createToolFilter,
  defineTool,
  errorCodes,
} = createRequire(import.meta.url)('../dist/index.cjs')
