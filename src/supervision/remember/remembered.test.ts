import { join } from 'node:path'
import {
  type Arbitrary,
  array,
  asyncProperty,
  constant,
  constantFrom,
  assert as holds,
  integer,
  oneof,
  record,
} from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import type { Risk } from '../../domain/agent/tool-settings.ts'
import type { Grant, WorkMatch } from '../../domain/supervision/grant.ts'
import { globMatches } from '../../domain/text/glob.ts'
import { createAssessWork } from '../risk/assess-work.ts'
import { RISKS, type Work } from '../risk/risk.ts'
import type { SupervisedSession } from '../sessions/take-step.ts'
import { askElsewhere } from '../testing/ask-elsewhere.ts'
import { ann, newSession, openSupervision, root } from '../testing/open-supervision.ts'
import { grantUse } from './grant-elsewhere.ts'
import { createRemembered } from './remembered.ts'

/** Any folder will do: nothing is written. */
const workspaceRoot = join(import.meta.dirname, '..')
const assess = createAssessWork({ serverPaths: [], home: '/home/ann' })

const shell = (command: string, cwd = workspaceRoot): Work => ({
  toolName: 'Bash',
  effect: 'runs',
  input: { command },
  command,
  workspaceRoot,
  cwd,
})
const write = (file_path: string): Work => ({
  toolName: 'Write',
  effect: 'writes',
  input: { file_path, content: 'x' },
  command: null,
  workspaceRoot,
  cwd: workspaceRoot,
})
const other = (toolName: string): Work => ({
  toolName,
  effect: 'unknown',
  input: { q: 'x' },
  command: null,
  workspaceRoot,
  cwd: workspaceRoot,
})

const sessionOf = (values: { id?: string; owner?: string; host?: string; root?: string } = {}) => {
  const { id = 's1', owner = 'ann', host = 'claude', root = workspaceRoot } = values
  return { id, owner, supervision: { host, workspaceRoot: root } } as SupervisedSession
}

const grantOf = (match: WorkMatch, risk: Risk, values: Partial<Grant> = {}): Grant => ({
  id: 'g1',
  agent: 'claude',
  tool: 'Bash',
  where: {},
  sessionId: null,
  grantedBy: 'ann',
  approvalId: 'a1',
  policyVersion: 'elsewhere',
  createdAt: 0,
  expiresAt: null,
  elsewhere: { workspaceRoot, owner: 'ann', match, risk },
  ...values,
})

/** On a list of grants, as the store would give it. */
const find = (grants: readonly Grant[], work: Work, session = sessionOf()) =>
  createRemembered({ grants: { list: async () => [...grants] }, clock: { now: () => 1 } }).find(
    session,
    work,
    assess(work),
  )

const npmTest: WorkMatch = { type: 'begins', words: ['npm', 'test'] }

describe('a remembered decision', () => {
  test('is found for the same agent, folder and owner only', async () => {
    const yes = grantOf(npmTest, 'low')
    const work = shell('npm test -- --silent')
    expect(await find([yes], work)).toEqual([yes])
    // Its handshake and its hooks do not use the same name, and either may begin a session.
    expect(await find([yes], work, sessionOf({ host: 'claude-code' }))).toEqual([yes])
    expect(await find([yes], work, sessionOf({ host: 'claude-other' }))).toEqual([])
    expect(await find([yes], work, sessionOf({ owner: 'eve' }))).toEqual([])
    expect(await find([yes], work, sessionOf({ host: 'codex' }))).toEqual([])
    expect(await find([yes], work, sessionOf({ root: '/srv/other' }))).toEqual([])
    const { elsewhere: _, ...own } = yes
    expect(await find([own], work)).toEqual([])
  })

  test('is a no before it is a yes, and a no covers a part of a longer command, whatever its risk', async () => {
    const yes = grantOf(npmTest, 'high')
    const no = grantOf({ type: 'begins', words: ['git', 'push'] }, 'high', { id: 'g2', effect: 'refuse' })
    expect(await find([yes, { ...yes, id: 'g3', effect: 'refuse' }], shell('npm test'))).toMatchObject([{ id: 'g3' }])
    for (const command of ['git push', 'git push --force origin main', 'npm test && git push']) {
      expect([command, await find([yes, no], shell(command))]).toMatchObject([command, [{ id: 'g2' }]])
    }
    expect(await find([yes, no], shell('npm test'))).toMatchObject([{ id: 'g1' }])
  })

  test('on the store is read with one query, of this host and session', async () => {
    const service = openSupervision()
    const session = await service.sessions.create(newSession(workspaceRoot))
    const next = await service.sessions.create(newSession(workspaceRoot))
    const asked: unknown[] = []
    const remembered = createRemembered({
      clock: service.clock,
      grants: {
        list(query) {
          asked.push(query)
          return service.store.grants.list(query)
        },
      },
    })
    const approval = await askElsewhere(service.takeStep, session, service.ids.uuid(), {
      matches: [npmTest],
    })
    await service.approvals.decide(ann, approval.id, { decision: 'approve', remember: { scope: 'session' } })
    const work = shell('npm test')
    const grants = await remembered.find(session, work, assess(work))

    expect(grants).toMatchObject([{ approvalId: approval.id, sessionId: session.id }])
    expect(asked).toEqual([{ now: service.clock.now(), agent: 'claude', sessionId: session.id }])
    expect(await remembered.find(next, work, assess(work))).toEqual([])

    const use = () =>
      service.takeStep(session.id, (now) =>
        grantUse(now.session, grants, { work, assessed: assess(work), at: now.at, call: 'c1', approval: null }),
      )
    await use()
    expect((await service.audit()).at(-1)).toEqual({
      kind: 'grant_used',
      by: 'ann',
      grant: grants[0]?.id,
      effect: 'allow',
      match: 'Commands that begin with npm test',
      command: 'npm test',
      risk: 'low',
    })
    // It was handed over between the look and the use. That ends the grant, also for who gets it back.
    await service.sessions.handOver(root, session.id, 'eve')
    await expect(use()).rejects.toMatchObject({ code: 'conflict' })
    await service.sessions.handOver(root, session.id, 'ann')
    await expect(use()).rejects.toMatchObject({ code: 'conflict', details: { grant: grants[0]?.id } })
  })
})

const SHELL_WORDS =
  "npm test run build git add commit push -m x src/a.ts .env --force /etc rm -rf cat curl https://a.example npx tsc sudo .. $(id) * 'a' make lint"
const words = constantFrom(...SHELL_WORDS.split(' '))
const usual = constantFrom('npm test', 'npm run build', 'git add src/a.ts', 'git commit -m x', 'git push', 'make lint')

/** A command line by its parts. `tail` stands behind the last of them. */
interface Line {
  parts: string[][]
  joint: string
  tail: string
  cwd: string
}
const lineOf = (parts: Arbitrary<string[][]>): Arbitrary<Line> =>
  record({
    parts,
    joint: constantFrom(' && ', ' ; ', ' | ', ' || ', '\n'),
    tail: constantFrom('', '', '', ' > out.txt', ' &', ' > .env'),
    cwd: constantFrom(workspaceRoot, workspaceRoot, import.meta.dirname),
  })
const lines = lineOf(
  oneof(
    usual.map((text) => [text.split(' ')]),
    array(array(words, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 }),
  ),
)
/** The same with something added. */
const longer = ({ parts: [first = [], ...rest] }: Line): Arbitrary<Line> =>
  lineOf(
    record({
      more: array(words, { maxLength: 2 }),
      after: array(array(words, { minLength: 1 }), { maxLength: 1 }),
    }).map(({ more, after }) => [[...first, ...more], ...rest, ...after]),
  )
const workOf = (line: Line) => ({
  line,
  work: shell(line.parts.map((one) => one.join(' ')).join(line.joint) + line.tail, line.cwd),
})
const PATHS = 'src/a.ts src/b/c.ts docs/a.md package.json .env ../out.ts src/../.env .git/hooks/x'
const tools = constantFrom('Deploy', 'Search').map(other)
const calls = oneof(constantFrom(...PATHS.split(' ')).map(write), tools).map((work) => ({ line: null, work }))
const pairs = oneof(
  lines.chain((line) => record({ shown: constant(workOf(line)), next: oneof(lines, longer(line)).map(workOf) })),
  record({ shown: calls, next: calls }),
)

test('a remembered yes never allows what the person was not shown', async () => {
  const allowed: Record<string, number> = {}
  await holds(
    asyncProperty(pairs, integer({ min: 0, max: 5 }), async ({ shown, next: { work, line } }, choice) => {
      const seen = assess(shown.work)
      const match = seen.matches[choice % Math.max(seen.matches.length, 1)]
      // Nobody is asked, or nothing is offered, or only a no may be remembered.
      if (match === undefined || seen.risk === 'none' || seen.risk === 'critical') return
      if ((await find([grantOf(match, seen.risk)], work)).length === 0) return
      allowed[match.type] = (allowed[match.type] ?? 0) + 1
      const { risk } = assess(work)
      expect([risk === 'critical', RISKS.indexOf(risk) <= RISKS.indexOf(seen.risk)]).toEqual([false, true])
      switch (match.type) {
        case 'command':
          expect([work.command, work.cwd]).toEqual([shown.work.command, shown.work.cwd])
          return
        case 'begins': {
          // Every program of the line asks nobody by itself, or begins with words that were shown: the program, and its verb if it
          // takes one.
          const programs = match.words.join(' ').split(' && ')
          expect(programs.filter((program) => /^(npm|git|npx)$/.test(program))).toEqual([])
          for (const part of line?.parts ?? []) {
            const alone = part.join(' ')
            const isShown = programs.some((program) => `${alone.replaceAll("'", '')} `.startsWith(`${program} `))
            const { risk: own } = assess({ ...work, command: alone, input: { command: alone } })
            expect([alone, isShown || own === 'none']).toEqual([alone, true])
          }
          expect(line?.tail).toBe('')
          return
        }
        case 'tool':
          // A command only if it is as plain as the one that was shown.
          expect([work.toolName, work.command === null || risk === 'low']).toEqual([match.tool, true])
          return
        case 'writes': {
          const path = String(Object(work.input).file_path)
          expect([work.effect, globMatches(match.pattern, path)]).toEqual(['writes', true])
        }
      }
    }),
    { numRuns: runs(2_000) },
  )
  // Otherwise the test says nothing.
  expect(Object.keys(allowed).sort()).toEqual(['begins', 'command', 'tool', 'writes'])
})
