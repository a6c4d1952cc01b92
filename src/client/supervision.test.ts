import { expect, test } from 'vitest'
import { operatorToken } from '../http/testing/server-fixture.ts'
import { openSupervisedDoors } from '../protocols/testing/open-supervised-doors.ts'
import { makeWorkspace } from '../supervision/testing/workspace.ts'
import { createClient } from './client.ts'

test('answers what waits and commands sessions', async () => {
  await using doors = await openSupervisedDoors()
  const client = createClient({ url: doors.url, token: operatorToken.token })
  const workspaceRoot = makeWorkspace({ 'a.txt': 'one\n' })
  const prompt = await doors.ask('Go on?', { connectionId: 'a', workspaceRoot })
  const wait = await doors.standBy('Next?', { connectionId: 'b', workspaceRoot })

  const first = await client.inbox({ limit: 1 })
  const second = await client.inbox({ limit: 1, before: first.next ?? '' })
  expect([...first.items, ...second.items].map(({ kind, id }) => [kind, id])).toEqual([
    ['prompt', prompt.id],
    ['wait', wait.id],
  ])
  expect(second.next).toBe(null)
  const { view, ...got } = await client.records.get('prompt', prompt.id)
  // What is behind a question is not in lists.
  expect(await client.records.list('prompt')).toEqual([{ ...got, view: { ...view, body: [] } }])
  expect(view.body).toHaveLength(1)
  const [goOn] = view.actions
  if (goOn === undefined) throw new Error('nothing can be answered')
  expect(await client.answer(goOn, { text: 'Tests first.' })).toMatchObject({
    decision: 'continue',
    instruction: 'Tests first.',
    view: { actions: [], outcome: { word: 'Continued', by: 'operator' } },
  })
  await expect(client.prompts.answer(prompt.id, { decision: 'stop' })).rejects.toMatchObject({ code: 'record_decided' })
  expect(await client.waits.resume(wait.id, 'Rest.')).toMatchObject({ status: 'resumed', instruction: 'Rest.' })
  await Promise.all([prompt.answer, wait.answer])

  const { session_id: id } = await client.records.get('wait', wait.id)
  expect(await client.sessions.pause(id)).toMatchObject({ status: 'paused' })
  expect(await client.sessions.resume(id)).toMatchObject({ status: 'active' })
  expect(await client.sessions.steer(id, 'Use tabs.')).toMatchObject({ kind: 'steering' })
  expect(await client.sessions.mode(id, 'hybrid')).toEqual({ previous_mode: 'remote', current_mode: 'hybrid' })
  const checkpoint = await client.sessions.checkpoint(id, { label: 'one' })
  expect(await client.checkpoints.list({ session: id })).toEqual([checkpoint])
  await expect(client.checkpoints.restore(checkpoint.checkpoint_id)).rejects.toMatchObject({
    code: 'restore_unconfirmed',
    problem: { digest: expect.any(String), modified: [] },
  })
  expect(await client.sessions.run(id, 'echo')).toMatchObject({ exit_code: 3 })
  expect(await client.sessions.terminate(id, { reason: 'Done.' })).toMatchObject({ status: 'terminated' })
})
