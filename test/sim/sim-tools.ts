// The tools of a trial: one of each effect, free and gated; one that runs at the client; other agents. The ledger in the history
// counts what really began.

import type { Effect } from '../../src/domain/agent/tool-settings.ts'
import { type Clock, sleep } from '../../src/domain/clock.ts'
import { serverTool } from '../../src/tools/testing/server-tool.ts'
import type { AgentTool, BoundTool, ClientTool, ServerTool, Tool, ToolOutcome } from '../../src/tools/tool.ts'
import type { Faults } from './faults.ts'
import type { History } from './history.ts'
import type { Kernel } from './kernel.ts'
import type { Random } from './random.ts'

export interface SimToolsDeps {
  random: Random
  faults: Pick<Faults, 'tool' | 'offers'>
  history: History
  kernel: Kernel
  clock: Clock
  life: number
  timeoutMs: number
  isCalm: () => boolean
}

const free = { look: 'read', put: 'idempotent', pay: 'once' } as const
const gated = { peek: 'read', post: 'idempotent', wire: 'once' } as const

/** Nobody may start one of these unasked. */
export const gatedTools: ReadonlySet<string> = new Set([...Object.keys(gated), 'guarded'])

/** What a model may ask for and no agent has. */
export const NO_TOOL = 'nope'

/** The agents of a trial: the one that is talked to, the one it asks, the one it hands the conversation to. */
export const agentNames = ['sim', 'helper', 'desk'] as const
export type AgentName = (typeof agentNames)[number]

export function createSimTools(deps: SimToolsDeps): Record<AgentName, readonly Tool[]> {
  const { random, faults, history, kernel, clock, life, timeoutMs, isCalm } = deps
  const { offers } = faults

  async function behave(signal: AbortSignal): Promise<ToolOutcome> {
    const { ms, fails, throws, hangs, throwsLate } = faults.tool
    if (isCalm()) return { content: 'fine', isError: false }
    if (random.chance(throws)) throw new Error('a bug in a tool')
    if (random.chance(hangs)) await new Promise(() => {})
    if (random.chance(throwsLate)) {
      await sleep(clock, timeoutMs * 2)
      throw new Error('a late bug in a tool')
    }
    await sleep(clock, random.float() * ms, random.chance(0.5) ? signal : undefined)
    return random.chance(fails) ? { content: 'it failed', isError: true } : { content: 'done', isError: false }
  }

  const tool = (name: string, effect: Effect, more: Partial<ServerTool> = {}): ServerTool =>
    serverTool({
      name,
      description: `Does ${name}.`,
      effect,
      timeoutMs,
      ...more,
      call({ callId, sessionId, runId, arguments: args }, signal) {
        const text = JSON.stringify(args)
        history.toolStarts.push({
          tool: name,
          effect,
          callId,
          arguments: text,
          sessionId,
          runId,
          at: kernel.time,
          life,
        })
        kernel.trace(`tool ${name} ${callId} ${text}`)
        return behave(signal)
      },
    })

  const described = (name: string, more: Partial<BoundTool> = {}): BoundTool => {
    const { location: _, call: __, ...description } = tool(name, 'read', more)
    return description
  }
  const client = (): ClientTool => ({ ...described('ask_user'), location: 'client' })
  const agent = (name: string, other: AgentName, handoff: boolean, more: Partial<BoundTool> = {}): AgentTool => ({
    ...described(name, more),
    location: 'agent',
    agent: other,
    handoff,
  })

  const always = { approval: { ask: 'always' } } as const
  const [look, put, pay] = Object.entries(free).map(([name, effect]) => tool(name, effect))
  const asked = Object.entries(gated).map(([name, effect]) => tool(name, effect, always))
  const given = (...tools: (Tool | undefined)[]): Tool[] => tools.filter((one) => one !== undefined)
  const shared = given(...(offers.gated ? asked : []), ...(offers.client ? [client()] : []))
  return {
    sim: [
      ...given(look, put, pay, ...shared),
      ...(offers.agents
        ? [agent('helper', 'helper', false), agent('guarded', 'helper', false, always), agent('desk', 'desk', true)]
        : []),
    ],
    helper: [...given(look, pay, ...shared), agent('deputy', 'desk', false)],
    desk: given(look, pay, ...shared),
  }
}
