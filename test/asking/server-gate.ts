// The gate of a running server, through the routes that hooks and operators use.

import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, FullGate, HookInput, Question } from './replay.ts'

interface ServerGateOptions {
  /** With a slash at the end. */
  url: string
  /** Of an agent in the workspace. */
  agentToken: string
  operatorToken: string
}

interface WireApproval {
  approval_id: string
  session_id: string
  tool_call_id: string
  digest: string
  risk: Question['risk']
  view?: {
    group?: string | null
    remember?: { yes?: boolean; matches: { match: NonNullable<Answer['remember']> }[] } | null
  }
}

/** Longer than anybody waits here. */
const LIMIT_MS = 600_000

export function createServerGate({ url, agentToken, operatorToken }: ServerGateOptions): FullGate {
  /** What the hooks hear, by the call. */
  const waiting = new Map<string, Promise<string>>()

  async function operate(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
    const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`)
    return JSON.parse(text)
  }

  async function hook(host: string, input: HookInput): Promise<string> {
    const headers = { authorization: `Bearer ${agentToken}`, 'content-type': 'application/json' }
    const body = JSON.stringify(input)
    const answer = await fetch(`${url}hooks/${host}?limit_ms=${LIMIT_MS}`, { method: 'POST', headers, body })
    const text = (await answer.text()).trim()
    if (!answer.ok) throw new Error(`POST /hooks/${host}: ${answer.status} ${text.slice(0, 500)}`)
    return (JSON.parse(text) as { behavior: string }).behavior
  }

  async function questionOf(callId: string): Promise<Question | null> {
    const { approvals } = (await operate('GET', 'approvals?status=pending&limit=100')) as { approvals: WireApproval[] }
    const found = approvals.find(({ tool_call_id }) => tool_call_id === callId)
    if (found === undefined) return null
    const { approval_id: id, digest, risk, view } = found
    const matches = view?.remember?.yes === false ? [] : (view?.remember?.matches ?? [])
    return {
      id: `${id} ${callId}`,
      digest,
      risk,
      group: view?.group ?? null,
      matches: matches.map(({ match }) => match),
    }
  }

  /** Null: the hook was answered before anybody was asked. */
  async function ask(host: string, input: HookInput): Promise<Question | null> {
    const heard = hook(host, input)
    waiting.set(input.tool_use_id, heard)
    for (let wait = 10; ; wait = Math.min(wait * 2, 80)) {
      const behavior = await Promise.race([heard, delay(wait, null)])
      const question = behavior === null ? await questionOf(input.tool_use_id) : null
      if (question !== null) return question
      if (behavior !== null) return null
    }
  }

  const idOf = ({ id }: Question): [approval: string, call: string] => {
    const [approval = '', call = ''] = id.split(' ')
    return [approval, call]
  }
  const settle = async (questions: readonly Question[]) => {
    for (const question of questions) {
      const [, call] = idOf(question)
      await waiting.get(call)
      waiting.delete(call)
    }
  }

  return {
    ask,
    async answer(question, { decision, remember }) {
      const kept = remember === undefined ? {} : { remember: 'workspace', grant: { match: remember } }
      await operate('POST', `approvals/${idOf(question)[0]}`, { decision, digest: question.digest, ...kept })
      await settle([question])
    },
    async answerGroup(questions) {
      const [first] = questions
      if (first !== undefined && questions.length === 1) return await this.answer(first, { decision: 'approve' })
      const items = questions.map((one) => ({ id: idOf(one)[0], digest: one.digest }))
      await operate('POST', 'approvals', { decision: 'approve', items })
      await settle(questions)
    },
    async isAllowed(host, input) {
      const question = await ask(host, input)
      if (question !== null) await this.answer(question, { decision: 'reject' })
      return question === null && (await waiting.get(input.tool_use_id)) !== 'deny'
    },
  }
}
