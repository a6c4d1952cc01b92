import { expect, test } from 'vitest'
import { configuredOperators } from '../sessions/may-command.ts'
import { agentIn, ann, callOf, eve, openDesk } from '../testing/open-desk.ts'
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
  const desk = openDesk({ operators })
  const note = createNoteEscalations({ ...desk.parts, operators, escalation })
  const answer = desk.tools.ask_approval(callOf(agentIn(makeWorkspace({ 'a.txt': 'one\n' }))), {
    title: 'Change',
    diff: 'two\n',
    file_path: 'a.txt',
  })
  const asked = await desk.nextWaiting()
  await desk.passTime(50_000)
  await answer
  const escalated = async () => (await desk.audit()).filter(({ what }) => what === 'escalated')
  return { ...desk, note, asked, escalated }
}

test('the trail says once who is asked because the owner has not answered, and the record too', async () => {
  const desk = await openAsked()
  await desk.note()
  expect(await desk.escalated()).toEqual([])

  await desk.clock.advance(550_000)
  await desk.note()
  await desk.note()
  const first = { kind: 'supervised', by: 'server', what: 'escalated', record: desk.asked.id }
  expect(await desk.escalated()).toEqual([{ ...first, escalated_to: 'night', waited_seconds: 600 }])
  expect(await desk.store.waits.get(desk.asked.id)).toMatchObject({ status: 'pending', escalatedTo: ['night'] })

  await desk.clock.advance(600_000)
  await desk.note()
  expect((await desk.escalated()).map((one) => one.escalated_to)).toEqual(['night', 'root'])
  const shown = (await desk.events(desk.asked.sessionId)).filter((one) => one.activityType === 'escalated')
  expect(shown.length).toBe(2)

  await desk.approvals.decide(eve, desk.asked.id, { decision: 'approve' })
  expect((await desk.audit()).at(-1)).toMatchObject({ by: 'eve', decision: 'approved', escalated: true })
})

test('what was answered in time is never escalated', async () => {
  const desk = await openAsked()
  await desk.approvals.decide(ann, desk.asked.id, { decision: 'reject' })
  await desk.clock.advance(1_200_000)
  await desk.note()

  expect(await desk.escalated()).toEqual([])
})
