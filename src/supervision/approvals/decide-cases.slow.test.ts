// What comes of every decision, as a table to be read by eye: kind × who × what they say × state × yeses × proof. The outcomes are in
// `decide-cases.test.txt`. `vitest run -u` writes it anew; look at each line that changed.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Risk } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import { sameForEveryRisk } from '../../domain/supervision/quorum.ts'
import type { StepUp } from '../../domain/supervision/step-up.ts'
import { openEngine, scripted, testAgent, testTool } from '../../engine/testing/open-engine.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import { codeTool, createCodeTool } from '../../tools/function/code-tool.ts'
import { createStrayErrors } from '../../tools/function/stray-errors.ts'
import { configuredOperators } from '../sessions/may-command.ts'
import { agentIn, callOf, openSupervision } from '../testing/open-supervision.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import type { Approvals } from './approvals.ts'

const ownKinds = ['tool_call', 'tool_call that its owner may decide', 'tool_call in a request', 'question'] as const
const elsewhereKinds = ['diff', 'permission', 'policy'] as const
const kinds = [...ownKinds, ...elsewhereKinds]
type Kind = (typeof kinds)[number]

/** Ann owns everything, and root is an admin. The settings do not name zed. */
const people: Record<string, Caller> = {
  ann: { user: 'ann', role: 'operator' },
  eve: { user: 'eve', role: 'operator' },
  root: { user: 'root', role: 'operator', via: 'slack', credential: 'token-root' },
  zed: { user: 'zed', role: 'operator', isAdmin: true },
  'ann as a user': { user: 'ann', role: 'user' },
  'bob as a user': { user: 'bob', role: 'user' },
  'ann without a token': { user: 'ann', role: 'anyone' },
}
const listed = { console: null, group: null, local: false }
const operators = configuredOperators([
  { ...listed, name: 'ann', admin: false },
  { ...listed, name: 'eve', admin: false },
  { ...listed, name: 'root', admin: true },
])

const yes: Decision = { decision: 'approve' }
const no: Decision = { decision: 'reject' }
/** What somebody sends, given the digest of what is asked. */
type Says = (digest: string) => Decision & { via?: string; isCheck?: true }
const said = {
  yes: () => yes,
  no: () => no,
  'yes, with a reason': () => ({ ...yes, reason: 'Fine.' }),
  'no, with a reason': () => ({ ...no, reason: 'Not now.' }),
  'yes, with a reason that is too long': () => ({ ...yes, reason: 'x'.repeat(2_001) }),
  'yes, having seen it': (digest) => ({ ...yes, digest }),
  'yes, having seen something else': () => ({ ...yes, digest: 'f'.repeat(64) }),
  'no, having seen something else': () => ({ ...no, digest: 'f'.repeat(64) }),
  'yes, in the console, without saying what it showed': () => ({ ...yes, via: 'console' }),
  'no, in the console, without saying what it showed': () => ({ ...no, via: 'console' }),
  'yes, having seen a part': () => ({
    ...yes,
    lookedAt: { isWhole: false, notSeen: [{ name: 'to', shown: 1, total: 9 }] },
  }),
  'an answer': () => ({ decision: 'respond', result: { size: 'L' } }),
  'an answer that is empty': () => ({ decision: 'respond' }),
  'yes, with other arguments': () => ({ ...yes, arguments: { command: 'git push' } }),
  'yes, with the same arguments': () => ({ ...yes, arguments: { command: 'git push --tags' } }),
  'yes, with arguments that do not fit': () => ({ ...yes, arguments: { command: 1 } }),
  'yes, with hidden characters in the arguments': () => ({ ...yes, arguments: { command: 'l\u200bs' } }),
  'yes, with another text': () => ({ ...yes, content: 'one\nfour\n' }),
  'yes, with the same text': () => ({ ...yes, content: 'one\nthree\n' }),
  'only an edit, with the same text': () => ({ ...yes, content: 'one\nthree\n', onlyEdit: true }),
  'yes, and force it': () => ({ ...yes, force: true }),
  'yes, and do not force it': () => ({ ...yes, force: false }),
  'yes, for this session': () => ({ ...yes, remember: { scope: 'session' } }),
  'yes, for always': () => ({ ...yes, remember: { scope: 'always' } }),
  'yes, for always, with other arguments': () => ({
    ...yes,
    remember: { scope: 'always' },
    arguments: { command: 'git push' },
  }),
  'no, for always': () => ({ ...no, remember: { scope: 'always' } }),
  'yes, for the workspace': () => ({ ...yes, remember: { scope: 'workspace' } }),
  'no, for 15 minutes': () => ({ ...no, remember: { scope: '15m' } }),
  'look at other arguments': () => ({ ...yes, arguments: { command: 'git push' }, isCheck: true }),
  'look at another text': () => ({ ...yes, content: 'one\nfour\n', isCheck: true }),
} satisfies Record<string, Says> as Record<string, Says>
const everything = Object.keys(said)
/** What matters where it is not the words that are tried. */
const mostly = [
  'yes',
  'no',
  'yes, having seen it',
  'yes, having seen something else',
  'yes, in the console, without saying what it showed',
  'an answer',
  'yes, with other arguments',
  'yes, with another text',
  'yes, and force it',
  'yes, for always',
  'no, for always',
  'look at other arguments',
]

/** What everybody tries. */
const sometimes = [
  'yes',
  'no',
  'yes, having seen something else',
  'an answer',
  'yes, for always',
  'look at other arguments',
]

/** What has happened to it by then. */
const states = ['pending', 'approved', 'rejected', 'expired', 'changed', 'gone', 'ended'] as const
type State = (typeof states)[number]

interface Setting {
  kind: Kind
  risk: Risk
  quorum: number
  /** Who has said yes already. */
  yeses: readonly string[]
  state: State
  proof: 'nobody has a passkey' | 'a passkey is needed' | 'it is proved with a passkey'
}
const plain = {
  risk: 'high',
  quorum: 1,
  yeses: [],
  state: 'pending',
  proof: 'nobody has a passkey',
} satisfies Partial<Setting>

interface Asked {
  approval: Approval
  decide: Approvals['decide']
  change(): Promise<void>
  end(): Promise<void>
  /** After each case. */
  tidy(): Promise<void>
}

interface House {
  approvals: Pick<Approvals, 'get' | 'decide' | 'check'>
  store: ReturnType<typeof openSupervision>['store']
  ask(): Promise<Asked>
  expire(): Promise<void>
  close(): Promise<void>
}

/** Says what it was asked for. */
const proofs: StepUp = {
  async require({ proof }, purpose) {
    if (purpose.kind !== 'decision') throw new Error('a proof for something else')
    const { decision, remember, brings } = purpose
    const what = `${decision}${remember === null ? '' : ` ${remember}`}${brings === undefined ? '' : ' and more'}`
    if (proof === undefined) throw new ServerError('passkey_required', `Prove it: ${what}.`)
    return { passkey: what }
  },
}

function openOwn({ kind, risk, quorum, state, proof }: Setting): House {
  let binding = 'a'
  let isThere = true
  let count = 0
  const parameters = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }
  const run = () =>
    testTool({
      ...{ name: 'run', risk, effect: 'once', parameters, binding },
      call: async () => ({ content: 'Done.', isError: false }),
    })
  const order = createCodeTool(
    {
      ...codeTool({
        ...{ name: 'order', description: 'Orders.', parameters: z.object({ command: z.string() }), approval: 'never' },
        risk,
        async run(_, context) {
          return JSON.stringify(
            await context.ask({ message: 'Which size?', schema: z.object({ size: z.enum(['S', 'L']) }) }),
          )
        },
      }),
      binding: 'order',
    },
    createStrayErrors(),
  )
  const isQuestion = kind === 'question'
  const name = isQuestion ? 'order' : 'run'
  const calls = scripted([{ parts: [{ tool_call: { name, arguments: { command: 'git push --tags' } } }] }])
  const stops = scripted([{ parts: [{ text: 'Done.' }] }])
  const server = openEngine({
    operators,
    ...(proof === 'nobody has a passkey' ? {} : { stepUp: proofs }),
    toolbox: {
      ...createStaticToolbox([]),
      tools: async () => new Map(isThere ? [[name, isQuestion ? order : run()]] : []),
    },
    // It calls the tool once in each session.
    model: {
      ...calls,
      stream: (request, signal, take) =>
        (request.messages.at(-1)?.role === 'user' ? calls : stops).stream(request, signal, take),
    },
    agent: {
      approval: {
        ...testAgent.approval,
        default: { ask: 'risk', atLeast: 'high' },
        by: kind === 'tool_call that its owner may decide' ? 'owner' : 'operator',
        expiresSeconds: state === 'expired' ? 0 : 3_600,
        ...(quorum === 1 ? {} : { quorum: sameForEveryRisk(quorum) }),
      },
    },
  })
  return {
    approvals: { ...server.approvals, decide: server.approvals.say },
    store: server.store,
    expire: async () => {},
    close: server.close,
    async ask() {
      count += 1
      const accepted = await server.start('go', { owner: 'ann', session: { create: { alias: `thread-${count}` } } })
      await server.events(accepted)
      const [approval] = await server.approvals.list({
        ...{ by: { user: 'root', role: 'operator' }, sessionId: accepted.session.id, limit: 1 },
      })
      if (approval === undefined) throw new Error('nothing waits')
      return {
        approval,
        async decide(by, id, decision) {
          if (kind !== 'tool_call in a request') return server.approvals.say(by, id, decision)
          const { run, existing } = await server.start('', {
            owner: 'ann',
            session: { existing: accepted.session },
            input: { messages: [], instructions: [], context: [], clientTools: [] },
            decisions: { by, answers: [{ waitId: id, ...decision }] },
          })
          return {
            approval: await server.approvals.get({ user: 'root', role: 'operator' }, id),
            run: existing ? null : run,
          }
        },
        async change() {
          if (state === 'gone') isThere = false
          else binding = 'b'
        },
        async end() {
          await server.engine.runs.cancel(accepted.run, 'root')
        },
        async tidy() {
          binding = 'a'
          isThere = true
          await forgetAll(server.approvals)
        },
      }
    },
  }
}

function openElsewhere({ kind, risk, quorum, proof }: Setting): House {
  const service = openSupervision({
    operators,
    maxOpen: 100_000,
    ...(proof === 'nobody has a passkey' ? {} : { stepUp: proofs }),
    ...(quorum === 1 ? {} : { quorum: sameForEveryRisk(quorum) }),
  })
  let workspace = ''
  let count = 0

  async function askOne(): Promise<string> {
    count += 1
    if (kind === 'policy' || workspace === '') {
      const policy = { '.quarterdeck/policy.json': JSON.stringify({ enabled: true, tools: ['Read'] }) }
      workspace = makeWorkspace({ 'a.txt': 'one\ntwo\n', ...(kind === 'policy' ? policy : {}) })
    }
    // The agent does not wait for the answer.
    const call = callOf(agentIn(workspace, { connectionId: `window-${count}` }), { signal: AbortSignal.abort() })
    if (kind === 'diff') {
      const change = { title: 'Change', diff: 'one\nthree\n', file_path: 'a.txt', risk_level: risk }
      return String((await service.tools.ask_approval(call, change)).answer.request_id)
    }
    if (kind === 'policy') {
      await service.tools.check_auto_approve(call, { tool_name: 'Read' })
      const found = await service.waiting()
      return found.find(({ arguments: json }) => json.includes(workspace))?.id ?? ''
    }
    // Each session asks for itself, so the same call may be asked about many times.
    const input = { command: 'git push --tags', ...(risk === 'critical' ? { description: 'l\u200bs' } : {}) }
    const { answer } = await service.tools.approve_tool(call, { tool_name: 'Bash', input })
    return /\(request (.*?)\)/.exec(String(answer.message))?.[1] ?? ''
  }

  return {
    approvals: service.approvals,
    store: service.store,
    expire: () => service.clock.advance(3_600_000),
    close: async () => {},
    async ask() {
      const id = await askOne()
      const approval = await service.approvals.get({ user: 'root', role: 'operator' }, id)
      const root = { user: 'root', role: 'operator', proof: 'p' } as const
      return {
        approval,
        decide: service.approvals.decide,
        async change() {
          if (kind === 'diff')
            await service.approvals.decide(root, id, { ...yes, content: 'one\nfive\n' }).catch(() => {})
          else await service.approvals.decide(root, id, { ...yes, arguments: { command: 'id' } })
        },
        async end() {
          if (kind !== 'policy') return void (await service.sessions.terminate(root, approval.sessionId))
          rmSync(join(workspace, '.quarterdeck'), { recursive: true })
          const call = callOf(agentIn(workspace), { signal: AbortSignal.abort() })
          await service.tools.check_auto_approve(call, { tool_name: 'Read' })
        },
        tidy: () => forgetAll(service.approvals),
      }
    },
  }
}

/** Grants would answer the next case. */
async function forgetAll(approvals: Pick<Approvals, 'grants' | 'revokeGrant'>): Promise<void> {
  for (const { id } of await approvals.grants()) await approvals.revokeGrant({ user: 'root', role: 'operator' }, id)
}

const isOwn = (kind: Kind): boolean => ownKinds.some((one) => one === kind)

/** Whether this can happen at all. */
function isPossible({ kind, state, quorum, risk, yeses }: Setting): boolean {
  if (kind === 'policy' && (state === 'expired' || state === 'changed')) return false
  if (kind === 'policy' && risk !== 'critical') return false
  if (kind === 'permission' && state === 'changed') return quorum > 1
  if (kind === 'question' && (yeses.length > 0 || state === 'changed' || state === 'approved')) return false
  return state !== 'gone' || isOwn(kind)
}

/** Ids, digests, times and the name of whoever decides differ from case to case. */
function plainWords(text: string, { id, digest, sessionId }: Approval, who: string): string {
  return text
    .replaceAll(id, '<id>')
    .replaceAll(sessionId, '<session>')
    .replaceAll(digest, '<digest>')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<other id>')
    .replaceAll('f'.repeat(64), '<wrong digest>')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '<other digest>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\/\S*quarterdeck-workspace-\w+/g, '<workspace>')
    .replaceAll(new RegExp(`\\b${who}\\b`, 'g'), '<who>')
}

const notEmpty = (values: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== false),
  )

async function trailOf({ store }: House, from: number): Promise<string[]> {
  const entries = await store.audit.entries(from, 1_000)
  return entries
    .map(({ text }) => JSON.parse(text))
    .filter(({ kind, details }) => kind === 'decision' || kind.startsWith('grant') || details.replaces !== undefined)
    .map(
      ({ kind, by, details: { approval: _, policy: _policy, ...details } }) =>
        `${kind} by ${by} ${JSON.stringify(details)}`,
    )
}

const lastSeq = async ({ store }: House): Promise<number> => (await store.audit.entries(0, 100_000)).length

async function outcomeOf(house: House, setting: Setting, who: string, says: Says): Promise<string> {
  const asked = await house.ask()
  const { approval } = asked
  const { id } = approval
  const root: Caller = { user: 'root', role: 'operator', proof: 'p' }
  for (const user of setting.yeses) await asked.decide({ user, role: 'operator', proof: 'p' }, id, yes)
  const enough = (decision: Decision) => house.approvals.decide(root, id, decision)
  if (setting.state === 'approved') await enough(yes)
  if (setting.state === 'rejected') await enough({ ...no, reason: 'Root said no.' })
  if (setting.state === 'expired') await house.expire()
  if (setting.state === 'changed' || setting.state === 'gone') await asked.change()
  if (setting.state === 'ended') await asked.end()
  const from = await lastSeq(house)
  const { via, isCheck, ...decision } = says(approval.digest)
  const person = people[who] ?? root
  const by: Caller = {
    ...person,
    ...(via === undefined ? {} : { via }),
    ...(setting.proof === 'it is proved with a passkey' ? { proof: 'p' } : {}),
  }
  const words = (text: string) => plainWords(text, approval, by.user)
  try {
    if (isCheck === true) {
      const { problems, risk, changes, change } = await house.approvals.check(by, id, decision)
      return words(`looks: ${JSON.stringify({ problems, risk, changes, digest: change?.digest })}`)
    }
    const { approval: now, run } = await asked.decide(by, id, decision)
    const { status, decidedBy, decidedVia, reason, response, editedArguments } = now
    const yeses = now.decisions?.map((one) => [one.by, one.via, ...('force' in one ? [one.force] : [])].join(' '))
    const { mayForce, isEdited } = now.supervised ?? {}
    const seen = notEmpty({
      status,
      decidedBy,
      decidedVia,
      reason,
      response,
      editedArguments,
      yeses,
      mayForce,
      isEdited,
    })
    const other = notEmpty({
      digest: now.digest === approval.digest ? null : now.digest,
      risk: now.risk === approval.risk ? null : now.risk,
      quorum: now.quorum === approval.quorum ? null : now.quorum,
      title: now.title === approval.title ? null : now.title,
    })
    const grants = (await house.store.grants.list({ now: 0 })).filter(({ approvalId }) => approvalId === id)
    const remembered = grants.map((grant) =>
      notEmpty({ effect: grant.effect, session: grant.sessionId, where: grant.where, by: grant.grantedBy }),
    )
    const went = run === null ? '' : ' and a run goes on'
    const kept = remembered.length === 0 ? '' : ` remembered ${JSON.stringify(remembered)}`
    const trail = (await trailOf(house, from)).map((line) => `\n      trail: ${line}`).join('')
    return words(`decided${went}: ${JSON.stringify({ ...seen, ...other })}${kept}${trail}`)
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    const left = await house.approvals.get(root, id)
    const now = left.status === setting.state ? '' : ` (it is ${left.status})`
    const trail = (await trailOf(house, from)).map((line) => `\n      trail: ${line}`).join('')
    const problems = error.problems.length === 0 ? '' : ` ${JSON.stringify(error.problems)}`
    return words(`${error.code}${now}: ${error.message} ${JSON.stringify(error.details)}${problems}${trail}`)
  } finally {
    await asked.tidy()
  }
}

/** One line for each outcome, with all who meet it. */
async function section(setting: Setting, whos: readonly string[], whats: readonly string[]): Promise<string> {
  if (!isPossible(setting)) return ''
  const house = isOwn(setting.kind) ? openOwn(setting) : openElsewhere(setting)
  const { kind, risk, quorum, yeses, state, proof } = setting
  const lines = [`## ${kind} · ${risk} · ${state} · ${quorum} needed, said by [${yeses.join()}] · ${proof}`]
  for (const what of whats) {
    const outcomes = new Map<string, string[]>()
    for (const who of whos) {
      const says = said[what]
      if (says === undefined) throw new Error(`nobody says ${what}`)
      const outcome = await outcomeOf(house, setting, who, says)
      outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), who])
    }
    lines.push(`  ${what}`)
    for (const [outcome, all] of outcomes) lines.push(`    ${all.join(', ')}: ${outcome}`)
  }
  await house.close()
  return `${lines.join('\n')}\n`
}

/** The settings of one kind, with who says what in them. */
function* cases(kind: Kind): Generator<[Partial<Setting>, whos: readonly string[], whats: readonly string[]]> {
  const everybody = Object.keys(people)
  const risk = kind === 'policy' ? 'critical' : 'high'
  yield [{ risk }, everybody, sometimes]
  yield [{ risk }, ['ann'], everything.filter((what) => !sometimes.includes(what))]
  for (const state of states) if (state !== 'pending') yield [{ risk, state }, everybody, ['yes']]
  if (kind === 'tool_call that its owner may decide') return
  for (const state of states) if (state !== 'pending') yield [{ risk, state }, ['ann'], mostly.slice(1)]
  for (const yeses of [[], ['root'], ['ann']]) yield [{ risk, quorum: 2, yeses }, ['ann', 'zed'], mostly]
  for (const state of ['rejected', 'expired', 'changed', 'gone', 'ended'] as const) {
    yield [{ risk, quorum: 2, state }, ['ann', 'root', 'zed'], ['yes', 'no', 'yes, having seen it']]
  }
  if (kind === 'tool_call in a request') return
  for (const proof of ['a passkey is needed', 'it is proved with a passkey'] as const) {
    for (const asRisk of ['high', 'critical'] as const) yield [{ risk: asRisk, proof }, ['ann'], mostly]
    yield [{ risk: 'critical', proof, quorum: 2, yeses: ['root'] }, ['ann', 'zed'], ['yes', 'no']]
    yield [{ risk: 'critical', proof, state: 'expired' }, ['ann'], ['yes', 'no']]
    yield [{ risk: 'critical', proof, state: 'rejected' }, ['ann'], ['yes', 'no']]
  }
}

const written = new Map<Kind, string[]>()

test.each(kinds)('every decision about a %s', { timeout: 600_000 }, async (kind) => {
  const sections: string[] = []
  for (const [setting, whos, whats] of cases(kind))
    sections.push(await section({ ...plain, ...setting, kind }, whos, whats))
  written.set(kind, sections)
})

test('comes to what the table says', async () => {
  const text = kinds.flatMap((kind) => written.get(kind) ?? []).filter((one) => one !== '')
  await expect(text.join('\n')).toMatchFileSnapshot('./decide-cases.test.txt')
})
