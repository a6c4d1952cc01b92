import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ONE_PERSON } from '../../domain/supervision/quorum.ts'
import { sha256 } from '../../json/digest.ts'
import { agentIn, ann, callOf, openSupervision } from '../testing/open-supervision.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import { createPolicyWatch } from '../workspace-policy/watch-policy.ts'
import { createLookAtPolicy } from './policy-questions.ts'

const policyOf = (...tools: string[]): string => JSON.stringify({ enabled: true, tools })

function open() {
  const path = makeWorkspace({ '.quarterdeck/policy.json': policyOf('Read') })
  const service = openSupervision()
  const { store, takeStep, ids, sessions, clock, logger } = service
  const policies = createPolicyWatch({ clock, log: logger, onChange() {} })
  /** A server that has just started, so it remembers nothing. */
  const questions = () =>
    createLookAtPolicy({
      ...{ store, takeStep, policies, ids, quorum: ONE_PERSON },
      workspaceSession: (owner, { path: root }) => sessions.ofWorkspace(owner, root),
    })
  const write = (text: string) => writeFileSync(join(path, '.quarterdeck/policy.json'), text)
  const look = (one = questions()) => one({ path, channelId: null }, 'ann')
  return { ...service, path, write, look, questions }
}

test('a policy that waits is asked once for its text, without an agent, and a yes pins it', async () => {
  const { look, questions, waiting, approvals, store, path, write, sessions, feed } = open()
  const [first, second] = [questions(), questions()]
  await Promise.all([look(first), look(first)])
  await look(second)
  const [asked, ...others] = await waiting()
  expect(others).toEqual([])
  expect(asked).toMatchObject({ wait: 'approval', kind: 'policy', owner: 'ann', risk: 'critical', expiresAt: null })
  // What stands for the workspace is in no list, and the feed tells only of the question.
  expect(await sessions.list({ limit: 10 })).toEqual([])
  expect((await feed.items(0, 10)).map(({ kind }) => kind)).toEqual(['wait'])

  await approvals.decide(ann, asked?.id ?? '', { decision: 'approve' })
  expect(await store.supervised.pin(path)).toMatchObject({ text: policyOf('Read'), by: 'ann' })
  await look()
  expect(await waiting()).toEqual([])
  write(policyOf('Read', 'Write'))
  await look()
  expect(await waiting()).toMatchObject([{ title: 'Accept the wider policy .quarterdeck/policy.json' }])
})

test('a question ends with its text, not with the session of an agent', async () => {
  const { look, waiting, sessions, tools, path, write, store, clock } = open()
  const agent = agentIn(path)
  const { answer } = await tools.check_auto_approve(callOf(agent), { tool_name: 'Read' })
  const [asked] = await waiting()
  await sessions.terminate(ann, String(answer.session_id))
  await clock.advance(24 * 3_600_000)
  expect(await waiting()).toMatchObject([{ id: asked?.id, status: 'pending' }])
  // A second agent finds the same one.
  await tools.check_auto_approve(callOf({ ...agent, connectionId: 'window-2' }), { tool_name: 'Read' })
  expect((await waiting()).map(({ id }) => id)).toEqual([asked?.id])

  write(policyOf('Read', 'Write'))
  await look()
  expect(await store.waits.get(asked?.id ?? '')).toMatchObject({ status: 'interrupted' })
  expect(await waiting()).toHaveLength(1)
  rmSync(join(path, '.quarterdeck'), { recursive: true })
  await look()
  expect(await waiting()).toEqual([])
})

test('a no counts for the text, also after a restart, and another text is asked about', async () => {
  const { look, waiting, approvals, write } = open()
  await look()
  const [asked] = await waiting()
  await approvals.decide(ann, asked?.id ?? '', { decision: 'reject' })
  await look()
  expect(await waiting()).toEqual([])
  write(policyOf('Read', 'Glob'))
  await look()
  expect(await waiting()).toHaveLength(1)
})

test('a text that is back is asked about again, also where another server closed its question', async () => {
  const { look, questions, waiting, write } = open()
  const [first, second] = [questions(), questions()]
  await look(first)
  write(policyOf('Read', 'Write'))
  await look(second)
  write(policyOf('Read'))
  await look(first)
  expect(await waiting()).toMatchObject([
    { status: 'pending', arguments: expect.stringContaining(sha256(policyOf('Read'))) },
  ])
})
