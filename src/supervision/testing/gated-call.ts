import { resolve } from 'node:path'
import type { AgentDefinition } from '../../domain/agent/agent.ts'
import type { ApprovalSettings, PolicyRule } from '../../domain/agent/approval-rule.ts'
import { silentLogger } from '../../domain/logger.ts'
import type { RuledCall } from '../approvals/call-rules.ts'
import type { PathContext } from '../policy/path-conditions.ts'

const agent: AgentDefinition = {
  name: 'helper',
  description: 'helps',
  directory: '/',
  default: true,
  internal: false,
  instructions: '',
  model: {
    provider: 'demo',
    name: 'demo',
    contextWindow: 1_000,
    retries: 0,
    firstTokenTimeoutMs: 1_000,
    tokenTimeoutMs: 1_000,
  },
  host: null,
  tools: [],
  responseFormat: null,
  limits: {
    steps: 1,
    tokens: null,
    durationMs: 1_000,
    cost: null,
    toolCalls: 1,
    identicalCalls: 1,
    parallelCalls: 1,
    toolResultChars: 1_000,
    answerChars: 1_000_000,
    storedMessageChars: 1_000,
  },
  context: { maxMessages: 1, mode: 'window' },
  sessions: { ttlSeconds: 1, onExpiry: 'continue', retentionDays: 1, onBusy: 'queue' },
  approval: { default: { ask: 'risk', atLeast: 'high' }, policy: [], by: 'operator', expiresSeconds: 3_600 },
  testCases: [],
  judge: null,
  summarizer: null,
}

/** A call of `send_email`, which needs an approval unless `change` says otherwise. */
export function gatedCall(
  change: { tool?: Partial<RuledCall['tool']>; approval?: Partial<ApprovalSettings> } & Partial<
    Pick<RuledCall, 'arguments' | 'sessionId' | 'now'>
  > = {},
): RuledCall {
  return {
    agent: { ...agent, approval: { ...agent.approval, ...change.approval } },
    tool: {
      name: 'send_email',
      description: 'Sends an e-mail.',
      parameters: { type: 'object' },
      returns: null,
      effect: 'once',
      risk: 'high',
      timeoutMs: 30_000,
      retries: 0,
      approval: null,
      predictState: [],
      binding: 'a',
      ...change.tool,
    },
    arguments: change.arguments ?? { to: 'ann@example.com' },
    sessionId: change.sessionId ?? 's1',
    owner: 'ann',
    log: silentLogger,
    now: change.now ?? 1_000,
  }
}

export const policyRule = (tools: string[], where: PolicyRule['where'], then: PolicyRule['then']) => ({
  tools,
  where,
  then,
})

/** A disk without links; relative paths start in `/srv/agent`. */
export const pathContext: PathContext = {
  parameters: { type: 'object' },
  roots: ['/srv/agent'],
  realPath: (path) => resolve(path),
}
