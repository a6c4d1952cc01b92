import { expect, test } from 'vitest'
import type { Alert } from '../../domain/records/record.ts'
import { createAskOperator } from '../agent-service/ask-operator.ts'
import { createReports } from '../agent-service/report.ts'
import { configuredOperators } from '../sessions/may-command.ts'
import { noMessenger } from '../testing/no-messenger.ts'
import { agentIn, ann, callOf, eve, openSupervision } from '../testing/open-supervision.ts'
import { createStalls } from './create-stalls.ts'
import type { Nudge, StallSettings } from './stalls.ts'

const settings: StallSettings = {
  enabled: true,
  inactivityMs: 300_000,
  escalationMs: 120_000,
  maxRetries: 3,
  nudgeMessage: 'Go on, please.',
}
const agent = agentIn('/srv/here')
const call = callOf(agent)

function openWatched(
  options: Parameters<typeof openSupervision>[0] & { way?: string | null; onPush?: () => Promise<unknown> } = {},
) {
  const { way = 'stream', onPush, ...rest } = options
  const opened = openSupervision(rest)
  const { records } = opened
  const asking = createAskOperator({ ...opened.parts, timeouts: { promptSeconds: 1_800, waitSeconds: 0 } })
  const reports = createReports({ ...opened.parts, stallsEnabled: true, messenger: noMessenger })
  const nudges: Nudge[] = []
  const push = async (nudge: Nudge) => {
    nudges.push(nudge)
    await onPush?.()
    return way
  }
  const watch = () => createStalls({ ...opened.parts, records, settings, push })
  const stalls = watch()
  const alert = async () => (await records.list('alert', { by: ann, limit: 1 }))[0] as Alert
  async function pass(seconds: number, watched = stalls): Promise<void> {
    for (let left = seconds; left > 0; left -= 10) {
      await opened.clock.advance(Math.min(10, left) * 1_000)
      await watched.sweep()
    }
  }
  return { ...opened, service: { ...asking, ...reports }, stalls, watch, nudges, alert, pass }
}

test('silence becomes an alert, then nudges with the checklist, then an escalation', async () => {
  const { service, alert, pass, nudges } = openWatched()
  await service.heartbeat(call, {
    progress_snapshot: [
      { label: 'Read', status: 'done' },
      { label: 'Write', status: 'pending' },
    ],
  })
  await pass(290)
  expect(await alert()).toBe(undefined)
  await pass(20)
  expect(await alert()).toMatchObject({ status: 'pending', lastTool: 'heartbeat', nudgeCount: 0 })
  expect((await alert()).idleSeconds).toBeGreaterThanOrEqual(300)
  await pass(130)
  expect(await alert()).toMatchObject({ status: 'nudged', nudgeCount: 1, nudgedBy: 'stream' })
  expect(nudges[0]?.message).toBe('Go on, please. 1 of 2 steps are done. Next: Write.')
  await pass(260)
  expect(await alert()).toMatchObject({ status: 'nudged', nudgeCount: 3 })
  await pass(130)
  expect(await alert()).toMatchObject({ status: 'escalated', nudgeCount: 3 })
  await pass(600)
  expect(nudges.length).toBe(3)
})

test('a sign of life ends the alert and starts the count again', async () => {
  const { service, alert, pass, sessions } = openWatched()
  await service.heartbeat(call, {})
  await pass(440)
  expect(await alert()).toMatchObject({ status: 'nudged' })
  const { answer } = await service.heartbeat(call, {})

  expect(answer.nudge).toContain('Go on, please.')
  expect(await alert()).toMatchObject({ status: 'self_recovered' })
  expect((await sessions.attach(agent)).supervision).toMatchObject({ nudgeCount: 0, openNudge: null })
  await pass(290)
  expect(await alert()).toMatchObject({ status: 'self_recovered' })
})

test('a nudge that wakes the agent at once does not count against the next silence', async () => {
  let wakeUp: () => Promise<unknown> = async () => null
  const { service, alert, pass, sessions } = openWatched({ onPush: () => wakeUp() })
  await service.heartbeat(call, {})
  wakeUp = () => service.heartbeat(call, {})
  await pass(440)

  // It came back, but not by itself.
  expect(await alert()).toMatchObject({ status: 'self_recovered', nudgeCount: 1, nudgedBy: 'stream' })
  expect((await sessions.attach(agent)).supervision.nudgeCount).toBe(0)
})

test('nobody nudges a session that has ended', async () => {
  const { service, stalls, sessions, nudges } = openWatched()
  await service.heartbeat(call, {})
  const { id } = await sessions.attach(agent)
  await sessions.terminate(ann, id)

  await expect(stalls.nudgeSession(ann, id)).rejects.toMatchObject({ code: 'session_ended' })
  await expect(sessions.setMode(ann, id, 'local')).rejects.toMatchObject({ code: 'session_ended' })
  await expect(sessions.pause(ann, id)).rejects.toThrow(`Session ${id} has ended. Its agent does not come back.`)
  expect(nudges).toEqual([])
})

test('the record says honestly that no connection was open, and the next result brings the nudge', async () => {
  const { service, alert, pass } = openWatched({ way: null })
  await service.heartbeat(call, {})
  await pass(440)

  expect(await alert()).toMatchObject({ status: 'nudged', nudgedBy: null })
  expect((await service.heartbeat(call, {})).answer.nudge).toContain('Go on, please.')
})

test('the timer stands still while a person has to answer, while the server works, and while the session is paused', async () => {
  const { service, alert, pass, prompts, nextWaiting, sessions, takeStep } = openWatched()
  const asked = service.forward_prompt(callOf(agent, { limitMs: 10_000_000 }), { prompt_text: 'Go on?' })
  const { id, sessionId } = await nextWaiting()
  await pass(1_000)
  expect(await alert()).toBe(undefined)
  await prompts.decide(ann, id, { decision: 'continue' })
  await asked
  await takeStep(sessionId, () => ({ result: null, supervision: { stallPaused: true } }))
  await pass(1_000)
  expect(await alert()).toBe(undefined)
  await takeStep(sessionId, ({ at }) => ({
    result: null,
    supervision: { stallPaused: false, updatedAt: at, silence: null },
  }))
  await sessions.pause(ann, sessionId)
  await pass(1_000)
  expect(await alert()).toBe(undefined)
  await sessions.resume(ann, sessionId)
  await pass(310)
  expect(await alert()).toMatchObject({ status: 'pending' })
})

test('a turn that ended is not a stall, until the agent is heard from again or has been told to go on', async () => {
  const { service, hooks, sessions, alert, pass } = openWatched()
  const stop = () =>
    hooks.report(
      { owner: 'ann', tokenId: agent.tokenId, workspace: agent.workspaceRoot },
      { host: 'claude', hostSessionId: 'host-1', cwd: '', event: 'notification', reason: 'stop' },
    )
  await service.heartbeat(call, {})
  const { id } = await sessions.attach(agent)
  expect(await stop()).toEqual({})
  await pass(2_000)
  expect(await alert()).toBe(undefined)

  await sessions.steer(ann, id, 'Go on with the tests.')
  expect(await stop()).toEqual({ text: 'Go on with the tests.' })
  await pass(310)
  expect(await alert()).toMatchObject({ status: 'pending' })
  // Its end is also an end of the silence before it.
  expect(await stop()).toEqual({})
  expect(await alert()).toMatchObject({ status: 'self_recovered' })
  await pass(600)
  await service.heartbeat(call, {})
  const { id: old } = await alert()
  await pass(310)
  expect((await alert()).id).not.toBe(old)
})

test('a window that is closed raises no alert, and one that was there is closed without a word', async () => {
  const { service, stalls, sessions, nudges, alert, pass } = openWatched()
  await service.heartbeat(call, {})
  await pass(440)
  expect(await alert()).toMatchObject({ status: 'nudged' })
  await sessions.goodbye('window-1')

  expect(await alert()).toMatchObject({ status: 'dismissed', decidedBy: null })
  await pass(2_000)
  expect(nudges.length).toBe(1)
  await expect(stalls.nudge(ann, (await alert()).id)).rejects.toMatchObject({ code: 'record_decided' })
})

test('a window that is closed while a nudge is on its way is not nudged', async () => {
  let close: () => Promise<unknown> = async () => null
  const { service, sessions, alert, pass, audit } = openWatched({ onPush: () => close() })
  await service.heartbeat(call, {})
  close = () => sessions.goodbye('window-1')
  await pass(440)

  expect(await alert()).toMatchObject({ status: 'dismissed', nudgeCount: 0 })
  expect((await audit()).at(-1)).toMatchObject({ what: 'interrupted' })
})

test('an operator switches the alerts of one session off, and on again', async () => {
  const { service, stalls, sessions, alert, pass, audit } = openWatched()
  await service.heartbeat(call, {})
  const { id } = await sessions.attach(agent)
  await pass(310)
  await expect(stalls.setEnabled(eve, id, false)).rejects.toMatchObject({ code: 'forbidden' })

  expect((await stalls.setEnabled(ann, id, false)).supervision.stallsOff).toBe(true)
  expect(await alert()).toMatchObject({ status: 'dismissed', decidedBy: 'ann' })
  const { id: old } = await alert()
  await pass(2_000)
  expect((await service.heartbeat(call, {})).answer).toMatchObject({ stall_detection_enabled: false })
  await pass(2_000)
  expect((await alert()).id).toBe(old)

  await stalls.setEnabled(ann, id, true)
  await stalls.setEnabled(ann, id, true)
  expect((await audit()).map(({ what }) => what).filter((what) => what.startsWith('stalls_'))).toEqual([
    'stalls_off',
    'stalls_on',
  ])
  await pass(290)
  expect((await alert()).id).toBe(old)
  await pass(20)
  expect((await alert()).id).not.toBe(old)
  await sessions.terminate(ann, id)
  await expect(stalls.setEnabled(ann, id, false)).rejects.toMatchObject({ code: 'session_ended' })
})

test('the time while the server is down does not count', async () => {
  const { service, stalls, watch, alert, pass, clock } = openWatched()
  await service.heartbeat(call, {})
  await pass(200)
  await stalls.close()
  await clock.advance(5_000_000)
  const next = watch()
  await pass(90, next)
  expect(await alert()).toBe(undefined)
  await pass(30, next)
  expect(await alert()).toMatchObject({ status: 'pending' })
})

test('an operator nudges with their own words, or dismisses the alert; a foreign one may not', async () => {
  const { service, stalls, alert, pass, nudges, audit } = openWatched()
  await service.heartbeat(call, {})
  await pass(310)
  const { id } = await alert()

  await expect(stalls.nudge(eve, id)).rejects.toMatchObject({ code: 'forbidden' })
  expect(await stalls.nudge(ann, id, 'Are you there?')).toMatchObject({
    status: 'nudged',
    nudgeMessage: 'Are you there?',
  })
  expect(nudges.at(-1)).toMatchObject({ message: 'Are you there?', source: 'ann via ctl' })
  expect(await stalls.dismiss(ann, id)).toMatchObject({ status: 'dismissed', decidedBy: 'ann', decidedVia: 'ctl' })
  await expect(stalls.nudge(ann, id)).rejects.toMatchObject({ code: 'record_decided' })
  expect((await audit()).at(-1)).toMatchObject({ what: 'stall_dismissed', by: 'ann' })
  await pass(290)
  expect(await alert()).toMatchObject({ id, status: 'dismissed' })
  await pass(20)
  expect((await alert()).id).not.toBe(id)
})

test('the time in which an agent waited for a person does not count after the answer', async () => {
  const { service, prompts, nextWaiting, alert, pass } = openWatched()
  const asked = service.forward_prompt({ ...call, limitMs: 3_600_000 }, { prompt_text: 'Go on?' })
  const { id } = await nextWaiting()
  await pass(900)
  await prompts.decide(ann, id, { decision: 'continue' })
  await asked
  await pass(290)
  expect(await alert()).toBe(undefined)
  await pass(20)
  expect(await alert()).toMatchObject({ status: 'pending', idleSeconds: 300 })
})

test('whoever the escalation names may dismiss an alert after its time, and the trail says so', async () => {
  const person = { console: null, admin: false, local: false, group: null }
  const people = ['ann', 'eve'].map((name) => ({ ...person, name }))
  const operators = configuredOperators(people, [{ afterMs: 60_000, to: ['eve'] }])
  const { stalls, service, pass, alert, audit } = openWatched({ operators })
  await service.heartbeat(call, {})
  await pass(310)
  const { id } = await alert()
  await expect(stalls.dismiss(eve, id)).rejects.toMatchObject({ code: 'forbidden' })
  await pass(60)

  expect(await stalls.dismiss(eve, id)).toMatchObject({ status: 'dismissed', decidedBy: 'eve' })
  expect((await audit()).at(-1)).toMatchObject({ what: 'stall_dismissed', by: 'eve', escalated: true })
})
