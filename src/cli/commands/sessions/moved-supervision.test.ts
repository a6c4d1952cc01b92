import { expect, test } from 'vitest'
import { createBlobFolder } from '../../../files/keep/blob-folder.ts'
import { createAskOperator } from '../../../supervision/agent-service/ask-operator.ts'
import { agentIn, ann, callOf, openSupervision } from '../../../supervision/testing/open-supervision.ts'
import { makeWorkspace } from '../../../supervision/testing/workspace.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { exportSessions } from './export.ts'
import { importSessions } from './import.ts'

type Opened = ReturnType<typeof openSupervision>

async function exported({ store }: Opened): Promise<string> {
  const io = createTestIo({})
  await exportSessions({ stored: { read: (look) => look(store) }, blobs: createBlobFolder('nowhere') }, [], {}, io)
  return io.printed()
}

async function imported(archive: string): Promise<Opened> {
  const service = openSupervision()
  const io = createTestIo({ stdin: archive })
  expect([
    await importSessions({ store: service.store, blobs: createBlobFolder('nowhere'), newId: String }, '-', {}, io),
    io.complained(),
  ]).toEqual([0, 'Imported 1 session.\n'])
  return service
}

/** An agent that has asked what to do, and wants to write a file. */
async function asked() {
  const service = openSupervision()
  const root = makeWorkspace()
  const call = callOf(agentIn(root))
  const timeouts = { promptSeconds: 1_800, waitSeconds: 0 }
  const { forward_prompt } = createAskOperator({ ...service.parts, timeouts })
  void service.tools.ask_approval(call, { title: 'A change', file_path: 'a.txt', diff: 'new\n' })
  const approval = await service.nextWaiting()
  return { service, call, approval, prompt: () => void forward_prompt(call, { prompt_text: 'Go on?' }) }
}

test('a session of an agent elsewhere is imported as interrupted, and nothing in it waits', async () => {
  const { service, approval, prompt } = await asked()
  prompt()
  while ((await service.waiting()).length < 2) await new Promise<void>((resolve) => void setImmediate(resolve))
  await service.sessions.steer(ann, approval.sessionId, 'Use tabs.')
  const other = await imported(await exported(service))

  const { supervision } = await other.sessions.get(approval.sessionId)
  expect(supervision).toMatchObject({ status: 'interrupted', openRun: null, connectionId: null, spawned: null })
  expect(await other.waiting()).toEqual([])
  const records = await other.store.waits.list({ sessionId: approval.sessionId, limit: 9 })
  expect(records.map(({ wait, status }) => [wait, status]).sort()).toEqual([
    ['approval', 'interrupted'],
    ['prompt', 'interrupted'],
  ])
  const events = await other.events(approval.sessionId)
  const types = events.map(({ type }) => type)
  expect(types.filter((type) => type === 'RUN_STARTED').length).toBe(
    types.filter((type) => type === 'RUN_FINISHED' || type === 'RUN_ERROR').length,
  )
  // An export of the import says the same.
  const again = await imported(await exported(other))
  expect(await again.events(approval.sessionId)).toEqual(events)
})

test('a session forgets at which server of several it was opened', async () => {
  const { service, approval } = await asked()
  const archive = (await exported(service)).replace('"spawned":', '"place":"vm:/var/lib/quarterdeck","spawned":')
  expect(archive).toContain('"place"')

  const { supervision } = await (await imported(archive)).sessions.get(approval.sessionId)
  expect(supervision.place).toBe(undefined)
})

test('a terminated one stays terminated, and a change that was approved is not written by another server', async () => {
  const { service, approval } = await asked()
  await service.approvals.decide(ann, approval.id, { decision: 'approve' })
  await service.sessions.terminate(ann, approval.sessionId)
  const other = await imported(await exported(service))

  expect((await other.sessions.get(approval.sessionId)).supervision.status).toBe('terminated')
  expect(await other.store.waits.list({ sessionId: approval.sessionId, limit: 9 })).toMatchObject([
    { status: 'interrupted', decidedBy: 'ann', decidedVia: 'ctl' },
  ])
  expect(await other.store.supervised.unapplied(9)).toEqual([])
})
