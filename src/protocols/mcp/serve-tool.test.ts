import type { ServerContext } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { silentLogger } from '../../domain/logger.ts'
import { noTelemetry } from '../../domain/telemetry.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { callLimitMs, serveTool } from './serve-tool.ts'
import type { McpAgent, McpTool } from './tool-table.ts'

const agent: McpAgent = {
  principal: { owner: 'ann', tokenId: 't', workspace: '/w' } as McpAgent['principal'],
  workspace: '/w',
  sessionId: null,
  channelId: null,
  client: null,
  hostLimitMs: null,
  era: 'modern',
  connectionId: 'c',
  isLasting: false,
}

test('a call whose client is gone before it begins does not wait', async () => {
  const tool: McpTool = {
    name: 'hold',
    title: 'Hold',
    description: 'Waits until nobody wants the answer.',
    input: z.object({}),
    call: async (_, { signal }) => ({ structured: { isGone: signal.aborted }, isError: false }),
  }
  const mcpReq = { signal: AbortSignal.abort() } as ServerContext['mcpReq']
  const services = {
    clock: createManualClock(),
    log: silentLogger,
    telemetry: noTelemetry,
    stopping: new AbortController().signal,
  }

  expect(await serveTool(tool, {}, { agent, mcpReq, isRead: () => true, resumable: null }, services)).toMatchObject({
    structuredContent: { isGone: true },
  })
})

test.each([
  ['claude-code', true, 86_400],
  ['claude-code', false, 290],
  ['copilot-cli', true, 86_400],
  ['copilot-cli', false, 170],
  ['codex-mcp-client', true, 290],
  ['gemini-cli-mcp-client', false, 590],
  ['somebody', true, 50],
  [null, false, 50],
])('a call of %s (with progress: %s) is answered within %i seconds', (name, hasProgress, seconds) => {
  expect(callLimitMs(name === null ? null : { name }, hasProgress)).toBe(seconds * 1000)
})

test.each([
  ['codex-mcp-client', true, 3_660, 3_650],
  ['somebody', false, 3_660, 3_650],
  ['somebody', false, 30, 20],
  ['somebody', false, 1, 0.5],
  ['claude-code', true, 3_660, 3_650],
  ['claude-code', true, 86_400, 86_390],
  ['claude-code', false, 3_660, 290],
])('a call of %s (with progress: %s) that its config lets block for %i s is answered in time', (...given) => {
  const [name, hasProgress, limit, seconds] = given
  expect(callLimitMs({ name }, hasProgress, limit * 1000)).toBe(seconds * 1000)
})
