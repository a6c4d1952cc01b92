import { expect, test } from 'vitest'
import { configuredOperators } from '../sessions/may-command.ts'
import { agentIn, ann, callOf, eve, openSupervision } from '../testing/open-supervision.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import { createNoteEscalations } from './note-escalations.ts'

const person = { console: null, group: null, admin: false, local: false }
const people = [
  { ...person, name: 'ann', console: 'ann@work' },
  { ...person, name: 'eve', group: 'night' },
  { ...person, name: 'root', admin: true },
]
const escalation = [
  { afterMs: 600_000, to: ['night', 'ann@work'] },
  { afterMs: 1_200_000, to: ['night', 'root'] },
]

/** Ann's agent asks something, and the call ends before anybody answers. */
async function openAsked() {
  const operators = configuredOperators(people, escalation)
  const service = openSupervision({ operators })
  const note = createNoteEscalations({ ...service.parts, operators, escalation })
  const answer = service.tools.ask_approval(callOf(agentIn(makeWorkspace({ 'a.txt': 'one\n' }))), {
    title: 'Change',
    diff: 'two\n',
    file_path: 'a.txt',
  })
  const asked = await service.nextWaiting()
  await service.passTime(50_000)
  await answer
  const escalated = async () => (await service.audit()).filter(({ what }) => what === 'escalated')
  return { ...service, note, asked, escalated }
}

test('the trail says once who is asked because the owner has not answered, and the record too', async () => {
  const service = await openAsked()
  await service.note()
  expect(await service.escalated()).toEqual([])

  await service.clock.advance(550_000)
  await service.note()
  await service.note()
  const first = { kind: 'supervised', by: 'server', what: 'escalated', record: service.asked.id }
  expect(await service.escalated()).toEqual([{ ...first, escalated_to: 'night', waited_seconds: 600 }])
  expect(await service.store.waits.get(service.asked.id)).toMatchObject({ status: 'pending', escalatedTo: ['night'] })

  await service.clock.advance(600_000)
  await service.note()
  expect((await service.escalated()).map((one) => one.escalated_to)).toEqual(['night', 'root'])
  const shown = (await service.events(service.asked.sessionId)).filter((one) => one.activityType === 'escalated')
  expect(shown.length).toBe(2)

  await service.approvals.decide(eve, service.asked.id, { decision: 'approve' })
  expect((await service.audit()).at(-1)).toMatchObject({ by: 'eve', decision: 'approved', escalated: true })
})

test('what was answered in time is never escalated', async () => {
  const service = await openAsked()
  await service.approvals.decide(ann, service.asked.id, { decision: 'reject' })
  await service.clock.advance(1_200_000)
  await service.note()

  expect(await service.escalated()).toEqual([])
})
