// The program, whose servers have what the MCP conformance suites look for.

import { randomBytes } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { createAppStarter } from '../../src/cli/commands/serve/start-app.ts'
import { createProgram } from '../../src/cli/program.ts'
import { createProcessIo } from '../../src/cli/terminal/process-io.ts'
import { readVersion } from '../../src/config/version.ts'
import { createConformanceFixtures } from './fixtures.ts'

// Some scenarios drop the query of the address, and the token with it. Here every request has the token.
const { AGENT_TOKEN } = process.env
subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage }
  request.headers.authorization = `Bearer ${AGENT_TOKEN}`
})

const version = await readVersion()
const startApp = createAppStarter(version)
const program = await createProgram({
  version,
  startApp: (config, log, io, more) =>
    startApp(config, log, io, { ...more, mcpExtension: createConformanceFixtures(io.clock, randomBytes(32)) }),
  io: createProcessIo(process),
  settle: (code) => process.exit(code),
})
await program.parseAsync()
