import { expect, test } from 'vitest'
import type { AgentService } from '../../supervision/agent-service/agent-service.ts'
import { createAgentTools } from './agent-tools.ts'
import type { McpCallContext } from './tool-table.ts'

test.each([
  [
    { isError: false, answer: { behavior: 'allow', updatedInput: { command: 'ls' }, session_id: 's' } },
    '{"behavior":"allow","updatedInput":{"command":"ls"}}',
  ],
  [
    { isError: true, answer: { status: 'error', error_code: 'limit', error_message: 'Too many.' } },
    '{"behavior":"deny","message":"Too many."}',
  ],
])('approve_tool answers in nothing but the text that a permission prompt is read from: %j', async (decided, text) => {
  const service = { approve_tool: async () => decided } as unknown as AgentService
  const context = {
    agent: { principal: { owner: 'ann', tokenId: 't' }, workspace: '/srv/shop', client: null },
  } as unknown as McpCallContext
  const tool = createAgentTools(service).find(({ name }) => name === 'approve_tool')

  const answer = await tool?.call({ tool_name: 'Bash', input: { command: 'ls' } }, context)

  expect(answer).toEqual({ structured: null, isError: false, text })
})
