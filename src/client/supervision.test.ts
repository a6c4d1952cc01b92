import { expect, test } from 'vitest'
import { operatorToken } from '../http/testing/server-fixture.ts'
import type { channelView } from '../protocols/manage/channels/routes.ts'
import type { itemView } from '../protocols/manage/inbox/item-view.ts'
import type { subscriptionView } from '../protocols/manage/push/routes.ts'
import type {
  alertView,
  checkpointView,
  instructionView,
  promptView,
  standbyView,
} from '../protocols/manage/supervision/encode.ts'
import type { supervisionView } from '../protocols/shared/supervised/supervision-view.ts'
import { openSupervisedDoors } from '../protocols/testing/open-supervised-doors.ts'
import { makeWorkspace } from '../supervision/testing/workspace.ts'
import {
  type Alert,
  type Channel,
  type Checkpoint,
  createClient,
  type InboxItem,
  type Instruction,
  type Prompt,
  type PushSubscription,
  type Standby,
  type Supervision,
} from './client.ts'

// These lines do not compile when the client has fallen behind the server.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never
type Fits<A, B> = [A] extends [B] ? true : never
const kept: true[] = [
  true satisfies Same<ReturnType<typeof promptView>, Omit<Prompt, 'view'>>,
  true satisfies Same<ReturnType<typeof standbyView>, Omit<Standby, 'view'>>,
  true satisfies Same<ReturnType<typeof alertView>, Omit<Alert, 'view'>>,
  true satisfies Same<ReturnType<typeof instructionView>, Instruction>,
  true satisfies Same<ReturnType<typeof checkpointView>, Checkpoint>,
  true satisfies Same<ReturnType<typeof supervisionView>, Supervision>,
  true satisfies Same<ReturnType<typeof channelView>, Channel>,
  true satisfies Same<ReturnType<typeof subscriptionView>, PushSubscription>,
  true satisfies Fits<ReturnType<typeof itemView>, InboxItem>,
]

test('answers what waits and commands sessions', async () => {
  expect(kept).toHaveLength(9)
  await using doors = await openSupervisedDoors()
  const client = createClient({ url: doors.url, token: operatorToken.token })
  const workspaceRoot = makeWorkspace({ 'a.txt': 'one\n' })
  const prompt = await doors.ask('Go on?', { connectionId: 'a', workspaceRoot })
  const wait = await doors.standBy('Next?', { connectionId: 'b', workspaceRoot })

  const first = await client.inbox({ limit: 1 })
  const second = await client.inbox({ limit: 1, before: first.next ?? '' })
  expect([...first.items, ...second.items].map(({ kind, id }) => [kind, id])).toEqual([
    ['wait', wait.id],
    ['prompt', prompt.id],
  ])
  expect(second.next).toBe(null)
  const { view, ...got } = await client.prompts.get(prompt.id)
  // What is behind a question is not in lists.
  expect(await client.prompts.list()).toEqual([{ ...got, view: { ...view, body: [] } }])
  expect(view.body).toHaveLength(1)
  const [goOn] = view.actions
  if (goOn === undefined) throw new Error('nothing can be answered')
  expect(await client.answer(goOn, { text: 'Tests first.' })).toMatchObject({
    decision: 'continue',
    instruction: 'Tests first.',
    view: { actions: [], outcome: { word: 'Continue', by: 'operator' } },
  })
  await expect(client.prompts.answer(prompt.id, { decision: 'stop' })).rejects.toMatchObject({ code: 'record_decided' })
  expect(await client.waits.resume(wait.id, 'Rest.')).toMatchObject({ status: 'resumed', instruction: 'Rest.' })
  await Promise.all([prompt.answer, wait.answer])

  const { session_id: id } = await client.waits.get(wait.id)
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
