// A coding agent at /mcp that asks its operator one thing after the other, and the operator. The agent repeats what was not answered.

import { mkdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { initialize, messagesIn } from '../../../src/protocols/mcp/testing/open-mcp-door.ts'
import { OPERATOR_TOKEN } from '../../crash/support/operator.ts'
import type { Team } from './team.ts'

export interface AgentAtMcp {
  /** How many questions were answered. */
  readonly answered: number
  /** Resolves after the question that is open. */
  stop(): Promise<void>
  /** Everything that is wrong, after it has stopped. */
  faults(): Promise<string[]>
}

interface Answer {
  /** Null: none came, or only a part of it. */
  status: number | null
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
}

interface Prompt {
  prompt_id: string
  prompt_text: string
}

const SILENCE_MS = 12_000
const AGAIN_MS = 300
const NONE: Answer = { status: null, headers: {}, text: '' }

const asOperator = { Authorization: `Bearer ${OPERATOR_TOKEN}` }

export function startAgentAtMcp({ url, directory }: Team, name: string): AgentAtMcp {
  const workspace = join(directory, name)
  mkdirSync(workspace)
  const found: string[] = []
  /** How often each question was sent. MCP cannot say that a call is the same as one whose answer was lost, so each may ask anew. */
  const sent = new Map<string, number>()
  let goOn = true
  let mcpSession = ''
  let token = ''
  let answered = 0

  function send(method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Answer> {
    return new Promise((resolve) => {
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
      // A new connection for each request, so that each goes to another replica.
      const call = request(url + path, { method, agent: false, headers: { ...type, ...headers } }, (response) => {
        textOf(response).then(
          (text) => resolve({ status: response.statusCode ?? null, headers: response.headers, text }),
          () => resolve(NONE),
        )
      })
      call.setTimeout(SILENCE_MS, () => call.destroy())
      call.on('error', () => resolve(NONE))
      call.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  /** Repeats it until there is an answer that is none of a server in trouble. */
  async function insist(ask: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const answer = await ask()
      if (answer.status === 503 && answer.headers['retry-after'] === undefined) {
        found.push(`${name}: 503 without Retry-After: ${answer.text}`)
      }
      if (answer.status !== null && answer.status !== 503) return answer
      await pause(AGAIN_MS)
    }
  }

  async function begin(): Promise<void> {
    const body = { role: 'agent', user: 'local_user', workspace }
    if (token === '') token = JSON.parse((await insist(() => send('POST', '/tokens', asOperator, body))).text).token
    const { headers } = await insist(() => mcp(initialize))
    mcpSession = String(headers['mcp-session-id'] ?? '')
  }

  const mcp = (body: object): Promise<Answer> =>
    send(
      'POST',
      '/mcp',
      {
        Authorization: `Bearer ${token}`,
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-11-25',
        ...(mcpSession === '' ? {} : { 'Mcp-Session-Id': mcpSession }),
      },
      body,
    )

  /** What the operator said. Null: ask again. */
  async function askOnce(id: number, prompt_text: string): Promise<string | null> {
    const params = { name: 'forward_prompt', arguments: { prompt_text } }
    const { status, text } = await insist(() => {
      sent.set(prompt_text, (sent.get(prompt_text) ?? 0) + 1)
      return mcp({ jsonrpc: '2.0', id, method: 'tools/call', params })
    })
    if (status === 404) {
      // A connection without a call lives in the memory of one replica.
      mcpSession = ''
      await begin()
      return null
    }
    if (status !== 200) throw new Error(`/mcp answered ${status} ${text}`)
    const messages = messagesIn(text) as { message: { id?: number; result?: { structuredContent?: object } } }[]
    const answer = messages.find(({ message }) => message.id === id)?.message.result?.structuredContent ?? {}
    return 'instruction' in answer ? String(answer.instruction) : null
  }

  async function agent(): Promise<void> {
    await begin()
    for (let n = 0, id = 1; goOn && found.length === 0; n += 1) {
      const question = `Shall ${name} go on with ${n}?`
      let said: string | null = null
      // Without the operator it would ask for ever.
      while (said === null && found.length === 0) {
        id += 1
        said = await askOnce(id, question)
        if (said === null) await pause(AGAIN_MS)
      }
      if (said === null) return
      if (said !== answerTo(question)) found.push(`${name}: asked "${question}", was told "${said}"`)
      answered += 1
    }
  }

  /** Prompts of this agent, from all pages of the list. */
  async function prompts(status: string): Promise<Prompt[]> {
    const all: Prompt[] = []
    for (let path: string | undefined = `/prompts?status=${status}&limit=100`; path !== undefined; ) {
      const next: string = path
      const { status: code, headers, text } = await insist(() => send('GET', next, asOperator))
      if (code !== 200) throw new Error(`${next} answered ${code} ${text}`)
      const page: { prompts: Prompt[] } = JSON.parse(text)
      all.push(...page.prompts)
      path = /<([^>]*)>; rel="next"/.exec(String(headers.link ?? ''))?.[1]
    }
    return all.filter(({ prompt_text }) => prompt_text.startsWith(`Shall ${name} go`))
  }

  async function operator(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      for (const { prompt_id, prompt_text } of await prompts('waiting')) {
        const decision = { decision: 'refine', instruction: answerTo(prompt_text) }
        await insist(() => send('POST', `/prompts/${prompt_id}`, asOperator, decision))
      }
      await pause(AGAIN_MS)
    }
  }

  let isOver = false
  const asking = agent()
    .catch((error) => void found.push(`${name}: ${error}`))
    .finally(() => {
      isOver = true
    })
  const answering = operator(() => isOver).catch((error) => void found.push(`${name}, the operator: ${error}`))

  return {
    get answered() {
      return answered
    },
    async stop() {
      goOn = false
      await Promise.all([asking, answering])
    },
    async faults() {
      const texts = (await prompts('all')).map(({ prompt_text }) => prompt_text)
      const tooOften = [...new Set(texts)].filter(
        (text) => texts.filter((one) => one === text).length > (sent.get(text) ?? 0),
      )
      return [...found, ...tooOften.map((text) => `${name}: "${text}" is there more often than it was asked`)]
    },
  }
}

const answerTo = (question: string): string => `Yes: ${question}`
