// Replays recorded agents against a gate, with an operator who answers at once, and counts what the operator is asked.
//
// How questions are counted in a fresh folder: all its tasks begin together, as five windows of an agent do. Each works until it is asked.
// When all stand still, the operator takes the item that has waited longest. Items that are open in that moment and that the server has put into the same
// group are decided with it, after one look: one question. Nothing else is ever counted as one. `items` counts every item by itself,
// which is what an operator of one agent at a time is asked, because then there is never a second one to decide with it.

import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import type { WorkMatch } from '../../src/domain/supervision/grant.ts'
import { hookInput, type RecordedCall } from './recorded-call.ts'

export type HookInput = ReturnType<typeof hookInput>

/** What an operator sees of a question. */
export interface Question {
  id: string
  digest: string
  risk: 'low' | 'high' | 'critical'
  /** What may be remembered with a yes, the narrowest first. */
  matches: readonly WorkMatch[]
  group: string | null
}

export interface Answer {
  decision: 'approve' | 'reject'
  /** For the workspace. */
  remember?: WorkMatch
}

/** The gate as hosts and operators know it. */
export interface Gate {
  /** The call of a host's hook. Null: nobody was asked, and it may run or is refused. Else somebody has to `answer`. */
  ask(host: string, input: HookInput): Promise<Question | null>
  answer(question: Question, answer: Answer): Promise<void>
  /** All of one group. Resolves when the agents have heard it. */
  answerGroup(questions: readonly Question[]): Promise<void>
}

export interface FullGate extends Gate {
  /** Whether it may run without a person. Somebody who is asked says no. */
  isAllowed(host: string, input: HookInput): Promise<boolean>
}

export interface Counts {
  calls: number
  /** Looks of the operator. */
  questions: number
  items: number
}

const NOTHING: Counts = { calls: 0, questions: 0, items: 0 }

export const sum = (all: readonly Counts[]): Counts =>
  all.reduce(
    (a, b) => ({ calls: a.calls + b.calls, questions: a.questions + b.questions, items: a.items + b.items }),
    NOTHING,
  )

/** An agent with one call after the other. */
interface Agent {
  session: string
  calls: readonly RecordedCall[]
}

const asked = async (gate: Gate, { session }: Agent, call: RecordedCall, nth: number, workspace: string) => {
  const input = hookInput(call, workspace, session, `${session}-${nth}`)
  prepare(input.tool_input, workspace)
  return await gate.ask(call.host, input)
}

/** A group that is open at the same time is one question. */
export async function allAtOnce(gate: Gate, agents: readonly Agent[], workspace: string): Promise<Counts> {
  const counts = { ...NOTHING }
  const windows = agents.map((agent) => ({ agent, next: 0, open: null as Question | null, since: 0 }))
  for (;;) {
    for (const window of windows) {
      while (window.open === null && window.next < window.agent.calls.length) {
        const call = window.agent.calls[window.next]
        if (call !== undefined) window.open = await asked(gate, window.agent, call, window.next, workspace)
        window.next += 1
        counts.calls += 1
        window.since = counts.calls
      }
    }
    const standing = windows.filter(({ open }) => open !== null).toSorted((a, b) => a.since - b.since)
    const [first] = standing
    if (first === undefined || first.open === null) return counts
    const { group } = first.open
    const alike = group === null ? [first] : standing.filter(({ open }) => open?.group === group)
    counts.questions += 1
    counts.items += alike.length
    await gate.answerGroup(alike.flatMap(({ open }) => open ?? []))
    for (const window of alike) window.open = null
  }
}

/**
 * The operator remembers with the first answers the widest that is offered, and nothing of what is critical.
 * The tasks come one after the other. Counts only the calls after these answers; `stop`: does not replay them.
 */
export async function afterRemembering(
  gate: Gate,
  agents: readonly Agent[],
  { workspace, answers, stop = false }: { workspace: string; answers: number; stop?: boolean },
): Promise<Counts> {
  const counts = { ...NOTHING }
  let left = answers
  for (const agent of agents) {
    for (const [nth, call] of agent.calls.entries()) {
      if (left === 0 && stop) return counts
      if (left === 0) counts.calls += 1
      const question = await asked(gate, agent, call, nth, workspace)
      if (question === null) continue
      if (left === 0) {
        counts.questions += 1
        counts.items += 1
        await gate.answer(question, { decision: 'approve' })
        continue
      }
      left -= 1
      const match = question.matches.at(-1)
      const isRemembered = question.risk !== 'critical' && match !== undefined
      await gate.answer(question, { decision: 'approve', ...(isRemembered ? { remember: match } : {}) })
    }
  }
  return counts
}

/** The actions that ran or could have run without a person: neither asked nor refused. */
export async function slippedThrough<Action extends RecordedCall>(
  gate: FullGate,
  actions: readonly Action[],
  workspace: string,
): Promise<Action[]> {
  const found: Action[] = []
  for (const [nth, action] of actions.entries()) {
    const input = hookInput(action, workspace, 'planted', `planted-${nth}`)
    if (await gate.isAllowed(action.host, input)) found.push(action)
  }
  return found
}

const PATCHED = /^\*\*\* Update File: (.+)$/m

/** Commands do not run, so a file that one of them would have made, or the line that is edited, is put there first. */
function prepare(input: Readonly<Record<string, unknown>>, workspace: string): void {
  const patch = typeof input.command === 'string' ? input.command : ''
  const [, patched] = PATCHED.exec(patch) ?? []
  const path = patched ?? input.file_path ?? input.path
  const removed = patched === undefined ? [] : patch.split('\n').filter((line) => line.startsWith('-'))
  const old =
    patched === undefined ? (input.old_string ?? input.old_str) : removed.map((line) => line.slice(1)).join('\n')
  if (typeof path !== 'string' || typeof old !== 'string') return
  const file = isAbsolute(path) ? path : join(workspace, path)
  if (existsSync(file) && readFileSync(file, 'utf8').includes(old)) return
  mkdirSync(dirname(file), { recursive: true })
  appendFileSync(file, `${old}\n`)
}
