// Windows of coding agents: they report, ask, wait, ask again by id or by content, and vanish in the middle of a call. Once the trial
// has calmed down they find out what became of everything they asked, and end.

import type {
  AgentAnswer,
  AgentCall,
  AgentService,
  ToolInputs,
} from '../../../src/supervision/agent-service/agent-service.ts'
import type { History } from '../history.ts'
import type { Kernel } from '../kernel.ts'
import type { Net } from '../net.ts'
import type { Random } from '../random.ts'
import type { ElsewhereWorld, WindowOptions } from './world.ts'

export interface ElsewhereDeps {
  kernel: Kernel
  random: Random
  net: Net
  world: ElsewhereWorld
  history: History
  isCalm: () => boolean
}

type Tool = keyof AgentService

/** One call of an agent, as far as the server answered it. */
export interface AgentCallRecord {
  window: string
  tool: Tool
  input: Record<string, unknown>
  /** Null: the server died first. */
  answer: AgentAnswer | null
  /** The call waited for a person, and ended because the caller had gone. */
  isGone: boolean
}

/** What an agent may be told instead of an answer. */
const fair = new Set([
  ...['session_paused', 'session_ended', 'limit', 'approval_pending', 'conflict', 'storage_full', 'storage_failed'],
  ...['not_approved', 'already_consumed', 'patch_conflict', 'session_not_found'],
])

const idNames = { forward_prompt: 'prompt_id', wait_for_instruction: 'wait_id', ask_approval: 'request_id' } as const
type AskingTool = keyof typeof idNames
const habits = { prompts: 'forward_prompt', changes: 'ask_approval' } as const
const isAsking = (tool: Tool): tool is AskingTool => tool in idNames

export async function workIn(deps: ElsewhereDeps, options: WindowOptions): Promise<void> {
  const { kernel, random, net, world, history, isCalm } = deps
  const { name, tokenId, workspaceRoot, hasConnection } = options
  let connections = 1
  let texts = 0
  let sessionId: string | null = null
  /** What it asked, by id; true: it has the answer. */
  const asked = new Map<string, { tool: AskingTool; isAnswered: boolean }>()
  const approved = new Set<string>()
  const accepted = new Set<string>()
  let last: { tool: AskingTool; input: Record<string, unknown> } | null = null

  const complain = (message: string) => history.findings.push({ checker: 'agents', message: `${name}: ${message}` })

  function identity(): AgentCall['agent'] {
    const connectionId = hasConnection ? `${name}-${connections}` : null
    // Several sessions of one token: the agent has to say which one it means.
    const names = sessionId !== null && (!hasConnection || random.chance(0.2))
    return {
      ...{ owner: 'ann', tokenId, workspaceRoot, channelId: null, host: 'claude-code', connectionId },
      sessionId: names ? sessionId : null,
    }
  }

  async function call<T extends Tool>(tool: T, input: ToolInputs[T] & Record<string, unknown>): Promise<void> {
    const gone = new AbortController()
    const record: AgentCallRecord = { window: name, tool, input, answer: null, isGone: false }
    history.elsewhere.calls.push(record)
    const agent = identity()
    const limitMs = random.float() * (isCalm() ? 300 : world.limitMs)
    const leaves =
      !isCalm() && random.chance(world.vanishes)
        ? kernel.sleep(random.float() * world.limitMs).then(() => {
            gone.abort()
            return null
          })
        : new Promise<null>(() => {})
    const reply = await Promise.race([
      leaves,
      net.request(`${name} ${tool}`, async ({ process, elsewhere }) => {
        if (elsewhere === null) throw new Error('nobody serves agents elsewhere')
        const progress = () => {}
        const began = kernel.time
        const handle: (call: AgentCall, input: ToolInputs[T]) => Promise<AgentAnswer> = elsewhere.service[tool]
        const answer = await handle({ agent, signal: gone.signal, limitMs, progress }, input)
        const isEarly = answer.answer.status === 'pending' && kernel.time - began < limitMs
        if (process.alive) Object.assign(record, { answer, isGone: gone.signal.aborted && isEarly })
        return answer
      }),
    ])
    if (reply === null || !reply.ok) {
      if (reply !== null && !['refused', 'lost'].includes(reply.code)) complain(`${tool} failed with ${reply.code}`)
      return
    }
    hear(tool, reply.value)
  }

  function hear(tool: Tool, { isError, answer }: AgentAnswer): void {
    const { session_id, error_code, error_message, status } = answer
    if (isError) {
      if (!fair.has(String(error_code))) complain(`${tool} was refused with ${error_code}: ${error_message}`)
      if (error_code === 'session_ended' || error_code === 'session_not_found') {
        sessionId = null
        connections += 1
      }
      return
    }
    if (typeof session_id === 'string' && random.chance(0.7)) sessionId = session_id
    if (isAsking(tool)) {
      const id = String(answer[idNames[tool]])
      asked.set(id, { tool, isAnswered: status !== 'pending' })
      if (tool === 'ask_approval' && status === 'approved') approved.add(id)
    }
  }

  const text = () => {
    texts += 1
    return `${name} text ${texts}`
  }

  /** Something new, or what was asked last in the same words. */
  function ask(): Promise<void> {
    if (last === null || !random.chance(0.3)) {
      const mix = ['forward_prompt', 'wait_for_instruction', 'ask_approval', 'ask_approval'] as const
      const tool = world.habit === null ? random.pick(mix) : habits[world.habit]
      last = { tool, input: question(tool) }
    }
    return call(last.tool, last.input)
  }

  function question(tool: AskingTool): Record<string, unknown> {
    switch (tool) {
      case 'forward_prompt': {
        const kinds = ['continuation', 'continuation', 'clarification', 'error_recovery', 'resource_warning'] as const
        return { prompt_text: text(), prompt_type: world.isAlone ? 'continuation' : random.pick(kinds) }
      }
      case 'wait_for_instruction':
        return { message: text(), timeout_seconds: random.pick([0, 0, 1]) }
      case 'ask_approval':
        return { title: 'A change', diff: text(), file_path: random.pick(['a.ts', 'b.ts', 'allowed.md']) }
    }
  }

  function again(): Promise<void> {
    const [id, { tool }] = random.pick([...asked] as [[string, { tool: AskingTool; isAnswered: boolean }]])
    return call(tool, { [idNames[tool]]: id })
  }

  function accept(): Promise<void> {
    const news = [...approved].filter((id) => !accepted.has(id))
    const request_id = random.pick((news.length > 0 && random.chance(0.8) ? news : [...approved]) as [string])
    accepted.add(request_id)
    return call('accept_diff', { request_id, force: random.chance(0.2) })
  }

  function act(): Promise<void> {
    const isNew = [...approved].some((id) => !accepted.has(id))
    if (isNew && random.chance(0.5)) return accept()
    const what = random.below(world.habit === null ? 10 : 7)
    if (what < 4) return ask()
    if (what < 5 && asked.size > 0) return again()
    if (what < 7 && approved.size > 0) return accept()
    if (what < 8) {
      const input = { command: random.chance(0.3) && last !== null ? 'git push' : text() }
      return call('approve_tool', { tool_name: 'Bash', input, tool_use_id: text() })
    }
    if (what < 9) {
      const progress = [{ label: text(), status: 'done' }]
      return call('heartbeat', random.chance(0.5) ? { progress_snapshot: progress } : {})
    }
    return random.chance(0.5) ? call('remote_log', { message: text() }) : call('recover_state', {})
  }

  function reopen(): void {
    connections += 1
    sessionId = null
  }

  for (let calls = 0; calls < options.calls && !isCalm(); calls += 1) {
    await kernel.sleep(random.float() * world.thinkMs)
    if (random.chance(world.reopens)) reopen()
    if (random.chance(world.racingWrites))
      world.files.contents.set(`${workspaceRoot}/${random.pick(['a.ts', 'b.ts'])}`, text())
    if (random.chance(world.sideBySide)) {
      const { tool, input } = last ?? { tool: 'forward_prompt' as const, input: question('forward_prompt') }
      await Promise.all(random.chance(0.5) ? [call(tool, input), call(tool, input)] : [act(), act()])
    } else await act()
  }
  while (!isCalm()) await kernel.sleep(500)
  // What became of everything? A record of another session is found by its id too.
  for (const [id, { tool }] of asked) {
    for (let tries = 0; tries < 30 && asked.get(id)?.isAnswered !== true; tries += 1) {
      await kernel.sleep(100)
      await call(tool, { [idNames[tool]]: id })
    }
  }
  for (const id of approved) await call('accept_diff', { request_id: id })
  // The first brings what operators want the agent to know, the second proves that the agent has it.
  for (let i = 0; i < 2; i += 1) {
    await kernel.sleep(100)
    await call('heartbeat', {})
  }
}
