import { isDeepStrictEqual } from 'node:util'
import { abortAfter } from '../domain/abort.ts'
import type { AnswerCase } from '../domain/agent/test-case.ts'
import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import type { TokenUsage } from '../domain/session/event.ts'
import type { FileRecord } from '../domain/session/file.ts'
import { argumentsObject, type RunAnswer } from '../domain/session/run-answer.ts'
import type { SessionChoice } from '../engine/ports/runs.ts'
import {
  type ApprovalAnswers,
  askAgent,
  createApprovalAnswers,
  type TestedEngine,
  type Turn,
  toolNameOf,
} from './ask-agent.ts'
import type { AgentCase, CaseResult, Finding, MadeCall } from './case-result.ts'
import { checkAnswer } from './check-answer.ts'
import type { Judge } from './judge.ts'
import type { Search } from './knowledge/measure-search.ts'
import type { SearchedCase } from './knowledge/run-search-case.ts'

export interface CaseDeps {
  engine: TestedEngine
  /** The agent's judge, or null when it has none. */
  judge(agent: string): Judge | null
  /** Stores a file that a case sends. Throws a `ServerError` that says what is wrong with the file. */
  attach(path: string): Promise<FileRecord>
  /** The search in documents of an agent, by the name of the tool. */
  search(agent: string, tool: string): Search
  clock: Clock
  ids: Ids
}

/** A finding quotes the model. The result holds the full answer, so a long quote can be cut. */
const MAX_FINDING_CHARS = 2_000

/** Runs one case in its own session. Rejects only for a bug: everything that the agent does is a result. */
export async function runCase({ agent, testCase }: AgentCase, deps: CaseDeps, stop: AbortSignal): Promise<CaseResult> {
  const began = deps.clock.mono()
  const isSearch = 'questions' in testCase
  using late = abortAfter(deps.clock, testCase.timeoutMs, { hold: true })
  const signal = AbortSignal.any([stop, late.signal])
  const turns: Turn[] = []
  let searched: SearchedCase | null = null

  let judged: { outcome: CaseResult['outcome']; findings: Finding[] }
  try {
    if (isSearch) {
      const { runSearchCase } = await import('./knowledge/run-search-case.ts')
      searched = await runSearchCase(testCase, deps.search(agent, testCase.knowledge), signal)
      judged = searched
    } else {
      const answers = createApprovalAnswers(testCase.approvals)
      await converse(agent, testCase, deps, turns, answers, signal)
      judged = await judgeCase(agent, testCase, turns, answers, deps, signal)
    }
  } catch (error) {
    if (!signal.aborted) {
      if (!(error instanceof ServerError)) throw error
      judged = failure('error', 'run', 'a case that runs', `${error.code}: ${error.message}`)
    } else {
      judged = { outcome: 'failed', findings: [] }
    }
  }
  // The result of an aborted case means nothing, because the abort may have caused it.
  if (stop.aborted) judged = { outcome: 'stopped', findings: [] }
  else if (late.signal.aborted) {
    const doing = isSearch ? 'still searching' : doingLate(testCase, turns)
    judged = failure('failed', 'time', `an end within ${testCase.timeoutMs / 1_000} s`, doing)
  }

  return {
    agent,
    name: testCase.name,
    outcome: judged.outcome,
    findings: judged.findings.map(bounded),
    durationMs: Math.round(deps.clock.mono() - began),
    tokens: tokensOf(searched?.usage ?? turns.flatMap(({ said }) => said.usage)),
    answer: searched?.answer ?? turns.at(-1)?.said.text ?? '',
    calls: callsOf(turns),
  }
}

function doingLate(testCase: AnswerCase, turns: readonly Turn[]): string {
  const judging = turns.at(-1)?.answer?.outcome === 'completed' && turns.length === testCase.turns.length
  return judging ? 'still being judged' : `still at turn ${turns.length} of ${testCase.turns.length}`
}

/** Runs the turns until all are done, or one does not end with an answer. */
async function converse(
  agent: string,
  testCase: AnswerCase,
  { engine, attach, ids }: CaseDeps,
  turns: Turn[],
  answers: ApprovalAnswers,
  signal: AbortSignal,
): Promise<void> {
  let session: SessionChoice = { create: { unlisted: true } }
  for (const [index, user] of testCase.turns.entries()) {
    signal.throwIfAborted()
    const files = index === 0 ? await Promise.all(testCase.files.map(attach)) : []
    const turn = await askAgent(engine, { agent, session, messageId: ids.uuid(), text: user, files, answers }, signal)
    turns.push(turn)
    if (turn.answer?.outcome !== 'completed') return
    session = { existing: turn.session }
  }
}

async function judgeCase(
  agent: string,
  testCase: AnswerCase,
  turns: readonly Turn[],
  answers: ApprovalAnswers,
  deps: CaseDeps,
  signal: AbortSignal,
): Promise<{ outcome: CaseResult['outcome']; findings: Finding[] }> {
  const last = turns.at(-1)
  const answer = last?.answer ?? null
  const expected = testCase.turns.length === 1 ? 'an answer' : `an answer in turn ${turns.length}`
  if (answer?.outcome === 'waiting') return failure('failed', 'run', expected, waitText(answer))
  if (answer !== null && answer.error !== null) {
    return failure('error', 'run', expected, `the run failed with ${answer.error.code}: ${answer.error.message}`)
  }
  if (answer?.outcome !== 'completed') return failure('error', 'run', expected, 'the run was cancelled')

  const findings = checkTools(testCase, callsOf(turns))
  for (const { tool, decision } of answers.unused()) {
    findings.push({
      check: 'approvals',
      expected: `an approval of ${tool} to ${decision}`,
      found: 'no such approval',
    })
  }
  const checked = {
    answer: answer.text,
    finalMessage: answer.messages.at(-1)?.text ?? '',
    conversation: turns.map((turn) => ({ user: turn.user, agent: turn.said.text })),
  }
  for (const check of testCase.checks) {
    const finding = await checkAnswer(check, checked, deps.judge(agent), signal)
    if (finding !== null) findings.push(finding)
  }
  return { outcome: findings.length === 0 ? 'passed' : 'failed', findings }
}

function waitText(answer: RunAnswer): string {
  const { interrupts, clientCallIds } = answer
  const questions = interrupts.filter(({ reason }) => reason === 'input_required')
  if (questions.length > 0) {
    const tools = questions.map(({ toolCallId = 'a tool' }) => toolNameOf(answer, toolCallId))
    return `the run waits for the answer to a question of ${tools.join(', ')}, and a case cannot answer questions: replace the tool with one that does not ask, or test it through the server`
  }
  const asked = interrupts.map(({ toolCallId, reason }) =>
    toolCallId === undefined ? reason : toolNameOf(answer, toolCallId),
  )
  if (asked.length > 0) {
    return `the run waits for approval of ${asked.join(', ')}, and the case has no answer for it under approvals`
  }
  const tools = clientCallIds.map((id) => toolNameOf(answer, id))
  return `the run waits for a client to run ${tools.join(', ')}, and a test has no client`
}

const failure = (outcome: 'failed' | 'error', check: string, expected: string, found: string) => ({
  outcome,
  findings: [{ check, expected, found }],
})

const callsOf = (turns: readonly Turn[]): MadeCall[] =>
  turns.flatMap(({ said }) =>
    said.toolCalls.map(({ name, argumentsText, bySubagent }) => ({
      name,
      arguments: argumentsObject(argumentsText),
      bySubagent,
    })),
  )

function tokensOf(usage: readonly TokenUsage[]): CaseResult['tokens'] {
  const tokens = { input: 0, output: 0 }
  for (const { inputTokens, outputTokens } of usage) {
    tokens.input += inputTokens ?? 0
    tokens.output += outputTokens ?? 0
  }
  return tokens
}

const bounded = ({ check, expected, found }: Finding): Finding => ({
  check,
  expected: cut(expected),
  found: cut(found),
})

const cut = (text: string): string =>
  text.length > MAX_FINDING_CHARS
    ? `${text.slice(0, MAX_FINDING_CHARS).toWellFormed()}… (${text.length} characters)`
    : text

/**
 * The expected calls must happen in this order; other calls may come between them. Arguments that the case names must be equal; the
 * other arguments may be anything. Calls of a sub-agent count as expected calls, but `onlyTheseTools` checks only the agent's own calls.
 */
export function checkTools(
  { tools, onlyTheseTools }: Pick<AnswerCase, 'tools' | 'onlyTheseTools'>,
  calls: readonly MadeCall[],
): Finding[] {
  const findings: Finding[] = []
  let next = 0
  for (const [index, expected] of tools.entries()) {
    const at = calls.findIndex((call, place) => place >= next && fits(expected, call))
    if (at === -1) {
      const before = tools[index - 1]
      const where = before === undefined ? '' : ` after ${describeCall(before)}`
      findings.push({ check: 'tools', expected: `${describeCall(expected)}${where}`, found: describeCalls(calls) })
      // The search for the next one starts at the same place, so that one missing call is one finding.
      continue
    }
    next = at + 1
  }
  const others = onlyTheseTools
    ? calls.filter((call) => !call.bySubagent && !tools.some(({ name }) => name === call.name))
    : []
  if (others.length > 0) {
    const names = [...new Set(tools.map(({ name }) => name))]
    const expected = names.length === 0 ? 'no tool calls' : `no tool calls except ${names.join(', ')}`
    findings.push({ check: 'tools', expected, found: describeCalls(others) })
  }
  return findings
}

function fits(expected: AnswerCase['tools'][number], call: MadeCall): boolean {
  if (expected.name !== call.name) return false
  if (expected.arguments === null) return true
  const made = call.arguments
  if (made === null) return false
  return Object.entries(expected.arguments).every(
    ([name, value]) => Object.hasOwn(made, name) && isDeepStrictEqual(plain(made[name]), plain(value)),
  )
}

/** YAML may produce other prototypes, and -0. Only what JSON can express is compared. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null))

function describeCall(call: { name: string; arguments: Record<string, unknown> | null }): string {
  return call.arguments === null ? call.name : `${call.name}(${JSON.stringify(call.arguments)})`
}

const describeCalls = (calls: readonly MadeCall[]): string =>
  calls.length === 0 ? 'no call' : calls.map(describeCall).join(', ')
