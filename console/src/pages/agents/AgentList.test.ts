import type { Session } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import { agentsElsewhere } from './AgentList.tsx'

const session = (agent: string, status: string, updated_at: string, host: string): Session =>
  ({ agent, status, updated_at, supervision: { host } }) as Session

test('sessions of the same agent are one agent, and the last one seen is first', () => {
  expect(
    agentsElsewhere([
      session('claude', 'ended', '2026-11-01T00:00:00Z', 'box'),
      session('codex', 'open', '2026-11-02T00:00:00Z', 'box'),
      session('claude', 'running', '2026-11-03T00:00:00Z', 'laptop'),
    ]),
  ).toEqual([
    { agent: 'claude', hosts: ['box', 'laptop'], sessions: 2, working: 1, lastSeen: '2026-11-03T00:00:00Z' },
    { agent: 'codex', hosts: ['box'], sessions: 1, working: 1, lastSeen: '2026-11-02T00:00:00Z' },
  ])
})
