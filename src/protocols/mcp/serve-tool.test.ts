import type { ServerContext } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { silentLogger } from '../../domain/logger.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { serveTool } from './serve-tool.ts'
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
  const services = { clock: createManualClock(), log: silentLogger, stopping: new AbortController().signal }

  expect(await serveTool(tool, {}, { agent, mcpReq, isRead: () => true, resumable: null }, services)).toMatchObject({
    structuredContent: { isGone: true },
  })
})
