// A process that says yes to an approval of an agent elsewhere and remembers it, and kills itself after the n-th thing that it does to the
// database. Arguments: the database, the approval, and n. Exits with 0 if it came to the end.

import { DatabaseSync, StatementSync } from 'node:sqlite'

const [path = '', approvalId = '', stepToDie = ''] = process.argv.slice(2)
let left = Number.POSITIVE_INFINITY

for (const [owner, names] of [
  [DatabaseSync.prototype, ['exec']],
  [StatementSync.prototype, ['run', 'get', 'all', 'iterate']],
] as const) {
  for (const name of names) {
    const original: unknown = Reflect.get(owner, name)
    if (typeof original !== 'function') throw new Error(`There is no ${name}.`)
    Reflect.set(owner, name, function counted(this: unknown, ...args: unknown[]): unknown {
      const done: unknown = Reflect.apply(original, this, args)
      left -= 1
      if (left === 0) process.kill(process.pid, 'SIGKILL')
      return done
    })
  }
}

const { createSystemClock } = await import('../../domain/clock.ts')
const { createIds } = await import('../../domain/ids.ts')
const { silentLogger: logger } = await import('../../domain/logger.ts')
const { ONE_PERSON } = await import('../../domain/supervision/quorum.ts')
const { noStepUp } = await import('../../domain/supervision/step-up.ts')
const { createSessionLog } = await import('../../log/session-log.ts')
const { createLocalWake } = await import('../../log/wake.ts')
const { openTestStore } = await import('../../store/sqlite/testing/open-test-store.ts')
const { createAnswerAgent } = await import('../approvals/answer-agent.ts')
const { createCallRules } = await import('../approvals/call-rules.ts')
const { createApprovals } = await import('../approvals/create-approvals.ts')
const { createRealPath } = await import('../policy/real-path.ts')
const { createAssessWork } = await import('../risk/assess-work.ts')
const { everybody: operators } = await import('../sessions/may-command.ts')
const { createTakeStep } = await import('../sessions/take-step.ts')

const noRun = (): never => {
  throw new Error('no run of ours waits here')
}

const clock = createSystemClock()
const ids = createIds(clock.now)
const store = openTestStore(path)
const log = createSessionLog({ store, clock, wake: createLocalWake({ clock, pollMs: null }) })
const shared = { store, log, clock, ids, logger, operators }
const takeStep = createTakeStep({ ...shared, maxOpen: { perOwner: 10, total: null } })
const approvals = createApprovals({
  ...shared,
  stepUp: noStepUp,
  answerAgent: createAnswerAgent({ ...shared, takeStep, serverPaths: [], quorum: ONE_PERSON }),
  rules: createCallRules({
    grants: store.grants,
    realPath: createRealPath,
    clock,
    assess: createAssessWork({ serverPaths: [], home: '/home/ann' }),
  }),
  agents: [],
  waits: { now: clock.now, answer: noRun, expire: noRun },
})
left = Number(stepToDie)
await approvals.decide({ user: 'ann', role: 'operator' }, approvalId, {
  decision: 'approve',
  remember: { scope: 'workspace' },
})
left = Number.POSITIVE_INFINITY
await approvals.close()
await log.close()
await store.close()
