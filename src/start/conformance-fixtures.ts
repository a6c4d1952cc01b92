// What `--conformance-fixtures` adds to a server, for the MCP conformance suite.

import { randomBytes } from 'node:crypto'
import type { ServerSettings } from '../config/settings/server-settings.ts'
import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import { LOCAL_USER } from '../domain/session.ts'
import type { AgentPrincipal } from '../http/route.ts'

/** What a caller without a token counts as. */
export const conformanceAgent = (workspace: string): AgentPrincipal => ({
  owner: LOCAL_USER,
  role: 'agent',
  hasToken: true,
  tokenId: 'conformance',
  workspace,
})

/** Loaded only when a test asks for it. */
export async function loadConformanceFixtures({ loopback, auth }: ServerSettings, clock: Clock) {
  if (!loopback || auth.required) {
    throw new ServerError('config_invalid', '--conformance-fixtures works only on loopback, and without --auth token.')
  }
  const { createConformanceFixtures } = await import('../protocols/mcp/conformance/fixtures.ts')
  return createConformanceFixtures(clock, randomBytes(32))
}
