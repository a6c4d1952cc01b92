import { EventEmitter } from 'node:events'
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { createProcessGroups } from '../../tools/process/process-groups.ts'
import { createWhileWorking } from '../sessions/while-working.ts'
import { ann, newSession, openSupervision } from '../testing/open-supervision.ts'
import { createSessionCommands } from './session-commands.ts'

async function openCommands() {
  const service = openSupervision()
  const { takeStep, logger } = service
  const clock = createSystemClock()
  const echo = { alias: 'echo', argv: ['echo', 'hello'], program: '/bin/echo' }
  const commands = createSessionCommands({
    ...service.parts,
    clock,
    commands: new Map([['echo', echo]]),
    whileWorking: createWhileWorking({ takeStep, logger }),
    processes: createProcessGroups({ clock, process: new EventEmitter() }),
    environment: {},
  })
  const workspaceRoot = realpathSync(tmpdir())
  const { id } = await service.sessions.create(newSession(workspaceRoot))
  const trail = async () =>
    (await service.audit()).map(({ what }) => what).filter((what) => what?.startsWith('command'))
  return { ...service, commands, id, trail }
}

test('a command in an open session is in its log and in the trail', async () => {
  const { commands, id, events, trail } = await openCommands()

  expect(await commands.run(ann, id, 'echo')).toMatchObject({ alias: 'echo', ended: 'exit', output: 'hello\n' })

  const shown = JSON.stringify(await events(id))
  expect(['"command"', '"command_output"', '"command_ended"'].filter((what) => shown.includes(what))).toHaveLength(3)
  expect(await trail()).toEqual(['command', 'command_ended'])
})

test.each(['terminated', 'interrupted'] as const)('a command adds no runs to a session that is %s', async (status) => {
  const { commands, sessions, id, events, trail } = await openCommands()
  await (status === 'terminated' ? sessions.terminate(ann, id) : sessions.interrupt(id, 'It is gone.'))
  const before = await events(id)

  expect(await commands.run(ann, id, 'echo')).toMatchObject({ ended: 'exit', output: 'hello\n' })

  expect(await events(id)).toEqual(before)
  expect(await trail()).toEqual(['command', 'command_ended'])
})
