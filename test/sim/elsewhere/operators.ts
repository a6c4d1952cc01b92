// Those who command agents elsewhere: they decide, twice or late or at the same time as others, edit, pause, end, steer and nudge. Once
// the trial has calmed down they leave nothing lying.

import { isOfCodingAgent, type SupervisedRecord } from '../../../src/domain/records/record.ts'
import type { Caller } from '../../../src/domain/supervision/decision.ts'
import type { AgentsElsewhere } from '../../../src/supervision/agents-elsewhere.ts'
import type { Serving } from '../assemble.ts'
import type { Faults } from '../faults.ts'
import type { ElsewhereDeps } from './agents.ts'

/** One answer or command of an operator, whatever became of it. */
export interface OperatorAct {
  /** Another one each time. It is in the reason or the text of what was decided, so that the winner can be told. */
  mark: string
  what: 'approve' | 'reject' | 'continue' | 'refine' | 'stop' | 'resume' | 'steer' | 'task' | 'terminate'
  /** Of the record or the session. */
  id: string
  /** True: it was acknowledged. Null: no answer came. */
  won: boolean | null
}

interface OperatorDeps extends ElsewhereDeps {
  people: Faults['people']
}

const undone = new Set(['refused', 'lost', 'shutting_down', 'storage_full', 'storage_failed'])
const overtaken = new Set([
  'record_decided',
  'approval_decided',
  'approval_expired',
  'approval_changed',
  'session_ended',
])

export async function command(deps: OperatorDeps, name: string): Promise<void> {
  const { kernel, random, net, world, people, history, isCalm } = deps
  const ignored = new Map<string, boolean>()
  const known: SupervisedRecord[] = []
  let acts = 0

  /** It saw some that were not on the disk yet. */
  const isLost = (code: string) => code === 'approval_not_found' && history.powerCuts.length > 0
  const complain = (message: string) => history.findings.push({ checker: 'operators', message: `${name}: ${message}` })

  async function act(
    what: OperatorAct['what'],
    id: string,
    work: (served: AgentsElsewhere, by: Caller, mark: string, serving: Serving) => Promise<unknown>,
    more: readonly string[] = [],
  ): Promise<void> {
    acts += 1
    const mark = `${name}-${acts}`
    const record: OperatorAct = { mark, what, id, won: null }
    history.elsewhere.acts.push(record)
    const by: Caller = { user: 'ann', role: 'operator', via: 'ctl', credential: mark }
    const reply = await net.request(`${mark} ${what} ${id.slice(-6)}`, (serving) =>
      work(servedBy(serving), by, mark, serving),
    )
    if (reply.ok) record.won = true
    else {
      if (reply.code !== 'lost') record.won = false
      if (!undone.has(reply.code) && !overtaken.has(reply.code) && !more.includes(reply.code) && !isLost(reply.code)) {
        complain(`${mark} wanted to ${what} ${id} and was refused with ${reply.code}`)
      }
    }
  }

  function answer(wait: SupervisedRecord): Promise<void> {
    switch (wait.wait) {
      case 'approval': {
        const decision = random.chance(people.rejects) ? 'reject' : 'approve'
        const edits = decision === 'approve' && wait.kind === 'permission' && random.chance(people.edits)
        const force = decision === 'approve' && wait.kind === 'diff' && random.chance(0.3)
        return act(decision, wait.id, (_, by, reason, { approvals }) =>
          approvals.decide(by, wait.id, {
            ...{ decision, reason },
            ...(edits ? { arguments: { command: `edited by ${reason}` } } : {}),
            ...(force ? { force } : {}),
          }),
        )
      }
      case 'prompt': {
        const decision = random.pick(['continue', 'refine', 'stop'] as const)
        return act(decision, wait.id, (elsewhere, by, reason) =>
          elsewhere.prompts.decide(by, wait.id, {
            decision,
            reason,
            ...(decision === 'refine' ? { instruction: reason } : {}),
          }),
        )
      }
      case 'standby':
        return act('resume', wait.id, (elsewhere, by, instruction) =>
          elsewhere.prompts.resume(by, wait.id, { instruction }),
        )
      case 'alert':
        return act('stop', wait.id, (elsewhere, by) =>
          random.chance(0.5) ? elsewhere.stalls.dismiss(by, wait.id) : elsewhere.stalls.nudge(by, wait.id),
        )
    }
  }

  async function commandOne(): Promise<void> {
    const found = await net.request(`${name} lists`, (serving) => servedBy(serving).sessions.list({ limit: 20 }))
    const [first, ...rest] = found.ok ? found.value : []
    if (first === undefined) return
    const { id, supervision } = random.pick([first, ...rest])
    if (supervision.status === 'paused' && random.chance(0.7)) return resume(id)
    // No process of an agent elsewhere ends where there is none.
    switch (random.below(supervision.hosted === undefined ? 8 : 7)) {
      case 0:
        return quietly('pause', id, (elsewhere, by) => elsewhere.sessions.pause(by, id))
      case 1:
        return act('terminate', id, (elsewhere, by, mark) => elsewhere.sessions.terminate(by, id, mark))
      case 2:
        return act('task', id, (elsewhere, by, mark) => elsewhere.sessions.addTask(by, id, mark), ['limit'])
      case 3:
        return quietly('mode', id, (elsewhere, by) => elsewhere.sessions.setMode(by, id, 'hybrid'))
      case 4:
        return quietly('nudge', id, (elsewhere, by) => elsewhere.stalls.nudgeSession(by, id))
      case 5:
      case 6:
        return act('steer', id, (elsewhere, by, mark) => elsewhere.sessions.steer(by, id, mark), ['limit'])
      default:
        return quietly('interrupt', id, (elsewhere) => elsewhere.sessions.interrupt(id, 'The process has ended.'))
    }
  }

  /** `limit`: an interrupted session cannot come back while others are open. `conflict`: it is in no state for it. */
  async function quietly(label: string, id: string, work: (served: AgentsElsewhere, by: Caller) => Promise<unknown>) {
    const by: Caller = { user: 'ann', role: 'operator' }
    const reply = await net.request(`${name} ${label} ${id.slice(-6)}`, (serving) => work(servedBy(serving), by))
    const isFair = reply.ok || undone.has(reply.code) || ['session_ended', 'limit', 'conflict'].includes(reply.code)
    if (!isFair) complain(`${label} of ${id} was refused with ${reply.code}`)
  }
  const resume = (id: string) => quietly('resume', id, (elsewhere, by) => elsewhere.sessions.resume(by, id))

  /** Another operator may look, and decide nothing. */
  async function intrude(wait: SupervisedRecord): Promise<void> {
    if (wait.wait !== 'approval') return
    const by: Caller = random.pick([
      { user: 'eve', role: 'operator' },
      { user: 'ann', role: 'user' },
    ] as const)
    const reply = await net.request(`${by.user} intrudes`, ({ approvals }) =>
      approvals.decide(by, wait.id, { decision: 'approve', reason: 'intruder' }),
    )
    if (!reply.ok && (reply.code === 'forbidden' || undone.has(reply.code))) return
    complain(`${by.user} (${by.role}) had no permission and got ${reply.ok ? 'their way' : reply.code}`)
  }

  const isIgnored = ({ id }: SupervisedRecord): boolean => {
    const before = ignored.get(id) ?? random.chance(people.ignores)
    ignored.set(id, before)
    return (before || world.isAlone) && !isCalm()
  }

  for (;;) {
    await kernel.sleep(random.float() * (isCalm() ? 100 : people.thinkMs))
    if (isCalm()) {
      const paused = await net.request(`${name} lists`, (serving) =>
        servedBy(serving).sessions.list({ statuses: ['paused'], limit: 20 }),
      )
      for (const { id } of paused.ok ? paused.value : []) await resume(id)
    } else if (random.chance(world.commands)) await commandOne()
    const reply = await net.request(`${name} looks`, ({ inner }) => inner.waits.list({ isWaiting: true, limit: 50 }))
    // Once it is calm, a silent agent may be silent.
    const open = (reply.ok ? reply.value : [])
      .filter(isOfCodingAgent)
      .filter((wait) => !isIgnored(wait) && !(isCalm() && wait.wait === 'alert'))
    const [first, ...rest] = open
    if (first === undefined) continue
    const one = random.pick([first, ...rest])
    known.push(one)
    if (random.chance(0.1)) await intrude(one)
    const several = random.chance(0.3) || isCalm() ? open : [one]
    await Promise.all((random.chance(people.twice) ? [...several, one] : several).map(answer))
    const old = random.chance(people.late) ? known[random.below(known.length)] : undefined
    if (old !== undefined) await answer(old)
  }
}

function servedBy({ elsewhere }: Serving): AgentsElsewhere {
  if (elsewhere === null) throw new Error('nobody serves agents elsewhere')
  return elsewhere
}
