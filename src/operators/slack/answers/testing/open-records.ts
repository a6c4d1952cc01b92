// A record of each kind that a person answers, with its card in a Slack in this process.

import { onTestFinished } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../../../../domain/agent/tool-settings.ts'
import { createSystemClock } from '../../../../domain/clock.ts'
import type { PersonRecord } from '../../../../domain/records/record.ts'
import { openEngine, testTool } from '../../../../engine/testing/open-engine.ts'
import { createAskOperator } from '../../../../supervision/agent-service/ask-operator.ts'
import { createReports } from '../../../../supervision/agent-service/report.ts'
import { createNoteShown } from '../../../../supervision/approvals/looked-at.ts'
import { everybody } from '../../../../supervision/sessions/may-command.ts'
import { createStalls } from '../../../../supervision/stalls/create-stalls.ts'
import type { Nudge } from '../../../../supervision/stalls/stalls.ts'
import { noMessenger } from '../../../../supervision/testing/no-messenger.ts'
import {
  agentIn,
  ann,
  callOf,
  openSupervision,
  type SupervisionOptions,
} from '../../../../supervision/testing/open-supervision.ts'
import { makeWorkspace } from '../../../../supervision/testing/workspace.ts'
import { codeTool, createCodeTool } from '../../../../tools/function/code-tool.ts'
import { createStrayErrors } from '../../../../tools/function/stray-errors.ts'
import type { ToolContext } from '../../../../tools/function/tool-context.ts'
import { steerAgent } from '../../../commands/session-verbs.ts'
import { openAnswers } from './open-answers.ts'

const stall = {
  enabled: true,
  inactivityMs: 300_000,
  escalationMs: 120_000,
  maxRetries: 3,
  nudgeMessage: 'Go on, please.',
}
const policy = JSON.stringify({ enabled: true, commands: ['npm test'] })

type ElsewhereKind = 'diff' | 'permission' | 'policy' | 'prompt' | 'standby' | 'alert'
type OwnKind = 'tool_call' | 'question'
export type RecordKind = ElsewhereKind | OwnKind

interface ElsewhereOptions extends SupervisionOptions {
  risk?: 'low' | 'high' | 'critical'
  /** The room that the session reports to. */
  room?: string
}

/** An agent of Ann's elsewhere, which asks when it is told to. */
export function openElsewhere({ risk = 'low', room, ...options }: ElsewhereOptions = {}) {
  const services = openSupervision(options)
  const { parts, store, log, clock, tools } = services
  const { records, prompts } = services
  const nudges: Nudge[] = []
  const stalls = createStalls({
    ...{ ...parts, records, settings: stall },
    async push(nudge) {
      nudges.push(nudge)
      return 'stream'
    },
  })
  const asking = createAskOperator({ ...parts, timeouts: { promptSeconds: 1_800, waitSeconds: 600 } })
  const reports = createReports({ ...parts, stallsEnabled: true, messenger: noMessenger })
  const workspace = makeWorkspace({ 'a.txt': 'one\ntwo\n', '.quarterdeck/policy.json': policy })
  const plain = makeWorkspace({ 'a.txt': 'one\ntwo\n' })
  const agent = (root: string) => callOf(agentIn(root, room === undefined ? {} : { channelId: room }))
  const slack = openAnswers({
    ...{ store, log, feed: services.feed, clock, operators: services.operators },
    ...{ noteShown: services.noteShown, steer: steerAgent(services.sessions) },
    decides: { approvals: services.approvals, prompts, stalls },
  })

  const asks: Record<ElsewhereKind, () => Promise<unknown>> = {
    diff: async () =>
      void tools.ask_approval(agent(plain), {
        title: 'Change',
        diff: 'one\nthree\n',
        file_path: 'a.txt',
        risk_level: risk,
      }),
    permission: async () =>
      void tools.approve_tool(agent(plain), {
        tool_name: 'Bash',
        input: { command: risk === 'critical' ? 'sudo deploy' : 'deploy' },
        tool_use_id: 'toolu_1',
      }),
    policy: () => tools.check_auto_approve(agent(workspace), { tool_name: 'Bash', context: { command: 'npm test' } }),
    prompt: async () => void asking.forward_prompt(agent(plain), { prompt_text: 'Shall I go on?' }),
    standby: async () => void asking.wait_for_instruction(agent(plain), { message: 'What next?' }),
    async alert() {
      await reports.heartbeat(agent(plain), {})
      await clock.advance(310_000)
      await stalls.sweep()
    },
  }

  /** Asks, and posts the card. */
  async function ask(kind: ElsewhereKind) {
    const before = new Set((await services.waiting()).map(({ id }) => id))
    await asks[kind]()
    for (;;) {
      const wait = (await services.waiting()).find(({ id }) => !before.has(id))
      if (wait !== undefined) return { id: wait.id, ...(await slack.show(wait.id)) }
      await new Promise<void>((resolve) => void setImmediate(resolve))
    }
  }

  return {
    ...{ services, slack, ask, prompts, stalls, nudges, reports },
    agent: agent(plain),
    pass: (ms: number) => clock.advance(ms),
    /** Ann answers somewhere else. */
    async decideElsewhere(wait: PersonRecord): Promise<void> {
      if (wait.wait === 'approval')
        await services.approvals.decide(ann, wait.id, { decision: 'reject', digest: wait.digest })
      else if (wait.wait === 'prompt') await prompts.decide(ann, wait.id, { decision: 'stop' })
      else if (wait.wait === 'standby') await prompts.resume(ann, wait.id, { instruction: null })
      else await stalls.dismiss(ann, wait.id)
    },
    /** The time of a record is over, and somebody has noticed. */
    async expire(wait: PersonRecord): Promise<void> {
      await clock.advance(24 * 3_600_000)
      if (wait.wait === 'approval') await services.answerAgent.expire(wait)
      else if (wait.wait === 'alert') await reports.heartbeat(agent(plain), {})
      else await prompts.expire(wait)
    },
  }
}

const sizes = { type: 'object', properties: { size: { enum: ['S', 'L'] } }, required: ['size'] }

const asksSize = (schema: JsonSchema) =>
  createCodeTool(
    {
      ...codeTool({
        name: 'order',
        description: 'Orders a shirt.',
        parameters: z.object({}),
        approval: 'never',
        async run(_args, context: ToolContext) {
          return `Ordered ${JSON.stringify(await context.ask({ message: 'Which size?', schema }))}.`
        },
      }),
      binding: 'order',
    },
    createStrayErrors(),
  )

/** An agent of our own, which asks at once. */
export async function openOwn(kind: OwnKind, schema: JsonSchema = sizes) {
  const real = createSystemClock()
  let later = 0
  const clock = { ...real, now: () => real.now() + later, mono: () => real.mono() + later }
  const calls: unknown[] = []
  const wipe = testTool({
    name: 'wipe',
    risk: 'high',
    effect: 'once',
    approval: { ask: 'always' },
    parameters: { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false },
    async call(args) {
      calls.push(args)
      return { content: 'Wiped.', isError: false }
    },
  })
  const name = kind === 'tool_call' ? 'wipe' : 'order'
  const args = kind === 'tool_call' ? { path: '/tmp/a' } : {}
  const engine = openEngine({
    clock,
    answers: [{ parts: [{ tool_call: { name, arguments: args } }] }, { parts: [{ text: 'Done.' }] }],
    tools: [wipe, asksSize(schema)],
  })
  onTestFinished(engine.close)
  const { store, log, feed, approvals, events, start } = engine
  const never = async (): Promise<never> => {
    throw new Error('no agent elsewhere asks here')
  }
  const slack = openAnswers({
    ...{ store, log, feed, clock },
    operators: { ...everybody, isAdmin: (one) => one === 'root' },
    decides: {
      approvals,
      prompts: { decide: never, resume: never },
      stalls: { nudge: never, dismiss: never, stop: never },
    },
    steer: never,
    noteShown: createNoteShown({ waits: store.waits, log, clock }),
  })
  const taken = await start('Hi')
  await events(taken)
  const [wait] = await store.waits.list({ isWaiting: true, limit: 1 })
  if (wait === undefined) throw new Error('nothing waits')
  return {
    ...{ engine, slack, calls },
    id: wait.id,
    ...(await slack.show(wait.id)),
    async pass(ms: number): Promise<void> {
      later += ms
    },
    async decideElsewhere({ id }: Pick<PersonRecord, 'id'>): Promise<void> {
      await approvals.decide(ann, id, { decision: 'reject' })
    },
    async expire(): Promise<void> {
      later += 24 * 3_600_000
    },
  }
}

/** A record of this kind, with its card. */
export async function openRecord(kind: RecordKind) {
  if (kind === 'tool_call' || kind === 'question') return openOwn(kind)
  const opened = openElsewhere()
  return { ...opened, ...(await opened.ask(kind)) }
}
